# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The operator's finalizer on a request. The runtime sets and removes it; runs by hand do the same."""

from __future__ import annotations

from typing import Any

#: As in watches.yaml; a test compares.
FINALIZER = "crd.lagoon.sh/database"


def changed(found: dict[str, Any], present: bool) -> list[str] | None:
    """The whole list of finalizers that a request shall have: it is a list, so a patch replaces it.

    Args:
        found: the request. present: whether ours is to be on it; a request that is being deleted takes none any more.
    Returns:
        The list, None where it is as it shall be.
    """
    has = found["metadata"].get("finalizers") or []
    if (FINALIZER in has) == present or (present and "deletionTimestamp" in found["metadata"]):
        return None
    return [*has, FINALIZER] if present else [name for name in has if name != FINALIZER]
