"""What all tests share: the sandbox, a namespace of one's own, and the one way to wait."""

import os
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dev import objects
from dev import sandbox as sandbox_module
from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import Sandbox
from dev.waiting import wait_for as wait
from tests import beside, sampling
from tests.settings import LOG_STARTS, SETTINGS

LABEL = "dbaas.lagoon.sh/test"


@pytest.fixture(scope="session")
def wait_for() -> Callable[..., Any]:
    """``wait_for(condition, what, deadline)``: ends with the condition, or fails and names the wait."""
    return wait


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox, brought up if it isn't, and stopped again in that case."""
    was_up = sandbox_module.is_up()
    found = sandbox_module.up()
    for log in [found.audit_log, *(server.general_log for server in found.servers.values())]:
        LOG_STARTS[log] = log.stat().st_size if log.exists() else 0
    yield found
    # Workers of one test run share the sandbox, so none of them may stop it.
    if not was_up and "PYTEST_XDIST_WORKER" not in os.environ:
        sandbox_module.down()


@pytest.fixture(scope="session")
def admin_api(sandbox: Sandbox) -> Any:
    """A client with the cluster admin's rights."""
    return sandbox.api()


@pytest.fixture(scope="session")
def _namespaces(admin_api: Any) -> Iterator[list[str]]:
    """Names of the namespaces made; at the end they have to be gone."""
    made: list[str] = []
    yield made

    def left() -> list[str]:
        return [name for name in made if objects.get(admin_api, "v1", "Namespace", name) is not None]

    wait(lambda: not left(), f"the namespaces of the tests to be gone ({', '.join(left())})", 90)


@pytest.fixture
def namespace(admin_api: Any, _namespaces: list[str]) -> Iterator[str]:
    """A fresh namespace, deleted after the test."""
    name = f"test-{secrets.token_hex(4)}"
    objects.apply(
        admin_api,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {LABEL: "true"}}},
    )
    _namespaces.append(name)
    yield name
    objects.delete(admin_api, "v1", "Namespace", name)


@pytest.fixture
def server_one(sandbox: Sandbox) -> MariaDB:
    """The server ``one``, running."""
    return _running(sandbox, "one")


@pytest.fixture
def server_two(sandbox: Sandbox) -> MariaDB:
    """The server ``two``, running."""
    return _running(sandbox, "two")


def _running(sandbox: Sandbox, name: str) -> MariaDB:
    server = sandbox.servers[name]
    server.thaw()  # a test that failed in the middle may have left it frozen or stopped
    server.start()
    return server


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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Run a test that may run beside others of its module so."""
    if not pyfuncitem.get_closest_marker("beside"):
        return None
    beside.run(pyfuncitem)
    return True


def pytest_report_header() -> str:
    """Say how to draw the same sample again."""
    return f"of what is long: {sampling.told()}"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that run an operator; leave out what isn't in the sample; move those that look at the rest last.

    A test that was asked for by its name is never left out.
    """
    for item in items:
        if "operator" in getattr(item, "fixturenames", ()):
            item.add_marker("e2e")
    if not any("::" in argument for argument in config.args):
        left = sampling.left_out(items)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    items.sort(key=lambda item: item.get_closest_marker("after_all") is not None)
