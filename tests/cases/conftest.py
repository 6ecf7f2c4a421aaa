"""The cases from the field, each a request that one or more runs of a playbook bring to its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.sandbox import Sandbox
from tests.cases.jobs import Jobs, is_job
from tests.cases.running import Runner
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
    operator = sandbox.operator
    was_running = operator.running
    operator.stop()
    folder: Path = tmp_path_factory.mktemp("runs")
    made = Cases(sandbox, operator, sandbox.api(), runner=Runner(sandbox.operator_kubeconfig, folder), jobs=Jobs())
    try:
        yield made
    finally:
        made.jobs.close()
        made.close()
        if was_running:
            operator.start(None)


@pytest.fixture
def finished(world: Cases) -> Cases:
    """The world when all of the module's jobs have ended."""
    world.jobs.wait()
    return world
