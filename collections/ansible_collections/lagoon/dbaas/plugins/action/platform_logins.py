# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Write login files for some accounts of published Secrets, at most ``BATCH`` at once.

Arguments: ``accounts`` (list, required): ``{username, password, …}`` each.

Returns ``{accounts: […]}``: the same with ``config_file`` in place of the password, "" where no login file can hold
the password. The next call takes the files again. ``no_log: true`` on the task.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials

#: Accounts of one call.
BATCH = 64
_SLOTS = credentials.more_slots(BATCH)


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.platform_logins`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"accounts": {"type": "list", "elements": "dict", "required": True}})
        found = []
        for slot, account in zip(_SLOTS, args["accounts"][:BATCH], strict=False):
            kept = {key: value for key, value in account.items() if key != "password"}
            try:
                text = credentials.option_file(account["username"], account["password"])
                found.append({**kept, "config_file": credentials.store(slot, text)})
            except ValueError:
                found.append({**kept, "config_file": ""})
        result.update({"changed": False, "accounts": found})
        return result
