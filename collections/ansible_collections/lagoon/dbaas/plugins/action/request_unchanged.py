# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Look once more, live, whether a request is still the one that this run began with.

Arguments: ``request`` (dict, required): ``{name, namespace, uid, generation}`` as request_read found it.

Returns ``{unchanged: bool, wanted: bool, outcome}``. It stands right before the first login as a seed's account: a
request that was refused for this generation, changed or deleted in the meantime must see no login. ``wanted`` asks
less: the very request is there and isn't being deleted. Right behind a claim that decides whether the rows stay.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, request_path


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.request_unchanged`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"request": {"type": "dict", "required": True}})
        request = args["request"]
        result.update({"changed": False, "unchanged": False, "wanted": False, "outcome": {}})
        try:
            found = Kube().get(request_path(request["namespace"], request["name"]))
        except KubeError as error:
            result["outcome"] = {
                "reason": "KubernetesError",
                "params": {"number": error.status or "no answer"},
            }
            return result
        if found is not None:
            metadata = found["metadata"]
            result["wanted"] = metadata["uid"] == request["uid"] and "deletionTimestamp" not in metadata
            result["unchanged"] = (
                result["wanted"]
                and metadata["generation"] == request["generation"]
                and not conditions.is_refused(found.get("status") or {}, metadata["generation"])
            )
        return result
