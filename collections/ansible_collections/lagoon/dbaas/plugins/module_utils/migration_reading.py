# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a migration reads of a namespace: the old objects, the requests, and which names are taken."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking, migration, migration_names, names
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube, KubeError, core_path

OLD_GROUP = "/apis/mariadb.amazee.io/v1"


class NotReadableError(Exception):
    """A namespace that can't be worked on; the message is a sentence for a person, ``reason`` the report's word."""

    def __init__(self, message: str, reason: str = "NotFound") -> None:
        super().__init__(message)
        self.reason = reason


def read(kube: Kube, path: str) -> dict[str, Any] | None:
    """Read one object or a list; None where there is none of it.

    Args:
        kube: the API. path: its path.
    Raises:
        NotReadableError: the API didn't answer or refused, with what a person can do about it.
    """
    try:
        return kube.get(path)
    except KubeError as error:
        raise NotReadableError(lacking.answer(error), "KubernetesError") from None


def read_namespace(
    kube: Kube, namespace: str, settings: dict[str, Any], everywhere: list[dict[str, Any]]
) -> dict[str, Any]:
    """Read one namespace.

    Args:
        kube: the API. namespace: its name. settings: see :func:`migration.plan`. everywhere: all MariaDBConsumer
            objects that can be read.
    Returns:
        ``{namespace, consumers, requests, elsewhere, taken: {services, secrets}, seeds}``: which of the names
        that the migration wants belong to others, and which seed secrets are its own.
    Raises:
        NotReadableError: the API failed, or namespace or kind doesn't exist.
    """
    path = f"/api/v1/namespaces/{namespace}"
    if not names.LABEL.fullmatch(namespace) or read(kube, path) is None:
        raise NotReadableError("There is no such namespace.")
    consumers = read(kube, f"{OLD_GROUP}/namespaces/{namespace}/mariadbconsumers")
    requests = read(kube, f"{GROUP}/namespaces/{namespace}/databaserequests")
    if requests is None:
        raise NotReadableError("The cluster has no kind DatabaseRequest: apply config/crd first.")
    if consumers is None and settings["step"] == migration.MIGRATE:
        raise NotReadableError("The cluster has no kind MariaDBConsumer.")
    found = {
        "namespace": namespace,
        "consumers": (consumers or {}).get("items", []),
        "requests": requests["items"],
        "elsewhere": [c for c in everywhere if c["metadata"]["namespace"] != namespace],
    }
    return {**found, **names_in_use(kube, found, settings)}


def names_in_use(kube: Kube, found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """``taken`` and ``seeds`` of :func:`read_namespace`. Raises NotReadableError."""
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
            document = read(kube, core_path(found["namespace"], plural, name))
            if document and name == entry["seed"] and migration.consumer_of(document) == entry["consumer"]:
                seeds.append(name)
            elif document:
                taken[plural].append(name)
    return {"taken": taken, "seeds": seeds}


def read_everywhere(kube: Kube, namespaces: list[str]) -> tuple[list[dict[str, Any]], bool]:
    """The MariaDBConsumer objects that may name a database that another one names, too.

    Args:
        kube: the API. namespaces: those of the whole run.
    Returns:
        Those of the cluster, or of the namespaces alone where no more may be read; and whether it is all of them.
    """
    try:
        return kube.items(f"{OLD_GROUP}/mariadbconsumers"), True
    except KubeError:
        found = []
    for namespace in namespaces:
        if names.LABEL.fullmatch(namespace):
            try:
                found += kube.items(f"{OLD_GROUP}/namespaces/{namespace}/mariadbconsumers")
            except KubeError:
                continue  # its own entry says so
    return found, False


def read_all(kube: Kube, namespaces: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Read and plan several namespaces; one that can't be read doesn't stop the others.

    Args:
        kube: the API. namespaces: their names. settings: see :func:`migration.plan`, with
            ``namespaces``, all that the run works on.
    Returns:
        ``{entries, documents, whole}``: see :func:`migration.plan` and :func:`migration.documents`; whether the
        MariaDBConsumers of all the cluster were compared.
    """
    try:
        providers: list[dict[str, Any]] | None = kube.items(f"{GROUP}/databasemysqlproviders")
    except KubeError:
        providers = None  # an admin of namespaces alone may not read them; the operator will tell
    everywhere, whole = read_everywhere(kube, settings.get("namespaces", namespaces))
    entries, documents = [], []
    for namespace in namespaces:
        try:
            found = read_namespace(kube, namespace, settings, everywhere)
        except NotReadableError as error:
            entries.append(unread(namespace, error.reason, str(error)))
        else:
            planned = migration.plan(found, providers, settings)
            entries += planned
            documents += migration.documents(planned, found["consumers"], settings)
    return {"entries": entries, "documents": documents, "whole": whole}


def unread(namespace: str, reason: str, message: str) -> dict[str, Any]:
    """The entry of a namespace that couldn't be read."""
    empty = dict.fromkeys(("consumer", "request", "service", "seed", "scope", "database", "server"), "")
    return {"namespace": namespace, **empty, **migration.verdict("failed", reason, message), "shared": ""}
