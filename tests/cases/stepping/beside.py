"""Tests that run beside each other: a run of a playbook mostly waits, so two of them go at once.

The first of a module's tests marked with :func:`beside` starts all of them that were selected; each then waits for its
own, and fails with what that raised.
"""

import functools
import inspect
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

AT_ONCE = 2
_FUTURES: dict[str, Future[None]] = {}


def beside(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test; its fixtures have to be the module's, or its parameters.

    Args:
        test: the test.

    Returns:
        The test that pytest sees.
    """

    @functools.wraps(test)
    def waiting(request: pytest.FixtureRequest, **_: Any) -> None:
        if request.node.nodeid not in _FUTURES:
            _start_all(request)
        _FUTURES[request.node.nodeid].result()

    own = inspect.signature(test)
    asking = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
    waiting.__signature__ = own.replace(parameters=[*own.parameters.values(), asking])  # type: ignore[attr-defined]
    waiting.beside = test  # type: ignore[attr-defined]
    return waiting


def _start_all(request: pytest.FixtureRequest) -> None:
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="beside")
    for item in request.session.items:
        test = getattr(getattr(item, "function", None), "beside", None)
        if test is None or item.path != request.node.path:
            continue
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        wanted = [name for name in inspect.signature(test).parameters if name not in given]
        fixtures = {name: request.getfixturevalue(name) for name in wanted}
        _FUTURES[item.nodeid] = pool.submit(test, **given, **fixtures)
    # Before the fixtures go: what hasn't begun doesn't begin any more.
    module = request.node.getparent(pytest.Module)
    module.addfinalizer(lambda: pool.shutdown(wait=True, cancel_futures=True))
