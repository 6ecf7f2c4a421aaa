# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tell the namespaces that a migration was asked to work on.

Arguments: ``name`` (str): of a single one; ``names`` (list of str): text with commas as well; ``file`` (str): a file
with a name a line, "" for none; a relative path is looked for where ansible-playbook was started, unlike the ``file``
lookup's.

Returns ``{namespaces}``, each once and in the order given. Fails with what to do where the file can't be read
or the names say something else than was meant, or where a collection that a migration needs isn't installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking, migration_names


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.migration_namespaces`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "name": {"type": "str", "default": ""},
                "names": {"type": "list", "elements": "str", "default": []},
                "file": {"type": "str", "default": ""},
            }
        )
        missing = lacking.modules(["kubernetes.core.k8s"])
        if missing:
            result.update({"failed": True, "msg": " ".join(missing)})
            return result
        try:
            # Ansible keeps what stands behind a blank in -e "a=b c" under this name.
            loose = str((task_vars or {}).get("_raw_params", ""))
            given = migration_names.from_arguments(args["name"], args["names"], loose)
            listed = migration_names.from_file(Path(args["file"])) if args["file"] else []
        except migration_names.ListError as error:
            result.update({"failed": True, "msg": str(error)})
            return result
        result.update({"changed": False, "namespaces": list(dict.fromkeys([*given, *listed]))})
        return result
