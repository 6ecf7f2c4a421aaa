"""What a play's events mean for the object: done, again after a while, or failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dev.standin.durations import parse_duration
from dev.standin.runs import Event

_REQUEUE_LONG, _REQUEUE_SHORT = "operator_sdk.util.requeue_after", "requeue_after"


class ReconcileError(Exception):
    """The object is tried again, after a pause that grows."""


@dataclass(frozen=True)
class Outcome:
    """The end of a play as far as the runtime cares.

    Attributes:
        has_stats: the play came to its end; without it something broke before.
        failed_tasks: how many tasks failed that neither ignored errors nor count as rescued.
        requeue_after: the period that a ``requeue_after`` task gave; the events after it were not looked at.
        stats: what the play's last lines say.
    """

    has_stats: bool
    failed_tasks: int
    requeue_after: float | None = None
    stats: str = ""


def follow(events: Iterable[Event], tell: Callable[[Event], None]) -> Outcome:
    """Read events up to the end, or up to the first result of a ``requeue_after`` task.

    A task that failed inside a ``block`` with a ``rescue`` counts as failed all the same: its event doesn't
    say that it was rescued. An unreachable host has an event of its own and doesn't count.

    Args:
        events: the events.
        tell: is given each event, for the log.

    Returns:
        What they mean.

    Raises:
        ReconcileError: if a ``requeue_after`` task's result holds no usable period.
    """
    has_stats, failed, stats = False, 0, ""
    for event in events:
        tell(event)
        data = event.get("event_data") or {}
        kind = event.get("event")
        if kind == "playbook_on_stats":
            has_stats, stats = True, event.get("stdout") or ""
        action = data.get("task_action")
        asks_again = action == _REQUEUE_LONG or (action == _REQUEUE_SHORT and kind != "runner_on_failed")
        if asks_again and isinstance(data.get("res"), dict):
            return Outcome(has_stats, failed, requeue_after=_period(data["res"]))
        if kind == "runner_on_failed" and not _is_ignored(data) and not _is_rescued(data):
            failed += 1
    return Outcome(has_stats, failed, stats=stats)


def _period(result: dict[str, object]) -> float:
    period = result.get("period")
    if not isinstance(period, str):
        raise ReconcileError("panic: a requeue_after task has no period in its result (no_log, or skipped?)")
    try:
        return parse_duration(period)
    except ValueError as error:
        raise ReconcileError(f"the period of a requeue_after task: {error}") from error


def _is_ignored(data: dict[str, object]) -> bool:
    return data.get("ignore_errors") is True


def _is_rescued(data: dict[str, object]) -> bool:
    rescued = data.get("rescued")
    return isinstance(rescued, dict) and 1 in rescued.values()
