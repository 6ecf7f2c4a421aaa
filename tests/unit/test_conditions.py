"""Conditions from one reason: the truth table, and times that move only on a flip."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions

from tests.unit import samples

OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("state", "ready", "error", "settled"),
    [
        ("done", "True", "False", "True"),
        ("refused", "False", "True", "True"),
        ("person", "False", "True", "False"),
        ("waits", "False", "False", "False"),
    ],
)
def test_states(state: str, ready: str, error: str, settled: str) -> None:
    built = conditions.build([], state, "Reason", "message", 3, NEW)
    assert [(c["type"], c["status"]) for c in built] == [("Ready", ready), ("Error", error), ("Settled", settled)]
    assert all(
        (c["reason"], c["message"], c["observedGeneration"], c["lastTransitionTime"]) == ("Reason", "message", 3, NEW)
        for c in built
    )


@pytest.mark.parametrize("before", sorted(conditions.STATES))
@pytest.mark.parametrize("after", sorted(conditions.STATES))
def test_times_move_only_on_a_flip(before: str, after: str) -> None:
    old = conditions.build([], before, "Old", "old", 1, OLD)
    new = conditions.build(old, after, "New", "new", 2, NEW)
    for was, now in zip(old, new, strict=True):
        assert now["lastTransitionTime"] == (OLD if was["status"] == now["status"] else NEW)
        assert (now["reason"], now["observedGeneration"]) == ("New", 2)


def test_the_same_again_changes_nothing() -> None:
    old = conditions.build([], "done", "SeedAdopted", "message", 1, OLD)
    assert conditions.build(old, "done", "SeedAdopted", "message", 1, NEW) == old


@pytest.mark.parametrize(
    "old",
    [
        pytest.param([{"type": "Ready", "status": "False"}], id="O11-no-time"),
        pytest.param([{"type": "Ready", "status": "Unknown", "lastTransitionTime": OLD}], id="O11-unknown"),
        pytest.param([{"status": "False", "lastTransitionTime": OLD}], id="O11-no-type"),
        pytest.param([{"type": "Failure", "status": "False", "lastTransitionTime": OLD}], id="runtime-failure"),
    ],
)
def test_foreign_conditions_are_no_harm(old: list[dict[str, Any]]) -> None:
    assert conditions.build(old, "waits", "R", "m", 1, NEW)[0]["lastTransitionTime"] == NEW


def test_now_is_as_the_api_writes_it() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", conditions.now())
    assert conditions.seconds_since(conditions.now(), conditions.now()) < 5


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        pytest.param("2026-01-01T23:59:50Z", 10.0, id="before"),
        pytest.param(NEW, 0.0, id="same"),
        pytest.param("2026-01-03T00:00:00Z", 0.0, id="in-the-future"),
        pytest.param(None, 0.0, id="missing"),
        pytest.param("", 0.0, id="empty"),
        pytest.param("yesterday", float("inf"), id="O11-forged"),
    ],
)
def test_seconds_since(stamp: str | None, seconds: float) -> None:
    assert conditions.seconds_since(stamp, NEW) == seconds


@pytest.mark.parametrize(
    ("since", "period"),
    [
        pytest.param(NEW, 5, id="at-once"),
        pytest.param("2026-01-01T23:59:40Z", 5, id="20-seconds"),
        pytest.param("2026-01-01T23:59:00Z", 15, id="a-minute"),
        pytest.param("2026-01-01T00:00:00Z", 30, id="a-day"),
        pytest.param(None, 5, id="never-written"),
    ],
)
def test_wait_period(since: str | None, period: int) -> None:
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": since}
    assert conditions.wait_period({"conditions": [ready]}, NEW) == period


@pytest.mark.parametrize(
    ("status", "generation", "is_refused", "was_refused"),
    [
        pytest.param({}, 1, False, False, id="empty"),
        pytest.param({"conditions": None}, 1, False, False, id="none"),
        pytest.param(samples.refused_status(1), 1, True, True, id="K2-refused"),
        pytest.param(samples.refused_status(1), 2, False, True, id="K2-spec-changed"),
        pytest.param({"conditions": [samples.condition("Error", "True")]}, 1, False, False, id="not-settled"),
        pytest.param({"conditions": [samples.condition("Settled", "True")]}, 1, False, False, id="done"),
        pytest.param(
            {"conditions": [samples.condition("Error", "True", 2), samples.condition("Settled", "True", 1)]},
            2,
            False,
            True,
            id="of-two-generations",
        ),
    ],
)
def test_refused(status: dict[str, Any], generation: int, is_refused: bool, was_refused: bool) -> None:
    assert conditions.is_refused(status, generation) is is_refused
    assert conditions.was_refused(status) is was_refused


KEY = "observedDatabaseConnectionReference"
NOTHING: dict[str, Any] = {}
X, Y = {"name": "x"}, {"name": "y"}


def said(state: str, reason: str, generation: int = 1, reference: Any = None) -> dict[str, Any]:
    """A status in which a run has said this."""
    told = {"conditions": conditions.build([], state, reason, "message", generation, OLD)}
    return {**told, **({KEY: reference} if reference else {})}


@pytest.mark.parametrize(
    ("read", "found", "state", "reference", "expected"),
    [
        pytest.param(NOTHING, NOTHING, "waits", X, False, id="the-first-word"),
        pytest.param(said("done", "Ready"), said("done", "Ready"), "person", None, False, id="unchanged"),
        pytest.param(NOTHING, said("waits", "Creating", reference=X), "done", X, False, id="its-own-claim"),
        pytest.param(NOTHING, said("waits", "Creating", reference=X), "refused", None, False, id="a-lost-claim"),
        pytest.param(said("refused", "R"), said("waits", "Creating"), "waits", X, False, id="its-own-new-try"),
        pytest.param(NOTHING, said("waits", "Creating", reference=X), "waits", X, False, id="both-claim-at-one"),
        pytest.param(NOTHING, said("waits", "Creating", reference=Y), "waits", X, True, id="claimed-elsewhere"),
        pytest.param(NOTHING, said("done", "Ready", reference=X), "waits", X, True, id="ready-meanwhile"),
        pytest.param(NOTHING, said("done", "Ready", reference=X), "waits", None, True, id="ready-while-it-waited"),
        pytest.param(said("waits", "A"), said("waits", "B"), "refused", None, True, id="another-has-spoken"),
        pytest.param(NOTHING, said("refused", "R"), "waits", X, True, id="refused-meanwhile"),
        pytest.param(NOTHING, said("refused", "R"), "done", X, False, id="all-done-and-refused-by-a-late-one"),
        pytest.param(NOTHING, said("waits", "Creating", 2), "done", X, True, id="a-newer-spec"),
        pytest.param(said("done", "Ready", 2), said("done", "Ready", 2), "done", X, True, id="an-older-spec"),
    ],
)
def test_k1_a_late_run_has_nothing_to_say(
    read: dict[str, Any], found: dict[str, Any], state: str, reference: Any, expected: bool
) -> None:
    assert conditions.overtaken(read, found, state, reference, 1) is expected


@pytest.mark.parametrize(
    ("found", "lost", "expected"),
    [
        pytest.param(said("done", "Ready"), True, True, id="the-winner-had-nothing-new-to-say"),
        pytest.param(said("done", "Ready"), False, False, id="a-wait-of-its-own"),
        pytest.param(said("waits", "Creating"), True, False, id="not-ready"),
        pytest.param(NOTHING, True, False, id="nothing-said"),
    ],
)
def test_k1_a_run_that_lost_takes_nothing_away(found: dict[str, Any], lost: bool, expected: bool) -> None:
    assert conditions.overtaken(found, found, "waits", None, 1, lost) is expected
    assert conditions.overtaken(found, found, "waits", None, 2, lost) is False, "Ready was another spec"
