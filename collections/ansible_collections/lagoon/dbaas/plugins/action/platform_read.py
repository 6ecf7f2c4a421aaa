# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read every request, provider and published object of the cluster, in one task, for a person of the platform.

Arguments: ``cluster`` (str): the cluster's id where one is set, else the UID of the namespace kube-system.

Returns what ``read_platform`` of module_utils/platform_reading.py does, and ``problem``: why nothing could be read, as
a sentence, "" where it was. The result holds the published Secrets: ``no_log: true`` on the task, which would hide
the words of a failure, so the next task tells it.
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
        result["problem"] = problem
        return result
