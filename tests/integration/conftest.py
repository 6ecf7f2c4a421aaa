"""What the tests against the real servers share: the operator, and its provider."""

from collections.abc import Iterator

import pytest

from dev.operator import Operator
from dev.sandbox import Sandbox

# What a test can wait for: an adopted database may be dropped after this many seconds of being ready.
SETTINGS = {"DBAAS_ADOPTED_GRACE_SECONDS": "3"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that run an operator, so that they can be run or left out by themselves."""
    for item in items:
        if "operator" in getattr(item, "fixturenames", ()):
            item.add_marker("e2e")


@pytest.fixture(scope="session")
def provider(sandbox: Sandbox) -> str:
    """The provider ``development`` with the sandbox's servers; its name and scope."""
    sandbox.ensure_provider()
    return "development"


@pytest.fixture(scope="session")
def _operator(sandbox: Sandbox) -> Iterator[Operator]:
    operator = sandbox.operator
    was_running = operator.running
    yield operator
    if was_running:
        operator.start({})  # one started by hand has the standard settings
    else:
        operator.stop()


@pytest.fixture
def operator(_operator: Operator, provider: str) -> Operator:
    """The operator, running with the tests' settings and ready, also after a test that killed it."""
    _operator.start(SETTINGS)
    return _operator
