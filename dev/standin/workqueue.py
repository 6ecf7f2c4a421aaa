"""The queue of objects that are due: each at most once in it, and never handed out twice at a time."""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque

from dev.standin.informer import Key

FIRST_BACKOFF, LAST_BACKOFF = 0.005, 1000.0


class WorkQueue:
    """Keys that are due now, keys that come due later, keys that are being worked on.

    A key that is added while it is being worked on is handed out again as soon as it is done. Of two later
    times of one key the earlier counts.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._due: deque[Key] = deque()
        self._dirty: set[Key] = set()
        self._working: set[Key] = set()
        self._later: dict[Key, float] = {}
        self._timetable: list[tuple[float, Key]] = []
        self._failures: dict[Key, int] = {}
        self._closed = False

    def add(self, key: Key) -> None:
        """Make a key due now."""
        with self._condition:
            self._add(key)

    def add_after(self, key: Key, seconds: float) -> None:
        """Make a key due in some seconds."""
        due = time.monotonic() + seconds
        with self._condition:
            if due < self._later.get(key, float("inf")):
                self._later[key] = due
                heapq.heappush(self._timetable, (due, key))
                self._condition.notify()

    def add_failed(self, key: Key) -> float:
        """Make a key due after a pause that doubles with each failure in a row.

        Returns:
            The pause in seconds.
        """
        with self._condition:
            failures = self._failures.get(key, 0)
            self._failures[key] = failures + 1
        # The exponent is bounded because 2.0**1100 is an OverflowError.
        pause = min(FIRST_BACKOFF * 2.0 ** min(failures, 30), LAST_BACKOFF)
        self.add_after(key, pause)
        return pause

    def forget(self, key: Key) -> None:
        """Start a key's pauses anew."""
        with self._condition:
            self._failures.pop(key, None)

    def get(self) -> Key | None:
        """Wait for a due key and take it; the caller must call ``done``.

        Returns:
            The key; None once the queue is closed.
        """
        with self._condition:
            while not self._closed:
                wait = self._move_due()
                if self._due:
                    key = self._due.popleft()
                    self._dirty.discard(key)
                    self._working.add(key)
                    return key
                self._condition.wait(wait)
            return None

    def done(self, key: Key) -> None:
        """Give a key back that ``get`` has handed out."""
        with self._condition:
            self._working.discard(key)
            if key in self._dirty:
                self._due.append(key)
                self._condition.notify()

    def close(self) -> None:
        """Hand nothing out any more."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _add(self, key: Key) -> None:
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._working:
            self._due.append(key)
            self._condition.notify()

    def _move_due(self) -> float | None:
        """Move keys whose time has come; returns the seconds to the next one."""
        now = time.monotonic()
        while self._timetable:
            due, key = self._timetable[0]
            if self._later.get(key) == due:
                if due > now:
                    return due - now
                del self._later[key]
                self._add(key)
            heapq.heappop(self._timetable)
        return None
