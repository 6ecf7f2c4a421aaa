"""A person's playbooks, run with an admin's kubeconfig and without an operator."""

from pathlib import Path

import pytest

from tests import beside
from tests.cases.conftest import finished, world

__all__ = ["finished", "world"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of this folder that want nothing but the world run beside each other."""
    beside.mark(items, Path(__file__).parent, "world")
