"""A strategy for tests: the usual one, which can fail, stop, or kill the run at one chosen task.

``STEPWISE`` in the environment is a JSON object (or ``@`` and a file with such objects by the name of the object that
is worked on): ``record`` (a file that gets one line of JSON a task, optional), ``at`` (the start of a task's name),
``time`` (how many such tasks are let pass, by default none), or ``number`` in their place (the task's number in the
run; with ``call`` it is obeyed inside the task, see ../hooks/run_orders.py), ``do``: ``fail`` (the task's work is done,
then it counts as failed and nothing ignores that), ``break`` (its plugin is called with an argument that it doesn't
know), ``kill`` (SIGKILL of the whole run before it begins) or ``pause`` (``reached`` is written, and the run goes on
when ``go`` is there).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import run_orders  # type: ignore[import-not-found]  # on the path of a run that obeys
from ansible.plugins.strategy.linear import StrategyModule as Linear


class StrategyModule(Linear):
    """The ``stepwise`` strategy."""

    def __init__(self, tqm: Any) -> None:
        super().__init__(tqm)
        self._orders: dict[str, Any] | None = None
        self._seen: list[str] = []

    def _queue_task(self, host: Any, task: Any, task_vars: Any, play_context: Any) -> None:
        if self._orders is None:
            self._orders = self._given(task_vars.get("ansible_operator_meta", {}).get("name", ""))
        name = task.get_name().rpartition(" : ")[2]
        number = len(self._seen)
        if "record" in self._orders:
            step = {"number": number, "name": name, "time": self._seen.count(name), "action": task.action}
            with Path(self._orders["record"]).open("a", encoding="utf-8") as record:
                record.write(json.dumps(step) + "\n")
        os.environ["STEPWISE_TASK"] = str(number)
        if self._is_at(name, number):
            task = self._obey(task)
        self._seen.append(name)
        super()._queue_task(host, task, task_vars, play_context)

    def _given(self, name: str) -> dict[str, Any]:
        given = os.environ["STEPWISE"]
        is_file = given.startswith("@")
        found: dict[str, Any] = json.loads(Path(given[1:]).read_text(encoding="utf-8") if is_file else given)
        found = found.get(name, {}) if is_file else found
        os.environ["STEPWISE"] = json.dumps(found)  # for what this run starts
        return found

    def _is_at(self, name: str, number: int) -> bool:
        given = self._orders or {}
        if "number" in given:
            return "call" not in given and given["number"] == number
        at: str = given.get("at", "")
        times = sum(other.startswith(at) for other in self._seen)
        return bool(at) and name.startswith(at) and times == given.get("time", 0)

    def _obey(self, task: Any) -> Any:
        given = self._orders or {}
        if given["do"] in ("kill", "pause"):
            run_orders.obey(given)
            return task
        changed = task.copy()
        changed.ignore_errors = False
        if given["do"] == "break":
            changed.args = {**changed.args, "no_such_option_of_this_plugin": "x"}
        else:
            changed.failed_when = ["true"]
        return changed
