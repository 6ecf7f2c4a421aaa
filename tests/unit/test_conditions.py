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
