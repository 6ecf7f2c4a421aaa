"""The proxy that playbooks talk to: it adds credentials, owner references and dependent watches."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import urllib3

from dev.standin.api import Api, ApiError, Resource
from dev.standin.dependents import OWNER_ANNOTATION, OWNER_TYPE_ANNOTATION, Dependents
from dev.standin.inputs import PROXY_HOST, PROXY_PORT, Owner
from dev.standin.watches import Kind

LOG = logging.getLogger("standin.proxy")
_READ_TIMEOUT = 3600.0
_NOT_FORWARDED = frozenset(
    (
        *("authorization", "host", "content-length", "accept-encoding"),
        *("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    )
)


@dataclass(frozen=True)
class RequestedPath:
    """The parts of a resource request's path; plural is empty for other requests."""

    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""


def parse_path(path: str) -> RequestedPath:
    """Take a request path apart.

    Args:
        path: path and query.

    Returns:
        Its parts.
    """
    parts = [part for part in path.partition("?")[0].split("/") if part]
    if len(parts) > 2 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) > 3 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return RequestedPath()
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = [*rest, "", "", ""][:3]
    return RequestedPath(group, version, namespace, plural, name, subresource)


class ProxyServer(ThreadingHTTPServer):
    """Listens on the fixed address; ``controllers`` holds what each watched kind has as dependents."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, api: Api, controllers: Mapping[Kind, Dependents]) -> None:
        """Take the port.

        Raises:
            OSError: if it is in use.
        """
        super().__init__((PROXY_HOST, PROXY_PORT), _Handler)
        self.api, self.controllers = api, controllers

    def inject_owner(self, path: str, owner: Owner, body: bytes) -> bytes:
        """Make an object that a run creates its owner's, and watch objects of its kind.

        Args:
            path: the path of the POST.
            owner: the object of the run.
            body: the object to be created, as JSON.

        Returns:
            The body to send on; the same for subresources and kinds that can't be read back.

        Raises:
            ValueError: if the body is no JSON object.
        """
        asked = parse_path(path)
        if not asked.plural or asked.subresource:
            return body
        try:
            created = self.api.resource_of_plural(asked.group, asked.version, asked.plural)
        except ApiError as error:
            LOG.error("no owner injected: %s", error)
            return body
        if created.is_virtual:
            return body
        item = json.loads(body)
        if not isinstance(item, dict):
            raise ValueError("the body is no object")
        by_reference = _can_refer(self._owner_resource(owner), owner, created, asked.namespace)
        meta = item.setdefault("metadata", {})
        if by_reference:
            meta["ownerReferences"] = [*(meta.get("ownerReferences") or []), owner.reference()]
        else:
            group = owner.api_version.rpartition("/")[0]
            annotations = {OWNER_ANNOTATION: f"{owner.namespace}/{owner.name}"}
            annotations[OWNER_TYPE_ANNOTATION] = f"{owner.kind}.{group}"
            meta["annotations"] = {**(meta.get("annotations") or {}), **annotations}
        if dependents := self.controllers.get(_owner_kind(owner)):
            dependents.add(created.kind, by_reference)
        return json.dumps(item).encode()

    def recover_watch(self, path: str, owner: Owner, answer: bytes) -> None:
        """Watch the kind of an object that a run has read by name, if it is an owned one."""
        asked = parse_path(path)
        dependents = self.controllers.get(_owner_kind(owner))
        if dependents is None or not asked.name or asked.subresource not in ("", "status"):
            return
        try:
            item = json.loads(answer)
            kind = self.api.resource_of_plural(asked.group, asked.version, asked.plural).kind
        except (ValueError, ApiError) as error:
            LOG.error("no watch recovered: %s", error)
            return
        if isinstance(item, dict):
            dependents.recover(kind, item)

    def _owner_resource(self, owner: Owner) -> Resource:
        return self.api.resource(_owner_kind(owner))


def _owner_kind(owner: Owner) -> Kind:
    group, _, version = owner.api_version.rpartition("/")
    return Kind(group, version, owner.kind)


def _can_refer(owner_resource: Resource, owner: Owner, created: Resource, namespace: str) -> bool:
    """A reference works from one namespace to itself, and to a cluster-scoped owner."""
    if not owner_resource.namespaced:
        return True
    return created.namespaced and owner.namespace == namespace


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProxyServer

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _NOT_FORWARDED}
        try:
            owner = self._owner()
            if owner and self.command == "POST":
                body = self.server.inject_owner(self.path, owner, body)
            response = self.server.api.open(self.command, self.path, body or None, headers, _READ_TIMEOUT)
        except ValueError as error:
            self._refuse(400, f"the proxy can't read this request: {error}")
            return
        except ApiError as error:
            self._refuse(502, str(error))
            return
        try:
            self._answer(response, owner)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            LOG.info("%s %s broke off: %s", self.command, self.path, error)
            self.close_connection = True
        finally:
            response.close()

    do_GET = do_POST = do_PUT = do_PATCH = _forward  # noqa: N815  (the names that the base class calls)
    do_DELETE = do_HEAD = do_OPTIONS = _forward  # noqa: N815

    def _owner(self) -> Owner | None:
        scheme, _, credentials = (self.headers.get("Authorization") or "").partition(" ")
        if scheme.lower() != "basic":
            return None
        return Owner.decode(base64.b64decode(credentials).decode().partition(":")[0])

    def _answer(self, response: urllib3.BaseHTTPResponse, owner: Owner | None) -> None:
        """Pass an answer on: whole where its length is known, in chunks where not (watches, logs)."""
        length = response.headers.get("Content-Length")
        is_stream = length is None and "watch" in self.path.partition("?")[2]
        content = b"" if is_stream else response.read(decode_content=False)
        if owner and self.command == "GET" and response.status == 200 and not is_stream:
            self.server.recover_watch(self.path, owner, content)
        self.send_response(response.status)
        for name, value in response.headers.items():
            if name.lower() not in _NOT_FORWARDED:
                self.send_header(name, value)
        if not is_stream:
            self.send_header(
                "Content-Length", length if self.command == "HEAD" and length else str(len(content))
            )
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in response.stream(2**16, decode_content=False):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: int, message: str) -> None:
        answer: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status}
        content = json.dumps({**answer, "message": message}).encode()
        LOG.error("%s %s: %s", self.command, self.path, message)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it so)
        """One line per request, at debug level only: a run makes dozens."""
        LOG.debug(format, *args)
