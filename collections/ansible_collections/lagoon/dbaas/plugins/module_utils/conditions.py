# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The three conditions of a request, computed from one reason of the closed list."""

from __future__ import annotations

import datetime
from typing import Any

#: A reason's state -> the status of each condition. ``Settled`` is True when there is nothing to wait for.
STATES: dict[str, dict[str, str]] = {
    "done": {"Ready": "True", "Error": "False", "Settled": "True"},
    "refused": {"Ready": "False", "Error": "True", "Settled": "True"},
    "person": {"Ready": "False", "Error": "True", "Settled": "False"},
    "waits": {"Ready": "False", "Error": "False", "Settled": "False"},
}
#: Seconds: bounds of the time until a waiting request is looked at again.
SHORTEST_WAIT, LONGEST_WAIT = 5, 30
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def now() -> str:
    """The present time as the API writes it, in UTC."""
    return datetime.datetime.now(datetime.UTC).strftime(_FORMAT)


def find(status: dict[str, Any], kind: str) -> dict[str, Any]:
    """The condition of that type, empty where there is none."""
    return next((c for c in status.get("conditions") or [] if c.get("type") == kind), {})


def build(
    old: list[dict[str, Any]], state: str, reason: str, message: str, generation: int, at: str
) -> list[dict[str, Any]]:
    """The conditions of a request in that state.

    Args:
        old: the conditions that it has. state: a key of :data:`STATES`. reason, message: for all three.
        generation: of the spec that was looked at. at: the present time.
    Returns:
        Ready, Error and Settled; ``lastTransitionTime`` moves only where the status flips.
    """
    result = []
    for kind, status in STATES[state].items():
        before = find({"conditions": old}, kind)
        same = before.get("status") == status and before.get("lastTransitionTime")
        result.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "observedGeneration": generation,
                "lastTransitionTime": before["lastTransitionTime"] if same else at,
            }
        )
    return result


def overtaken(
    read: dict[str, Any], found: dict[str, Any], state: str, reference: Any, generation: int, lost: bool = False
) -> bool:
    """Whether another run has spoken since this one read the request, so that this one has nothing to say any more.

    A run whose operator was killed lives on beside the next one, and one by hand beside the operator's. Nobody looks
    at the request again after what such a late run writes.

    Args:
        read: the status when the run began. found: the present one. state: that is to be written. reference: the
        connection that is to be written, None to leave it. generation: of the spec that this run works on.
        lost: what is to be written is that another run was at work at the same moment.
    Returns:
        False where nothing changed, or nothing but what any run writes on its way: that it works, at this connection.
    """
    key = "observedDatabaseConnectionReference"
    ready = find(found, "Ready")
    if (ready.get("observedGeneration") or 0) > generation:
        return True
    if lost and ready.get("status") == "True" and ready.get("observedGeneration") == generation:
        # It was Ready all the time, so the run that won had no new word to write.
        return True
    if (read.get("conditions"), read.get(key)) == (found.get("conditions"), found.get(key)):
        return False
    if ready.get("reason") == "Creating":
        return bool(reference and found.get(key)) and found[key] != reference
    # A run that has all done, its row says so, beats the refusal of one that came too late to see that.
    return not (state == "done" and was_refused(found))


def seconds_since(stamp: str | None, at: str) -> float:
    """Seconds between two times as the API writes them; infinitely many where the first can't be read, 0 without."""
    if not stamp:
        return 0.0
    try:
        start = datetime.datetime.strptime(stamp, _FORMAT)
    except ValueError:
        return float("inf")
    return max(0.0, (datetime.datetime.strptime(at, _FORMAT) - start).total_seconds())


def wait_period(status: dict[str, Any], at: str) -> int:
    """Seconds until a waiting request is looked at again: a quarter of the time that it waits, 5 to 30."""
    waited = seconds_since(find(status, "Ready").get("lastTransitionTime"), at)
    return int(min(LONGEST_WAIT, max(SHORTEST_WAIT, waited / 4)))


def is_refused(status: dict[str, Any], generation: int) -> bool:
    """Whether this generation was refused for good: Error and Settled, both seen at this generation."""
    return all(
        find(status, kind).get("status") == "True" and find(status, kind).get("observedGeneration") == generation
        for kind in ("Error", "Settled")
    )


def was_refused(status: dict[str, Any]) -> bool:
    """Whether the last word on the request, of whichever generation, was a refusal for good."""
    return all(find(status, kind).get("status") == "True" for kind in ("Error", "Settled"))
