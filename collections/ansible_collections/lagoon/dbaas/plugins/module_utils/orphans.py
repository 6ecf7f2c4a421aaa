# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What nobody looks after: databases and accounts without a row, rows without a request, rows of a former request."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, inventory, providers, tables

Dict = dict[str, Any]


def sizes(results: list[Dict]) -> dict[str, dict[str, Dict]]:
    """How large the databases of each server are: server -> database -> ``{tables, bytes}``.

    Args:
        results: of the looped task of the statement ``sizes``; one that failed has none.
    """
    return {
        item["__dbaas_platform_server"]["name"]: {
            row["name"]: {"tables": int(row["tables_count"]), "bytes": int(row["bytes"])}
            for row in item["query_result"][0]
        }
        for item in results
        if not item.get("failed")
    }


def _unlisted(read: Dict, entries: list[Dict]) -> list[str]:
    """The connections that a request's status names and no provider lists, as ``PROVIDER/NAME``."""
    listed = {(c["provider"], c["name"]) for entry in entries for c in entry["server"]["connections"]}
    placed = {providers.placed_on(request) for request in read["requests"]}
    return sorted("/".join(map(str, named)) for named in placed - listed if all(named))


def orphans(read: Dict, entries: list[Dict], measured: dict[str, dict[str, Dict]]) -> Dict:
    """The orphans by kind.

    Args:
        read: what platform_read found. entries: of ``inventory.asked``. measured: of :func:`sizes`.
    Returns:
        ``{databases, accounts, rows, requests, unread}``, lists of dicts: databases and accounts on a server that
        no cluster's ledger row has; rows of this cluster whose UID no request has; requests of whose namespace and
        name there is a row with another UID; servers that told nothing, connections among them that a request's
        status names and no provider lists.
    """
    found: Dict = {"databases": [], "accounts": [], "rows": [], "requests": [], "unread": []}
    living = {request["uid"] for request in read["requests"]}
    for entry in entries:
        server = entry["server"]["name"]
        if entry["answer"] is None:
            found["unread"].append({"server": server, "problem": entry["problem"]})
            continue
        large = measured.get(server, {})
        databases = inventory.unowned_databases(entry)
        found["databases"] += [{"server": server, "database": name, **_size(large, name)} for name in databases]
        for account in inventory.unowned_accounts(entry):
            grants = inventory.of_account(entry["answer"], account["user"], account["host"])["grants"]
            reaches = [d["name"] for d in entry["answer"]["databases"] if _reaches(grants, d["name"])]
            found["accounts"].append({"server": server, **account, "databases": sorted(reaches)})
    problem = "requests are placed there, and no provider lists it"
    found["unread"] += [{"server": name, "problem": problem} for name in _unlisted(read, entries)]
    for entry, row in inventory.rows(entries, read["cluster"]):
        if row["request_uid"] not in living:
            large = measured.get(entry["server"]["name"], {})
            fields = {key: row[key] for key in ("namespace", "request", "request_uid", "state", "origin", "created_at")}
            name = row["database_name"]
            shown = {"server": entry["server"]["name"], "database": name, **fields, **_size(large, name)}
            found["rows"].append(shown)
            found["requests"] += [
                {**shown, "uid": request["uid"]}
                for request in read["requests"]
                if (request["namespace"], request["name"]) == (row["namespace"], row["request"])
            ]
    return found


def _size(large: dict[str, Dict], database: str) -> Dict:
    # A database without a table isn't in the server's answer.
    return large.get(database, {"tables": 0, "bytes": 0})


def _reaches(grants: list[Dict], database: str) -> bool:
    return any(inventory.pattern_fits(grant["Db"], database) for grant in grants)


def report(read: Dict, entries: list[Dict], measured: dict[str, dict[str, Dict]]) -> Dict:
    """The orphans as platform_report shows and writes them; arguments as for :func:`orphans`.

    It counts as failed where there is one, and where a server of an enabled connection told nothing, and so may hold
    some: whatever runs it at night goes by the exit status.
    """
    found = orphans(read, entries, measured)
    parts: list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]] = [
        (
            "Databases that no ledger row has",
            ("SERVER", "DATABASE", "TABLES", "SIZE"),
            [(d["server"], d["database"], d["tables"], tables.size(d["bytes"])) for d in found["databases"]],
        ),
        (
            "Accounts that no ledger row has",
            ("SERVER", "ACCOUNT", "HOST", "CAN ENTER"),
            [(a["server"], a["user"], a["host"], ", ".join(a["databases"]) or "-") for a in found["accounts"]],
        ),
        (
            "Ledger rows that no request has",
            ("SERVER", "DATABASE", "TABLES", "SIZE", "FORMER REQUEST", "STATE", "ORIGIN", "SINCE"),
            [
                (
                    r["server"],
                    r["database"],
                    r["tables"],
                    tables.size(r["bytes"]),
                    f"{r['namespace']}/{r['request']}",
                    r["state"],
                    r["origin"],
                    r["created_at"],
                )
                for r in found["rows"]
            ],
        ),
        (
            "Requests whose row is another UID's",
            ("REQUEST", "UID", "ROW'S UID", "SERVER", "DATABASE"),
            [
                (f"{r['namespace']}/{r['request']}", r["uid"], r["request_uid"], r["server"], r["database"])
                for r in found["requests"]
            ],
        ),
        (
            "Servers that told nothing",
            ("SERVER", "WHY"),
            [(u["server"], u["problem"]) for u in found["unread"]],
        ),
    ]
    lines = []
    for title, columns, rows in parts:
        lines += [f"{title}: {len(rows)}", *(f"  {line}" for line in tables.table(columns, rows)), ""]
    total = sum(item["bytes"] for kind in ("databases", "rows") for item in found[kind])
    summary = (
        f"{len(found['databases'])} databases and {len(found['accounts'])} accounts without a row,"
        f" {len(found['rows'])} rows without a request, {len(found['requests'])} requests whose row is another's;"
        f" {tables.size(total)} in all. Nothing was changed."
    )
    data = {"cluster": read["cluster"], "at": conditions.now(), **found}
    unread = any(entry["problem"] and entry["server"]["enabled"] for entry in entries)
    incomplete = unread or bool(_unlisted(read, entries))
    some = any(found[kind] for kind in ("databases", "accounts", "rows", "requests"))
    return {"lines": lines, "summary": summary, "failed": some or incomplete, "data": data}
