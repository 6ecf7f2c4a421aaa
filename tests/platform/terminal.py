"""A run of a playbook at a terminal of its own, as a person sits before it, and a run that has none."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dev.paths import ROOT
from dev.waiting import wait_for
from tests.cases.running import Run, Runner
from tests.integration.e2ehelpers import DEADLINE

QUESTION = "Type yes to carry this out"
CTRL_C, CTRL_D, ENTER = b"\x03", b"\x04", b"\r"
Answer = Callable[["Terminal"], None]


@dataclass
class Terminal:
    """A pseudo-terminal, seen from its keyboard.

    Attributes:
        keyboard: where keys are typed, and what is on the screen is read.
        line: the other end, which the run has as its standard streams.
        screen: what was printed so far.
    """

    keyboard: int
    line: int
    screen: bytes = field(default=b"")

    def look(self) -> bytes:
        """Read what was printed since; the screen so far."""
        while select.select([self.keyboard], [], [], 0)[0]:
            self.screen += os.read(self.keyboard, 65536)
        return self.screen

    def asked(self) -> bool:
        """Whether a question is on the screen and keys are read one by one: what is typed earlier is thrown away."""
        reading = fcntl.fcntl(self.line, fcntl.F_GETFL) & os.O_NONBLOCK
        return QUESTION.encode() in self.look() and bool(reading)

    def type(self, keys: bytes) -> None:
        """Type keys."""
        os.write(self.keyboard, keys)

    def hang_up(self) -> None:
        """Close the terminal, as a connection that is lost does."""
        self.look()
        os.close(self.keyboard)
        self.keyboard = -1


def keys(*typed: bytes) -> Answer:
    """An answer: these keys, one after the other."""
    return lambda terminal: terminal.type(b"".join(typed))


def at_a_terminal(runner: Runner, playbook: str, variables: dict[str, str], answer: Answer) -> Run:
    """Run a playbook at a terminal, and answer its question.

    Args:
        runner: whose settings it gets.
        playbook: its name.
        variables: extra variables.
        answer: what is done once it asks.

    Returns:
        The run; its status is negative where a signal ended it.
    """
    keyboard, line = pty.openpty()
    terminal = Terminal(keyboard, line)
    started = time.monotonic()
    process = subprocess.Popen(
        runner.command(playbook, variables),
        cwd=ROOT,
        env=runner.environment() | {"TERM": "xterm"},
        stdin=line,
        stdout=line,
        stderr=line,
        start_new_session=True,
        # In the new session: the terminal is its own, so that its keys become signals, and its end, too.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )

    def ended() -> bool:
        if terminal.keyboard >= 0:
            terminal.look()
        return process.poll() is not None

    try:
        wait_for(lambda: terminal.asked() or ended(), f"{playbook} to ask", runner.deadline)
        if process.poll() is None:
            answer(terminal)
        wait_for(ended, f"{playbook} to end after its question was answered", DEADLINE)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(line)
        if terminal.keyboard >= 0:
            os.close(terminal.keyboard)
    done = Run(playbook, process.returncode, plain(terminal.screen), time.monotonic() - started)
    runner.runs.append(done)
    return done


def without_stdin(runner: Runner, playbook: str, variables: dict[str, str]) -> Run:
    """Run a playbook with its standard input closed, as some schedulers do.

    Args:
        runner: whose settings it gets.
        playbook: its name.
        variables: extra variables.
    """
    started = time.monotonic()
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *runner.command(playbook, variables)],
        cwd=ROOT,
        env=runner.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=runner.deadline,
        check=False,
    )
    ended = Run(playbook, done.returncode, done.stdout, time.monotonic() - started)
    runner.runs.append(ended)
    return ended


def plain(screen: bytes) -> str:
    """What a screen shows, without colours, on lines of any length."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\([AB0]|\r", "", screen.decode(errors="replace"))
