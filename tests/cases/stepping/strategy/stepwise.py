"""A strategy for tests: the usual one, which can fail, stop, or kill the run at one chosen task.

``STEPWISE`` in the environment is a JSON object: ``record`` (a file that gets one line of JSON a task, optional),
``at`` (the start of a task's name), ``time`` (how many such tasks are let pass, by default none), ``do``: ``fail``
(the task's work is done, then it counts as failed and nothing ignores that), ``break`` (its plugin is called with an
argument that it doesn't know), ``kill`` (SIGKILL before it begins) or ``pause`` (``reached`` is written, and the run
goes on when ``go`` is there).
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from ansible.plugins.strategy.linear import StrategyModule as Linear

PAUSE = 120  # seconds after which a paused run goes on by itself


class StrategyModule(Linear):
    """The ``stepwise`` strategy."""

    def __init__(self, tqm: Any) -> None:
        super().__init__(tqm)
        self._orders: dict[str, Any] = json.loads(os.environ["STEPWISE"])
        self._seen: list[str] = []

    def _queue_task(self, host: Any, task: Any, task_vars: Any, play_context: Any) -> None:
        name = task.get_name().rpartition(" : ")[2]
        if "record" in self._orders:
            step = {"number": len(self._seen), "name": name, "time": self._seen.count(name), "action": task.action}
            with Path(self._orders["record"]).open("a", encoding="utf-8") as record:
                record.write(json.dumps(step) + "\n")
        at, time_ = self._orders.get("at"), self._orders.get("time", 0)
        if at and name.startswith(at) and sum(other.startswith(at) for other in self._seen) == time_:
            task = self._obey(task)
        self._seen.append(name)
        super()._queue_task(host, task, task_vars, play_context)

    def _obey(self, task: Any) -> Any:
        order = self._orders["do"]
        if order == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if order == "pause":
            Path(self._orders["reached"]).touch()
            end = time.monotonic() + PAUSE
            while not Path(self._orders["go"]).exists() and time.monotonic() < end:
                time.sleep(0.02)
            return task
        changed = task.copy()
        changed.ignore_errors = False
        if order == "break":
            changed.args = {**changed.args, "no_such_option_of_this_plugin": "x"}
        else:
            changed.failed_when = ["true"]
        return changed
