"""Raw requests to the API server with the operator's credentials, and what kinds it serves."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes import client, config

from dev.standin.watches import Kind

READ_TIMEOUT = 60.0


class ApiError(Exception):
    """The API server said no, or could not be reached.

    Attributes:
        status: the HTTP status, 0 where there was no answer.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Resource:
    """How a kind is served: its plural name, whether it has namespaces, and the verbs that it knows."""

    kind: Kind
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def is_virtual(self) -> bool:
        """True for kinds that can't be read back, for example reviews; nothing is injected into them."""
        return not {"get", "list", "watch"} <= self.verbs

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The request path of the collection, or of one object."""
        group_path = f"/apis/{self.kind.api_version}" if self.kind.group else f"/api/{self.kind.version}"
        middle = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        end = "".join(f"/{part}" for part in (self.plural, name, subresource) if part)
        return f"{group_path}{middle}{end}"


class Api:
    """The API server as the current kubeconfig (or the pod's service account) reaches it."""

    def __init__(self) -> None:
        """Read the credentials.

        Raises:
            kubernetes.config.ConfigException: if there are none.
        """
        config.load_config()
        self._client = client.ApiClient()
        # Watches hold a connection each; the client's own pool is sized for a few requests.
        self._client.configuration.connection_pool_maxsize = 64
        self._client = client.ApiClient(self._client.configuration)
        self._resources: dict[str, list[Resource]] = {}
        self._lock = threading.Lock()

    def open(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float = READ_TIMEOUT,
    ) -> urllib3.BaseHTTPResponse:
        """Send one request, redirects and retries off.

        Args:
            method: the HTTP method.
            path: path and query.
            body: the body.
            headers: headers, without authorization.
            read_timeout: seconds that the server may be silent.

        Returns:
            The answer, its body not read yet.

        Raises:
            ApiError: if the server can't be reached.
        """
        sent = dict(headers or {})
        self._client.update_params_for_auth(sent, [], ["BearerToken"])
        try:
            response: urllib3.BaseHTTPResponse = self._client.rest_client.pool_manager.request(
                method,
                f"{self._client.configuration.host}{path}",
                body=body,
                headers=sent,
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(connect=10.0, read=read_timeout),
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(0, f"{method} {path}: no answer from the API server: {error}") from error
        return response

    def json(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send one request and read the JSON answer.

        Raises:
            ApiError: if the answer is an error or no JSON.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        response = self.open(method, path, data, headers)
        try:
            content = response.read()
            answer = json.loads(content) if content else {}
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise ApiError(response.status, f"{method} {path}: unreadable answer: {error}") from error
        finally:
            response.release_conn()
        if response.status >= 400:
            message = answer.get("message", "") if isinstance(answer, dict) else ""
            raise ApiError(response.status, f"{method} {path}: HTTP {response.status}: {message}")
        return answer

    def watch(self, path: str, resource_version: str, seconds: int) -> Iterator[dict[str, Any]]:
        """Read the changes of a collection after a resource version, until the server ends the watch.

        Args:
            path: the collection's path.
            resource_version: the version to begin after.
            seconds: how long the server keeps the watch open.

        Yields:
            The watch events.

        Raises:
            ApiError: if the watch can't be opened or breaks off.
        """
        query = {"watch": "1", "resourceVersion": resource_version, "allowWatchBookmarks": "true"}
        full_path = f"{path}?{urlencode({**query, 'timeoutSeconds': seconds})}"
        response = self.open(
            "GET", full_path, headers={"Accept": "application/json"}, read_timeout=seconds + 30.0
        )
        try:
            if response.status >= 400:
                raise ApiError(response.status, f"watch of {path}: HTTP {response.status}")
            rest = b""
            for chunk in response.stream(2**16, decode_content=True):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise ApiError(0, f"watch of {path} broke off: {error}") from error
        finally:
            response.close()

    def resource(self, kind: Kind) -> Resource:
        """How a kind is served.

        Raises:
            ApiError: if the server doesn't serve it.
        """
        return self._find(kind.group, kind.version, lambda item: item.kind.kind == kind.kind, str(kind))

    def resource_of_plural(self, group: str, version: str, plural: str) -> Resource:
        """The kind behind a path's plural name.

        Raises:
            ApiError: if the server doesn't serve it.
        """
        return self._find(group, version, lambda item: item.plural == plural, f"{group}/{version} {plural}")

    def _find(self, group: str, version: str, fits: Any, name: str) -> Resource:
        group_version = f"{group}/{version}" if group else version
        with self._lock:
            known = self._resources.get(group_version, [])
        found = next(filter(fits, known), None)
        if found is None:
            known = self._discover(group, version, group_version)
            with self._lock:
                self._resources[group_version] = known
            found = next(filter(fits, known), None)
        if found is None:
            raise ApiError(404, f"the API server doesn't serve {name}; is its CRD installed?")
        return found

    def _discover(self, group: str, version: str, group_version: str) -> list[Resource]:
        answer = self.json("GET", f"/apis/{group_version}" if group else f"/api/{version}")
        return [
            Resource(
                Kind(group, version, item["kind"]),
                item["name"],
                bool(item["namespaced"]),
                frozenset(item["verbs"]),
            )
            for item in answer.get("resources", [])
            if "/" not in item["name"]
        ]
