"""Tests of a module as jobs of a small pool: a run of a playbook mostly waits, so two of them go at once.

A test whose only fixture is ``world`` is a job. The first of a module that is reached starts all that were selected;
each then waits for its own and fails with what that raised. Tests with other fixtures are run as always.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

WORKERS = 2


class Jobs:
    """The jobs of one test module."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="case")
        self._futures: dict[str, Future[None]] = {}

    def result(self, item: pytest.Function, world: Any) -> None:
        """Wait for a test's job; start all of its module first, if they aren't.

        Args:
            item: the test.
            world: what it works in.
        """
        if item.nodeid not in self._futures:
            for other in item.session.items:
                if isinstance(other, pytest.Function) and other.path == item.path and is_job(other):
                    arguments = {**parameters(other), "world": world}
                    self._futures[other.nodeid] = self._pool.submit(other.obj, **arguments)
        self._futures[item.nodeid].result()

    def wait(self) -> None:
        """Wait for all jobs that were started, whatever they came to."""
        for future in self._futures.values():
            future.exception()

    def close(self) -> None:
        """End: what hasn't begun doesn't begin any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def parameters(item: pytest.Function) -> dict[str, Any]:
    """The values that a test is parametrized with."""
    return dict(item.callspec.params) if hasattr(item, "callspec") else {}


def is_job(item: pytest.Function) -> bool:
    """Whether a test can run as a job: it wants its parameters and the world, and nothing else."""
    wanted = item._fixtureinfo.argnames
    return "world" in wanted and set(wanted) - {"world"} == set(parameters(item))
