# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the servers have, as the looks at a whole platform read it: results in, rows with their servers out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, facts, names, sql

Dict = dict[str, Any]
#: Why a server that has no usable connection wasn't asked.
_NOT_ASKED: Dict = {"ok": False, "kind": "provider", "number": None}


def to_ask(read: Dict) -> list[Dict]:
    """The servers that can be asked: without a login file the driver would try a login of its own.

    Args:
        read: what platform_read found.
    """
    return [server for server in read["servers"] if not server["connection"]["problem"]]


def asked(read: Dict, results: list[Dict], form: str) -> list[Dict]:
    """What each server of the platform answered.

    Args:
        read: what platform_read found. results: of the looped task. form: ``inventory`` or ``survey``.
    Returns:
        ``{server, connection, outcome, answer, sizes, problem}`` each; ``problem`` in words where there is no
        usable answer, ``answer`` is None then.
    """
    queries = sql.statements(form)
    by_name = {item["__dbaas_platform_server"]["name"]: item for item in results}
    entries = []
    for server in read["servers"]:
        item = by_name.get(server["name"])
        came_to = errors.mysql_outcome(item, queries) if item else _NOT_ASKED
        answer = facts.keyed(item, form) if item and came_to["ok"] else None
        problem = _problem(server, came_to, answer)
        entry = {"server": server, "connection": server["connection"], "outcome": came_to, "problem": problem}
        entries.append({**entry, "answer": None if problem else answer})
    return entries


def _problem(server: Dict, came_to: Dict, answer: Dict | None) -> str:
    if server["connection"]["problem"]:
        return str(server["connection"]["problem"])
    if came_to["kind"] == "ledger":
        return "it has no ledger yet"
    if answer is None:
        return f"it can't be read ({errors.number_words(came_to['number'])})"
    if not int(answer["server"][0]["admin_sees"]):
        return "its admin account lacks SELECT on *.*"
    version = answer["ledger"][0]["version"] if answer["ledger"] else None
    if version is None:
        return "it has no ledger yet"
    return "" if int(version) <= sql.LEDGER_VERSION else "a newer operator wrote its ledger"


def rows(entries: list[Dict], cluster: str) -> Iterator[tuple[Dict, Dict]]:
    """Every row of this cluster with the entry of its server.

    Args:
        entries: of :func:`asked`. cluster: the cluster's id.
    """
    for entry in entries:
        for row in (entry["answer"] or {}).get("rows", []):
            if row["cluster"] == cluster:
                yield entry, row


def owner_of(entry: Dict, database: str) -> Dict:
    """The owner account of a row, ``{user, host}``; ``{}`` where the ledger has none."""
    accounts = entry["answer"]["accounts"]
    return next((a for a in accounts if a["database_name"] == database and a["purpose"] == "owner"), {})


def of_account(answer: Dict, user: str, host: str) -> Dict:
    """The part of an answer that ``facts.rights`` needs for one account."""
    grantee = f"'{user}'@'{host}'"
    return {
        "grants": [g for g in answer["grants"] if (g["User"], g["Host"]) == (user, host)],
        "other_grants": [g for g in answer["other_grants"] if (g["user"], g["host"]) == (user, host)],
        "global_grants": [g for g in answer["global_grants"] if g["grantee"] == grantee],
    }


def pattern_fits(pattern: str, database: str) -> bool:
    r"""Whether a grant's pattern opens a database: ``%`` and ``_`` are wildcards, ``\`` escapes.

    Args:
        pattern: the ``Db`` column of ``mysql.db``. database: a name.
    """
    parts = re.findall(r"\\[\\_%]|.", pattern, re.DOTALL)
    words = {"%": ".*", "_": "."}
    text = "".join(words.get(part) or re.escape(part[-1] if len(part) > 1 else part) for part in parts)
    return re.fullmatch(text, database, re.DOTALL) is not None


def has_wildcard(pattern: str) -> bool:
    """Whether a grant's pattern can open more than the one name that it spells."""
    return re.search(r"[_%]", re.sub(r"\\[\\_%]", "", pattern)) is not None


def unowned_databases(entry: Dict) -> list[str]:
    """The databases of a server that no ledger row has, without the server's own and the operators'.

    Args:
        entry: of :func:`asked`, with an answer.
    """
    owned = {row["database_name"] for row in entry["answer"]["rows"]}
    every = sorted(database["name"] for database in entry["answer"]["databases"])
    return [name for name in every if name not in owned and not names.is_reserved(name, "-", "")]


def unowned_accounts(entry: Dict) -> list[Dict]:
    """The accounts of a server that no ledger row has, without the server's own and the connections' admins.

    Args:
        entry: of :func:`asked`, with an answer.
    Returns:
        ``{user, host}`` each.
    """
    owned = {(account["user"], account["host"]) for account in entry["answer"]["accounts"]}
    admins = {connection["username"] for connection in entry["server"]["connections"]}
    return sorted(
        (
            {"user": u["user"], "host": u["host"]}
            for u in entry["answer"]["users"]
            if (u["user"], u["host"]) not in owned
            and u["user"] not in admins
            and not names.is_reserved("-", u["user"], "\0")
        ),
        key=lambda u: (u["user"], u["host"]),
    )
