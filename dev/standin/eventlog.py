"""What of a play's events goes to the operator's log: what the real runtime prints at its default level."""

from __future__ import annotations

import logging
import os
from typing import Any

from dev.standin.runs import Event

LOG = logging.getLogger("standin.play")
VERBOSITY_ANNOTATION = "ansible.sdk.operatorframework.io/verbosity"


def log_event(label: str, event: Event, annotations: dict[str, str]) -> None:
    """Log one event: started tasks, debug results, items of loops, failed tasks with their arguments.

    It prints as much as the real runtime does, so that a secret that would show there shows here too.

    Args:
        label: which run it is.
        event: the event.
        annotations: the object's annotations, which may ask for all output.
    """
    data = event.get("event_data") or {}
    if "task" not in data:
        return
    kind, action, stdout = event.get("event"), data.get("task_action"), event.get("stdout") or ""
    if _prints_everything(annotations):
        LOG.info("%s", stdout)
    elif kind == "playbook_on_task_start" and action not in ("set_fact", "debug"):
        LOG.info("%s: [playbook task start] %s", label, data.get("name"))
    elif kind == "runner_on_ok" and action == "debug":
        LOG.info("%s: [playbook debug] %s\n%s", label, data.get("task_args"), stdout)
    elif kind == "runner_item_on_ok":
        LOG.info("%s: TASK [%s]\n%s", label, data.get("task"), stdout)
    elif kind == "runner_on_failed":
        where = data.get("task_path", "")
        LOG.error(
            "%s: [playbook task failed] %s %s %s", label, data.get("task"), data.get("task_args"), where
        )
        LOG.error("%s: TASK [%s]\n%s", label, data.get("task"), stdout)


def _prints_everything(annotations: dict[str, str]) -> bool:
    return (
        _number(annotations.get(VERBOSITY_ANNOTATION)) > 0 or _number(os.environ.get("ANSIBLE_VERBOSITY")) > 0
    )


def _number(text: Any) -> int:
    try:
        return int(text or 0)
    except (TypeError, ValueError):
        return 0
