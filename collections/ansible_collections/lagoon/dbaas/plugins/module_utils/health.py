# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Health of a provider's connections: results of its run in, status out."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, errors, sql

Dict = dict[str, Any]

#: What a failed login or statement means, for a person of the platform.
_MESSAGES = {
    "unavailable": "can't be reached or is busy ({number})",
    "provider": "the admin account or TLS must be mended ({number})",
    "blind": "the admin account lacks SELECT on *.*",
    "read_only": "read-only: the ledger can't be made here yet",
}


def lacks_ledger(results: list[Dict]) -> list[Dict]:
    """The connections that answered, may be written, and have no complete ledger.

    Args:
        results: of the looped task of the statements ``health``.
    """
    return [
        item["__dbaas_provider_connection"]
        for item in results
        if not item.get("failed")
        and int(item["query_result"][1][0]["tables_count"]) < 3
        and not int(item["query_result"][0][0]["read_only"])
    ]


def provider_found(read: Dict, results: list[Dict], made: list[Dict]) -> list[Dict]:
    """What a provider's run found of each connection.

    Args:
        read: what provider_read found. results: of the looped task ``health``. made: of the looped task ``ledger``.
    Returns:
        ``{name, hostname, enabled, status, databaseVersion, message, exposed}`` for each connection.
    """
    asked = {item["__dbaas_provider_connection"]["name"]: item for item in results}
    ledgers = {item["__dbaas_provider_connection"]["name"]: item for item in made}
    return [_found(c, asked.get(c["name"]), ledgers.get(c["name"])) for c in read["connections"]]


def _found(connection: Dict, result: Dict | None, ledger: Dict | None) -> Dict:
    entry: Dict = {
        "name": connection["name"],
        "hostname": connection["hostname"],
        "enabled": connection["enabled"],
        "status": "unavailable",
        "databaseVersion": "",
        "message": connection["problem"],
        "exposed": False,
    }
    if result is None:
        return entry
    came_to = errors.mysql_outcome(result, sql.statements("health"))
    if came_to["ok"]:
        server, tables, _users, exposed = (rows[0] for rows in result["query_result"])
        entry["databaseVersion"] = str(server["version"])[:64]
        entry["exposed"] = int(exposed["exposed"]) > 0
        if ledger is not None:
            came_to = errors.mysql_outcome(ledger, sql.statements("ledger"))
        elif int(tables["tables_count"]) < 3:
            came_to = {"ok": False, "kind": "read_only", "number": None}
        if not int(server["admin_sees"]):
            came_to = {"ok": False, "kind": "blind", "number": None}
        entry["message"] = "read-only" if int(server["read_only"]) else ""
    if came_to["ok"]:
        entry["status"] = "available"
    else:
        number = errors.number_words(came_to["number"])
        text = _MESSAGES.get(came_to["kind"], _MESSAGES["unavailable"])
        entry["message"] = text.format(number=number)
    return entry


def provider_status(old: Dict, found: list[Dict], generation: int, at: str) -> Dict:
    """A provider's status.

    Args:
        old: the status that it has. found: of :func:`provider_found`. generation: of its spec. at: the time.
    Returns:
        ``{conditions, observedGeneration, connectionStatus}``. Ready is True when every enabled connection is
        available; LedgerExposed when somebody's grant reaches the ledger's schema.
    """
    bad = [c["name"] for c in found if c["enabled"] and c["status"] != "available"]
    exposed = [c["name"] for c in found if c["exposed"]]
    wanted = [
        (
            "Ready",
            not bad,
            "ConnectionsUnavailable" if bad else "ConnectionsAvailable",
            f"Not available: {', '.join(bad)}." if bad else "Every enabled connection is available.",
        ),
        (
            "LedgerExposed",
            bool(exposed),
            "LedgerExposed" if exposed else "LedgerProtected",
            f"A grant of another account reaches the schema {sql.LEDGER} on: {', '.join(exposed)}. Narrow it."
            if exposed
            else "No grant on databases reaches the ledger.",
        ),
    ]
    built = []
    for kind, status, reason, message in wanted:
        before = conditions.find(old, kind)
        word = "True" if status else "False"
        built.append(
            {
                "type": kind,
                "status": word,
                "reason": reason,
                "message": message[:1024],
                "observedGeneration": generation,
                "lastTransitionTime": before["lastTransitionTime"] if before.get("status") == word else at,
            }
        )
    fields = ("name", "hostname", "status", "databaseVersion", "message")
    return {
        "conditions": built,
        "observedGeneration": generation,
        "connectionStatus": [{field: c[field] for field in fields} for c in found],
    }
