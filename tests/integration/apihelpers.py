"""Plain REST calls to the Kubernetes API for the tests of the project's own API."""

import copy
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiClient
from kubernetes.client.exceptions import ApiException

from dev.waiting import wait_for

CONFIG = Path(__file__).resolve().parents[2] / "config"
GROUP = "crd.lagoon.sh"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the API server said.

    Attributes:
        code: HTTP status.
        body: the object, or the Status of a refusal.
    """

    code: int
    body: Json

    @property
    def ok(self) -> bool:
        """Whether the call went through."""
        return self.code < 300

    @property
    def message(self) -> str:
        """The sentence of a refusal, empty for an object."""
        return str(self.body.get("message", "")) if not self.ok else ""


@dataclass(frozen=True)
class Kind:
    """A kind and where its objects live.

    Attributes:
        group: API group, empty for the core group.
        version: version in that group.
        plural: name in a path.
        kind: name in an object.
        namespaced: whether its objects live in namespaces.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Build the path of a list, an object or a subresource.

        Args:
            namespace: namespace, ignored for a cluster-wide kind.
            name: name of the object, empty for the list.
            subresource: for example ``status``.

        Returns:
            The path.
        """
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if self.namespaced:
            parts += ["namespaces", namespace]
        return "/".join([*parts, self.plural, *filter(None, (name, subresource))])

    def manifest(self, name: str, spec: Mapping[str, Any], **metadata: Any) -> Json:
        """Build an object.

        Args:
            name: its name.
            spec: its spec.
            **metadata: further metadata, for example ``annotations``.

        Returns:
            The object.
        """
        version = f"{self.group}/{self.version}" if self.group else self.version
        return {"apiVersion": version, "kind": self.kind, "metadata": {"name": name, **metadata},
                "spec": copy.deepcopy(dict(spec))}


REQUEST = Kind(GROUP, "v1alpha1", "databaserequests", "DatabaseRequest")
PROVIDER = Kind(GROUP, "v1alpha1", "databasemysqlproviders", "DatabaseMySQLProvider", namespaced=False)


@dataclass(frozen=True)
class Api:
    """The API server, seen by one user. Every write is validated strictly.

    Attributes:
        client: an admin's client.
        user: user to act as, empty for the admin.
    """

    client: ApiClient
    user: str = ""

    def call(self, method: str, path: str, body: Any = None, *, query: Mapping[str, str] | None = None,
             content_type: str = "application/json", accept: str = "application/json") -> Answer:
        """Make one call.

        Args:
            method: HTTP method.
            path: path from the root of the server.
            body: what is sent, None for nothing.
            query: further parameters.
            content_type: type of the body.
            accept: type of the answer.

        Returns:
            The answer, a refusal as well.
        """
        parameters = dict(query or {})
        if method != "GET":
            parameters.setdefault("fieldValidation", "Strict")
        headers = {"Accept": accept, "Content-Type": content_type}
        if self.user:
            headers["Impersonate-User"] = self.user
        try:
            response, code, _ = self.client.call_api(
                path, method, query_params=list(parameters.items()), header_params=headers, body=body,
                auth_settings=["BearerToken"], _preload_content=False)
        except ApiException as refusal:
            return Answer(refusal.status, _parsed(refusal.body))
        return Answer(code, _parsed(response.data))

    def create(self, kind: Kind, body: Json, namespace: str = "", *, dry_run: bool = False) -> Answer:
        """Create an object, or ask whether it could be."""
        query = {"dryRun": "All"} if dry_run else {}
        return self.call("POST", kind.path(namespace), body, query=query)

    def get(self, kind: Kind, name: str, namespace: str = "") -> Answer:
        """Read an object."""
        return self.call("GET", kind.path(namespace, name))

    def patch(self, kind: Kind, name: str, change: Json, namespace: str = "", *, subresource: str = "",
              dry_run: bool = False) -> Answer:
        """Merge a change into an object or its subresource; None takes a field away."""
        query = {"dryRun": "All"} if dry_run else {}
        return self.call("PATCH", kind.path(namespace, name, subresource), change, query=query,
                         content_type="application/merge-patch+json")

    def delete(self, kind: Kind, name: str, namespace: str = "") -> Answer:
        """Delete an object."""
        return self.call("DELETE", kind.path(namespace, name))


def _parsed(data: bytes | str | None) -> Json:
    try:
        parsed = json.loads(data or "{}")
    except ValueError:
        return {"message": str(data)}
    return parsed if isinstance(parsed, dict) else {"message": str(parsed)}


def with_change(base: Mapping[str, Any], path: str, value: Any) -> Json:
    """Copy an object with one field changed.

    Args:
        base: the object.
        path: dotted path of the field; numbers are places in a list.
        value: the new value, ``...`` to take the field away.

    Returns:
        The copy.
    """
    result: Json = copy.deepcopy(dict(base))
    *parents, last = path.split(".")
    place: Any = result
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if value is ...:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return result


def documents(path: str) -> list[Json]:
    """Read the documents of a YAML file.

    Args:
        path: path under ``config``.

    Returns:
        The documents, in order.
    """
    return [document for document in yaml.safe_load_all((CONFIG / path).read_text()) if document]


def definition(kind: Kind) -> Json:
    """Read the CustomResourceDefinition of one of the project's kinds."""
    [crd] = documents(f"crd/bases/{GROUP}_{kind.plural}.yaml")
    return crd


def copied(kind: Kind, group: str) -> tuple[Kind, Json]:
    """Copy a kind into a group of the test's own, where no operator watches it.

    Args:
        kind: the kind.
        group: the other group.

    Returns:
        The kind in that group and its CustomResourceDefinition.
    """
    crd = definition(kind)
    crd["metadata"]["name"] = f"{kind.plural}.{group}"
    crd["spec"]["group"] = group
    crd["spec"]["names"].pop("shortNames", None)
    return Kind(group, kind.version, kind.plural, kind.kind, kind.namespaced), crd


def own_group() -> str:
    """Make up a group that no other test uses."""
    return f"t{uuid.uuid4().hex[:10]}.dbaas-test.example.com"


@contextmanager
def installed(api: Api, crd: Json) -> Iterator[None]:
    """Install a CustomResourceDefinition for a while.

    Args:
        api: an admin's API.
        crd: the definition.

    Yields:
        Nothing; its objects can be created meanwhile. They go with the definition.
    """
    name, spec = crd["metadata"]["name"], crd["spec"]
    answer = api.call("POST", CRDS, crd)
    assert answer.ok, answer.message
    try:
        listing = f"/apis/{spec['group']}/v1alpha1/{spec['names']['plural']}"
        wait_for(lambda: api.call("GET", listing).ok, f"the API server to serve {name}")
        yield
    finally:
        api.call("DELETE", f"{CRDS}/{name}")
        wait_for(lambda: api.call("GET", f"{CRDS}/{name}").code == 404, f"{name} to be gone")


@contextmanager
def fresh_namespace(api: Api, topic: str) -> Iterator[str]:
    """Make a namespace for a while.

    Args:
        api: an admin's API.
        topic: beginning of its name.

    Yields:
        Its name.
    """
    name = f"{topic}-{uuid.uuid4().hex[:8]}"
    answer = api.call("POST", "/api/v1/namespaces",
                      {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    assert answer.ok, answer.message
    try:
        yield name
    finally:
        api.call("DELETE", f"/api/v1/namespaces/{name}")
