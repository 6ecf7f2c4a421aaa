# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Show a report to the person who runs a playbook, and write it to a file if one is named.

Arguments: ``report`` (dict, required): ``{lines, data, failed, summary}``; ``output`` (str): the file that gets
``data`` as JSON, whole or not at all, readable by its owner alone.

The lines go to the screen as they are, without Ansible's quoting. With ``failed`` the task fails, and so
ansible-playbook ends with status 2; ``told`` in the result says that its words are on the screen already. No secret
may be in a report.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import tables


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.platform_report`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {"report": {"type": "dict", "required": True}, "output": {"type": "str", "default": ""}}
        )
        report = args["report"]
        self._display.display("\n".join([*report["lines"], report["summary"]]))
        result.update({"changed": False, "failed": bool(report.get("failed")), "msg": report["summary"], "told": True})
        if args["output"]:
            problem = tables.write_report(args["output"], report["data"])
            if problem:
                result.update({"failed": True, "msg": problem, "told": False})
        return result
