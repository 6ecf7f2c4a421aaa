# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ask the runtime to run this object again after a period. It has to be a play's last task.

Arguments: ``period`` (str, required): a Go duration such as ``5s``.

Returns ``{period}``. Operator SDK's runtime knows the task by this short name and by the period in its result;
without a runtime it does nothing.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """The ``requeue_after`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"period": {"type": "str", "required": True}})
        result.update({"changed": False, "period": args["period"]})
        return result
