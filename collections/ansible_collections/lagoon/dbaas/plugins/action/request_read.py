# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read a DatabaseRequest and all that a run needs to know of the cluster, in one task.

Arguments: ``name``, ``namespace`` (str, required): the request's; ``cluster`` (str): the cluster's id where one
is set, else the UID of the namespace kube-system.

Returns ``{found, request, cluster, fence, connections, seed, published, stale_services, kept, outcome}``.
``outcome`` is ``{}`` or ``{reason: KubernetesError, params}``: an API that fails is a wait, never a failed task; where
it failed behind the request itself, ``found`` and ``request`` are there, so that the condition can be written. The
result holds the published Secret and the seed: ``no_log: true`` on the task.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import reading
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_read`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "name": {"type": "str", "required": True},
                "namespace": {"type": "str", "required": True},
                "cluster": {"type": "str", "default": ""},
            }
        )
        result.update({"changed": False, "found": False, "outcome": {}})
        try:
            kube = Kube()
            request = kube.get(request_path(args["namespace"], args["name"]))
            if request is not None:
                result.update({"found": True, "request": reading.own_part(request)})
                result.update(reading.read_request(kube, request, args["cluster"]))
        except KubeError as error:
            result["outcome"] = {
                "reason": "KubernetesError",
                "params": {"number": error.status or "no answer"},
            }
        return result
