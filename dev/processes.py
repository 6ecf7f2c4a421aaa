"""Processes of the sandbox: started detached, remembered by pid and start time, ended by pid only."""

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dev.errors import SandboxError, WaitTimeout
from dev.paths import MARK, PIDS, make_private, read_json, write_private
from dev.waiting import wait_for

# Set in the environment of everything the sandbox starts and inherited by what that starts. An
# ansible-playbook whose operator was killed has no parent of ours any more; this still tells whose it is.
MARK_VARIABLE = "DBAAS_SANDBOX_MARK"


def stat_fields(pid: int) -> list[str] | None:
    """Read the fields of /proc/PID/stat that follow the command's name.

    Args:
        pid: the process.

    Returns:
        The fields from ``state`` on (index 0), or None if there is no such process.
    """
    try:
        # The name may hold blanks and brackets, so cut at the last bracket.
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except (FileNotFoundError, ProcessLookupError):
        return None


def identity(pid: int) -> str | None:
    """Name a process so that a recycled pid is told apart.

    Args:
        pid: the process.

    Returns:
        Boot and start time as one string, or None if it isn't running (a zombie isn't).
    """
    fields = stat_fields(pid)
    if fields is None or fields[0] in "ZX":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{fields[19]}"


def _pids() -> Iterator[int]:
    return (int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def descendants(pid: int) -> list[int]:
    """List the processes below one, found by parent, so that sessions and groups don't matter.

    Args:
        pid: the root of the tree, which isn't in the result.

    Returns:
        Their pids, parents before children.
    """
    children: dict[int, list[int]] = {}
    for other in _pids():
        fields = stat_fields(other)
        if fields is not None:
            children.setdefault(int(fields[1]), []).append(other)
    found = list(children.get(pid, []))
    for child in found:
        found.extend(children.get(child, []))
    return found


def marked(mark: str = MARK) -> list[int]:
    """List the running processes that were started with the sandbox's mark in their environment.

    Args:
        mark: the mark to look for.

    Returns:
        Their pids, without the asking process.
    """
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    found = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            if pid != os.getpid() and wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def kill_all(pids: Sequence[int]) -> None:
    """End processes at once and wait until they are gone.

    Args:
        pids: the processes. They are stopped first, so that none of them starts another one meanwhile.

    Raises:
        WaitTimeout: one of them didn't go.
    """
    known = {pid: identity(pid) for pid in pids}
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    wait_for(
        lambda: all(who is None or identity(pid) != who for pid, who in known.items()),
        f"killed processes {sorted(known)} to go",
        20,
    )


@dataclass(frozen=True)
class Process:
    """One long-running process.

    Attributes:
        name: what it is called in messages and in the name of its pid file.
        mark: value of the mark in its environment.
    """

    name: str
    mark: str = MARK

    @property
    def pid_file(self) -> Path:
        """The file that holds pid and start time."""
        return PIDS / f"{self.name}.json"

    def pid(self) -> int | None:
        """Return the pid if the process is running, else None."""
        known = read_json(self.pid_file)
        if not known:
            return None
        with contextlib.suppress(ChildProcessError):
            os.waitpid(known["pid"], os.WNOHANG)  # else a child of this very process would stay a zombie
        return known["pid"] if identity(known["pid"]) == known["identity"] else None

    @property
    def running(self) -> bool:
        """Whether it is running."""
        return self.pid() is not None

    def remember(self, pid: int) -> None:
        """Write the pid file.

        Args:
            pid: the process to remember under this name.
        """
        write_private(self.pid_file, json.dumps({"pid": pid, "identity": identity(pid)}) + "\n")

    def start(
        self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> int:
        """Start the process in a session of its own, unless it is running.

        Args:
            command: program and arguments; no secrets here, they can be seen in the process list.
            log: file that takes its output, appended to.
            env: environment, by default this process's.
            cwd: working directory.

        Returns:
            Its pid.

        Raises:
            SandboxError: the program can't be started.
        """
        running = self.pid()
        if running is not None:
            return running
        make_private(log.parent)
        surroundings = {**(os.environ if env is None else env), MARK_VARIABLE: self.mark}
        with log.open("ab") as output:
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    env=surroundings,
                    cwd=cwd,
                )
            except OSError as error:
                raise SandboxError(f"{self.name} can't be started: {command[0]}: {error.strerror}") from error
        self.remember(child.pid)
        child.returncode = 0  # it is waited for by pid(), not by subprocess
        return child.pid

    def signal(self, number: int) -> bool:
        """Send a signal.

        Args:
            number: the signal.

        Returns:
            Whether there was a process to send it to.
        """
        pid = self.pid()
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def stop(self, deadline: float = 30.0) -> None:
        """End the process: SIGTERM, and SIGKILL when it doesn't go in time.

        Args:
            deadline: seconds it gets to end by itself.
        """
        if self.signal(signal.SIGTERM):
            self.signal(signal.SIGCONT)  # a frozen one couldn't hear
            try:
                wait_for(lambda: not self.running, f"{self.name} to end", deadline)
            except WaitTimeout:
                self.kill()
        self.pid_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """End the process at once, it alone, and wait until it is gone."""
        if self.signal(signal.SIGKILL):
            wait_for(lambda: not self.running, f"{self.name} to be gone", 20)
        self.pid_file.unlink(missing_ok=True)
