# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Connections of providers as the rest of the operator uses them."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils.seed_secret import normal_hostname

Connection = dict[str, Any]


def connections(providers: list[dict[str, Any]], scope: str, reference: dict[str, Any] | None) -> list[Connection]:
    """The connections that may hold a request's database.

    Args:
        providers: DatabaseMySQLProvider objects. scope: the request's.
        reference: ``observedDatabaseConnectionReference`` of the request, if any.
    Returns:
        Those of the scope, disabled ones too, and the one of the reference even where its provider's scope
        was changed since; ``{provider, name, hostname, port, enabled, username, replicas, tls, secret_ref,
        in_scope, referenced}``, ordered by name.
    """
    referenced = named(reference)
    found = []
    for provider in providers:
        if provider["metadata"].get("deletionTimestamp"):
            continue
        name = provider["metadata"]["name"]
        for entry in provider["spec"]["connections"]:
            in_scope = provider["spec"]["scope"] == scope
            is_referenced = (name, entry["name"]) == referenced
            if in_scope or is_referenced:
                found.append(
                    {
                        "provider": name,
                        "name": entry["name"],
                        "hostname": entry["hostname"],
                        "port": entry.get("port", 3306),
                        "enabled": entry.get("enabled", True),
                        "username": entry["username"],
                        "replicas": entry.get("replicaHostnames") or [],
                        "tls": entry.get("tls") or {},
                        "secret_ref": entry["passwordSecretRef"],
                        "in_scope": in_scope,
                        "referenced": is_referenced,
                    }
                )
    return sorted(found, key=lambda c: (c["provider"], c["name"]))


def named(reference: dict[str, Any] | None) -> tuple[str | None, str | None]:
    """Provider and name of the connection that a reference means; both None where there is none.

    Args:
        reference: ``observedDatabaseConnectionReference`` of a request, if any.
    """
    found = reference or {}
    return found.get("databaseObjectReference", {}).get("name"), found.get("name")


def placed_on(request: dict[str, Any]) -> tuple[str | None, str | None]:
    """Provider and name of the connection that a request's status names; both None where there is none.

    Args:
        request: as the readers give it.
    """
    return named(request["status"].get("observedDatabaseConnectionReference"))


def match(candidates: list[Connection], hostname: str, port: int) -> tuple[Connection | None, bool]:
    """The enabled connection of the scope that a seed's hostname and port name.

    Args:
        candidates: of :func:`connections`. hostname: in normal form. port: a number.
    Returns:
        The connection or None, and whether the hostname is a replica's.
    """
    usable = [c for c in candidates if c["in_scope"] and c["enabled"]]
    for connection in usable:
        if normal_hostname(connection["hostname"]) == hostname and connection["port"] == port:
            return connection, False
    return None, any(normal_hostname(r) == hostname for c in usable for r in c["replicas"])


def is_pinned(connection: Connection, pin: dict[str, Any] | None) -> bool:
    """Whether a connection is the one that ``spec.databaseConnectionReference`` names (none: any is)."""
    if not pin:
        return True
    return (connection["provider"], connection["name"]) == (
        pin["databaseObjectReference"]["name"],
        pin["name"],
    )


def tls_arguments(tls: dict[str, Any], ca_path: str | None) -> dict[str, Any]:
    """The TLS arguments of a ``community.mysql`` task for a connection.

    Args:
        tls: the connection's ``tls``. ca_path: where its CA certificate can be read, if it has one.
    Returns:
        A dict of ``ca_cert`` and ``check_hostname``, each only where the mode needs it: no argument means
        preferred, ``check_hostname: false`` required, with a CA verify-ca, a CA alone verify-identity.
    """
    mode = tls.get("mode", "preferred")
    if mode == "preferred":
        return {}
    if mode == "required":
        return {"check_hostname": False}
    arguments: dict[str, Any] = {"ca_cert": ca_path}
    if mode == "verify-ca":
        arguments["check_hostname"] = False
    return arguments


def reference_of(connection: Connection) -> dict[str, Any]:
    """A connection as ``observedDatabaseConnectionReference`` names it."""
    return {
        "databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": connection["provider"]},
        "name": connection["name"],
    }
