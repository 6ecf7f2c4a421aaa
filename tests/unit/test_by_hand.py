"""What a run by hand says and asks for."""

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import by_hand, finalizer, planned

REASONS = {
    "SeedCreated": {"state": "done", "message": "made"},
    "DatabaseCreated": {"state": "done", "message": "made"},
    "SeedAdopted": {"state": "done", "message": "taken over"},
    "SeedAccessDenied": {"state": "refused", "message": "denied"},
    "ConnectionUnavailable": {"state": "waits", "message": "{connection} is away"},
    "InternalError": {"state": "waits", "message": "broke"},
    "Creating": {"state": "waits", "message": "going on"},
}


def read(**more: Any) -> dict[str, Any]:
    request = {"namespace": "ns", "name": "req", "uid": "u", "spec": {"seed": {}}, "status": {}, **more}
    return {"found": True, "cluster": "c", "request": request}


@pytest.mark.parametrize(
    ("outcome", "finalizing", "state", "reason"),
    [
        ({}, False, "done", "SeedAdopted"),
        ({}, True, "deleted", "-"),
        ({"stop": True}, True, "deleted", "-"),
        ({"reason": "SeedAccessDenied", "params": {}}, False, "refused", "SeedAccessDenied"),
        ({"reason": "ConnectionUnavailable", "params": {"connection": "one"}}, True, "waits", "ConnectionUnavailable"),
        ({"reason": "InternalError"}, False, "waits", "InternalError"),
        ({"undecided": "why"}, False, "undecided", "-"),
        ({"would": ["grant"], "done": "SeedCreated"}, False, "done", "SeedCreated"),
    ],
)
def test_what_a_run_came_to(outcome: dict[str, Any], finalizing: bool, state: str, reason: str) -> None:
    row = {"origin": "adopted", "username": "app"}
    result = by_hand.result_of(read(), outcome, REASONS, finalizing, row, [])
    assert (result["state"], result["reason"]) == (state, reason)


def test_what_only_the_end_makes_true_is_not_told_of_a_run_that_waits() -> None:
    steps = [planned.TAKING_OVER, "grant"]
    waits = {"reason": "ConnectionUnavailable", "params": {"connection": "one"}}
    assert by_hand.result_of(read(), waits, REASONS, False, {}, steps)["planned"] == ["grant"]
    assert by_hand.result_of(read(), {}, REASONS, True, {}, steps)["planned"] == steps


@pytest.mark.parametrize("action", ["keep", "leave", "give_back", "drop", "none", "wait"])
def test_a_deletion_tells_what_it_keeps(action: str) -> None:
    """A plan tells all; a run adds its statements itself."""
    plan, run = (planned.finalize_words({"action": action}, check) for check in (True, False))
    assert bool(run) is (action in ("keep", "leave", "give_back"))
    assert not set(run) & set(by_hand.STEPS)
    assert bool(plan) is (action not in ("none", "wait"))


def test_a_take_over_is_told_where_it_holds() -> None:
    assert planned.adopt_words({}) == [planned.TAKING_OVER]
    assert planned.adopt_words({"outcome": {"reason": "Creating"}}) == []


def test_a_run_that_stopped_tells_what_was_known() -> None:
    conditions = [{"type": "Ready", "reason": "SeedAccessDenied", "message": "denied"}]
    result = by_hand.result_of(read(status={"conditions": conditions}), {"stop": True}, REASONS, False, {}, [])
    assert (result["state"], result["message"]) == ("refused", "denied")
    forged = [{"type": "Ready", "reason": "{{ 7*7 }}"}]
    result = by_hand.result_of(read(status={"conditions": forged}), {"stop": True}, REASONS, False, {}, [])
    assert result["reason"] == "Creating"


def test_a_request_that_is_gone() -> None:
    assert by_hand.result_of({"found": False}, {"stop": True}, REASONS, False, {}, [])["state"] == "gone"


def test_lines() -> None:
    done = {"state": "done", "reason": "SeedCreated", "message": "made", "planned": ["grant"]}
    assert "would be ready" in by_hand.line_of("a", done, 1.0, True)
    assert by_hand.line_of("a", done, 1.0, True).endswith("would grant the account its rights")
    assert by_hand.line_of("a", done, 1.0, False).endswith("did: grant the account its rights")
    waits = {"state": "waits", "reason": "Creating", "message": "going on", "planned": []}
    assert by_hand.line_of("a", waits, 1.0, False).splitlines()[1].strip() == "going on"


def test_summary() -> None:
    done, refused = ({"state": state} for state in ("done", "refused"))
    assert by_hand.summary_of([done], False) == {"line": "1 request: 1 ready.", "good": True}
    assert by_hand.summary_of([done, refused], True) == {
        "line": "2 requests: 1 would be ready, 1 refused. Nothing was written.",
        "good": False,
    }
    assert by_hand.summary_of([], False)["line"] == "0 requests: nothing to do."


def request(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": "7", **metadata}}


@pytest.mark.parametrize(
    ("found", "state", "finalizers"),
    [
        (None, "present", None),
        (request(), "present", [finalizer.FINALIZER]),
        (request(finalizers=["other"]), "present", ["other", finalizer.FINALIZER]),
        (request(finalizers=[finalizer.FINALIZER]), "present", None),
        (request(deletionTimestamp="now"), "present", None),
        (request(finalizers=["other", finalizer.FINALIZER], deletionTimestamp="now"), "absent", ["other"]),
        (request(), "absent", None),
    ],
)
def test_finalizer(found: Any, state: str, finalizers: list[str] | None) -> None:
    patch = by_hand.finalizer_patch(found, state)
    assert patch == (None if finalizers is None else {"metadata": {"finalizers": finalizers, "resourceVersion": "7"}})


@pytest.mark.parametrize("name", ["", "a/../b", "a/", "..", "A", "a b", "a" * 64, "-a"])
def test_a_namespace_that_is_none_is_never_asked_for(name: str) -> None:
    class Nowhere:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("the API was asked")

    assert "Say which namespace" in by_hand.missing_rights(Nowhere(), name)[0]  # type: ignore[arg-type]
