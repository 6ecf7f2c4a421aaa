"""How many borders there were, and at how many of them a run was killed."""

from dataclasses import dataclass, field

from tests.crash.borders import Border


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
