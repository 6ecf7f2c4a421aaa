"""Passwords of which each broke somebody's program, by what is special about them."""

from typing import Any

import pytest

PASSWORDS = {
    "hash-mark": "^!#}",
    "address": "p@ss:/w?d",
    "quotes": "a'b\"c",
    "backticks": "`x`",
    "backslashes": "back\\slash\\",
    "shell": "$HOME $(id)",
    "percent": "100%s %d %%",
    "any-alphabet": "ü€😀",
    "blank-first": " geheim",
    "blank-last": "geheim ",
    "one": "1",
    "longest": "x" * 255,
    "backslash-last": "a\\",
    "statement": "a'; DROP USER x; -- ",
    "latin": "pässwörd",
    "letter": "e",
    "error-number": "1045",
    "user-name": "same-as-user",
    "database-name": "same-as-database",
    "part-of-user": "art-of-us",
    "part-of-database": "art-of-data",
    "list": "[1, 2]",
    "bool": "True",
    "config-file": "#x;[client]=",
}


def parameters(*more: str) -> list[Any]:
    """All of them as a test's parameters.

    Args:
        *more: further ones, which count as of the same case.

    Returns:
        The parameters, with P1 in their ids.
    """
    given = [pytest.param(text, id=f"P1-{name}") for name, text in PASSWORDS.items()]
    return given + [pytest.param(text, id=f"P1-{number}") for number, text in enumerate(more)]
