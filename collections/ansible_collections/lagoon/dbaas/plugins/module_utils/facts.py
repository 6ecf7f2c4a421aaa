# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the server answered, turned into facts: rows in, words of the verdict table out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import names, sql

#: Without these an account isn't the owner of its database.
OWNER_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX")

Row = dict[str, Any]


def keyed(result: dict[str, Any], keys: tuple[str, ...] | str) -> dict[str, list[Row]]:
    """The row sets of one mysql_query by name.

    Args:
        result: the registered result. keys: the names in the order of the statements, or ``survey``, ``facts`` or
        ``inventory``.
    """
    if isinstance(keys, str):
        keys = {"survey": sql.SURVEY, "facts": sql.FACTS, "inventory": sql.INVENTORY}[keys]
    return dict(zip(keys, result["query_result"], strict=True))


def _is_own(pattern: str, database: str) -> bool:
    # The older operator granted the name unescaped: both spellings count as this database's.
    return pattern == database or sql.unescape_pattern(pattern) == database


def rights(answer: dict[str, list[Row]], user: str, host: str, database: str) -> dict[str, bool]:
    """What an account may do on a database and elsewhere.

    Args:
        answer: rows by name (``grants``, ``other_grants``, ``global_grants``).
        user, host: the account. database: the server's own spelling.
    Returns:
        ``{owner: bool, full: bool, elsewhere: bool}``: has what an owner needs on this database; has all that
        the operator grants; has any right that isn't this database's.
    """
    grants = [g for g in answer["grants"] if g["User"] == user and g["Host"] == host]
    own = [g for g in grants if _is_own(g["Db"], database)]
    other = [g for g in answer["other_grants"] if g["user"] == user and g["host"] == host]
    grantee = f"'{user}'@'{host}'"

    def has(privileges: Iterable[str]) -> bool:
        # Several rows may spell the same name and the server reads one of them: each must be enough.
        columns = [sql.DATABASE_PRIVILEGES[privilege] for privilege in privileges]
        return bool(own) and all(grant.get(column, "N") == "Y" for grant in own for column in columns)

    return {
        "owner": has(OWNER_PRIVILEGES),
        "full": has(sql.DATABASE_PRIVILEGES),
        "elsewhere": len(own) < len(grants)
        or any(not _is_own(row["pattern"], database) for row in other)
        or any(row["grantee"] == grantee for row in answer["global_grants"]),
    }


def _yes(value: bool, words: tuple[str, str] = ("yes", "no")) -> str:
    return words[0] if value else words[1]


def server_facts(answer: dict[str, list[Row]], seed: Row, admin: str, me: Row) -> dict[str, Any]:
    """The facts of rows 5 to 7, and what the later rows need from the admin account.

    Args:
        answer: the row sets of the statements ``facts``.
        seed: ``{database, username}``. admin: the connection's user name. me: ``{cluster, request_uid}``.
    Returns:
        ``{facts: {fact: word}, database_name: str, accounts: int, too_long: str, tls: bool, ssl_accounts: bool}``;
        ``database_name`` is the server's spelling, ``too_long`` the key of the name that doesn't fit.
    """
    settings = answer["names"][0]
    database, username = settings["database_name"], seed["username"]
    users = [u for u in answer["users"] if u["user"] == username]
    fresh = not answer["databases"] and not users
    too_long = ""
    if len(username) > int(settings["user_length"]):
        too_long = "username"
    elif len(database) > int(settings["pattern_length"]) or (
        fresh and len(sql.escape_pattern(database)) > int(settings["pattern_length"])
    ):
        too_long = "database"
    others = [c for c in answer["claims"] if (c["cluster"], c["request_uid"]) != (me["cluster"], me["request_uid"])]
    return {
        "facts": {
            "names": _yes(names.is_reserved(database, username, admin), ("reserved", "ordinary")),
            "lengths": _yes(bool(too_long), ("too_long", "fit")),
            "claim": _yes(bool(others), ("taken", "free")),
            "database": _yes(bool(answer["databases"]), ("present", "missing")),
            "account": _yes(bool(users), ("exists", "none")),
            "exposed": _yes(bool(answer["exposures"])),
        },
        "database_name": database,
        "accounts": len(users),
        "too_long": too_long,
        "tls": any(row.get("Value") for row in answer["tls"]),
        "ssl_accounts": any(u["ssl_type"] for u in users),
    }


def login_facts(outcome: dict[str, Any], result: dict[str, Any], server: dict[str, Any]) -> dict[str, Any]:
    """The facts of one login as the seed's account.

    Args:
        outcome: of ``mysql_outcome(..., 'seed')``. result: the task's result. server: of :func:`server_facts`.
    Returns:
        ``{facts: {login[, use]}, host: str|None, kind: str}``; ``facts`` is empty where the login told nothing
        (``kind`` then says why: ``unavailable`` or ``provider``). ``login`` alone, as ``works``, where the
        database is missing and USE wasn't tried.
    """
    if outcome["ok"]:
        found: dict[str, Any] = {"login": "works"}
        if server["facts"]["database"] == "present":
            found["use"] = "ok"
        return {"facts": found, "host": result["query_result"][0][0]["host"], "kind": "ok"}
    kind = outcome["kind"]
    if kind == "other_account" and outcome["index"] == 0:
        return {"facts": {"login": "other_account"}, "host": None, "kind": kind}
    if kind == "no_access" and outcome["index"] == 1:
        return {"facts": {"login": "works", "use": "refused"}, "host": None, "kind": kind}
    if kind == "refused":
        if server["ssl_accounts"] and not server["tls"]:
            # The account demands TLS and the connection has none: that is the provider's to mend.
            return {"facts": {}, "host": None, "kind": "provider"}
        return {"facts": {"login": "refused"}, "host": None, "kind": kind}
    return {"facts": {}, "host": None, "kind": "provider" if kind == "provider" else "unavailable"}
