"""Which borders are run, and how many there were."""

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tests.crash.borders import Border
from tests.integration.e2ehelpers import token

Value = TypeVar("Value")
OF_A_PATH = 3  # borders that a sample takes of one path, so that few paths have to be recorded


@dataclass(frozen=True)
class Sample:
    """A choice that can be repeated.

    Attributes:
        seed: of the choice.
        size: how many kills without an operator; the other tests take one or two. None for all of everything.
    """

    seed: str
    size: int | None

    @classmethod
    def wanted(cls) -> "Sample":
        """What the environment asks for: ``DBAAS_CRASH_SAMPLE`` (a number, or ``all``) and ``DBAAS_CRASH_SEED``."""
        size = os.environ.get("DBAAS_CRASH_SAMPLE", "8")
        return cls(os.environ.get("DBAAS_CRASH_SEED") or token(), None if size == "all" else int(size))

    def __str__(self) -> str:
        """How to repeat it."""
        if self.size is None:
            return "all"
        return f"a sample; again with DBAAS_CRASH_SAMPLE={self.size} DBAAS_CRASH_SEED={self.seed}"

    @property
    def paths(self) -> int:
        """Of how many paths a sample takes kills."""
        return -(-(self.size or 0) // OF_A_PATH)

    def some(self, what: str, values: Sequence[Value], number: int) -> list[Value]:
        """Choose, keeping the order.

        Args:
            what: the choice is for; two choices don't depend on each other.
            values: to choose from.
            number: how many; all of them where no sample is wanted.

        Returns:
            The chosen ones.
        """
        if self.size is None or number >= len(values):
            return list(values)
        chosen = random.Random(f"{self.seed} {what}").sample(range(len(values)), number)
        return [values[place] for place in sorted(chosen)]


@dataclass
class Tally:
    """What was found and done, over all paths.

    Attributes:
        lines: of each path and kind.
        all: number of borders.
        killed: number of runs that were killed at one.
    """

    lines: list[str] = field(default_factory=list)
    all: int = 0
    killed: int = 0

    def add(self, path: str, borders: list[Border], killed: int) -> None:
        """Count the borders of a path.

        Args:
            path: its name.
            borders: all of them.
            killed: how many runs were killed at one.
        """
        inside = sum(border.call is not None for border in borders)
        same = sum(border.twin for border in borders)
        self.lines.append(
            f"{path}: {len(borders)} borders, {len(borders) - inside} of tasks and {inside} inside of one; {same} of"
            f" them leave what the border before leaves; killed at {killed} of the others"
        )
        self.all += len(borders)
        self.killed += killed

    def note(self, line: str) -> None:
        """Say what else was done."""
        self.lines.append(line)


TALLY = Tally()
