"""The one condition that the runtime itself writes although it doesn't manage the status: ``Failure``."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from dev.standin.api import Api, ApiError
from dev.standin.watches import Kind

LOG = logging.getLogger("standin.failure")
# Other fields of conditions, observedGeneration among them, are lost, as with the real runtime.
_KEPT = ("type", "status", "lastTransitionTime", "ansibleResult", "reason", "message")


def mark_failure(api: Api, kind: Kind, resource: dict[str, Any], message: str) -> None:
    """Say in the object's status that no run could be made; an error in doing so is only logged.

    Args:
        api: the API server.
        kind: the object's kind.
        resource: the object.
        message: why.
    """
    meta = resource["metadata"]
    served = api.resource(kind)
    place = (meta.get("namespace") or "", meta["name"])
    try:
        current = api.json("GET", served.path(*place))
        status = current.setdefault("status", {})
        status["conditions"] = _with_failure(status.get("conditions") or [], message)
        api.json("PUT", served.path(*place, "status"), current)
    except ApiError as error:
        if error.status != 404:
            LOG.error("%s %s/%s: unable to mark the failure: %s", kind.kind, *place, error)


def _with_failure(conditions: list[dict[str, Any]], message: str) -> list[dict[str, Any]]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    kept = [{name: item[name] for name in _KEPT if name in item} for item in conditions]
    for item in kept:
        if item.get("type") in ("Running", "Successful") and item.get("status") != "False":
            item.update(status="False", lastTransitionTime=now)
    old = next((item for item in kept if item.get("type") == "Failure"), {})
    since = old.get("lastTransitionTime", now) if old.get("status") == "True" else now
    failure = {
        "type": "Failure",
        "status": "True",
        "lastTransitionTime": since,
        "reason": "Failed",
        "message": message,
    }
    return [item for item in kept if item.get("type") != "Failure"] + [failure]
