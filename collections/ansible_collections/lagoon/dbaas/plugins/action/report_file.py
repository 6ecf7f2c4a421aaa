# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""See that the file of a report can be written, before anything is done that it has to tell.

Arguments: ``file`` (str): where, "" for nowhere.

Fails with why it can't; what stands in the file stays.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import tables


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.report_file`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"file": {"type": "str", "default": ""}})
        problem = tables.unwritable(args["file"]) if args["file"] else ""
        result.update({"changed": False, "failed": bool(problem), "msg": problem})
        return result
