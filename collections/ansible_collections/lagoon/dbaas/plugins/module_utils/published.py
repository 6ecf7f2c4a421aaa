# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a request publishes in its namespace, and what has to change to make it so."""

from __future__ import annotations

import base64
import ipaddress
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils.names import key_prefix

API_VERSION = "crd.lagoon.sh/v1alpha1"
KIND = "DatabaseRequest"
INSTANCE_LABEL = "app.kubernetes.io/instance"
MANAGED_BY = {"app.kubernetes.io/managed-by": "dbaas-operator"}
#: On a create the API server gives its own UID whatever stands there; on a patch another UID is a conflict.
#: So a document with this UID can create and can never overwrite what somebody made in the meantime.
CREATE_ONLY = "00000000-0000-4000-8000-000000000000"

Document = dict[str, Any]


def owner_reference(request: Document) -> dict[str, str]:
    """The ownerReference of what a request publishes: these four fields exactly, or the runtime adds a second."""
    return {"apiVersion": API_VERSION, "kind": KIND, "name": request["name"], "uid": request["uid"]}


def is_owned(document: Document, uid: str) -> bool:
    """Whether an object is the request's: one of its ownerReferences has the request's UID."""
    return any(r.get("uid") == uid and r.get("kind") == KIND for r in document["metadata"].get("ownerReferences") or [])


def address_family(hostname: str) -> str | None:
    """``IPv4`` or ``IPv6`` where the hostname is an address, else None."""
    try:
        return f"IPv{ipaddress.ip_address(hostname).version}"
    except ValueError:
        return None


def conflicts(request: Document, published: dict[str, Document | None]) -> list[str]:
    """The kinds of objects that stand under a wanted name and aren't the request's."""
    return [document["kind"] for document in published.values() if document and not is_owned(document, request["uid"])]


def _metadata(request: Document, name: str, labels: dict[str, str]) -> Document:
    return {
        "name": name,
        "namespace": request["namespace"],
        "labels": {**labels, INSTANCE_LABEL: request["name"], **MANAGED_BY},
        "ownerReferences": [owner_reference(request)],
    }


def _encode(value: str) -> str:
    return base64.b64encode(value.encode("utf-8")).decode("ascii")


def secret_values(request: Document, connection: Document, row: Document, password: str) -> dict[str, str]:
    """The published Secret's keys and their values, as text."""
    prefix = key_prefix(request["spec"]["name"])
    values = {
        "HOST": request["spec"]["name"],
        "PORT": str(connection["port"]),
        "DATABASE": row["database"],
        "USERNAME": row["username"],
        "PASSWORD": password,
    }
    if connection["replicas"]:
        values["READREPLICA_HOSTS"] = ",".join(connection["replicas"])
    return {f"{prefix}_{key}": value for key, value in values.items()}


def desired(request: Document, connection: Document, row: Document, password: str) -> dict[str, Document]:
    """What a request publishes.

    Args:
        request: ``{name, namespace, uid, spec}``. connection: of providers.py. row: ``{database, username}``.
        password: the account's.
    Returns:
        ``{service, secret[, slice]}``. A host name becomes an ExternalName; an address becomes a Service without
        a selector and an EndpointSlice, since an ExternalName that is an address never resolves.
    """
    name = request["spec"]["name"]
    service_label = {"dbaas.lagoon.sh/service": "true"}
    family = address_family(connection["hostname"])
    service: Document = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(request, name, service_label),
        "spec": {"type": "ExternalName", "externalName": connection["hostname"], "ports": None},
    }
    documents = {"service": service}
    if family:
        service["spec"] = {
            "type": "ClusterIP",
            "externalName": None,
            "ports": [
                {
                    "name": "mysql",
                    "port": connection["port"],
                    "protocol": "TCP",
                    "targetPort": connection["port"],
                }
            ],
        }
        documents["slice"] = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": _metadata(request, name, {**service_label, "kubernetes.io/service-name": name}),
            "addressType": family,
            "endpoints": [{"addresses": [connection["hostname"]]}],
            "ports": [{"name": "mysql", "port": connection["port"], "protocol": "TCP"}],
        }
    values = secret_values(request, connection, row, password)
    documents["secret"] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": _metadata(request, request["name"], {"dbaas.lagoon.sh/secret": "true"}),
        "data": {key: _encode(value) for key, value in values.items()},
    }
    return documents


def _covers(actual: Any, wanted: Any) -> bool:
    """Whether every wanted field is there with its value; None wants it absent."""
    if isinstance(wanted, dict):
        actual = actual or {}
        return all(_covers(actual.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        actual = actual or []
        return len(actual) == len(wanted) and all(_covers(a, w) for a, w in zip(actual, wanted, strict=True))
    return actual == wanted


def _must_be_replaced(kind: str, actual: Document, wanted: Document) -> bool:
    if kind == "secret":
        return bool(actual.get("immutable")) or actual.get("type") != wanted["type"]
    return kind == "slice" and actual.get("addressType") != wanted["addressType"]


def _patch(actual: Document, wanted: Document) -> Document:
    document = {**wanted, "metadata": {**wanted["metadata"], "uid": actual["metadata"]["uid"]}}
    if "data" in wanted:
        stale = set(actual.get("data") or {}) - set(wanted["data"])
        document["data"] = {**wanted["data"], **dict.fromkeys(stale)}
    return document


def _delete(document: Document) -> Document:
    metadata = document["metadata"]
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
    }


def plan(read: Document, connection: Document, row: Document, login: Document) -> dict[str, list[Document]]:
    """What has to be done to publish.

    Args:
        read: what request_read found (``request``, ``published``, ``stale_services``).
        connection, row: as for :func:`desired`. login: ``{password}``.
    Returns:
        ``{replace: [], apply: [], retire: []}``: objects to delete first since they can't be patched, documents
        to create or patch, objects of a former ``spec.name`` to delete last. Objects are named with their UID.
    """
    replace, apply, retire = [], [], []
    published = read["published"]
    wanted = desired(read["request"], connection, row, login["password"])
    for kind, document in wanted.items():
        actual = published.get(kind)
        if actual and _must_be_replaced(kind, actual, document):
            # One that holds all it should is left: for a moment, replacing it is to be without its password.
            if _covers(actual, {key: value for key, value in document.items() if key != "type"}):
                continue
            replace.append(_delete(actual))
            actual = None
        if actual is None:
            metadata = {**document["metadata"], "uid": CREATE_ONLY}
            apply.append({**document, "metadata": metadata})
        else:
            document = _patch(actual, document)
            if not _covers(actual, document):
                apply.append(document)
    if published.get("slice") and "slice" not in wanted:
        retire.append(_delete(published["slice"]))
    retire += [_delete(service) for service in read["stale_services"]]
    return {"replace": replace, "apply": apply, "retire": retire}


def removals(read: Document) -> list[Document]:
    """The request's own published objects, to be deleted with it; those of others are left alone."""
    uid = read["request"]["uid"]
    found = [*read["published"].values(), *read["stale_services"]]
    return [_delete(document) for document in found if document and is_owned(document, uid)]


def published_password(read: Document) -> str | None:
    """The password in the request's own published Secret, under whichever ``spec.name`` it was published."""
    secret = read["published"].get("secret")
    return _password(read, secret) if secret and is_owned(secret, read["request"]["uid"]) else None


def restored_password(read: Document) -> str | None:
    """The password in a Secret of the request's name that isn't this request's: one that came back with a backup."""
    secret = read["published"].get("secret")
    return _password(read, secret) if secret and not is_owned(secret, read["request"]["uid"]) else None


def former(read: Document) -> list[Document]:
    """Patches by which what a former request of this namespace and name published becomes this request's.

    Its objects are known by their labels, and by having no owner, or none but a request of this name.

    Args:
        read: what request_read found.
    """
    request = read["request"]
    labels = {INSTANCE_LABEL: request["name"], **MANAGED_BY}
    found = []
    for document in filter(None, read["published"].values()):
        metadata = document["metadata"]
        owners = metadata.get("ownerReferences") or []
        if any((owner.get("kind"), owner.get("name")) != (KIND, request["name"]) for owner in owners):
            continue
        if is_owned(document, request["uid"]) or not _covers(metadata.get("labels"), labels):
            continue
        kept = {key: metadata[key] for key in ("name", "namespace", "uid")}
        kind = {"apiVersion": document["apiVersion"], "kind": document["kind"]}
        found.append({**kind, "metadata": {**kept, "ownerReferences": [owner_reference(request)]}})
    return found


def _password(read: Document, secret: Document) -> str | None:
    data = secret.get("data") or {}
    wanted = f"{key_prefix(read['request']['spec']['name'])}_PASSWORD"
    former = [key for key in sorted(data) if key.endswith("_PASSWORD")]
    for key in [wanted, *former]:
        try:
            if key in data:
                return base64.b64decode(data[key]).decode("utf-8")
        except ValueError:
            continue
    return None


def kept_password(read: Document) -> str | None:
    """The password in a Secret that an earlier run of the same deletion left, or one of an earlier request."""
    there = read["kept"]
    if not there or (there["metadata"].get("labels") or {}).get("dbaas.lagoon.sh/kept") != "true":
        return None
    try:
        return base64.b64decode((there.get("data") or {}).get("password", "")).decode("utf-8") or None
    except ValueError:
        return None


def kept_plan(read: Document, row: Document, login: Document) -> Document:
    """What has to be done so that a Secret in the seed's five keys stays of a request that is deleted.

    Args:
        read: what request_read found. row: with its connection. login: ``{password}``, ``{}`` where none is known.
    Returns:
        ``{create: [document]}``, none where it is there or no password is known; ``release``: the Secret, if it is
        there, whose ownerReferences are to go (the runtime gives one to all that a run creates, and the Secret
        would be collected with the request); ``conflict``: another Secret stands under the name.
    """
    request, connection = read["request"], row["connection"]
    if not login:
        return {"create": [], "release": {}, "conflict": False}
    values = {
        "database": row["database"],
        "username": row["username"],
        "password": login["password"],
        "hostname": connection["hostname"],
        "port": str(connection["port"]),
    }
    metadata = {
        "name": f"{request['name']}-kept",
        "namespace": request["namespace"],
        "labels": {"dbaas.lagoon.sh/kept": "true", INSTANCE_LABEL: request["name"], **MANAGED_BY},
        "uid": CREATE_ONLY,
    }
    wanted = {key: _encode(value) for key, value in values.items()}
    there = read["kept"]
    if there:
        same = (there.get("data") or {}) == wanted
        return {"create": [], "release": released(there["metadata"]) if same else {}, "conflict": not same}
    document = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": wanted}
    return {"create": [document], "release": {}, "conflict": False}


def released(metadata: Document) -> Document:
    """A patch by which a Secret outlives the request: it has no owner any more.

    Args:
        metadata: the Secret's ``name``, ``namespace`` and ``uid``.
    """
    kept = {key: metadata[key] for key in ("name", "namespace", "uid")}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {**kept, "ownerReferences": None}}


def kept_made(kept: Document, result: Document) -> Document:
    """The plan after its Secret was created: what was made is to be released.

    Args:
        kept: of :func:`kept_plan`. result: the task that created it; one that failed made nothing.
    """
    made = (result.get("result") or {}).get("results") or [result]
    metadata = next((m["result"]["metadata"] for m in made if (m.get("result") or {}).get("metadata")), None)
    return {**kept, "release": released(metadata) if metadata else {}}
