"""The one checker of a live platform, as tests use it: the playbook that a person runs."""

import json
from pathlib import Path
from typing import Any

from dev.sandbox import Sandbox
from tests.cases.running import Run, Runner

Json = dict[str, Any]


def check(sandbox: Sandbox, folder: Path, strict: bool = False) -> tuple[Run, Json]:
    """Run ``playbooks/check-invariants.yml`` against a sandbox, whether an operator runs in it or not.

    Args:
        sandbox: the sandbox.
        folder: of the caller's own, for what the run needs.
        strict: databases and accounts without a ledger row are findings, too.

    Returns:
        The run, and its report: ``counts`` and ``findings``.

    Raises:
        AssertionError: the run told nothing, or its exit status doesn't fit what it found.
    """
    report = folder / "invariants.json"
    report.unlink(missing_ok=True)
    runner = Runner(sandbox.kubeconfig, folder)
    run = runner.run("check-invariants.yml", {"output": str(report), "strict": strict})
    assert report.exists(), f"the check told nothing:\n{run.output}"
    found: Json = json.loads(report.read_text(encoding="utf-8"))
    assert run.rc == (2 if found["findings"] else 0), f"status {run.rc} doesn't fit:\n{run.output}"
    return run, found


def holds(sandbox: Sandbox, folder: Path, server: str = "") -> None:
    """Demand that every invariant holds.

    Args:
        sandbox: the sandbox.
        folder: of the caller's own.
        server: ``host:port`` of the only server that is looked at, "" for all.

    Raises:
        AssertionError: something is found; the message lists it.
    """
    _, report = check(sandbox, folder)
    found = [f for f in report["findings"] if server in ("", f["server"])]
    lines = [
        f"{f['finding']} {f['server']} {f['namespace']}/{f['request']} {f['database']}: {f['what']}" for f in found
    ]
    assert not found, "\n".join(["an invariant doesn't hold:", *lines])
