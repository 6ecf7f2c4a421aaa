"""A run that stands still before one of its tasks or calls, so that something can happen there."""

import contextlib
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dev.processes import kill_all
from dev.waiting import wait_for
from tests.cases.running import Run
from tests.cases.stepping.marks import processes_with
from tests.cases.stepping.steps import stepwise
from tests.cases.world import Cases
from tests.integration.e2ehelpers import Request, token

REACHED = 180.0  # seconds that a run gets to come to where it is to pause
ENDED = 300.0  # seconds that it gets to end when it goes on

#: A frozen server ends a task by its time-out alone: shorter ones, in seconds, make a test of that short.
SHORT_TIMEOUTS = {
    "__dbaas_request_read_seconds": 5,
    "__dbaas_request_write_seconds": 5,
    "__dbaas_request_drop_seconds": 5,
    "__seed_probe_seconds": 5,
    "__dbaas_request_api_seconds": 5,
}


class Paused:
    """A run on its way to a place, and standing there until it is let go or killed.

    Attributes:
        sent: the file that says that it has sent the call before which it stood.
    """

    def __init__(
        self,
        world: Cases,
        playbook: str,
        request: Request,
        place: Mapping[str, Any],
        more: Mapping[str, Any] | None = None,
        verbosity: int = 0,
    ) -> None:
        """Start it.

        Args:
            world: where.
            playbook: its name.
            request: whose run.
            place: where it pauses: ``{at: start of a task's name}`` or what ``orders()`` of a step or border gives.
            more: further variables.
            verbosity: how many ``-v``.
        """
        self._place = dict(place)
        files = {word: world.runner.folder / f"{word}-{token()}" for word in ("reached", "go", "sent", "calls")}
        self._reached, self._go, self.sent = files["reached"], files["go"], files["sent"]
        settings = stepwise({"do": "pause", **place, **{word: str(file) for word, file in files.items()}})
        pool = ThreadPoolExecutor(1, thread_name_prefix=f"run of {request.name}")
        self._run = pool.submit(
            world.runner.request, playbook, request.name, request.namespace, request.read(), verbosity, settings, more
        )
        pool.shutdown(wait=False)

    def wait(self) -> None:
        """Wait until it stands at its place."""
        wait_for(
            lambda: self._reached.exists() or self._run.done(), f"the run to come to {self._place}", REACHED
        )
        if not self._reached.exists():
            raise AssertionError(f"the run ended without coming to {self._place}: {self._run.result().output[-2000:]}")

    def processes(self) -> list[int]:
        """The numbers of all its processes."""
        return processes_with("STEPWISE", str(self._go))

    def go(self) -> None:
        """Let it go on."""
        self._go.touch()

    def end(self) -> Run:
        """Let it go on, and wait for its end.

        Returns:
            The run, whatever it came to.
        """
        self.go()
        return self._run.result(ENDED)

    def kill(self) -> None:
        """SIGKILL all of it, which has to be at work."""
        kill_all(self.processes())
        assert self._run.result(ENDED).rc == -signal.SIGKILL

    def close(self) -> None:
        """End it, whatever it does."""
        self.go()
        kill_all(self.processes())


@contextlib.contextmanager
def paused(
    world: Cases,
    request: Request,
    place: Mapping[str, Any],
    playbook: str = "reconcile-request.yml",
    more: Mapping[str, Any] | None = None,
    verbosity: int = 0,
) -> Iterator[Paused]:
    """A run that stands at its place; the body decides its end, and nothing of it is left behind.

    Args:
        world: where.
        request: whose run.
        place: see :class:`Paused`.
        playbook: which.
        more: further variables.
        verbosity: how many ``-v``.

    Yields:
        The run.
    """
    run = Paused(world, playbook, request, place, more, verbosity)
    try:
        run.wait()
        yield run
    finally:
        run.close()
