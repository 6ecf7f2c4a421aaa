"""Watches of what runs have created: a change of an owned object makes its owner due."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable
from typing import Any

from dev.standin.api import Api
from dev.standin.informer import Informer, Key
from dev.standin.watches import Kind, Watch

LOG = logging.getLogger("standin.dependents")
OWNER_ANNOTATION = "operator-sdk/primary-resource"
OWNER_TYPE_ANNOTATION = "operator-sdk/primary-resource-type"


class Dependents:
    """The kinds of which a controller watches owned objects; grows with what its runs create and read."""

    def __init__(self, api: Api, watch: Watch, enqueue: Callable[[Key], None], stop: threading.Event) -> None:
        """Begin with no watch.

        Args:
            api: the API server.
            watch: the owner's entry of watches.yaml.
            enqueue: makes an owner due.
            stop: set when the program ends.
        """
        self._api, self._watch, self._enqueue, self._stop = api, watch, enqueue, stop
        self._owner_type = f"{watch.kind.kind}.{watch.kind.group}"
        self._informers: dict[Kind, Informer] = {}
        self._watched: set[tuple[Kind, bool]] = set()
        self._lock = threading.Lock()

    def add(self, kind: Kind, by_reference: bool) -> None:
        """Watch a kind from now on.

        Args:
            kind: the kind of the created object.
            by_reference: whether owners are found by ownerReferences, else by annotations.
        """
        if not self._watch.watch_dependents or kind in self._watch.blacklist:
            return
        with self._lock:
            if (kind, by_reference) in self._watched:
                return
            self._watched.add((kind, by_reference))
            LOG.info("watching %s, owned by %s", kind, self._watch.kind)
            informer = self._informers.get(kind)
            if informer is None:
                informer = self._informers[kind] = Informer(self._api, kind, self._stop)
                informer.start()
            informer.add_handler(self._by_reference if by_reference else self._by_annotation)

    def recover(self, kind: Kind, resource: dict[str, Any]) -> None:
        """Watch the kind of an object that a run has read, if its owner is of this controller's kind."""
        meta = resource.get("metadata") or {}
        own = self._watch.kind
        for reference in meta.get("ownerReferences") or []:
            if reference.get("apiVersion") == own.api_version and reference.get("kind") == own.kind:
                self.add(kind, by_reference=True)
        if (meta.get("annotations") or {}).get(OWNER_TYPE_ANNOTATION) == self._owner_type:
            self.add(kind, by_reference=False)

    def _by_reference(self, key: Key, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        for item in _changed_states(old, new):
            for reference in item["metadata"].get("ownerReferences") or []:
                group = str(reference.get("apiVersion", "")).rpartition("/")[0]
                if reference.get("kind") == self._watch.kind.kind and group == self._watch.kind.group:
                    self._enqueue((self._owner_namespace(key), reference["name"]))

    def _by_annotation(self, _key: Key, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        for item in _changed_states(old, new):
            annotations = item["metadata"].get("annotations") or {}
            if annotations.get(OWNER_TYPE_ANNOTATION) == self._owner_type:
                namespace, _, name = annotations.get(OWNER_ANNOTATION, "").rpartition("/")
                if name:
                    self._enqueue((namespace, name))

    def _owner_namespace(self, key: Key) -> str:
        return key[0] if self._api.resource(self._watch.kind).namespaced else ""


def _changed_states(old: dict[str, Any] | None, new: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Both states of an object that changed in more than its status; none for a new object."""
    if old is None:
        return []
    if new is None:
        return [old]
    return [] if _comparable(old) == _comparable(new) else [old, new]


def _comparable(item: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy({name: value for name, value in item.items() if name != "status"})
    result["metadata"].pop("resourceVersion", None)
    for entry in result["metadata"].get("managedFields") or []:
        entry.pop("time", None)
    return result
