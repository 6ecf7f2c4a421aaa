"""The stand-in's pure parts: no cluster and no run is needed for these."""

from __future__ import annotations

from typing import Any

import pytest

from dev.standin.dependents import _changed_states
from dev.standin.durations import parse_duration
from dev.standin.inputs import Owner, make_parameters, mark_unsafe
from dev.standin.outcome import Outcome, ReconcileError, follow
from dev.standin.proxy import RequestedPath, parse_path
from dev.standin.watches import Finalizer, Kind, Target, Watch, WatchesError, expand_variables, load_watches
from dev.standin.workqueue import WorkQueue

STATS = {"event": "playbook_on_stats", "event_data": {}, "stdout": "ok=1"}


def _failed(**data: Any) -> dict[str, Any]:
    return {"event": "runner_on_failed", "event_data": {"task": "t", **data}}


def _asked(action: str, event: str = "runner_on_ok", period: Any = "5s") -> dict[str, Any]:
    return {"event": event, "event_data": {"task": "t", "task_action": action, "res": {"period": period}}}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("5s", 5),
        ("1h30m", 5400),
        ("1.5s", 1.5),
        (".5m", 30),
        ("200ms", 0.2),
        ("-2s", -2),
    ],
)
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5 s", "5d", "5s3", "-", "1h 5m"])
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("a ${A} b", "a 1 b"),
        ("$A", "1"),
        ("${B}", "${B}"),
        ("$B.", "${B}."),
        ("{{ a }}", "{{ a }}"),
        ("$ ", "$ "),
    ],
)
def test_variables(text: str, expanded: str) -> None:
    assert expand_variables(text, {"A": "1"}) == expanded


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([STATS], Outcome(True, 0, stats="ok=1")),
        ([], Outcome(False, 0)),
        ([_failed(), STATS], Outcome(True, 1, stats="ok=1")),
        ([_failed(ignore_errors=True), STATS], Outcome(True, 0, stats="ok=1")),
        (
            [{"event": "runner_on_unreachable", "event_data": {"task": "t"}}, STATS],
            Outcome(True, 0, stats="ok=1"),
        ),
        ([_failed(), _asked("requeue_after"), STATS], Outcome(False, 1, requeue_after=5)),
        ([_asked("requeue_after", "runner_on_failed"), STATS], Outcome(True, 1, stats="ok=1")),
        ([_asked("operator_sdk.util.requeue_after", "runner_on_failed")], Outcome(False, 0, requeue_after=5)),
        ([_asked("other.util.requeue_after"), STATS], Outcome(True, 0, stats="ok=1")),
    ],
)
def test_outcome(events: list[dict[str, Any]], outcome: Outcome) -> None:
    assert follow(events, lambda _event: None) == outcome


@pytest.mark.parametrize("period", [None, 5, "5"])
def test_unusable_period(period: Any) -> None:
    with pytest.raises(ReconcileError):
        follow([_asked("requeue_after", period=period)], lambda _event: None)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/version", RequestedPath()),
        ("/apis", RequestedPath()),
        ("/api/v1/namespaces/n", RequestedPath("", "v1", "", "namespaces", "n")),
        ("/api/v1/namespaces/n/status", RequestedPath("", "v1", "", "namespaces", "n", "status")),
        ("/api/v1/namespaces/n/services?limit=1", RequestedPath("", "v1", "n", "services")),
        ("/apis/g/v/namespaces/n/things/x/status", RequestedPath("g", "v", "n", "things", "x", "status")),
        ("/apis/g/v/things", RequestedPath("g", "v", "", "things")),
    ],
)
def test_path(path: str, asked: RequestedPath) -> None:
    assert parse_path(path) == asked


def test_owner_survives_the_user_name() -> None:
    owner = Owner("g/v", "Thing", "n", "uid", "ns")
    assert Owner.decode(owner.encode()) == owner


def test_extra_variables(tmp_path: Any) -> None:
    """The watch's own variables win over the spec, the finalizer's over both; text is marked at any depth."""
    finalizer = Finalizer("f", None, {"b": "final"})
    watch = Watch(
        Kind("a.b-c", "v1", "Thing"), Target(tmp_path, False), {"a": "watch"}, finalizer, mark_unsafe=True
    )
    meta = {"name": "n", "namespace": "ns", "finalizers": ["f"], "deletionTimestamp": "now"}
    resource = {"metadata": meta, "spec": {"a": "spec", "b": "spec", "c": [{"d": "{{ x }}"}, 1]}}
    found = make_parameters(watch, resource)
    assert found["a"] == "watch"
    assert found["b"] == "final"
    assert found["c"] == [{"d": {"__ansible_unsafe": "{{ x }}"}}, 1]
    assert found["ansible_operator_meta"] == {"namespace": "ns", "name": "n"}
    assert found["_a_b_c_thing"] == mark_unsafe(resource)
    assert found["_a_b_c_thing_spec"] == mark_unsafe(resource["spec"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("manageStatus: true", "manageStatus must be false"),
        ("maxRunnerArtifacts: 2", "write 3 or more"),
        ("playbook: none.yml", "was not found"),
        ("reconcilePeriod: 5", "is not a duration"),
        ("finalizer: {vars: {a: 1}}", "must have a name"),
        ("selector: {matchLabels: {a: b}}", "knows no selector"),
    ],
)
def test_watches_that_are_refused(tmp_path: Any, line: str, message: str) -> None:
    """The message names the file, the entry and the option."""
    (tmp_path / "play.yml").write_text("[]")
    entry: dict[str, str] = {
        "version": "v1",
        "kind": "Thing",
        "playbook": f"{tmp_path}/play.yml",
        "manageStatus": "false",
        "snakeCaseParameters": "false",
    }
    name, _, value = line.partition(": ")
    entry[name] = value
    file = tmp_path / "watches.yaml"
    file.write_text("- " + "\n  ".join(f"{key}: {text}" for key, text in entry.items()))
    with pytest.raises(WatchesError, match=message) as caught:
        load_watches(file, 1, 2, 36000)
    assert f"{file}, entry 1" in str(caught.value)


def test_queue_hands_nothing_out_twice() -> None:
    """A key that is added during its work comes again once, after it."""
    queue, key = WorkQueue(), ("ns", "n")
    queue.add(key)
    queue.add(key)
    assert queue.get() == key
    queue.add(key)
    queue.add(key)
    queue.add(("ns", "other"))
    assert queue.get() == ("ns", "other")
    queue.done(key)
    assert queue.get() == key
    queue.close()
    assert queue.get() is None


def test_pauses_double_and_start_anew() -> None:
    queue, key = WorkQueue(), ("ns", "n")
    assert [queue.add_failed(key) for _ in range(4)] == [0.005, 0.01, 0.02, 0.04]
    assert max(queue.add_failed(key) for _ in range(40)) == 1000
    queue.forget(key)
    assert queue.add_failed(key) == 0.005


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [(None, {"a": 1}, 0), ({"a": 1}, None, 1), ({"a": 1}, {"a": 2}, 2), ({"status": 1}, {"status": 2}, 0)],
)
def test_changes_of_dependents(old: Any, new: Any, count: int) -> None:
    """A new object and a new status make no owner due."""
    states = [
        state and {**state, "metadata": {"resourceVersion": str(n)}} for n, state in enumerate((old, new))
    ]
    assert len(_changed_states(*states)) == count
