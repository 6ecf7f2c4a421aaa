# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""A small client of the Kubernetes API: plain paths, plain dicts, one kind of error.

kubernetes.core has no writes to the status subresource and takes half a second a task; this is for the reads
of a whole run in one task, for status and for Events.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import kubernetes
import urllib3
import yaml

GROUP = "/apis/crd.lagoon.sh/v1alpha1"
#: Seconds to connect and to wait for an answer.
TIMEOUT = (5, 20)
#: What the library raises for a file that is no kubeconfig: not YAML, no mapping, not text, not to be read.
_NO_KUBECONFIG = (
    kubernetes.config.ConfigException,
    yaml.YAMLError,
    OSError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
)


class KubeError(Exception):
    """The API didn't do what was asked.

    Attributes:
        status: the HTTP status, None where there was no answer.
        what: what was asked for, such as ``list services in shop``; no object's own name is in it.
    """

    def __init__(self, status: int | None, what: str) -> None:
        super().__init__(f"the Kubernetes API answered {status or 'nothing'} to {what}")
        self.status, self.what = status, what


class NoKubeconfig(KubeError):
    """No kubeconfig could be read."""

    def __init__(self) -> None:
        super().__init__(None, "nobody: no kubeconfig could be read")


_PATH = re.compile(r"/(?:api|apis/[^/]+)/[^/]+(?:/namespaces/([^/]+)(?=/))?/([^/]+)(/[^/]+)?(?:/([^/]+))?")
_VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}


def asked(method: str, path: str) -> str:
    """A call in the words of ``kubectl auth can-i``: verb, resource with subresource, namespace.

    Args:
        method: HTTP's. path: of the call.
    """
    found = _PATH.fullmatch(path.partition("?")[0].rstrip("/"))
    if not found:
        return "read which kinds there are"
    namespace, resource, name, subresource = found.groups()
    verb = _VERBS.get(method, "get" if name else "list")
    return f"{verb} {resource}" + (f"/{subresource}" if subresource else "") + (f" in {namespace}" if namespace else "")


class Kube:
    """The API that the run's kubeconfig names (``K8S_AUTH_KUBECONFIG``, then ``KUBECONFIG``, then in-cluster)."""

    def __init__(self) -> None:
        path = os.environ.get("K8S_AUTH_KUBECONFIG") or os.environ.get("KUBECONFIG")
        configuration = kubernetes.client.Configuration()
        try:
            if path or Path("~/.kube/config").expanduser().exists():
                kubernetes.config.load_kube_config(config_file=path, client_configuration=configuration)
            else:
                kubernetes.config.load_incluster_config(client_configuration=configuration)
        except _NO_KUBECONFIG:
            raise NoKubeconfig from None
        configuration.retries = urllib3.Retry(total=0)
        self._client = kubernetes.client.ApiClient(configuration)

    def _call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        try:
            return self._client.call_api(
                path,
                method,
                header_params={"Accept": "application/json", "Content-Type": content_type},
                body=body,
                response_type="object",
                auth_settings=["BearerToken"],
                _return_http_data_only=True,
                _request_timeout=TIMEOUT,
            )
        except kubernetes.client.ApiException as error:
            raise KubeError(error.status, asked(method, path)) from None
        except (urllib3.exceptions.HTTPError, OSError):
            raise KubeError(None, asked(method, path)) from None

    def get(self, path: str) -> dict[str, Any] | None:
        """Read one object or a list; None where there is none of it. Raises KubeError."""
        try:
            return self._call("GET", path)
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    def items(self, path: str) -> list[dict[str, Any]]:
        """Read a list's items. Raises KubeError."""
        return (self.get(path) or {}).get("items", [])

    def merge(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Merge-patch an object or its status. Raises KubeError."""
        return self._call("PATCH", path, body, "application/merge-patch+json")

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create an object. Raises KubeError."""
        return self._call("POST", path, body)

    def delete(self, path: str, options: dict[str, Any]) -> None:
        """Delete an object, with ``options`` as DeleteOptions. Raises KubeError."""
        self._call("DELETE", path, options)


def core_path(namespace: str, plural: str, name: str = "") -> str:
    """The path of a namespaced object (or list) of the core group."""
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def request_path(namespace: str, name: str) -> str:
    """The path of a DatabaseRequest."""
    return f"{GROUP}/namespaces/{namespace}/databaserequests/{name}"


def provider_path(name: str) -> str:
    """The path of a DatabaseMySQLProvider."""
    return f"{GROUP}/databasemysqlproviders/{name}"
