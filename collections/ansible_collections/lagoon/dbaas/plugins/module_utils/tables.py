# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tables for a person's screen, where names of tenants can't move its cursor; and files for programs."""

from __future__ import annotations

import contextlib
import errno
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


def _paths(file: str) -> tuple[Path, Path]:
    """A report's file, and the one beside it in which it is made."""
    path = Path(file).expanduser().absolute()
    return path, path.with_name(f".{path.name}.{os.getpid()}")


def _refusal(file: str, code: int | None) -> str:
    return f"The report {printable(file)} can't be written: {os.strerror(code or errno.EIO)}."


def unwritable(file: str) -> str:
    """Why a report's file can't be written, as far as that can be told beforehand; what is there stays.

    Args:
        file: see :func:`write_report`.
    Returns:
        A sentence, "" where it can.
    """
    path, part = _paths(file)
    if path.is_dir():
        return _refusal(file, errno.EISDIR)
    try:
        part.touch(mode=0o600)
        part.unlink()
    except OSError as error:
        return _refusal(file, error.errno)
    return ""


def write_report(file: str, data: object) -> str:
    """Write a report's file as JSON, whole or not at all, for its owner's eyes alone; one that is there is replaced.

    Args:
        file: where; a relative path begins where ansible-playbook was started, ``~`` is a home. data: what.
    Returns:
        Why it couldn't be written, as a sentence; "" where it was.
    """
    path, part = _paths(file)
    try:
        part.touch(mode=0o600)
        part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        return _refusal(file, error.errno)
    return ""
