"""Runs that are recorded, killed, halted and repeated."""

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from dev.errors import WaitTimeout
from dev.waiting import wait_for
from tests.cases.running import Run
from tests.cases.stepping.marks import processes_with
from tests.cases.stepping.steps import stepwise
from tests.cases.world import DONE, Cases
from tests.crash.borders import Border, borders_of
from tests.crash.paths import PATHS, RECONCILE, Path, Stage
from tests.crash.picture import Json, Subject, picture
from tests.integration.e2ehelpers import token

RUNS = 6  # that a request may need to come to its end
CLOSING = 60.0  # seconds that the cluster gets to collect what a deleted request owned


@dataclass(frozen=True)
class Reference:
    """What a path comes to when nothing kills it.

    Attributes:
        path: the path.
        borders: all of them.
        picture: what it leaves.
    """

    path: Path
    borders: list[Border]
    picture: Json


def say(line: str) -> None:
    """Show progress, where pytest lets it through."""
    print(line, file=sys.stderr, flush=True)


def once(world: Cases, path: Path, subject: Subject, orders: dict[str, Any] | None = None) -> Run:
    """Run a path's playbook once, whatever it comes to.

    Args:
        world: where.
        path: the path.
        subject: the request.
        orders: for the run.

    Returns:
        The run.
    """
    request = subject.request
    settings = stepwise(orders) if orders else None
    return world.runner.request(path.playbook, request.name, request.namespace, request.read(), 0, settings)


def finish(world: Cases, path: Path, subject: Subject) -> None:
    """Run a path's playbook until it is content.

    Args:
        world: where.
        path: the path.
        subject: the request.

    Raises:
        AssertionError: a run broke, or there is no end of them.
    """
    told = []
    for _ in range(RUNS):
        again = once(world, path, subject).check().again
        told.append(subject.request.told())
        if not again:
            break
    else:
        raise AssertionError(f"{RUNS} runs weren't enough: {told}")
    if path.playbook != RECONCILE:
        world.release(subject.request)


def record(world: Cases, path: Path, subject: Subject) -> Reference:
    """Run a path unharmed.

    Args:
        world: where.
        path: the path.
        subject: a request that begins it.

    Returns:
        Its borders, and what it comes to.
    """
    steps, calls = (world.runner.folder / f"{word}-{token()}" for word in ("record", "calls"))
    run = once(world, path, subject, {"record": str(steps), "calls": str(calls)}).check()
    assert not run.again, f"{path.name} isn't done in one run: {subject.request.told()}"
    if path.playbook != RECONCILE:
        world.release(subject.request)
    found = at_rest(subject)
    is_the_end(path, subject, found)
    return Reference(path, borders_of(steps, calls), found)


def is_the_end(path: Path, subject: Subject, found: Json) -> None:
    """Demand that an unharmed run came to what its path is for: two that are refused alike would compare equal.

    Args:
        path: the path.
        subject: the request.
        found: its picture.
    """
    if path.playbook == RECONCILE:
        assert subject.request.state() == f"{path.reason} {DONE}", subject.request.told()
        assert found["login"] == "('<username>@%', '<database>')", found["login"]
        assert [row["state"] for row in found["ledger"]] == ["ready"], found["ledger"]
    else:
        assert (found["request"], found["ledger"]) == (None, []), f"{path.name} left something"
        there = [bool(found["server"][what]) for what in ("databases", "accounts")]
        assert there == [path.stays] * 2, f"{path.name}: database and account are there: {there}"


class References(dict[str, Reference]):
    """The references of a test module, each recorded at its first use.

    Attributes:
        stage: where.
        after: what is done with the request that was recorded.
    """

    def __init__(self, stage: Stage, after: Callable[[Subject], None] = lambda _: None) -> None:
        super().__init__()
        self.stage = stage
        self.after = after

    def __missing__(self, name: str) -> Reference:
        """Record a path."""
        subject = PATHS[name].begin(self.stage)
        self[name] = record(self.stage.world, PATHS[name], subject)
        self.after(subject)
        return self[name]


def at_rest(subject: Subject) -> Json:
    """The picture of a request, its dependents collected where it is gone."""

    def collected() -> bool:
        return subject.request.read() is not None or not any(o["ownerReferences"] for o in picture(subject)["objects"])

    wait_for(collected, f"what {subject!r} owned to be collected", CLOSING)
    return picture(subject)


def kill(world: Cases, path: Path, subject: Subject, border: Border) -> None:
    """Kill a run at a border, and make sure that it was there and that nothing of it is left.

    Args:
        world: where.
        path: the path.
        subject: a request that begins it.
        border: where.
    """
    steps, calls = (world.runner.folder / f"{word}-{token()}" for word in ("record", "calls"))
    orders = {"record": str(steps), "calls": str(calls), "do": "kill", **border.orders()}
    run = once(world, path, subject, orders)
    last = json.loads(steps.read_text(encoding="utf-8").splitlines()[-1])
    assert run.rc == -signal.SIGKILL, f"the run wasn't killed at {border}: status {run.rc}\n{run.output[-2000:]}"
    assert (last["number"], last["name"]) == (border.number, border.name), f"{border} is {last}"
    assert processes_with("STEPWISE", str(calls)) == [], f"processes of the run killed at {border} are left"
    steps.unlink()
    File(calls).unlink(missing_ok=True)


@contextlib.contextmanager
def harmed(stage: Stage, path: Path, border: Border, failed: list[str], words: str) -> Iterator[Subject]:
    """A request on a path that comes to harm at a border; if it gets over that, it can begin another path.

    Args:
        stage: where.
        path: the path.
        border: where the body harms its run.
        failed: gets what the body finds wrong.
        words: for the line of progress.

    Yields:
        The request.
    """
    subject = path.begin(stage)
    wrong = ""
    try:
        yield subject
    except AssertionError as error:
        wrong = ": WRONG"
        failed.append(str(error))
    else:
        if path.makes:
            stage.filled(subject)
            stage.keep(path.makes, subject)
    say(f"{words} {border}{wrong}")


def compare(reference: Reference, subject: Subject, how: str) -> None:
    """Demand that a request came to what the unharmed one came to.

    Args:
        reference: of the path.
        subject: the request.
        how: what was done to it.
    """
    try:
        found = at_rest(subject)
    except WaitTimeout as error:
        raise AssertionError(f"{reference.path.name}, {how}: {error}") from error
    lines = wrong(reference, found)
    assert not lines, f"{reference.path.name}, {how}:\n" + "\n".join(lines)


def wrong(reference: Reference, found: Json) -> list[str]:
    """In what a picture differs from the path's.

    Args:
        reference: of the path.
        found: the picture.

    Returns:
        A line for each difference that may not be.
    """
    lines = differences(reference.picture, found)
    return [line for line in lines if not (reference.path.rotates and ".untouched:" in line)]


def differences(one: Any, other: Any, where: str = "") -> Iterable[str]:
    """Tell two pictures apart.

    Args:
        one: of the unharmed run.
        other: of the other.
        where: both stand.

    Yields:
        A line for each difference.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{number}]")
    elif one != other:
        yield f"{where[1:]}: {one!r} without a kill, {other!r} with it"
