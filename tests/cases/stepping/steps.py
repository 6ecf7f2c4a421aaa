"""Runs of the playbooks that a test fails, stops or kills at one of their tasks."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.cases.running import Runner
from tests.cases.world import Cases
from tests.integration.e2ehelpers import token
from tests.sampling import some

STRATEGIES = Path(__file__).parent / "strategy"
HOOKS = Path(__file__).parent / "hooks"
STEPS = int(os.environ.get("DBAAS_STEPS", "5"))  # of each path
INCLUDES = ("include_tasks", "include_role", "validate_argument_spec")


@dataclass(frozen=True)
class Step:
    """One task that a run came to.

    Attributes:
        number: its place in the run, from 0.
        name: its name without the role's.
        time: how many of this name came before it.
        action: its action.
    """

    number: int
    name: str
    time: int
    action: str

    @property
    def is_plugin(self) -> bool:
        """Whether it gives its arguments to a plugin that works with them, and isn't a fact or a wait."""
        return not self.action.endswith(("set_fact", "requeue_after"))

    def orders(self) -> dict[str, Any]:
        """Name it for the run."""
        return {"at": self.name, "time": self.time}


def stepwise(orders: Mapping[str, Any], **more: str) -> dict[str, str]:
    """The environment of a run that obeys orders.

    Args:
        orders: see strategy/stepwise.py.
        **more: further variables.

    Returns:
        The variables.
    """
    return {
        "ANSIBLE_STRATEGY_PLUGINS": str(STRATEGIES),
        "ANSIBLE_STRATEGY": "stepwise",
        "STEPWISE": json.dumps(dict(orders)),
        "STEPWISE_RUN": token(8),
        "PYTHONPATH": str(HOOKS),
        **more,
    }


def chosen(steps: list[Step], what: str) -> list[Step]:
    """The steps at which something is tried: one where a sample is wanted, else DBAAS_STEPS, drawn by the same seed.

    Args:
        steps: all that the test found.
        what: is tried.

    Returns:
        Those to try.
    """
    found = some(what, steps, 1, STEPS)
    print(f"{what}: at {len(found)} of {len(steps)} steps")
    return found


def recorded(record: Path, output: str) -> list[Step]:
    """Read the tasks of a run that did something: neither skipped nor mere includes.

    Args:
        record: the file that the run's orders named.
        output: what the run printed, by the usual callback.

    Returns:
        The tasks, in order.
    """
    steps = [Step(**json.loads(line)) for line in record.read_text(encoding="utf-8").splitlines()]
    printed = re.split(r"^TASK \[", output, flags=re.MULTILINE)[1:]
    found = []
    for step in steps:
        # What was printed without being recorded, as the strategy's own tasks are, is passed over.
        while not re.match(rf"([^|\]]* : )?{re.escape(step.name)}\] \*", printed[0]):
            del printed[0]
        if not step.action.endswith(INCLUDES) and re.search(r"^(ok|changed):", printed.pop(0), re.MULTILINE):
            found.append(step)
    return found


@contextmanager
def without_operator(sandbox: Sandbox, folder: Path) -> Iterator[Cases]:
    """The sandbox for runs by hand: no operator works beside them, and all that is made goes at the end.

    Args:
        sandbox: the sandbox.
        folder: of this world's runs alone.

    Yields:
        The world.
    """
    operator: Operator = sandbox.operator
    was_running = operator.running
    operator.stop()
    world = Cases(sandbox, operator, sandbox.api(), runner=Runner(sandbox.operator_kubeconfig, folder))
    try:
        yield world
    finally:
        world.close()
        if was_running:
            operator.start(None)
