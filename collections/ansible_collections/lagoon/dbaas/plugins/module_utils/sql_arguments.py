# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The arguments of statements: whole dicts, so that no text of a tenant is ever a template."""

from __future__ import annotations

from typing import Any

Dict = dict[str, Any]


def row_arguments(read: Dict, row: Dict, login: Dict | None = None) -> Dict:
    """The arguments of every statement about a row (or a claim), numbers as numbers.

    Args:
        read: what request_read found. row: ``{database, username, host, origin}``.
        login: of :func:`login_of`, where a statement sets a password.
    """
    request = read["request"]
    return {
        **{key: row[key] for key in ("database", "username", "host", "origin")},
        "cluster": read["cluster"],
        "namespace": request["namespace"],
        "request": request["name"],
        "request_uid": request["uid"],
        "fence": _above(read["fence"], row.get("fence", 0)),
        "password": (login or {}).get("password", ""),
    }


def _above(fence: int, taken: int) -> int:
    # A clock that runs behind must not keep a run out; the run's own last bits keep two such runs apart.
    return fence if fence > taken else ((taken >> 10) + 1) << 10 | (fence & 1023)


def names_arguments(names: Dict) -> Dict:
    r"""The arguments of the statements that only read or log in.

    Whole dicts are handed to tasks, never single texts of a tenant: core 2.18 reads a template whose text looks
    like a list, a dict or a bool as one.

    Args:
        names: ``{database, username}``: a seed or a row.
    Returns:
        ``{database, username, escape}``; ``escape`` is the ``\`` of LIKE, which NO_BACKSLASH_ESCAPES lacks.
    """
    return {"database": names["database"], "username": names["username"], "escape": "\\"}
