"""Outages, races, load."""

from collections.abc import Iterator

import pytest

from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases
from tests.integration.e2ehelpers import World, opened


@pytest.fixture(scope="module")
def busy(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    """The sandbox with an operator that many requests keep busy."""
    with opened(sandbox, _operator) as world:
        yield world


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator."""
    with without_operator(sandbox, tmp_path_factory.mktemp("outage")) as world:
        yield world
