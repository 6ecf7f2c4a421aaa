# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a run ends: outcomes.

A decision that ends the run is an *outcome*, ``{reason, params}``: a reason of the closed list and what its
sentence needs. An empty outcome means: go on.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import errors

Dict = dict[str, Any]


def outcome(reason: str, **params: Any) -> Dict:
    """An outcome of the run."""
    return {"reason": reason, "params": params}


def kubernetes_outcome(result: Dict, accepted: list[int] | None = None) -> Dict:
    """``{}``, or the wait that a failed ``kubernetes.core.k8s`` leads to.

    Args:
        result: the task's, looped or not, skipped as one that didn't fail. accepted: HTTP statuses that are fine.
    Returns:
        With the number, ``conflict``: another run, or somebody, was at the same object at the same moment.
    """
    for item in result.get("results") or [result]:
        if item.get("failed"):
            # The module hands on the HTTP status as its phrase; all else of its message may be a tenant's text.
            status = next((s.value for s in HTTPStatus if s.phrase == item.get("reason")), None)
            if status not in (accepted or []):
                # A patch that names another UID than the object has by now is refused as if it were to change it.
                conflict = status == 409 or (status == 422 and "metadata.uid" in str(item.get("msg")))
                return outcome("KubernetesError", number=status or "no number", conflict=conflict)
    return {}


def drop_outcome(came_to: Dict, connection: str) -> Dict:
    """``{}``, or the wait of a deletion whose statements failed."""
    failed = errors.wait_outcome(came_to, connection)
    return {**failed, "reason": "DropPending"} if failed else {}
