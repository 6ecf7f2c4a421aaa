"""Waiting for a condition with a deadline: the only wait there is in the sandbox and the tests."""

import time
from collections.abc import Callable
from typing import TypeVar

from dev.errors import WaitTimeout

Value = TypeVar("Value")


def wait_for(condition: Callable[[], Value], what: str, deadline: float = 30.0) -> Value:
    """Ask again and again until a condition holds.

    Args:
        condition: called without arguments; a true value ends the wait. What it raises isn't caught.
        what: what is waited for, to be read after "waited N seconds for".
        deadline: seconds after which the wait is given up.

    Returns:
        The true value.

    Raises:
        WaitTimeout: the deadline passed; the message names the wait.
    """
    end = time.monotonic() + deadline
    pause = 0.02
    while True:
        value = condition()
        if value:
            return value
        left = end - time.monotonic()
        if left <= 0:
            raise WaitTimeout(f"waited {deadline:g} seconds for {what}, in vain")
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, 0.5)
