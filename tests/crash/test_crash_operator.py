"""The same under the operator: killed with its runs, or killed alone while its runs live on beside the next ones.

The operator stands still while a path begins, and runs every request when it is started; so the requests that are
Ready do not stay.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as File

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from dev import objects
from dev.errors import WaitTimeout
from dev.operator import Operator
from dev.paths import ROOT
from dev.sandbox import Sandbox
from dev.waiting import wait_for
from tests.cases.stepping.steps import HOOKS, stepwise, without_operator
from tests.cases.world import Cases
from tests.crash.borders import Border, late_borders
from tests.crash.killing import Reference, References, finish, say, wrong
from tests.crash.paths import PATHS, Stage
from tests.crash.picture import Subject, picture
from tests.crash.tally import TALLY
from tests.sampling import some

pytestmark = pytest.mark.e2e

EVERY = 10  # borders from one at which the operator is killed to the next
AT_ONCE = 2  # requests that the sandbox's operator works on
REACHED = 180.0  # seconds for all runs to come to their borders
DONE = 300.0  # seconds for a request to come to its end under a restarted operator


@dataclass
class Halt:
    """Where the operator's runs of one request stand still, once.

    Attributes:
        subject: the request.
        border: where.
        folder: of the files.
    """

    subject: Subject
    border: Border
    folder: File

    @property
    def reached(self) -> File:
        """Written when the run is there."""
        return self.folder / f"reached-{self.subject.request.name}"

    @property
    def go(self) -> File:
        """Lets it go on."""
        return self.folder / f"go-{self.subject.request.name}"

    def orders(self) -> dict[str, object]:
        """For the run."""
        calls = self.folder / f"calls-{self.subject.request.name}"
        files = {"reached": str(self.reached), "go": str(self.go), "calls": str(calls)}
        return {"do": "pause", **self.border.orders(), **files}


class Halting:
    """The operator of this module, whose runs can be made to stand still."""

    def __init__(self, operator: Operator, folder: File) -> None:
        self.operator = operator
        self.folder = folder
        self._orders = folder / "orders.json"

    def start(self, halts: Sequence[Halt] = ()) -> None:
        """Start it, with orders for the runs of some requests."""
        self._orders.write_text(json.dumps({halt.subject.request.name: halt.orders() for halt in halts}))
        settings = stepwise({}, STEPWISE=f"@{self._orders}", PYTHONPATH=f"{HOOKS}:{ROOT}")
        self.operator.start(settings)

    def come(self, halts: Sequence[Halt]) -> None:
        """Wait until the runs stand still."""
        for halt in halts:
            what = f"the run of {halt.subject!r} to come to {halt.border}"
            wait_for(halt.reached.exists, what, REACHED)


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox; its operator is started by the tests."""
    with without_operator(sandbox, tmp_path_factory.mktemp("runs")) as made:
        yield made
        sandbox.operator.stop()


@pytest.fixture(scope="module")
def stage(world: Cases) -> Stage:
    """A server of the module's own."""
    return Stage(world, world.place("operator"), lambda subject: finish(world, PATHS["adopt"], subject))


@pytest.fixture(scope="module")
def halting(world: Cases, tmp_path_factory: pytest.TempPathFactory) -> Halting:
    """The operator."""
    return Halting(world.operator, tmp_path_factory.mktemp("orders"))


@pytest.fixture(scope="module")
def references(stage: Stage) -> References:
    """What the paths come to without an operator."""
    return References(stage, partial(forget, stage))


def forget(stage: Stage, subject: Subject) -> None:
    """Take a request away with all that is its own, without a run: no later operator has to work on it."""
    request, server = subject.request, subject.server
    if request.read() is not None:
        stage.world.release(request)
        request.delete()
    server.query("DELETE FROM dbaas_operator.account WHERE database_name = %s", [subject.database])
    server.query("DELETE FROM dbaas_operator.ownership WHERE database_name = %s", [subject.database])
    server.query(f"DROP DATABASE IF EXISTS {sql.identifier(subject.database).replace('%%', '%')}")
    for account in subject.accounts():
        server.query("DROP USER %s@%s", [subject.username, account["Host"]])
    objects.delete(stage.world.api, "v1", "Secret", f"{request.name}-seed", request.namespace)


def wait_done(reference: Reference, subject: Subject, how: str) -> None:
    """Wait until the operator has brought a request to its end."""
    last = [""]

    def done() -> bool:
        last[0] = "; ".join(wrong(reference, picture(subject)))
        return not last[0]

    try:
        wait_for(done, f"{subject!r} to come to its end", DONE)
    except WaitTimeout as error:
        raise AssertionError(f"{reference.path.name}, {how}: {error}: {last[0]}") from error


@contextlib.contextmanager
def standing(stage: Stage, halting: Halting, name: str, borders: Sequence[Border]) -> Iterator[list[Halt]]:
    """Requests that begin a path, each with its run standing at a border; they are gone at the end.

    Args:
        stage: where.
        halting: the operator, which works on no more of them at once.
        name: of the path.
        borders: one for each request.

    Yields:
        The requests.
    """
    halts = [Halt(PATHS[name].begin(stage), border, halting.folder) for border in borders]
    try:
        halting.start(halts)
        halting.come(halts)
        yield halts
    finally:
        for halt in halts:
            halt.go.touch()
        halting.operator.stop()
        for halt in halts:
            forget(stage, halt.subject)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", list(PATHS))
def test_k1_the_operator_killed_with_its_runs(
    stage: Stage, halting: Halting, references: References, name: str
) -> None:
    reference = references[name]
    every = [border for border in reference.borders if not border.twin]
    tenth = every[min(EVERY, len(every)) // 2 :: EVERY]
    borders = some(f"{name} operator", tenth, AT_ONCE)
    for first in range(0, len(borders), AT_ONCE):
        with standing(stage, halting, name, borders[first : first + AT_ONCE]) as halts:
            halting.operator.kill_tree()
            halting.operator.wait_ready()
            for halt in halts:
                wait_done(reference, halt.subject, f"operator and run killed at {halt.border}")
                say(f"operator and run: {name} {halt.border}")
    TALLY.note(f"{name}: at {len(borders)} of these borders the operator was killed too")


@pytest.mark.long
@pytest.mark.parametrize("name", list(PATHS))
def test_k1_the_operator_killed_alone(
    stage: Stage, halting: Halting, references: References, name: str
) -> None:
    """Its runs stand still, and go on when those of the next operator have done all the work."""
    reference = references[name]
    late = late_borders(reference.borders)
    borders = some(f"{name} operator alone", sorted({late[0], late[len(late) // 2]}, key=late.index), 1)
    with standing(stage, halting, name, borders) as halts:
        halting.operator.kill_alone()
        halting.operator.wait_ready()
        assert halting.operator.orphans(), "no run lives on"
        for halt in halts:
            wait_done(reference, halt.subject, f"beside a run that stands at {halt.border}")
            halt.go.touch()
        wait_for(lambda: not halting.operator.orphans(), "the runs that lived on to end", REACHED)
        for halt in halts:
            wait_done(reference, halt.subject, f"after a late run that stood at {halt.border}")
            say(f"operator alone: {name} {halt.border}")
    TALLY.note(f"{name}: at {len(borders)} of these borders the operator was killed alone")
