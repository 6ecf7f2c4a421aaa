"""One run of ansible-runner and its events."""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

LOG = logging.getLogger("standin.run")

Event = dict[str, Any]


class Run:
    """A started run. It is followed to its end in the background, also where nobody reads its events."""

    def __init__(self, ident: str, arguments: Sequence[str], folder: Path, kubeconfig: Path) -> None:
        """Start ansible-runner.

        Args:
            ident: the run's number.
            arguments: ansible-runner's arguments.
            folder: the run's folder.
            kubeconfig: the kubeconfig of this run.

        Raises:
            OSError: if the process can't be started.
        """
        self._ident, self._folder = ident, folder
        self._events: queue.Queue[Event | None] = queue.Queue()
        access = {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}
        reader, writer = os.pipe()
        try:
            self._process = subprocess.Popen(
                # -P: a module of this folder must not stand in for one that Ansible imports.
                [sys.executable, "-P", str(Path(__file__).with_name("child.py")), str(writer), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[writer],
                env={**os.environ, **access},
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        threading.Thread(target=self._read_events, args=[os.fdopen(reader, "rb")], daemon=True).start()

    def events(self) -> Iterator[Event]:
        """The events of the play, as they come, until ansible-runner has ended."""
        while (event := self._events.get()) is not None:
            yield event

    def stdout(self) -> str:
        """What the play printed.

        Raises:
            OSError: if the runner left no such file.
        """
        return (self._folder / "artifacts" / self._ident / "stdout").read_text(encoding="utf-8")

    def _read_events(self, pipe: IO[bytes]) -> None:
        output: list[bytes] = []
        assert self._process.stdout is not None
        drain = threading.Thread(
            target=lambda out: output.append(out.read()), args=[self._process.stdout], daemon=True
        )
        drain.start()
        with pipe:
            for line in pipe:
                self._take(line)
        drain.join()
        status = self._process.wait()
        if status == 0:
            LOG.info("job %s: ansible-runner exited successfully", self._ident)
        else:
            LOG.error(
                "job %s: ansible-runner: exit status %d\n%s", self._ident, status, b"".join(output).decode()
            )
        self._link_latest()
        self._events.put(None)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            LOG.error("job %s: an event could not be read", self._ident)
            return
        if event.get("uuid"):
            self._events.put(event)

    def _link_latest(self) -> None:
        latest = self._folder / "artifacts" / "latest"
        try:
            latest.unlink(missing_ok=True)
            latest.symlink_to(self._folder / "artifacts" / self._ident)
        except OSError as error:
            LOG.error("job %s: %s", self._ident, error)
