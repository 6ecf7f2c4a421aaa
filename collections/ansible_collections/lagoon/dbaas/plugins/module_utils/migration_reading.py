# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a migration reads of a namespace: the old objects, the requests, and which names are taken."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import migration, migration_names
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube, KubeError, core_path

OLD_GROUP = "/apis/mariadb.amazee.io/v1"
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class NotReadableError(Exception):
    """A namespace that can't be worked on; the message is a sentence for a person."""


def read_namespace(kube: Kube, namespace: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Read one namespace.

    Args:
        kube: the API. namespace: its name. settings: see :func:`migration.plan`.
    Returns:
        ``{namespace, consumers, requests, taken: {services, secrets}, seeds}``: which of the names that the migration
        wants belong to others, and which seed secrets are its own.
    Raises:
        KubeError: the API failed. NotReadableError: namespace or kind doesn't exist.
    """
    if not _NAMESPACE.fullmatch(namespace) or kube.get(f"/api/v1/namespaces/{namespace}") is None:
        raise NotReadableError("There is no such namespace.")
    consumers = kube.get(f"{OLD_GROUP}/namespaces/{namespace}/mariadbconsumers")
    requests = kube.get(f"{GROUP}/namespaces/{namespace}/databaserequests")
    if requests is None:
        raise NotReadableError("The cluster has no kind DatabaseRequest: apply config/crd first.")
    if consumers is None and settings["step"] == migration.MIGRATE:
        raise NotReadableError("The cluster has no kind MariaDBConsumer.")
    found = {
        "namespace": namespace,
        "consumers": (consumers or {}).get("items", []),
        "requests": requests["items"],
    }
    return {**found, **names_in_use(kube, found, settings)}


def names_in_use(kube: Kube, found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """``taken`` and ``seeds`` of :func:`read_namespace`. Raises KubeError."""
    taken: dict[str, list[str]] = {"services": [], "secrets": []}
    seeds = []
    requests = {r["metadata"]["name"] for r in found["requests"]}
    for consumer in found["consumers"]:
        entry = migration.new_entry(found["namespace"], consumer, settings)
        wanted = [("secrets", entry["seed"])]
        if entry["request"] not in requests:
            wanted += [("services", entry["service"]), ("secrets", entry["request"])]
        for plural, name in wanted:
            if not migration_names.SERVICE_NAME.fullmatch(name.removesuffix("-seed")):
                continue  # the checks say so; it must not become part of a path
            document = kube.get(core_path(found["namespace"], plural, name))
            if document and name == entry["seed"] and migration.consumer_of(document) == entry["consumer"]:
                seeds.append(name)
            elif document:
                taken[plural].append(name)
    return {"taken": taken, "seeds": seeds}


def read_all(kube: Kube, namespaces: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Read and plan several namespaces; one that can't be read doesn't stop the others.

    Args:
        kube: the API. namespaces: their names. settings: see :func:`migration.plan`.
    Returns:
        ``{entries, documents}``: see :func:`migration.plan` and :func:`migration.documents`.
    """
    try:
        providers: list[dict[str, Any]] | None = kube.items(f"{GROUP}/databasemysqlproviders")
    except KubeError:
        providers = None  # an admin of namespaces alone may not read them; the operator will tell
    entries, documents = [], []
    for namespace in namespaces:
        try:
            found = read_namespace(kube, namespace, settings)
        except NotReadableError as error:
            entries.append(unread(namespace, "NotFound", str(error)))
        except KubeError as error:
            message = f"The Kubernetes API answered {error.status or 'nothing'}; the namespace was left alone."
            entries.append(unread(namespace, "KubernetesError", message))
        else:
            planned = migration.plan(found, providers, settings)
            entries += planned
            documents += migration.documents(planned, found["consumers"], settings)
    return {"entries": entries, "documents": documents}


def unread(namespace: str, reason: str, message: str) -> dict[str, Any]:
    """The entry of a namespace that couldn't be read."""
    empty = dict.fromkeys(("consumer", "request", "service", "seed", "scope", "database", "server"), "")
    return {"namespace": namespace, **empty, **migration.verdict("failed", reason, message)}
