"""The child process of a run: ``ansible-runner``, with each event written as a line to a pipe.

Run as ``python child.py <file descriptor> <arguments of ansible-runner>``. The real runtime does the same
with a plugin that posts the events to a socket. What stays the same: the play runs in a session of its own,
and the end of a killed operator is noticed only when something is written to it.
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace
from typing import Any

import ansible_runner
from ansible_runner.__main__ import main


def _event_writer(descriptor: int) -> SimpleNamespace:
    """A plugin of ansible-runner that writes events (not the runner's own states) to the pipe."""

    def write_event(_config: Any, event: dict[str, Any]) -> None:
        line = json.dumps(event).encode() + b"\n"
        while line:
            line = line[os.write(descriptor, line) :]

    return SimpleNamespace(event_handler=write_event, status_handler=lambda _config, _state: None)


if __name__ == "__main__":
    pipe = int(sys.argv[1])
    os.set_inheritable(pipe, False)
    ansible_runner.plugins["standin"] = _event_writer(pipe)
    sys.exit(main(sys.argv[2:]))
