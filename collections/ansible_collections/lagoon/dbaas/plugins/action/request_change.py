# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Change a request as a person of the platform does; never its status.

Arguments: ``request`` (dict, required): ``{name, namespace, uid}``; ``change`` (str, required): ``let_go`` (nothing
is dropped with it any more; it has the finalizer; it is deleted), ``free`` (its finalizer goes) or ``try_again``
(one more try).

Returns ``{changed}``. A request that is gone, or another one of its name, is left alone. Each write names the
resourceVersion that was read, and is made again from a new read where somebody else wrote in between.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, handing
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path

#: Writes of one change that may meet another writer's.
TRIES = 20


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_change`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "request": {"type": "dict", "required": True},
                "change": {"type": "str", "required": True, "choices": ["let_go", "free", "try_again"]},
            }
        )
        result["changed"] = False
        for left in reversed(range(TRIES)):
            try:
                result["changed"] = self._change(Kube(), args["request"], args["change"])
                break
            except KubeError as error:
                if error.status == 409 and left:
                    continue
                result.update({"failed": True, "msg": f"the request couldn't be changed: {error}"})
                break
        return result

    def _change(self, kube: Kube, request: dict[str, Any], change: str) -> bool:
        path = request_path(request["namespace"], request["name"])
        found = kube.get(path)
        if found is None or found["metadata"]["uid"] != request["uid"]:
            return False
        patch = handing.request_patch(found, change, conditions.now())
        deletes = change == "let_go" and "deletionTimestamp" not in found["metadata"]
        if self._task.check_mode or not (patch or deletes):
            return bool(patch or deletes)
        if patch:
            known = {"uid": request["uid"], "resourceVersion": found["metadata"]["resourceVersion"]}
            kube.merge(path, {**patch, "metadata": {**patch.get("metadata", {}), **known}})
        if deletes:
            kube.delete(path, {"preconditions": {"uid": request["uid"]}})
        return True
