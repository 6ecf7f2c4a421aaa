# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Set or remove the operator's finalizer on a request, in a run by hand; the runtime does it otherwise.

Arguments: ``name``, ``namespace`` (str, required); ``state`` (``present`` or ``absent``, required).

Returns ``{changed, done: bool}``: ``done`` is False where the API refused, or the request changed meanwhile.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import by_hand
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_finalizer`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "name": {"type": "str", "required": True},
                "namespace": {"type": "str", "required": True},
                "state": {"type": "str", "choices": ["present", "absent"], "required": True},
            }
        )
        result.update({"changed": False, "done": False})
        path = request_path(args["namespace"], args["name"])
        try:
            kube = Kube()
            patch = by_hand.finalizer_patch(kube.get(path), args["state"])
            result["changed"] = patch is not None
            if patch and not self._task.check_mode:
                kube.merge(path, patch)
            result["done"] = True
        except KubeError as error:
            result["number"] = error.status
        return result
