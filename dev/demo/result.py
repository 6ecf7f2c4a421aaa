"""What the demo saw of a request, and the table of all of them."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from dev.demo import cases
from dev.demo.requests import Course

HEADINGS = ("request", "expected", "seen", "reason", "seconds", "proof")


@dataclass(frozen=True)
class Result:
    """What was seen of one request.

    Attributes:
        request: its name.
        expected: what had to come of it, in words.
        seen: what came of it, in the same words.
        reason: the reason that its conditions give; with the expected one, if that is another.
        seconds: from its creation until it was settled, as seen from outside; deletions and waits included.
        proof: what was found outside the operator.
        ok: whether state, reason and proof are as expected.
    """

    request: str
    expected: str
    seen: str
    reason: str
    seconds: float
    proof: str
    ok: bool


def result_of(course: Course) -> Result:
    """Compare what happened to a request with what had to.

    Args:
        course: what happened, proofs and problems included.

    Returns:
        The result.
    """
    case = course.case
    expected, seen = ["ready" if case.ready else "refused"], [course.state]
    if case.down:
        expected.insert(0, "waits")
        seen[:0] = ["waits"] if course.waited else []
    if case.ending != cases.STAYS:
        expected.append(case.ending)
        seen.append(_ending_seen(course))
    right = course.reason == case.expected
    return Result(
        request=case.name,
        expected=", ".join(expected),
        seen=", ".join(seen),
        reason=course.reason if right else f"{course.reason or 'none'}, not {case.expected}",
        seconds=course.seconds,
        proof="; ".join(course.problems) or course.proof,
        ok=right and expected == seen and not course.problems,
    )


def _ending_seen(course: Course) -> str:
    if not course.gone:
        return "still there"
    return "gone" if course.problems else course.case.ending


def table(results: Sequence[Result]) -> str:
    """Write the results as a table.

    Args:
        results: the results.

    Returns:
        Lines of text; a line that differs from what was expected says so at its front.
    """
    rows = [HEADINGS] + [(*astuple(r)[:4], f"{r.seconds:.1f}", r.proof) for r in results]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(HEADINGS))]
    marks = ["", *("" if result.ok else "DIFFERS" for result in results)]
    front = 8 if any(marks) else 0
    lines = []
    for mark, row in zip(marks, rows, strict=True):
        cells = [str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)]
        cells[4] = str(row[4]).rjust(widths[4])
        lines.append((mark.ljust(front) + "  ".join(cells)).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)
