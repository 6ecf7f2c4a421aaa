# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Write an Event about a request, without touching its status.

Arguments: ``request`` (dict, required): ``{name, namespace, uid}``; ``reason``, ``message`` (str, required).

Returns ``{changed}``. An Event that the API doesn't take is let go.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions
from ansible_collections.lagoon.dbaas.plugins.module_utils.events import write_event
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_event`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "request": {"type": "dict", "required": True},
                "reason": {"type": "str", "required": True},
                "message": {"type": "str", "required": True},
            }
        )
        result["changed"] = True
        if not self._task.check_mode:
            try:
                event = {"reason": args["reason"], "message": args["message"]}
                write_event(Kube(), args["request"], event, conditions.now())
            except KubeError:
                result["changed"] = False
        return result
