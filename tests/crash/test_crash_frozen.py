"""A server that is frozen in the middle of a run executes later what the run had sent; by then the run is dead.

Whatever it executes, it does so before a newer run takes the row, and the newer run finds it.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from dev.waiting import wait_for
from tests.cases.stepping.pausing import Paused, paused
from tests.cases.world import Cases
from tests.crash.borders import is_read
from tests.crash.killing import Reference, References, compare, finish, once
from tests.crash.paths import PATHS, Stage
from tests.crash.picture import Subject, picture

ENDED = 60.0  # seconds that a task gets which may take SHORT ones
SHORT = {"__dbaas_request_write_seconds": 5, "__dbaas_request_drop_seconds": 5}
STATEMENTS = [
    ("create", "INSERT INTO dbaas_operator.ownership"),
    ("create", "COMMIT"),
    ("create", "UPDATE dbaas_operator.ownership SET fence"),
    ("create", "CREATE USER"),
    ("create", "CREATE DATABASE"),
    ("create", "GRANT"),
    ("drop-created", "DROP USER"),
    ("drop-created", "DROP DATABASE"),
]
ENDS = ("killed", "timed-out")
# With one of these a run begins to write.
FENCES = ("UPDATE dbaas_operator.ownership SET fence", "INSERT INTO dbaas_operator.ownership")


@pytest.fixture(scope="module")
def stage(world: Cases) -> Stage:
    """A server of the module's own, which can be frozen."""
    return Stage(world, world.place("frozen"), lambda subject: finish(world, PATHS["create"], subject))


@pytest.fixture(scope="module")
def references(stage: Stage) -> References:
    """What the paths come to where nothing is frozen."""
    return References(stage)


@contextlib.contextmanager
def locking(
    stage: Stage, reference: Reference, subject: Subject, statement: str, more: Mapping[str, Any] | None = None
) -> Iterator[tuple[Paused, int]]:
    """A run that stands still before a statement, with the lock in its hand.

    Args:
        stage: where.
        reference: of the path.
        subject: the request.
        statement: its first words; the last of this kind is meant.
        more: extra variables of the run.

    Yields:
        The run, and the number of its connection.
    """
    border = [b for b in reference.borders if b.what.startswith(f"SQL {statement}")][-1]
    with paused(stage.world, subject.request, border.orders(), reference.path.playbook, more) as run:
        lock = "SELECT IS_USED_LOCK(CONCAT('dbaas_operator.', SHA1(%s))) AS number"
        [held] = subject.server.query(lock, [subject.database])
        assert held["number"], "the run holds no lock"
        try:
            yield run, held["number"]
        finally:
            subject.server.thaw()


def silence(subject: Subject, dead: int, start: int) -> bool:
    """Nothing that the dead run sent is executed after a newer run has begun to write.

    Args:
        subject: the request.
        dead: the dead run's connection.
        start: place in the log at which it stood still.

    Returns:
        Whether a newer run has written at all.
    """
    with subject.server.general_log.open("rb") as stream:
        stream.seek(start)
        content = stream.read().decode(errors="replace")
    parts = re.split(r"^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *(\d+) (\w+(?: DB)?)\t?", content, flags=re.MULTILINE)
    begun, late = False, []
    for number, text in zip(map(int, parts[1::3]), parts[3::3], strict=True):
        if number == dead and begun and not is_read(f"SQL {text}"):
            late.append(text.partition("'")[0])
        begun = begun or (number != dead and text.startswith(FENCES) and subject.database in text)
    assert late == [], "the dead run's statements were executed after the newer run had begun to write"
    return begun


@pytest.mark.sample(1)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("name", "statement"), STATEMENTS, ids=[s.replace(" ", "-") for _, s in STATEMENTS])
def test_k4_frozen_in_the_middle(
    stage: Stage, references: References, name: str, statement: str, end: str
) -> None:
    world, reference, subject = stage.world, references[name], PATHS[name].begin(stage)
    with locking(stage, reference, subject, statement, SHORT if end == "timed-out" else None) as (run, connection):
        start = subject.server.general_log.stat().st_size
        subject.server.freeze()
        run.go()
        wait_for(run.sent.exists, f"{statement} to be sent to the frozen server", ENDED)
        if end == "killed":
            run.kill()
            newer = once(world, reference.path, subject)
        else:
            newer = run.end()  # the task ended, and with it the run; what it started lives on
        assert newer.check().again, f"a run at a frozen server waits; {subject.request.told()}"
        subject.server.thaw()
        finish(world, reference.path, subject)
        written = silence(subject, connection, start)
        # What a run that timed out has started may do all the rest before the newer run comes.
        assert written or end == "timed-out", "no newer run has written; the test shows nothing"
        compare(reference, subject, f"frozen at {statement}, {end}")
    if reference.path.makes:
        stage.keep(reference.path.makes, subject)


@pytest.mark.long
@pytest.mark.parametrize(("name", "statement"), [("create", "CREATE DATABASE"), ("drop-created", "DROP DATABASE")])
def test_k4_a_run_that_holds_the_lock_is_alone(
    stage: Stage, references: References, name: str, statement: str
) -> None:
    """A newer run waits beside it and changes nothing; the older one goes on and ends."""
    world, reference, subject = stage.world, references[name], PATHS[name].begin(stage)
    with locking(stage, reference, subject, statement) as (run, _):
        server = picture(subject)["server"]
        assert once(world, reference.path, subject).check().again
        assert picture(subject)["server"] == server
        run.end().check()
    finish(world, reference.path, subject)
    compare(reference, subject, f"with a newer run beside it at {statement}")
