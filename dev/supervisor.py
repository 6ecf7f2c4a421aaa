"""Keeps the operator running, as a Deployment would: run as ``python -m dev.supervisor LOG COMMAND...``."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

from dev.processes import Process

PAUSE = 1.0  # seconds before an operator that ended by itself is started again


def main(arguments: list[str]) -> int:
    """Run a command until told to stop; start it again whenever it ends by itself.

    Args:
        arguments: name of the process, log file, then the command.

    Returns:
        Exit status.
    """
    name, log, *command = arguments
    stopping = threading.Event()
    supervised = Process(name, mark=os.environ["DBAAS_SANDBOX_MARK"])

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()
        supervised.signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while not stopping.is_set():
        with Path(log).open("ab") as output:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
            supervised.remember(child.pid)
            if stopping.is_set():  # told to stop while it was being started
                child.terminate()
            status = child.wait()
            if not stopping.is_set():
                output.write(f"supervisor: {name} ended with status {status}, started again\n".encode())
        stopping.wait(PAUSE)
    supervised.pid_file.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
