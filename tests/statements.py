"""The statements that a server's general log holds, against the closed list of the operator's forms."""

import re
from collections.abc import Collection
from itertools import zip_longest

from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

#: What a driver sends by itself, and the settings of a session.
SETTINGS = [
    r"SET AUTOCOMMIT = [01]",
    r"SET NAMES utf8mb4",
    r"SET SESSION `(lock_wait_timeout|innodb_lock_wait_timeout)` = 5",
    r"COMMIT",
    r"ROLLBACK",
]
# A text ends at a quote that neither a backslash nor another quote makes part of it; under NO_BACKSLASH_ESCAPES a
# backslash is a sign like any other.
_VALUE = r"(?:'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|NULL|-?\d+)"
_NAME = r"`(?:[^`]|``)*`"
_LINE = re.compile(rb"^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *(\d+) ([A-Z][A-Za-z ]*)(?:\t|$)", re.MULTILINE)


def forms() -> list[re.Pattern[str]]:
    """Every statement form of the operator as a pattern of what the server's log shows of it."""
    marks = {
        r"%\((\w+)\)s": _VALUE,
        r"\{(?:database|pattern)\}": _NAME,
        r"\{privileges\}": re.escape(", ".join(sql.DATABASE_PRIVILEGES)),
    }
    found = [re.compile(text) for text in SETTINGS]
    for statements in sql.STATEMENTS.values():
        for statement in statements:
            pattern, rest = "", statement.replace("%%", "%")
            while rest:
                hits = [(m.start(), m.end(), put) for mark, put in marks.items() if (m := re.search(mark, rest))]
                if not hits:
                    pattern += re.escape(rest)
                    break
                start, end, put = min(hits)
                pattern += re.escape(rest[:start]) + put
                rest = rest[end:]
            found.append(re.compile(pattern, re.DOTALL))
    return found


def unknown_statements(content: bytes, admins: Collection[str]) -> tuple[int, set[str]]:
    """Look through a general log for what some accounts sent.

    Args:
        content: of the log.
        admins: the accounts' names.

    Returns:
        How many statements they sent; and those of no known form, without their values.
    """
    heads = list(_LINE.finditer(content))
    known, admin, seen = forms(), set(), 0
    unknown: set[str] = set()
    for head, following in zip_longest(heads, heads[1:]):
        text = content[head.end() : following.start() if following else len(content)].decode("utf-8", "replace")
        number, command = head.group(1), head.group(2)
        if command == b"Connect":
            admin.discard(number)
            if text.rpartition("@")[0] in admins:
                admin.add(number)
        elif command == b"Query" and number in admin:
            seen += 1
            statement = text.removesuffix("\n")
            if not any(form.fullmatch(statement) for form in known):
                unknown.add(re.sub(r"'[^']*'", "'…'", statement)[:200])
        elif number in admin and command not in (b"Quit", b"Query"):
            unknown.add(command.decode())
    return seen, unknown
