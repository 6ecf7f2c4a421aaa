"""The cases from the field, each a request that one or more runs of a playbook bring to its end."""

from collections.abc import Iterator
from typing import Any

import pytest

from dev.sandbox import Sandbox
from tests.cases.jobs import is_job
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Run a test as a job, beside others of its module."""
    if not is_job(pyfuncitem):
        return None
    world: Any = pyfuncitem.funcargs["world"]
    world.jobs.result(pyfuncitem, world)
    return True


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator; all that is made in it goes at the module's end."""
    with without_operator(sandbox, tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture
def finished(world: Cases) -> Cases:
    """The world when all of the module's jobs have ended."""
    world.jobs.wait()
    return world
