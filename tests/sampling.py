"""How much is tried: a sample that can be drawn again, or, with DBAAS_ALL=1, all.

What takes hours as a whole says itself what a sample of it is: a test with many parameters by the marker ``sample``,
a test that finds its cases itself by :func:`some`, and what is for a target of its own by the marker ``long``.
"""

import os
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

Value = TypeVar("Value")

ALL = os.environ.get("DBAAS_ALL") == "1"
SEED = os.environ.get("DBAAS_SEED") or str(random.SystemRandom().randrange(10**6))


def some(what: str, values: Sequence[Value], number: int, of_all: int | None = None) -> list[Value]:
    """Choose, keeping the order.

    Args:
        what: the choice is for; the choices of one seed don't depend on each other.
        values: to choose from.
        number: how many a sample takes.
        of_all: how many are taken where no sample is wanted; None for all of them.

    Returns:
        The chosen ones.
    """
    if ALL:
        number = len(values) if of_all is None else of_all
    if number >= len(values):
        return list(values)
    chosen = random.Random(f"{SEED} {what}").sample(range(len(values)), number)
    return [values[place] for place in sorted(chosen)]


def told() -> str:
    """How much is tried, and how to try the same again."""
    return "all" if ALL else f"a sample, again with DBAAS_SEED={SEED}; all with DBAAS_ALL=1"


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Find what this run doesn't try.

    Args:
        items: all tests that were collected.

    Returns:
        Those that are ``long``, and of each test marked ``sample(number)`` all parameters but so many.
    """
    if ALL:
        return []
    tables: dict[str, list[pytest.Item]] = defaultdict(list)
    out = [item for item in items if item.get_closest_marker("long")]
    for item in items:
        if item.get_closest_marker("sample"):
            tables[item.nodeid.partition("[")[0]].append(item)
    for test, rows in tables.items():
        # By name: a table's order may be that of a set.
        rows.sort(key=lambda item: item.nodeid)
        [number] = rows[0].get_closest_marker("sample").args  # type: ignore[union-attr]
        kept = some(test, rows, number)
        out += [row for row in rows if row not in kept]
    return out
