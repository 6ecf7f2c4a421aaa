# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a failed ``community.mysql.mysql_query`` means: the driver's number, read in one place.

The module has no field for the number; it stands in its message, behind text that may hold a tenant's.
So the known prefix is matched from the start of the message and the number is read right behind it:
nothing is ever searched for. What a number means is looked up in one table per kind of login.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

#: Number -> what it means to a login or a statement of the admin account. Anything else: "unavailable".
ADMIN_ERRORS: dict[int, str] = {
    **dict.fromkeys((1045, 1698, 1044, 1142, 1143, 1227, 1410, 1133, 1290, 3159), "provider"),
    **dict.fromkeys((1524, 2059, 1820, 1862, 3118, 4151), "provider"),
    **dict.fromkeys((1049, 1146), "ledger"),
    1062: "claimed",
    **dict.fromkeys((1819, 3638), "policy"),
    **dict.fromkeys((1059, 1102, 1300, 1366, 1406, 1470, 13, 1006), "name"),
    **dict.fromkeys((1007, 1396), "again"),
    **dict.fromkeys((1008, 1141), "gone"),
    1242: "stale",
    **dict.fromkeys((1205, 1213), "locked"),
    1290: "provider",
}

#: The same for the login as a seed's account: "refused" and "no_access" are facts, all else waits.
SEED_ERRORS: dict[int, str] = {
    **dict.fromkeys((1045, 1698, 1524, 2059, 1820, 1862, 3118, 4151), "refused"),
    **dict.fromkeys((1044, 1049, 1142, 1227), "no_access"),
    3159: "provider",
    1242: "other_account",
}

#: What kept a seed's account out, where the number alone tells.
LOGIN_WORDS: dict[int, str] = {
    **dict.fromkeys((1820, 1862), "the account's password has expired"),
    **dict.fromkeys((3118, 4151), "the account is locked"),
    **dict.fromkeys((1524, 2059), "the account's authentication plugin isn't available"),
    1698: "the account logs in by its system user only",
}
#: What else it may be.
LOGIN_GUESS = (
    "the password may be wrong, the account may not be allowed from the operator's address, or an anonymous account"
    " may stand before it"
)

_STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ARGUMENTS = r"(?:None|\{(?:[^'\"{}]|" + _STRING + r")*\})"
_CONNECT = re.compile(
    r"unable to connect to database, check login_user and login_password are correct or \S* has the"
    r" credentials\. Exception message: "
)
_NUMBER = re.compile(r"\((\d+), ")
# Certificate and TLS failures come as 2003 or 2026; only the driver's words tell them apart. They stand in
# brackets behind the host's name, which holds none, or begin the text.
_TLS = re.compile(r"[^(]*\((?:\[SSL|.*certificate)|.?SSL is required", re.IGNORECASE)
# 1006 with "errno: 28" is a full disk: the server's trouble, not the name's. It ends the text, behind the name.
_DISK_FULL = re.compile(r"\(errno: 28\b[^()]*\)\S{0,2}$")


def _number(text: str) -> tuple[int | None, str]:
    found = _NUMBER.match(text)
    return (int(found.group(1)), text[found.end() :]) if found else (None, text)


def mysql_error(result: dict[str, Any], queries: list[str]) -> dict[str, Any]:
    """Where a failed mysql_query failed, and with which number.

    Args:
        result: the registered result of the task, or one item of a loop.
        queries: the statements that were sent.
    Returns:
        ``{phase: connect|statement|unknown, index: int|None, number: int|None, text: str}``; ``text`` is the
        driver's own and must not leave this file.
    """
    message = str(result.get("msg", ""))
    found = _CONNECT.match(message)
    if found:
        number, text = _number(message[found.end() :])
        return {"phase": "connect", "index": None, "number": number, "text": text}
    for index, query in enumerate(queries):
        found = re.match(
            "Cannot execute SQL '" + re.escape(query) + r"' args \[" + _ARGUMENTS + r"\]: ",
            message,
            re.DOTALL,
        )
        if found:
            number, text = _number(message[found.end() :])
            return {"phase": "statement", "index": index, "number": number, "text": text}
    return {"phase": "unknown", "index": None, "number": None, "text": ""}


def mysql_outcome(result: dict[str, Any], queries: list[str], login: str = "admin") -> dict[str, Any]:
    """What a mysql_query came to.

    Args:
        result: the registered result of the task, or one item of a loop.
        queries: the statements that were sent.
        login: ``admin`` or ``seed``: whose login it was, and so which table holds.
    Returns:
        ``{ok: bool, kind: str, number: int|None, phase: str, index: int|None}``; ``kind`` is ``ok``, one of
        the tables' words, or ``unavailable``.
    Raises:
        ValueError: the task neither failed nor brought results (skipped by ``--check``, say): a bug of
        the caller, never a fact.
    """
    if not result.get("failed"):
        if "query_result" not in result:
            raise ValueError("a database probe brought no result: it was skipped or never sent")
        return {"ok": True, "kind": "ok", "number": None, "phase": "", "index": None}
    error = mysql_error(result, queries)
    number, text = error["number"], error.pop("text")
    kind = (ADMIN_ERRORS if login == "admin" else SEED_ERRORS).get(number or 0, "unavailable")
    if number in (2003, 2026) and _TLS.match(text):
        kind = "provider"
    elif number is None and error["phase"] == "connect":
        kind = "provider"  # a library is missing: the driver says so without a number
    elif kind == "stale" and error["index"] is not None and queries[error["index"]] == sql.WRITABLE:
        kind = "read_only"
    elif number == 1006 and _DISK_FULL.search(text):
        kind = "unavailable"
    elif login == "seed" and kind == "no_access" and error["phase"] == "connect":
        kind = "unavailable"  # can't be: the login names no database
    return {"ok": False, "kind": kind, **error}


def change_outcome(result: dict[str, Any], queries: list[str], check: bool) -> dict[str, Any]:
    """What statements that change a server came to; in a plan they weren't sent, and count as taken.

    Args:
        result, queries: as for :func:`mysql_outcome`. check: it is a plan.
    """
    if check:
        return {"ok": True, "kind": "ok", "number": None, "phase": "", "index": None}
    return mysql_outcome(result, queries)


#: What an admin's failure means for the request, where the step itself knows nothing better.
WAIT_REASONS = {
    "provider": "ProviderError",
    "ledger": "LedgerMissing",
    "unavailable": "ConnectionUnavailable",
    "locked": "ConnectionUnavailable",
    "stale": "Creating",
    "read_only": "ServerReadOnly",
    "again": "Creating",
    "claimed": "Creating",
    "gone": "Creating",
    "policy": "PasswordPolicy",
    "name": "ProviderError",
}


def number_words(number: int | None) -> str:
    """How a sentence tells an error's number."""
    return "no number" if number is None else f"error {number}"


def wait_outcome(outcome: dict[str, Any], connection: str) -> dict[str, Any]:
    """The wait that a failed statement of the admin account leads to.

    Args:
        outcome: of :func:`mysql_outcome`.
        connection: the connection's name, for the sentence.
    Returns:
        ``{}`` where nothing failed, else ``{reason, params: {connection, number}}``.
    """
    if outcome["ok"]:
        return {}
    kind, words = outcome["kind"], number_words(outcome["number"])
    return {
        "reason": WAIT_REASONS.get(kind, "ConnectionUnavailable"),
        "params": {"connection": connection, "number": "it is read-only" if kind == "read_only" else words},
    }
