"""Tests that run beside each other: a run of a playbook mostly waits, so two of them go at once.

The first of a module's tests marked ``beside`` that is reached starts all of them that were selected; each then waits
for its own, and fails with what that raised. Their fixtures have to be the module's, or parameters.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

AT_ONCE = 2

_started = pytest.StashKey[dict[str, Future[None]]]()


def run(test: pytest.Function) -> None:
    """Wait for a test's end; start it and the others of its module first, if they aren't.

    Args:
        test: the test that pytest has come to.
    """
    module: Any = test.getparent(pytest.Module)
    if _started not in module.stash:
        module.stash[_started] = _start(test, module)
    module.stash[_started][test.nodeid].result()


def wait(node: pytest.Item) -> None:
    """Wait for all of a module's tests that were started, whatever they came to.

    Args:
        node: a test of the module.
    """
    module: Any = node.getparent(pytest.Module)
    for future in module.stash.get(_started, {}).values():
        future.exception()


def _start(test: Any, module: Any) -> dict[str, Future[None]]:
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="beside")
    futures = {}
    for item in test.session.items:
        if item.path == test.path and item.get_closest_marker("beside"):
            given = _parameters(item)
            fixtures = {n: test._request.getfixturevalue(n) for n in item._fixtureinfo.argnames if n not in given}
            futures[item.nodeid] = pool.submit(item.obj, **given, **fixtures)
    # Before the fixtures go: what hasn't begun doesn't begin any more.
    module.addfinalizer(lambda: pool.shutdown(wait=True, cancel_futures=True))
    return futures


def mark(items: Sequence[pytest.Item], folder: Path, fixture: str) -> None:
    """Mark the tests of a folder that want one fixture, which is the module's, and nothing else.

    Args:
        items: all tests that were collected.
        folder: whose tests.
        fixture: the fixture.
    """
    for item in items:
        if not isinstance(item, pytest.Function) or folder not in item.path.parents:
            continue
        if set(item._fixtureinfo.argnames) - set(_parameters(item)) == {fixture}:
            item.add_marker("beside")


def _parameters(test: pytest.Function) -> dict[str, Any]:
    return dict(test.callspec.params) if hasattr(test, "callspec") else {}
