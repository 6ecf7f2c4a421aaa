# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read every request, provider and published object of the cluster, in one task, for a person of the platform.

Arguments: ``cluster`` (str): the cluster's id where one is set, else the UID of the namespace kube-system.

Returns what ``read_platform`` of module_utils/platform_reading.py does. It fails where the API does: a person reads
it. The result holds the published Secrets: ``no_log: true`` on the task, which hides the failure's words too, so the
failure is shown by the action itself.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking, platform_reading
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.platform_read`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"cluster": {"type": "str", "default": ""}})
        result["changed"] = False
        problem = " ".join(lacking.modules())
        try:
            result.update(platform_reading.read_platform(Kube(), args["cluster"]) if not problem else {})
        except KubeError as error:
            problem = lacking.answer(error)
        if problem:
            self._display.display(problem, color="red", stderr=True)
            result.update({"failed": True, "msg": problem})
        return result
