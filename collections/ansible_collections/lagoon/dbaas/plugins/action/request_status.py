# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Write a request's status from one reason of the closed list, and an Event where the reason is new.

Arguments: ``request`` (dict, required): as request_read found it; ``reasons`` (dict, required): the closed list,
reason -> ``{state, message}``; ``reason`` (str, required); ``params`` (dict): what the reason's sentence needs;
``reference``, ``database_info``, ``observed_seed`` (dict): status fields to set; ``drop_reference`` (bool): take
the reference away; ``event`` (dict): an extra Event ``{reason, message}`` to write.

Returns ``{changed, written: bool, period: int}``: whether the API took it (False, too, where the request is gone, or
another run has spoken since this one read it), and the seconds until a waiting request is to be looked at again.
Nothing is written where nothing differs. An API that fails is no failed task: the next pass writes.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions
from ansible_collections.lagoon.dbaas.plugins.module_utils.events import write_event
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_status`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "request": {"type": "dict", "required": True},
                "reasons": {"type": "dict", "required": True},
                "reason": {"type": "str", "required": True},
                "params": {"type": "dict", "default": {}},
                "reference": {"type": "dict"},
                "database_info": {"type": "dict"},
                "observed_seed": {"type": "dict"},
                "drop_reference": {"type": "bool", "default": False},
                "event": {"type": "dict"},
            }
        )
        request, reason = args["request"], args["reason"]
        entry = args["reasons"][reason]
        message = entry["message"].format_map(args["params"])
        at = conditions.now()
        path = request_path(request["namespace"], request["name"])
        # What the run began with, for an API that says nothing now.
        began = conditions.wait_period(request.get("status") or {}, at)
        result.update({"changed": False, "written": False, "period": began})
        try:
            kube = Kube()
            # Read anew: this run may have written before.
            found = kube.get(path)
            if found is None or found["metadata"]["uid"] != request["uid"]:
                return result
            old = found.get("status") or {}
            generation, reference = request["generation"], args["reference"]
            lost = reason == "Creating" or bool(args["params"].get("conflict"))
            if conditions.overtaken(request["status"], old, entry["state"], reference, generation, lost):
                return result
            new = build_status(old, args, entry["state"], message, at)
            changes = {key: value for key, value in new.items() if old.get(key) != value}
            result.update({"changed": bool(changes), "period": conditions.wait_period(new, at)})
            if changes and not self._task.check_mode:
                version = {key: found["metadata"][key] for key in ("uid", "resourceVersion")}
                kube.merge(f"{path}/status", {"metadata": version, "status": changes})
                self._write_events(kube, args, old, entry["state"], message, at)
            result["written"] = True
        except KubeError as error:
            result["number"] = error.status
        return result

    def _write_events(
        self, kube: Kube, args: dict[str, Any], old: dict[str, Any], state: str, message: str, at: str
    ) -> None:
        events = [args["event"]] if args["event"] else []
        if conditions.find(old, "Ready").get("reason") != args["reason"]:
            good = state in ("done", "waits") and args["reason"] != "InternalError"
            kind = "Normal" if good else "Warning"
            events.insert(0, {"reason": args["reason"], "message": message, "type": kind})
        for event in events:
            write_event(kube, args["request"], event, at)


def build_status(old: dict[str, Any], args: dict[str, Any], state: str, message: str, at: str) -> dict[str, Any]:
    """The whole status that a request shall have; a field that is to go is None.

    Args:
        old: the status that it has. args: the action's. state, message: of the reason. at: the present time.
    """
    new = dict(old)
    request = args["request"]
    new["conditions"] = conditions.build(
        old.get("conditions") or [], state, args["reason"], message, request["generation"], at
    )
    new["observedGeneration"] = request["generation"]
    for argument, field in (
        ("reference", "observedDatabaseConnectionReference"),
        ("database_info", "databaseInfo"),
        ("observed_seed", "observedSeed"),
    ):
        if args[argument]:
            new[field] = args[argument]
    if args["drop_reference"]:
        for field in ("observedDatabaseConnectionReference", "databaseInfo", "observedSeed"):
            if field in new:
                new[field] = None
    return new
