# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tables for a person's screen, where names of tenants can't move its cursor; and files for programs."""

from __future__ import annotations

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


def write_file(path: Path, text: str, mode: int = 0o666) -> None:
    """Write a report's file, whole or not at all; one that is there is replaced.

    Args:
        path: where. text: what. mode: of the new file, before the umask.
    Raises:
        OSError: it can't be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.touch(mode=mode)
    part.write_text(text, encoding="utf-8")
    part.replace(path)
