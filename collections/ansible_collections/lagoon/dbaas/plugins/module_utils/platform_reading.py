# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person's look at the whole platform reads of the cluster: all requests, providers and published objects."""

from __future__ import annotations

import base64
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import providers, published, reading
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube
from ansible_collections.lagoon.dbaas.plugins.module_utils.seed_secret import normal_hostname

Dict = dict[str, Any]


def read_platform(kube: Kube, cluster: str) -> Dict:
    """Read all that the ledgers are compared with.

    Args:
        kube: the API, with rights to read requests, providers, Secrets and Services everywhere.
        cluster: the cluster's id, "" for kube-system's UID.
    Returns:
        ``{cluster, fence, servers, requests, secrets, services}``; ``servers`` as :func:`servers` has them, the
        published objects by the UID of the request that owns them.
    Raises:
        KubeError: the API failed.
    """
    return {
        "cluster": reading.cluster_id(kube, cluster),
        "fence": reading.fence(),
        "requests": [
            {**reading.own_part(found), "version": found["metadata"]["resourceVersion"]}
            for found in kube.items(f"{GROUP}/databaserequests")
        ],
        "secrets": {uid: _secret(found) for uid, found in _published(kube, "secrets", "secret")},
        "services": {uid: _service(found) for uid, found in _published(kube, "services", "service")},
        "servers": servers(read_connections(kube)),
    }


def read_connections(kube: Kube) -> list[Dict]:
    """Every connection of every provider, disabled ones too, with its admin's login file and its scope.

    Raises:
        KubeError: the API failed. ValueError: there are more than a run can hold.
    """
    found: list[Dict] = []
    for provider in kube.items(f"{GROUP}/databasemysqlproviders"):
        scope = provider["spec"]["scope"]
        found += [{**c, "scope": scope} for c in providers.connections([provider], scope, None)]
    return reading.read_connections(kube, found)


def servers(connections: list[Dict]) -> list[Dict]:
    """The servers that connections lead to: several connections may name one.

    Args:
        connections: of :func:`read_connections`.
    Returns:
        ``{name, hostname, port, connection, connections, enabled}`` each; ``connection`` is the one to ask, its
        ``problem`` set where none of them can be used.
    """
    by_place: dict[tuple[str, int], list[Dict]] = {}
    for connection in connections:
        by_place.setdefault((normal_hostname(connection["hostname"]), connection["port"]), []).append(connection)
    return [
        {
            "name": f"{hostname}:{port}",
            "hostname": hostname,
            "port": port,
            "connection": min(found, key=lambda c: (bool(c["problem"]), not c["enabled"])),
            "connections": found,
            "enabled": any(c["enabled"] for c in found),
        }
        for (hostname, port), found in sorted(by_place.items())
    ]


def _published(kube: Kube, plural: str, word: str) -> list[tuple[str, Dict]]:
    found = []
    for document in kube.items(f"/api/v1/{plural}?labelSelector=dbaas.lagoon.sh/{word}%3Dtrue"):
        owners = document["metadata"].get("ownerReferences") or []
        found += [(owner["uid"], document) for owner in owners if owner.get("kind") == published.KIND]
    return found


def _secret(found: Dict) -> Dict:
    values = {}
    for key, encoded in (found.get("data") or {}).items():
        try:
            values[key] = base64.b64decode(encoded).decode("utf-8")
        except ValueError:
            values[key] = ""
    return {"name": found["metadata"]["name"], "version": found["metadata"]["resourceVersion"], "values": values}


def _service(found: Dict) -> Dict:
    return {"name": found["metadata"]["name"], "hostname": found["spec"].get("externalName")}
