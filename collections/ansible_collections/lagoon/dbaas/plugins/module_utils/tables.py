# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tables for a person's screen, where names of tenants can't move its cursor; and files for programs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def printable(text: object) -> str:
    """A text with everything that a screen would act upon written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def size(count: int) -> str:
    """A number of bytes in the unit that leaves it below 1024."""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.1f} {_UNITS[unit]}" if unit else f"{count} B"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a table, its columns as wide as what stands in them.

    Args:
        columns: the heads. rows: a cell for each.
    Returns:
        The lines, none where there are no rows.
    """
    if not rows:
        return []
    cells = [list(columns), *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def write_report(file: str, data: object) -> str:
    """Write a report's file as JSON, whole or not at all, for its owner's eyes alone; one that is there is replaced.

    Args:
        file: where; a relative path begins where ansible-playbook was started, ``~`` is a home. data: what.
    Returns:
        Why it couldn't be written, as a sentence; "" where it was.
    """
    path = Path(file).expanduser().absolute()
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.touch(mode=0o600)
        part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        return f"The report {printable(file)} can't be written: {error.strerror}."
    return ""
