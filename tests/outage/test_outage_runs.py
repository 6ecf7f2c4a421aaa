"""A server that goes at any step of any path: the run ends well, says what it waits for, and the next ones finish.

Where a run talks to its server is found by watching one; an outage begins before one of these tasks. One in the midst
of a task is a frozen server's (tests/crash) and the chaos's.
"""

import datetime
import queue
import re

import pytest

from dev import objects
from tests.beside import AT_ONCE
from tests.cases.stepping.pausing import SHORT_TIMEOUTS, Paused
from tests.cases.stepping.steps import Step, chosen
from tests.cases.world import WAITS, Cases, Place
from tests.integration.e2ehelpers import API, MERGE
from tests.outage.outages import SERVER_OUTAGES, stopped
from tests.outage.paths import PATHS, Way, handed_over


@pytest.fixture(scope="module")
def places(world: Cases) -> "queue.Queue[Place]":
    """A server for each run that goes at once."""
    free: queue.Queue[Place] = queue.Queue()
    for number in range(AT_ONCE):
        free.put(world.place(f"outage-{number}"))
    return free


def talks_to_the_server(step: Step) -> bool:
    """Whether a task sends statements."""
    return step.action.endswith("mysql_query")


STEPS: dict[str, list[Step]] = {}
PAIRS = [(path, outage) for outage in SERVER_OUTAGES for path in PATHS]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("path", "outage"), PAIRS)
@pytest.mark.beside
def test_a_server_that_goes(world: Cases, places: "queue.Queue[Place]", path: str, outage: str) -> None:
    place = places.get()
    try:
        with world.alone(f"the steps of {path}"):
            if path not in STEPS:
                STEPS[path] = [s for s in PATHS[path](world, place).recorded() if talks_to_the_server(s)]
        steps = STEPS[path]
        assert len(steps) > 2, f"the run sent nothing: {steps}"
        for step in chosen(steps, f"{path}, {outage}"):
            try:
                once(PATHS[path](world, place), step, outage)
            except Exception as error:
                error.add_note(f"at step {step.number}, {step.name!r}, pass {step.time}")
                raise
    finally:
        places.put(place)


def once(way: Way, step: Step, outage: str) -> None:
    """Begin an outage right before a step, let the run end, end the outage, and let the request finish."""
    begin, reasons = SERVER_OUTAGES[outage]
    frozen = SHORT_TIMEOUTS if outage == "frozen" else {}
    paused = Paused(way.world, way.playbook, way.request, step.orders(), frozen)
    try:
        paused.wait()
        with begin(way.place.server):
            run = paused.end().check()
            waits = run.again
            if waits:
                state = way.request.state()
                assert state in {f"{reason} {WAITS}" for reason in reasons}, way.request.told()
    finally:
        if way.request.read() is not None:
            way.is_not_condemned()
    # Only a read-only server lets a run come to its end: where it wrote before, or has nothing to write.
    assert waits or outage in ("restarted", "read_only"), "nothing runs it again"
    if waits:
        way.finish()
    else:
        way.released(run)
    way.is_done()


@pytest.mark.long
@pytest.mark.parametrize(("waited", "period"), [(0, "5s"), (60, "15s"), (86400, "30s")])
@pytest.mark.beside
def test_gap_between_two_looks(world: Cases, places: "queue.Queue[Place]", waited: int, period: str) -> None:
    """A quarter of the time since the condition changed, 5 to 30 seconds."""
    place = places.get()
    try:
        way = PATHS["plain"](world, place)
        with stopped(place.server):
            assert way.run().again
            if waited:
                changed_before(way, waited)
            run = world.runner.run(way.playbook, handed_over(way.request), 1).check()
    finally:
        places.put(place)
    [told] = re.findall(r'"period": "(\w+)"', run.output.rpartition("TASK [Look again soon]")[2])
    # The clock goes on: the time since then is a few seconds more.
    assert int(period[:-1]) <= int(told[:-1]) <= int(period[:-1]) + (0 if waited > 100 else 10), told
    way.finish()
    way.is_done()


def changed_before(way: Way, seconds: int) -> None:
    """Move the moment at which a request began to wait."""
    path = objects.path_of(API, "DatabaseRequest", way.request.name, way.request.namespace)
    at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=seconds)
    conditions = (way.request.read() or {})["status"]["conditions"]
    for condition in conditions:
        condition["lastTransitionTime"] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    objects.call(way.world.api, "PATCH", f"{path}/status", {"status": {"conditions": conditions}}, MERGE)
