"""Write the generated tables of README.md and docs/.

``python -m dev.tables`` writes them, ``python -m dev.tables --check`` only says which file is out of date.
A table stands between two comments such as ``<!-- verdicts:begin -->`` and ``<!-- verdicts:end -->``.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dev.paths import ROOT

#: The pages with generated tables.
PAGES = ("README.md", "docs/seed.md")
#: A fact's value, in words for a reader.
PHRASES: Mapping[tuple[str, str], str] = {
    ("row", "mine"): "the ledger has a row of this request",
    ("namespace", "other"): "the seed names another namespace",
    ("secret", "invalid"): "a key of the seed secret is missing or can't be used",
    ("published", "foreign"): "a Service or Secret of the wanted name is somebody else's",
    ("connection", "none"): "no enabled connection of this scope has the seed's hostname and port",
    ("names", "reserved"): "database or username is the server's own or an operator's",
    ("lengths", "too_long"): "a name is longer than the server can hold",
    ("claim", "taken"): "another request owns the database or the account",
    ("login", "other_account"): "the login works, but as another account",
    ("login", "works"): "the login works",
    ("login", "refused"): "the login is refused",
    ("database", "present"): "the database exists",
    ("database", "missing"): "the database doesn't exist",
    ("use", "ok"): "the account may enter the database",
    ("use", "refused"): "the account may not enter the database",
    ("own", "yes"): "the account is this database's own",
    ("own", "no"): "the account isn't this database's own",
    ("account", "exists"): "an account or role of that name exists",
    ("exposed", "yes"): "another account's grant fits the database's name",
    ("exposed", "no"): "nothing of the two exists, and no other grant fits the name",
}
VERDICTS: Mapping[str, str] = {
    "resume": "go on from the row",
    "refuse": "refuse",
    "adopt": "**take over**",
    "create": "**create both**",
}


def verdicts(root: Path = ROOT) -> str:
    """Render the verdict table.

    Args:
        root: the checkout.

    Returns:
        A Markdown table, one line a row, in the order of judging.

    Raises:
        KeyError: a fact or verdict has no words here.
    """
    table: list[dict[str, Any]] = yaml.safe_load(
        (root / "roles/seed/vars/main.yml").read_text(encoding="utf-8")
    )["seed_verdict_table"]
    lines = ["| # | Found | Verdict | Reason |", "|---|---|---|---|"]
    for row in table:
        found = ", ".join(PHRASES[fact, value] for fact, value in row["when"].items())
        reason = f"`{row['reason']}`" if row["reason"] else ""
        lines.append(f"| {row['row']} | {found} | {VERDICTS[row['verdict']]} | {reason} |")
    return "\n".join(lines) + "\n"


TABLES: Mapping[str, Callable[[Path], str]] = {"verdicts": verdicts}


def regenerated(text: str, root: Path = ROOT) -> str:
    """Put the present tables into a page.

    Args:
        text: the page. root: the checkout that the tables come from.

    Returns:
        The page, with what stands between the marks replaced.

    Raises:
        ValueError: the page has no marks of any table, or not a pair.
    """
    found = 0
    for name, render in TABLES.items():
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
        first, *rest = text.split(begin)
        found += len(rest)
        pieces = [first]
        for piece in rest:
            _, mark, after = piece.partition(end)
            if not mark:
                raise ValueError(f"{begin.strip()} has no {end} behind it")
            pieces.append(render(root) + end + after)
        text = begin.join(pieces)
    if not found:
        raise ValueError("the page has no marks of a generated table, such as <!-- verdicts:begin -->")
    return text


def outdated(root: Path = ROOT) -> dict[str, str]:
    """Compare the pages with the tables.

    Args:
        root: the checkout.

    Returns:
        The pages that differ, by path, as they should be.
    """
    found = {}
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        new = regenerated(text, root)
        if new != text:
            found[page] = new
    return found


def main(arguments: Sequence[str]) -> int:
    """Write the tables, or compare them.

    Args:
        arguments: ``--check`` or nothing.

    Returns:
        Exit status: 1 where a page is out of date and wasn't written.
    """
    pages = outdated()
    for page, text in pages.items():
        if "--check" in arguments:
            print(f"{page} is out of date; write it with: python -m dev.tables")
        else:
            (ROOT / page).write_text(text, encoding="utf-8")
            print(f"{page}: written")
    return 1 if pages and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
