"""``make test``: all tests in the sandbox, and one closing line with the counts.

``python -m dev.check`` runs everything, ``python -m dev.check molecule [SCENARIO...]`` molecule's scenarios.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from dev import sandbox
from dev.errors import SandboxError
from dev.operator import ansible_settings
from dev.paths import ROOT

# One run of pytest for all of them: its last tests look at what the whole run left in the servers' logs.
FOLDERS = tuple(
    f"tests/{name}"
    for name in ("unit", "contract", "integration", "cases", "platform", "migration", "crash", "outage")
)


@dataclass
class Counts:
    """How many tests ended how.

    Attributes:
        passed: passed.
        failed: failed, or couldn't be run.
        skipped: left out.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        """Sum up."""
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        """Write the line that closes a run."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def _say(message: str) -> None:
    print(f"\n=== {message}", flush=True)


def run_pytest(folders: Sequence[str]) -> Counts:
    """Run the tests of some folders; of what takes hours, a sample.

    Args:
        folders: the folders, from the checkout's root.

    Returns:
        The counts; a run that broke off, or found no test, counts as one failure.
    """
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        status = subprocess.run(
            [sys.executable, "-m", "pytest", *folders, "--durations=25", f"--junitxml={report}"],
            cwd=ROOT,
            check=False,
        ).returncode
        counts = Counts()
        if report.exists():
            for suite in ElementTree.parse(report).getroot().iter("testsuite"):  # noqa: S314  # written by our own pytest
                total, bad, skipped = (int(suite.get(key, "0")) for key in ("tests", "failures", "skipped"))
                bad += int(suite.get("errors", "0"))
                counts += Counts(total - bad - skipped, bad, skipped)
    if status != 0 and counts.failed == 0:
        print(f"pytest ended with status {status}", flush=True)
        counts.failed = 1
    return counts


def scenarios() -> list[str]:
    """List the molecule scenarios that need no container.

    Returns:
        Their names; a scenario with a file ``needs-cluster`` is left out.
    """
    folders = sorted((ROOT / "molecule").glob("*/molecule.yml"))
    return [file.parent.name for file in folders if not (file.parent / "needs-cluster").exists()]


def run_molecule(names: Sequence[str]) -> Counts:
    """Run molecule scenarios one after another against the sandbox.

    A scenario does the operator's work itself, so an operator that runs in the sandbox (the demo leaves one) is
    stopped for that time: the fence would make the two wait for each other.

    Args:
        names: the scenarios.

    Returns:
        One count each.
    """
    environment = {**os.environ, **ansible_settings(), **sandbox.variables()}
    operator = sandbox.Sandbox.load().operator
    was_running = operator.running
    operator.stop()
    try:
        return _run_scenarios(names, environment)
    finally:
        if was_running:
            operator.start({})


def _run_scenarios(names: Sequence[str], environment: Mapping[str, str]) -> Counts:
    counts = Counts()
    for name in names:
        _say(f"molecule {name}")
        started = time.monotonic()
        status = subprocess.run(
            ["molecule", "test", "--scenario-name", name],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
        ).returncode
        print(
            f"molecule {name}: {'passed' if status == 0 else f'failed, status {status}'} "
            f"after {time.monotonic() - started:.0f} s",
            flush=True,
        )
        counts += Counts(passed=1) if status == 0 else Counts(failed=1)
    return counts


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for in the sandbox, which is stopped again unless it was up before.

    Args:
        arguments: nothing for all, or ``molecule`` and names of scenarios.

    Returns:
        Exit status.
    """
    was_up = sandbox.is_up()
    counts = Counts()
    try:
        sandbox.up()
        if arguments[:1] != ["molecule"]:
            _say(" ".join(FOLDERS))
            counts += run_pytest(FOLDERS)
        counts += run_molecule(arguments[1:] or scenarios())
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        counts.failed += 1
    finally:
        if not was_up:
            sandbox.down()
    if counts.passed + counts.failed == 0:
        print("no test was found")
        counts.failed = 1
    print(f"\n{counts}", flush=True)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
