# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Wait until the requests of a migration are settled, or gone, all of them at once.

Arguments: ``entries`` (list of dict, required): see ``migration.plan``; ``seconds`` (int, required): for all of them
together; ``gone`` (bool): wait until those that were to be removed are gone, instead.

Returns ``{done, left}``: ``NAMESPACE/NAME`` of the requests that are, and of those on which the time ran out. What
needs a person isn't waited for. An API that fails in between is asked again. How far it is, it says on standard output.
"""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path

#: Seconds between two looks.
PAUSE = 2


def is_done(request: dict[str, Any] | None, gone: bool) -> bool:
    """Whether there is nothing to wait for: it is gone, or (unless that is asked for) settled or a person's turn."""
    if request is None:
        return True
    return not gone and migration.stand(request, ours=False)["state"] != "waiting"


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.migration_wait`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "entries": {"type": "list", "elements": "dict", "required": True},
                "seconds": {"type": "int", "required": True},
                "gone": {"type": "bool", "default": False},
            }
        )
        left = {
            f"{entry['namespace']}/{entry['request']}": request_path(entry["namespace"], entry["request"])
            for entry in args["entries"]
            if (entry["todo"] == "remove" if args["gone"] else entry["todo"] == "make" or entry["state"] == "waiting")
        }
        names, total, said, began = set(left), len(left), len(left), time.monotonic()
        kube = Kube() if left else None
        while kube and left:
            left = {name: path for name, path in left.items() if not self._look(kube, path, args["gone"])}
            spent = time.monotonic() - began
            if len(left) != said:
                said = len(left)
                what = "gone" if args["gone"] else "settled"
                Display().display(f"  {total - said} of {total} {what} ({spent:.0f} s)")
            if spent >= args["seconds"]:
                break
            if left:
                time.sleep(min(PAUSE, args["seconds"] - spent))
        result.update({"changed": False, "done": sorted(names - set(left)), "left": sorted(left)})
        return result

    def _look(self, kube: Kube, path: str, gone: bool) -> bool:
        try:
            return is_done(kube.get(path), gone)
        except KubeError:
            return False
