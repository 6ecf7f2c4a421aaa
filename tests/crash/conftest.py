"""Requests whose runs are killed."""

from collections.abc import Iterator
from typing import Any

import pytest

from dev.sandbox import Sandbox
from tests import sampling
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases
from tests.crash.killing import finish
from tests.crash.paths import PATHS, Stage
from tests.crash.picture import Subject
from tests.crash.tally import TALLY


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator; all that is made in it goes at the module's end."""
    with without_operator(sandbox, tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture(scope="module")
def stage(world: Cases) -> Stage:
    """A server of the module's own, and requests on it."""

    def bring(subject: Subject) -> None:
        finish(world, PATHS["adopt"], subject)

    return Stage(world, world.place("crash"), bring)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell the numbers of borders."""
    if TALLY.lines:
        terminalreporter.section(f"borders at which runs were killed: {sampling.told()}")
        for line in sorted(TALLY.lines):
            terminalreporter.line(line)
        terminalreporter.line(f"in total: {TALLY.all} borders, killed at {TALLY.killed}")
