# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""List a namespace's DatabaseRequests for a run by hand, and say what such a run lacks.

Arguments: ``namespace`` (str, required).

Returns ``{changed, requests: [{name, deleting, finalizing}], missing: [str]}``: ``finalizing`` where the operator's
finalizer is still on a request that is being deleted; ``missing`` is what a person has to mend first, as sentences.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import by_hand, lacking
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.namespace_read`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"namespace": {"type": "str", "required": True}})
        missing = lacking.modules()
        result.update({"changed": False, "requests": [], "missing": missing})
        if missing:
            return result
        try:
            kube = Kube()
            missing += by_hand.missing_rights(kube, args["namespace"])
            if not missing:
                result["requests"] = by_hand.requests(kube, args["namespace"])
        except KubeError as error:
            missing.append(lacking.answer(error))
        return result
