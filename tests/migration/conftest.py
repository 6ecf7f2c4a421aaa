"""The sandbox with the older operator's kind in it, and no operator of any kind."""

from collections.abc import Iterator

import pytest

from dev.sandbox import Sandbox
from tests.cases.running import Runner
from tests.cases.stepping.steps import without_operator
from tests.cases.world import Cases
from tests.migration import oldobjects
from tests.migration.migrating import Migration


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    """The sandbox without an operator; all that is made in it goes at the module's end."""
    oldobjects.install(sandbox.api())
    with without_operator(sandbox, tmp_path_factory.mktemp("runs")) as made:
        yield made


@pytest.fixture(scope="module")
def migration(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Migration:
    """The playbook, run with the admin's kubeconfig."""
    return Migration(Runner(sandbox.kubeconfig, tmp_path_factory.mktemp("migration")))
