"""The cases from the field, each a request that one or more runs of a playbook bring to its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.sandbox import Sandbox
from tests import beside
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of this folder that want nothing but the world run beside each other."""
    beside.mark(items, Path(__file__).parent, "world")


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator; all that is made in it goes at the module's end."""
    with without_operator(sandbox, tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture
def finished(request: pytest.FixtureRequest, world: Cases) -> Cases:
    """The world when all of the module's tests that run beside each other have ended."""
    beside.wait(request.node)
    return world
