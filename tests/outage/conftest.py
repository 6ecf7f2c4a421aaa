"""Outages, races, load. What takes long is marked ``long`` and run only if DBAAS_LONG=1."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dev.sandbox import Sandbox
from tests.cases.stepping.steps import Step, without_operator
from tests.cases.world import Cases

LONG = os.environ.get("DBAAS_LONG") == "1"
SEED = os.environ.get("DBAAS_SAMPLE_SEED") or str(random.SystemRandom().randrange(10**6))
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


def chosen(steps: list[Step], path: str, outage: str) -> list[Step]:
    """The steps of a path at which an outage is tried: all of them, or one of the sample.

    Args:
        steps: all that the test found.
        path: whose.
        outage: which.

    Returns:
        Those to try.
    """
    some = steps if LONG else [random.Random(f"{SEED} {path} {outage}").choice(steps)]
    print(f"{path}, {outage}: at {len(some)} of {len(steps)} steps")
    return some


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator."""
    with without_operator(sandbox, tmp_path_factory.mktemp("outage")) as world:
        yield world
