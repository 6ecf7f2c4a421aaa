"""A run that stands still before one of its tasks, so that something can happen there."""

import threading
from pathlib import Path

from dev.waiting import wait_for
from tests.cases import running
from tests.cases.running import Run
from tests.cases.stepping.steps import Step, stepwise
from tests.cases.world import Cases
from tests.integration.e2ehelpers import Json, Request, token

REACHED = 90.0  # seconds that a run gets to come to the task at which it is to pause

#: A frozen server ends a task by its time-out alone: shorter ones, in seconds, make a test of that short.
SHORT_TIMEOUTS = {
    "__dbaas_request_read_seconds": 5,
    "__dbaas_request_write_seconds": 5,
    "__dbaas_request_drop_seconds": 5,
    "__seed_probe_seconds": 5,
    "__dbaas_request_api_seconds": 5,
}


def handed_over(request: Request, more: Json | None = None) -> Json:
    """The variables that the runtime hands to a run.

    Args:
        request: whose run.
        more: further variables.

    Returns:
        The variables.
    """
    found = request.read() or {"spec": {}}
    return {**running.handed_over(request.name, request.namespace, found), **(more or {})}


class Paused:
    """A run on its way to a task."""

    def __init__(self, world: Cases, playbook: str, request: Request, step: Step, more: Json | None = None) -> None:
        """Start it.

        Args:
            world: where.
            playbook: its name.
            request: whose run.
            step: the task before which it pauses.
            more: further variables.
        """
        self._step = step
        self._reached: Path = world.runner.folder / f"reached-{token()}"
        self._go: Path = world.runner.folder / f"go-{token()}"
        orders = {"at": step.name, "time": step.time, "do": "pause"}
        orders |= {"reached": str(self._reached), "go": str(self._go)}
        self._ended: list[Run | BaseException] = []
        variables = handed_over(request, more)

        def work() -> None:
            try:
                self._ended.append(world.runner.run(playbook, variables, 0, stepwise(orders)))
            except BaseException as error:  # handed on by end()
                self._ended.append(error)

        self._thread = threading.Thread(target=work, name=f"run of {request.name}")
        self._thread.start()

    def wait(self) -> None:
        """Wait until it stands before its task."""
        wait_for(
            lambda: self._reached.exists() or not self._thread.is_alive(),
            f"the run to come to {self._step.name!r}",
            REACHED,
        )
        if not self._reached.exists():
            tasks = [getattr(ended, "output", str(ended)).count("TASK [") for ended in self._ended]
            raise AssertionError(f"the run ended after {tasks} tasks without coming to {self._step.name!r}")

    def end(self) -> Run:
        """Let it go on, and wait for its end.

        Returns:
            The run, whatever it came to.
        """
        self._go.touch()
        self._thread.join()
        [ended] = self._ended
        if isinstance(ended, BaseException):
            raise ended
        return ended
