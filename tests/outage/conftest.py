"""Outages, races, load. What takes long is marked ``long`` and run only if DBAAS_LONG=1."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases
from tests.integration.e2ehelpers import World, opened
from tests.outage.sampling import LONG, SEED

_LEFT_OUT = pytest.StashKey[int]()


def pytest_report_header() -> str:
    """Say how to draw the same sample again."""
    return "outage tests: all of them" if LONG else f"outage tests: a sample, DBAAS_SAMPLE_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, and count it."""
    here = Path(__file__).parent
    left = [i for i in items if not LONG and here in i.path.parents and i.get_closest_marker("long")]
    config.stash[_LEFT_OUT] = config.stash.get(_LEFT_OUT, 0) + len(left)
    if left:
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=left)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was left out."""
    if count := config.stash.get(_LEFT_OUT, 0):
        terminalreporter.line(f"{count} long tests left out: make test-outage, make test-load, make test-chaos")


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
