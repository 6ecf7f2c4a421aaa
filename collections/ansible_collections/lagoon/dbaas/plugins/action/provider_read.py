# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read a DatabaseMySQLProvider and the secrets of its connections, in one task.

Arguments: ``name`` (str, required): the provider's.

Returns ``{found, provider, connections, failed_read}``; an API that fails is ``failed_read: true``, never a failed
task. ``no_log: true`` on the task.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import reading
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, provider_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.provider_read`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"name": {"type": "str", "required": True}})
        result.update({"changed": False, "found": False, "connections": [], "failed_read": False})
        try:
            kube = Kube()
            provider = kube.get(provider_path(args["name"]))
            if provider is not None and "deletionTimestamp" not in provider["metadata"]:
                result.update(reading.read_provider(kube, provider))
        except KubeError:
            result["failed_read"] = True
        return result
