"""The borders at which a run can be killed, found by recording a run that isn't."""

import json
from dataclasses import dataclass
from pathlib import Path

# Statements that leave nothing behind. A lock that was taken goes with its connection, but it is a border all the same.
READS = ("SQL SELECT", "SQL SHOW", "SQL SET", "SQL USE", "SQL WITH", "SQL /*")


@dataclass(frozen=True)
class Border:
    """A point between two tasks, or between two of the calls that one task sends.

    Attributes:
        number: of the task that comes next, or that is at work.
        name: its name.
        call: of the call that comes next, None at the border of the task itself.
        what: the first words of that call.
        twin: whether what is left behind is the same as at the border before: nothing was sent since then but
            what sets a session up, or a read of a task that only reads.
    """

    number: int
    name: str
    call: int | None
    what: str
    twin: bool

    def __str__(self) -> str:
        """Name it for a person."""
        return f"{self.number} {self.name}" + ("" if self.call is None else f", before call {self.call}: {self.what}")

    @property
    def writes(self) -> bool:
        """Whether the call that comes next changes something, or takes the lock for it."""
        return self.call is not None and not is_read(self.what)

    def orders(self) -> dict[str, int]:
        """Name it for the run."""
        return {"number": self.number} if self.call is None else {"number": self.number, "call": self.call}


def is_read(what: str) -> bool:
    """Whether a call changes nothing on the server; a request to the API that reads isn't recorded as a call."""
    return what.startswith(READS) and "GET_LOCK" not in what


def borders_of(record: Path, calls: Path) -> list[Border]:
    """Find all borders of a recorded run.

    Args:
        record: a line of JSON for each task.
        calls: a line of JSON for each call.

    Returns:
        All borders, in order.
    """
    sent: dict[int, list[str]] = {}
    for line in calls.read_text(encoding="utf-8").splitlines():
        call = json.loads(line)
        sent.setdefault(call["number"], []).append(call["what"])
    found: list[Border] = []
    something = False  # was sent since the border before
    for line in record.read_text(encoding="utf-8").splitlines():
        task = json.loads(line)
        number, name = task["number"], task["name"]
        found.append(Border(number, name, None, "", twin=not something))
        texts = sent.get(number, [])
        only_reads = all(is_read(text) for text in texts)
        before = ["", *texts]
        found += [
            Border(number, name, i, text, twin=i == 0 or only_reads or before[i].startswith("SQL SET"))
            for i, text in enumerate(texts)
        ]
        something = bool(texts)
    return found


def late_borders(borders: list[Border]) -> list[Border]:
    """The borders of tasks that write: where a run that is held up does most harm.

    Args:
        borders: all of a path.

    Returns:
        Those.
    """
    writing = {border.number for border in borders if border.writes}
    return [border for border in borders if border.call is None and border.number in writing]
