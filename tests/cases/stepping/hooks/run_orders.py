"""Orders for a run, as its strategy and every Python that it starts obey them.

``STEPWISE`` in the environment is a JSON object, or ``@`` and the path of a file with one, which is read when a play
begins. The keys that this file knows: ``calls`` (a file that gets one line of JSON for each statement and each writing
request to the API that a task sends), ``number`` and ``call`` (the task and the call before which something is done),
``do`` (``kill`` or ``pause``), ``reached`` and ``go`` (files: the one is written at a pause, the other ends it),
``sent`` (a file that is written when the statement that was held back has been sent, its answer not yet read).

``STEPWISE_RUN`` is in the environment of all processes of the run, whatever session they are in. ``STEPWISE_TASK`` is
the number of the task at work.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

PAUSE = 180  # seconds after which a paused run goes on by itself
READS = ("GET", "HEAD", "OPTIONS")


def orders() -> dict[str, Any]:
    """The orders of this process; none where they are still in a file."""
    given = os.environ.get("STEPWISE", "")
    found: dict[str, Any] = json.loads(given) if given.startswith("{") else {}
    return found


def obey(given: dict[str, Any]) -> None:
    """Kill or pause the run, once.

    Args:
        given: the orders.
    """
    if given["do"] == "kill":
        kill_tree()
    reached = Path(given["reached"])
    if reached.exists():
        return  # a later run of the same orders
    reached.touch()
    end = time.monotonic() + PAUSE
    while not Path(given["go"]).exists() and time.monotonic() < end:
        time.sleep(0.02)


def kill_tree() -> None:
    """SIGKILL all processes of this run, this one last."""
    mark = f"STEPWISE_RUN={os.environ['STEPWISE_RUN']}".encode()
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none starts another one
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid():
                try:
                    if mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                        os.kill(int(entry), number)
                except OSError:
                    continue  # it has gone
    os.kill(os.getpid(), signal.SIGKILL)


def called(what: str) -> bool:
    """A task is about to send something.

    Args:
        what: its first words; no values.

    Returns:
        Whether this is the call that the orders speak of.
    """
    given, number = orders(), os.environ.get("STEPWISE_TASK")
    if "calls" not in given or number is None:
        return False
    file = Path(given["calls"])
    before = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    call = sum(json.loads(line)["number"] == int(number) for line in before)
    is_meant = (given.get("number"), given.get("call")) == (int(number), call)
    if is_meant:
        obey(given)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"number": int(number), "call": call, "what": what}) + "\n")
    return is_meant


def _driver(module: ModuleType) -> None:
    original = module.Connection._execute_command

    def _execute_command(self: Any, command: int, statement: Any) -> Any:
        text = statement if isinstance(statement, str) else bytes(statement).decode(errors="replace")
        # Words up to the first value or name.
        is_meant = called("SQL " + text.partition("'")[0].partition("`")[0][:60])
        result = original(self, command, statement)
        if is_meant and "sent" in orders():
            Path(orders()["sent"]).touch()
        return result

    module.Connection._execute_command = _execute_command


def _requests(module: ModuleType) -> None:
    original = module.HTTPConnectionPool.urlopen

    def urlopen(self: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
        if method not in READS:
            called(f"API {method} {url.partition('?')[0]}")
        return original(self, method, url, *args, **kwargs)

    module.HTTPConnectionPool.urlopen = urlopen


HOOKS: dict[str, Callable[[ModuleType], None]] = {"pymysql.connections": _driver, "urllib3.connectionpool": _requests}


class Finder(MetaPathFinder):
    """Finds the modules that are to be changed, and changes them once they are loaded."""

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module of :data:`HOOKS`; all others are left to the usual finders."""
        if fullname not in HOOKS:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            HOOKS[fullname](module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Watch what this process sends, if it has orders."""
    if "STEPWISE" in os.environ:
        sys.meta_path.insert(0, Finder())
