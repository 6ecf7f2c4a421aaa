# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read the variables of a person's playbook that say yes or no, before anything is done.

Arguments: ``given`` (dict, required): the variables' names -> what was said.

Returns ``{said}``: the same names -> bools. Fails with a sentence where one is neither: the filter ``bool`` takes
``ture`` for no.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import answers


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.yes_or_no`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"given": {"type": "dict", "required": True}})
        result["changed"] = False
        try:
            result["said"] = answers.yes_or_no(args["given"])
        except answers.AnswerError as error:
            result.update({"failed": True, "msg": str(error)})
        return result
