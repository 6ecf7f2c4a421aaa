# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kubernetes Events about a request: where people look first."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import published
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, core_path


def write_event(kube: Kube, request: dict[str, Any], event: dict[str, Any], at: str) -> None:
    """Write an Event about a request; one that can't be written (a namespace that ends, say) is let go.

    Args:
        kube: the API. request: ``{name, namespace, uid}``. event: ``{reason, message[, type]}``. at: the time.
    """
    try:
        kube.create(
            core_path(request["namespace"], "events"),
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"generateName": f"{request['name'][:40]}.", "namespace": request["namespace"]},
                "involvedObject": {
                    "apiVersion": published.API_VERSION,
                    "kind": published.KIND,
                    "name": request["name"],
                    "namespace": request["namespace"],
                    "uid": request["uid"],
                },
                "reason": event["reason"],
                "message": event["message"],
                "type": event.get("type", "Normal"),
                "source": {"component": "dbaas-operator"},
                "firstTimestamp": at,
                "lastTimestamp": at,
                "count": 1,
            },
        )
    except KubeError:
        return
