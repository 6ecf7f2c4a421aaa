"""List and watch of one kind, over all namespaces, with the last seen state of each object."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from typing import Any

from dev.standin.api import Api, ApiError
from dev.standin.watches import Kind

LOG = logging.getLogger("standin.informer")

Key = tuple[str, str]
Change = Callable[[Key, "dict[str, Any] | None", "dict[str, Any] | None"], None]
_FIRST_PAUSE, _LAST_PAUSE = 0.2, 30.0


class Informer(threading.Thread):
    """Keeps a copy of all objects of a kind and tells each change.

    A change is told as key, old object, new object: old is None for an object that is seen for the first time
    (also at the start), new is None for a deleted one.
    """

    def __init__(self, api: Api, kind: Kind, stop: threading.Event) -> None:
        """Prepare; ``start`` begins.

        Args:
            api: the API server.
            kind: what to watch.
            stop: set when the program ends.
        """
        super().__init__(name=f"informer {kind.kind}", daemon=True)
        self._api, self._kind, self._stop_event = api, kind, stop
        self._objects: dict[Key, dict[str, Any]] = {}
        self._handlers: list[Change] = []
        self._lock = threading.RLock()
        self.synced = threading.Event()

    def get(self, key: Key) -> dict[str, Any] | None:
        """The object as last seen; the caller must not change it."""
        with self._lock:
            return self._objects.get(key)

    def add_handler(self, handler: Change) -> None:
        """Tell a handler all changes from now on, beginning with the objects that are known already."""
        with self._lock:
            self._handlers.append(handler)
            for key, item in self._objects.items():
                handler(key, None, item)

    def run(self) -> None:
        """List and watch until the program ends; an error waits and lists anew."""
        pause = _FIRST_PAUSE
        while not self._stop_event.is_set():
            try:
                version = self._list()
                self.synced.set()
                pause = _FIRST_PAUSE
                while not self._stop_event.is_set():
                    version = self._watch(version)
            except ApiError as error:
                if error.status != 410:
                    LOG.error("%s: %s; next try in %.1f s", self._kind, error, pause)
                    self._stop_event.wait(pause)
                    pause = min(pause * 2, _LAST_PAUSE)

    def _list(self) -> str:
        answer = self._api.json("GET", self._api.resource(self._kind).path())
        found: dict[Key, dict[str, Any]] = {}
        for item in answer["items"]:
            item.setdefault("apiVersion", self._kind.api_version)
            item.setdefault("kind", self._kind.kind)
            found[_key(item)] = item
        for key in set(self._objects) - set(found):
            self._change(key, None)
        for key, item in found.items():
            self._change(key, item)
        return str(answer["metadata"]["resourceVersion"])

    def _watch(self, version: str) -> str:
        path = self._api.resource(self._kind).path()
        seconds = random.randint(300, 600)  # noqa: S311  (spreads the watches, nothing secret)
        for event in self._api.watch(path, version, seconds):
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError(int(item.get("code") or 0), str(item.get("message")))
            version = item["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._change(_key(item), None if event["type"] == "DELETED" else item)
        return version

    def _change(self, key: Key, new: dict[str, Any] | None) -> None:
        with self._lock:
            old = self._objects.pop(key, None)
            if new is not None:
                self._objects[key] = new
            if old is None and new is None:
                return
            for handler in self._handlers:
                handler(key, old, new)


def _key(item: dict[str, Any]) -> Key:
    return item["metadata"].get("namespace") or "", item["metadata"]["name"]
