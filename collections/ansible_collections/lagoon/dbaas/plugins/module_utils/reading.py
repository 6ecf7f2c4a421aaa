# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a run reads of the cluster: a request or a provider, and the secrets and objects around it."""

from __future__ import annotations

import base64
import secrets
import time
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    credentials,
    providers,
    published,
    seed_secret,
)
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube, core_path


def own_part(found: dict[str, Any]) -> dict[str, Any]:
    """What a run uses of a DatabaseRequest itself.

    Returns:
        ``{name, namespace, uid, created, generation, deleting, spec, status}``; ``created`` is its creationTimestamp.
    """
    metadata = found["metadata"]
    return {
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
        "created": metadata["creationTimestamp"],
        "generation": metadata["generation"],
        "deleting": "deletionTimestamp" in metadata,
        "spec": found["spec"],
        "status": found.get("status") or {},
    }


def read_request(kube: Kube, found: dict[str, Any], cluster: str) -> dict[str, Any]:
    """Read what surrounds a request.

    Args:
        kube: the API. found: the DatabaseRequest. cluster: the cluster's id, "" for kube-system's UID.
    Returns:
        The result of the action request_read but for ``outcome``.
    Raises:
        KubeError: the API failed.
    """
    request = own_part(found)
    metadata, spec, status = found["metadata"], request["spec"], request["status"]
    objects = kube.items(f"{GROUP}/databasemysqlproviders")
    reference = status.get("observedDatabaseConnectionReference")
    connections = read_connections(kube, providers.connections(objects, spec["scope"], reference))
    namespace = metadata["namespace"]
    current = {
        "service": kube.get(core_path(namespace, "services", spec["name"])),
        "secret": kube.get(core_path(namespace, "secrets", metadata["name"])),
        "slice": kube.get(slice_path(namespace, spec["name"])),
    }
    for kind, document in zip(("Service", "Secret", "EndpointSlice"), current.values(), strict=True):
        if document:
            document.setdefault("kind", kind)
            document.setdefault("apiVersion", "discovery.k8s.io/v1" if kind == "EndpointSlice" else "v1")
    return {
        "found": True,
        "request": request,
        "cluster": cluster_id(kube, cluster),
        "fence": fence(),
        "connections": connections,
        "seed": read_seed(kube, request, connections),
        "published": current,
        "stale_services": stale_services(kube, request),
        "kept": kube.get(core_path(namespace, "secrets", f"{metadata['name']}-kept")) if request["deleting"] else None,
    }


def stale_services(kube: Kube, request: dict[str, Any]) -> list[dict[str, Any]]:
    """The request's own Services, with their EndpointSlices, under another name than ``spec.name``: a former one's."""
    selector = f"{published.INSTANCE_LABEL}%3D{request['name']}"
    found = []
    for service in kube.items(core_path(request["namespace"], "services") + f"?labelSelector={selector}"):
        name = service["metadata"]["name"]
        if name == request["spec"]["name"] or not published.is_owned(service, request["uid"]):
            continue
        # The slice goes before its Service, by which it is found.
        endpoints = kube.get(slice_path(request["namespace"], name))
        if endpoints and published.is_owned(endpoints, request["uid"]):
            found.append({**endpoints, "kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1"})
        found.append({**service, "kind": "Service", "apiVersion": "v1"})
    return found


def slice_path(namespace: str, name: str) -> str:
    """The path of an EndpointSlice."""
    return f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices/{name}"


def cluster_id(kube: Kube, given: str) -> str:
    """The cluster's id in the ledger.

    Args:
        kube: the API. given: the setting, "" for the UID of kube-system.
    Raises:
        KubeError: the API failed.
    """
    return given or (kube.get("/api/v1/namespaces/kube-system") or {"metadata": {"uid": ""}})["metadata"]["uid"]


def fence() -> int:
    """The number that a run's writes carry: later runs have higher ones, and no two runs the same.

    Returns:
        Microseconds with the last ten bits random; below 2**53, so that no comparison in SQL or JSON rounds it.
    """
    return (time.time_ns() // 1000) >> 10 << 10 | secrets.randbits(10)


def _secret_text(kube: Kube, reference: dict[str, str], default_key: str) -> str | None:
    secret = kube.get(core_path(reference["namespace"], "secrets", reference["name"])) or {}
    encoded = (secret.get("data") or {}).get(reference.get("key", default_key))
    try:
        return base64.b64decode(encoded).decode("utf-8") if encoded is not None else None
    except ValueError:
        return None


def read_connections(kube: Kube, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give connections what a ``community.mysql`` task needs to log in as their admin.

    Args:
        kube: the API. found: of :func:`providers.connections`.
    Returns:
        The same with ``config_file``, ``tls_arguments`` and ``problem``: what of
        its secrets is missing, in words, else "".
    Raises:
        KubeError: the API failed.
    """
    for index, connection in enumerate(found):
        connection.update({"config_file": "", "tls_arguments": {}, "problem": ""})
        password = _secret_text(kube, connection.pop("secret_ref"), "password")
        ca_path = None
        if connection["tls"].get("mode", "preferred").startswith("verify-"):
            certificate = _secret_text(
                kube, connection["tls"].get("caSecretRef") or {"namespace": "-", "name": "-"}, "ca.crt"
            )
            if certificate is None:
                connection["problem"] = "its CA secret or the key in it is missing"
            else:
                ca_path = credentials.store(credentials.connection_slot(index, ca=True), certificate)
        if not password or any(c in password for c in "\r\n\0"):
            connection["problem"] = "its password secret is missing, empty, or not one line of UTF-8 text"
        if not connection["problem"]:
            login = credentials.option_file(connection["username"], password or "")
            connection["config_file"] = credentials.store(credentials.connection_slot(index), login)
            connection["tls_arguments"] = providers.tls_arguments(connection["tls"], ca_path)
    return found


def read_seed(kube: Kube, request: dict[str, Any], connections: list[dict[str, Any]]) -> dict[str, Any]:
    """A request's seed, read once a run; what is probed with it is what is published.

    Args:
        kube: the API. request: ``{namespace, spec, ...}``. connections: of :func:`read_connections`.
    Returns:
        ``{state}``: ``absent``, ``other_namespace`` (not read), ``missing``, ``invalid`` with ``key`` and
        ``problem``, or ``valid`` with the five values, ``uid``, ``resource_version``, ``config_file``,
        ``connection`` (None where none matches) and ``is_replica``.
    Raises:
        KubeError: the API failed.
    """
    reference = request["spec"].get("seed")
    if not reference:
        return {"state": "absent"}
    if reference["namespace"] != request["namespace"]:
        return {"state": "other_namespace"}
    secret = kube.get(core_path(reference["namespace"], "secrets", reference["name"]))
    if secret is None:
        return {"state": "missing"}
    try:
        values = seed_secret.parse(secret.get("data"))
    except seed_secret.SeedKeyError as error:
        return {"state": "invalid", "key": error.key, "problem": error.problem}
    connection, is_replica = providers.match(connections, values["hostname"], values["port"])
    login = credentials.option_file(values["username"], values["password"])
    return {
        "state": "valid",
        **values,
        "uid": secret["metadata"]["uid"],
        "resource_version": secret["metadata"]["resourceVersion"],
        "config_file": credentials.store(credentials.SEED, login),
        "connection": connection,
        "is_replica": is_replica,
    }


def read_provider(kube: Kube, found: dict[str, Any]) -> dict[str, Any]:
    """Read what a provider's run needs.

    Args:
        kube: the API. found: the DatabaseMySQLProvider.
    Returns:
        ``{found, provider: {name, uid, generation, status}, connections}``.
    Raises:
        KubeError: the API failed.
    """
    metadata = found["metadata"]
    return {
        "found": True,
        "provider": {
            "name": metadata["name"],
            "uid": metadata["uid"],
            "generation": metadata["generation"],
            "status": found.get("status") or {},
        },
        "connections": read_connections(kube, providers.connections([found], found["spec"]["scope"], None)),
    }
