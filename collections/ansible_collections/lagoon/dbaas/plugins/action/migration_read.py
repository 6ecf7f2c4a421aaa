# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Read the MariaDBConsumer objects and requests of several namespaces, and plan what is to be done, in one task.

Arguments: ``namespaces`` (list of str, required); ``settings`` (dict, required): see ``migration.plan``.

Returns ``{entries, documents}``, and ``labels``, ``finishes``, ``removals``: the patches and objects of entries whose
turn that is. A namespace that can't be read is an entry, never a failed task. The result holds passwords:
``no_log: true`` on the task. It writes nothing, so it runs in check mode, too.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking, migration
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError
from ansible_collections.lagoon.dbaas.plugins.module_utils.migration_reading import read_all, unread


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.migration_read`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "namespaces": {"type": "list", "elements": "str", "required": True},
                "settings": {"type": "dict", "required": True, "no_log": False},
            }
        )
        try:
            kube = Kube()
        except KubeError as error:
            failed = [unread(n, "NoKubeconfig", lacking.answer(error)) for n in args["namespaces"]]
            read: dict[str, Any] = {"entries": failed, "documents": [], "whole": True}
        else:
            read = read_all(kube, args["namespaces"], args["settings"])
        if not read["whole"]:
            lacks = lacking.right("list mariadbconsumers")
            Display().warning(f"{lacks} Until then whether one elsewhere names the same database can't be told.")
        entries = read["entries"]
        result.update(read)
        result.update(
            {
                "changed": False,
                "labels": migration.label_patches(entries),
                "finishes": migration.finish_patches(entries),
                "removals": migration.removals(entries),
            }
        )
        return result
