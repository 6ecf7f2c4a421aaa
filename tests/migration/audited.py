"""What the API server's audit log says that runs of the playbook wrote."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import audit

Json = dict[str, Any]

READS = ("get", "list", "watch")
OWN_CONTROLLERS = ("system:kube-controller-manager", "system:serviceaccount:kube-system:")
OLD_KIND = "mariadbconsumers"


@dataclass
class Audit:
    """What an admin wrote in a namespace from a moment on.

    Attributes:
        log: the API server's audit log, which is written before the answer is sent.
        namespace: the namespace.
        start: where in the log it begins.
    """

    log: Path
    namespace: str
    start: int

    @classmethod
    def now(cls, log: Path, namespace: str) -> "Audit":
        """Begin now."""
        return cls(log, namespace, log.stat().st_size)

    def asked(self) -> list[Json]:
        """What was asked for there, but by the cluster's own controllers; refused requests count, too."""
        return [
            entry
            for entry in audit.entries(self.log, self.start)
            if self.namespace in (_part(entry, "namespace"), _part(entry, "name"))
            and not audit.user(entry).startswith(OWN_CONTROLLERS)
        ]

    def writes(self) -> list[Json]:
        """Those of them that aren't a read."""
        return [entry for entry in self.asked() if entry["verb"] not in READS]


def told(entries: list[Json]) -> set[str]:
    """Entries as ``verb resource name``."""
    return {
        f"{entry['verb']} {'/'.join(filter(None, (_part(entry, 'resource'), _part(entry, 'subresource'))))}"
        f" {_part(entry, 'name')}"
        for entry in entries
    }


def of_old_objects(entries: list[Json]) -> list[tuple[str, str, str, Json]]:
    """Verb, name, subresource and body of the entries on the older operator's objects."""
    return [
        (entry["verb"], _part(entry, "name"), _part(entry, "subresource"), entry.get("requestObject") or {})
        for entry in entries
        if _part(entry, "resource") == OLD_KIND
    ]


def _part(entry: Json, name: str) -> str:
    return str((entry.get("objectRef") or {}).get(name, ""))
