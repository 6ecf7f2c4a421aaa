# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Write a provider's status: what its run found of each connection.

Arguments: ``provider`` (dict, required): as provider_read found it; ``found`` (list, required): of the filter
provider_found, one entry a connection.

Returns ``{changed, written: bool}``. Nothing is written where nothing differs.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, health
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, provider_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.provider_status`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {"provider": {"type": "dict", "required": True}, "found": {"type": "list", "required": True}}
        )
        provider = args["provider"]
        old = provider["status"]
        new = health.provider_status(old, args["found"], provider["generation"], conditions.now())
        changes = {key: value for key, value in new.items() if old.get(key) != value}
        result.update({"changed": bool(changes), "written": True})
        if changes and not self._task.check_mode:
            try:
                body = {"metadata": {"uid": provider["uid"]}, "status": changes}
                Kube().merge(provider_path(provider["name"]) + "/status", body)
            except KubeError:
                result["written"] = False
        return result
