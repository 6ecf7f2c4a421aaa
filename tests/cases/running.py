"""Runs of the playbooks as an ad hoc run makes them: with the operator's own rights, and no operator."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.paths import ROOT
from dev.standin.inputs import mark_unsafe

Json = dict[str, Any]

DEADLINE = 300  # seconds; the longest task that a run may have ends by itself before
SHORTEST_SECRET = 6  # characters; a shorter one stands by chance in any output


@dataclass(frozen=True)
class Run:
    """One run that has ended.

    Attributes:
        what: playbook and object, for messages.
        rc: exit status.
        output: all that it printed.
        seconds: how long it took.
    """

    what: str
    rc: int
    output: str
    seconds: float

    @property
    def again(self) -> bool:
        """Whether it asked to be run again: its last task wasn't skipped."""
        return "TASK [Look again soon]" in self.output and "skipping" not in self.output.rpartition("TASK [Look")[2]

    def check(self) -> "Run":
        """Demand a good end: nothing failed, nothing was rescued, every outcome was data.

        Returns:
            The run.
        """
        recap = re.search(r"failed=(\d+) .*rescued=(\d+)", self.output)
        counts = recap.groups() if recap else None
        # An empty play (a request that was refused before) has no line in the recap.
        assert self.rc == 0 and counts in (None, ("0", "0")), f"{self.what} broke:\n{self.output}"
        return self


def spellings(secret: str) -> set[str]:
    """The ways in which a password can stand in an output.

    Args:
        secret: the password.

    Returns:
        As it is, in JSON, in Python, in SQL, in base64, and as the driver sends it.
    """
    sent = secret.encode().decode("latin-1")
    texts = {secret, sent, secret.replace("'", "''"), secret.replace("\\", "\\\\").replace("'", "\\'")}
    texts |= {json.dumps(t)[1:-1] for t in (secret, sent)} | {json.dumps(secret, ensure_ascii=False)[1:-1]}
    texts |= {repr(t)[1:-1] for t in (secret, sent)}
    texts.add(base64.b64encode(secret.encode()).decode())
    return {t for t in texts if len(t) >= SHORTEST_SECRET}


def handed_over(name: str, namespace: str, found: Json | None) -> Json:
    """The variables that the runtime hands to a run for a DatabaseRequest.

    Args:
        name: of the request.
        namespace: of the request.
        found: the object, None for a run by hand.

    Returns:
        The variables.
    """
    variables: Json = {"ansible_operator_meta": {"name": name, "namespace": namespace}}
    if found is None:
        return variables
    marked = mark_unsafe(found)
    handed = {"_crd_lagoon_sh_databaserequest": marked, "_crd_lagoon_sh_databaserequest_spec": marked["spec"]}
    return {**marked["spec"], **variables, **handed}


@dataclass
class Runner:
    """Runs playbooks, several at once if asked to.

    Attributes:
        kubeconfig: the operator's own.
        folder: of this runner alone; the runs' home and temporary folders are in it.
        runs: all that ended.
        secrets: passwords that no output may hold.
        deadline: seconds that a run may take.
    """

    kubeconfig: Path
    folder: Path
    runs: list[Run] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    deadline: float = DEADLINE
    _numbers: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def home(self) -> Path:
        """Home and temporary folder of all runs."""
        return self.folder / "home"

    def run(
        self,
        playbook: str | Path,
        variables: Json,
        verbosity: int = 0,
        settings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
    ) -> Run:
        """Run a playbook.

        Args:
            playbook: its name in ``playbooks/``, or its path.
            variables: the extra variables.
            verbosity: how many ``-v``.
            settings: environment variables beside the usual.
            arguments: further ones of the command, such as ``--check``.

        Returns:
            The run, whatever it came to.
        """
        more = [*arguments, *(["-" + "v" * verbosity] if verbosity else [])]
        started = time.monotonic()
        done = subprocess.run(
            self.command(playbook, variables, more),
            cwd=ROOT,  # its ansible.cfg is read there
            env={**self.environment(), **(settings or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self.deadline,
            check=False,
        )
        meta = variables.get("ansible_operator_meta", {})
        what = f"{Path(playbook).stem} {meta.get('namespace', '')}/{meta.get('name', '')}"
        ended = Run(what, done.returncode, done.stdout, time.monotonic() - started)
        self.runs.append(ended)
        return ended

    def command(self, playbook: str | Path, variables: Json, arguments: Sequence[str] = ()) -> list[str]:
        """The command of a run, and the files that it needs.

        Args:
            playbook: its name in ``playbooks/``, or its path.
            variables: the extra variables.
            arguments: further ones of the command.

        Returns:
            The command.
        """
        with self._lock:
            self._numbers.append(1)
            number = len(self._numbers)
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        given = self.folder / f"variables-{number}.json"
        given.write_text(json.dumps(variables), encoding="utf-8")
        program = Path(sys.executable).parent / "ansible-playbook"
        return [str(program), str(ROOT / "playbooks" / playbook), "-e", f"@{given}", *arguments]

    def environment(self) -> dict[str, str]:
        """The environment of a run: nothing of this one's settings of Ansible, a home and a kubeconfig of its own."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANSIBLE_", "K8S_AUTH_", "DBAAS_", "PYTEST_"))}
        return {
            **kept,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", os.defpath))),
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
        }

    def request(
        self,
        playbook: str,
        name: str,
        namespace: str,
        found: Json | None,
        verbosity: int = 0,
        settings: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Run:
        """Run a playbook for a DatabaseRequest, with the variables that the runtime hands over.

        Args:
            playbook: its name.
            name: of the request.
            namespace: of the request.
            found: the object that is handed over, None for a run by hand.
            verbosity: how many ``-v``.
            settings: environment variables beside the usual.
            more: extra variables beside those that the runtime hands over.

        Returns:
            The run.
        """
        variables = {**handed_over(name, namespace, found), **(more or {})}
        return self.run(playbook, variables, verbosity, settings)

    def leaks(self) -> list[str]:
        """Where a password stands in what the runs printed or left behind, without the password."""
        found = []
        texts = {spelling for secret in self.secrets for spelling in spellings(secret)}
        for number, run in enumerate(self.runs):
            found += [f"output {number} of {run.what}" for text in texts if text in run.output]
        contents = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for path, content in contents.items():
            found += [f"the file {path.name}" for text in texts if text.encode() in content]
        return sorted(set(found))
