"""The operator in the sandbox: the real runtime if it is on PATH, else the stand-in; kept running."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from dev.errors import SandboxError, WaitTimeout
from dev.paths import BIN, LOGS, MARK, ROOT, SANDBOX, SHORT, make_private, read_json, write_private
from dev.ports import answers, is_free, port_of
from dev.processes import Process, descendants, kill_all, marked
from dev.waiting import wait_for

KUBECONFIG = SANDBOX / "operator.kubeconfig"
LOG = LOGS / "operator.log"
SETTINGS = SANDBOX / "operator-settings.json"  # of the last start, by watches file
CURRENT = SANDBOX / "operator-current.json"  # what the running one was started with
PROXY_PORT = 8888  # the runtime writes this number into the kubeconfig of every run; it can't be moved
GRACE = 30  # seconds that runs get to end on a normal stop
OPERATOR_MARK = f"{MARK}-operator"
SUPERVISOR, RUNTIME = Process("operator-supervisor", OPERATOR_MARK), Process("operator", OPERATOR_MARK)


def runtime() -> str:
    """Tell which runtime would be used.

    Returns:
        ``ansible-operator`` if that is on PATH or in the sandbox, else ``stand-in``. DBAAS_RUNTIME=stand-in
        asks for the stand-in.
    """
    wanted = os.environ.get("DBAAS_RUNTIME", "")
    if wanted not in ("", "ansible-operator", "stand-in"):
        raise SandboxError(f"DBAAS_RUNTIME={wanted}: say ansible-operator or stand-in")
    return wanted or ("ansible-operator" if _real() else "stand-in")


def _real() -> str | None:
    return shutil.which("ansible-operator", path=os.pathsep.join((os.environ.get("PATH", ""), str(BIN))))


def command(watches: Path) -> list[str]:
    """Put together the command that runs the operator.

    Args:
        watches: the watches file.

    Returns:
        Program and arguments.
    """
    program = _real()
    start = [sys.executable, "-m", "dev.standin"] if runtime() == "stand-in" else [str(program), "run"]
    if start[0] == "None":
        raise SandboxError("DBAAS_RUNTIME=ansible-operator, but ansible-operator isn't on PATH")
    extra = [f"--graceful-shutdown-timeout={GRACE}s"] if runtime() == "ansible-operator" else []
    return [
        *start,
        f"--watches-file={watches}",
        f"--metrics-bind-address=127.0.0.1:{port_of('operator-metrics')}",
        f"--health-probe-bind-address=127.0.0.1:{port_of('operator-health')}",
        *extra,
    ]


def ansible_settings() -> dict[str, str]:
    """Return Ansible's settings, as the operator's image has them, with the checkout's paths.

    Returns:
        Environment variables.
    """
    temporary = make_private(SHORT / "ansible")
    return {
        "ANSIBLE_ROLES_PATH": str(ROOT / "roles"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_PIPELINING": "true",
        "ANSIBLE_NO_TARGET_SYSLOG": "true",
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_LOCAL_TEMP": str(temporary),
        "ANSIBLE_REMOTE_TMP": str(temporary),
    }


def environment(kubeconfig: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Put together the operator's environment: what its image sets, with the checkout's paths.

    Args:
        kubeconfig: the operator's own kubeconfig.
        extra: settings, for example ``DBAAS_ADOPTED_GRACE_SECONDS``.

    Returns:
        The whole environment.
    """
    inherited = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ANSIBLE_", "PYTEST_", "MOLECULE_", "DBAAS_", "K8S_AUTH_"))
    }
    python = Path(sys.executable).parent  # not resolved: the link in the venv is what finds its packages
    return {
        **inherited,
        **ansible_settings(),
        "PATH": os.pathsep.join((str(python), inherited.get("PATH", os.defpath))),
        "KUBECONFIG": str(kubeconfig),
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(make_private(SHORT / "operator")),
        "DBAAS_SANDBOX_DIR": str(SANDBOX),  # the supervisor's pid files go where ours are
        "MAX_CONCURRENT_RECONCILES_DATABASEREQUEST_CRD_LAGOON_SH": "2",
        "MAX_CONCURRENT_RECONCILES_DATABASEMYSQLPROVIDER_CRD_LAGOON_SH": "1",
        **(extra or {}),
    }


class Operator:
    """The one operator of the sandbox.

    Attributes:
        kubeconfig: its own kubeconfig.
        watches: the watches file it runs.
        log: its output.
    """

    def __init__(self, kubeconfig: Path = KUBECONFIG, watches: Path = ROOT / "watches.yaml") -> None:
        """Take hold of the operator, running or not.

        Args:
            kubeconfig: its own kubeconfig.
            watches: the watches file.
        """
        self.kubeconfig = kubeconfig
        self.watches = watches
        self.log = LOG

    @property
    def runtime(self) -> str:
        """Which runtime it is started under: ``ansible-operator`` or ``stand-in``."""
        return runtime()

    @property
    def running(self) -> bool:
        """Whether the runtime itself is running."""
        return RUNTIME.running

    @property
    def pid(self) -> int | None:
        """The runtime's pid, or None."""
        return RUNTIME.pid()

    def start(self, env: Mapping[str, str] | None = None) -> None:
        """Start the operator and wait until it says that it is ready.

        One that runs with these settings is left as it is; one with others is stopped first.

        Args:
            env: settings beside the sandbox's own; None for those of this watches file's last start.

        Raises:
            SandboxError: port 8888 is taken, or the operator didn't get ready; the message names its log.
        """
        known: dict[str, dict[str, str]] = read_json(SETTINGS) or {}
        settings = dict(known.get(str(self.watches), {}) if env is None else env)
        now = read_json(CURRENT)
        wanted = {"watches": str(self.watches), "kubeconfig": str(self.kubeconfig), "settings": settings}
        if SUPERVISOR.running and now != wanted:
            self.stop()
        if not SUPERVISOR.running:
            self.kill_tree()  # a run of an operator whose supervisor is gone must not work beside the new one
            self._launch(settings)
            write_private(SETTINGS, json.dumps({**known, str(self.watches): settings}, indent=2) + "\n")
            write_private(CURRENT, json.dumps(wanted, indent=2) + "\n")
        self.wait_ready()

    def _launch(self, settings: Mapping[str, str]) -> None:
        if answers(PROXY_PORT) or not is_free(PROXY_PORT):
            raise SandboxError(
                f"port {PROXY_PORT} is taken by another program, perhaps another checkout's operator; "
                "the runtime's proxy can't be moved to another port: end that program first "
                f"(`ss -ltnp 'sport = :{PROXY_PORT}'` names it)"
            )
        for name in ("operator-metrics", "operator-health"):
            if not is_free(port_of(name)):
                port_of(name, renew=True)
        make_private(LOGS)
        SUPERVISOR.start(
            [sys.executable, "-m", "dev.supervisor", RUNTIME.name, str(LOG), *command(self.watches)],
            LOGS / "operator-supervisor.log",
            environment(self.kubeconfig, settings),
            ROOT,
        )

    def wait_ready(self, deadline: float = 60.0) -> None:
        """Wait until the operator listens on its health port and its proxy answers.

        Args:
            deadline: seconds it gets.

        Raises:
            SandboxError: it didn't; the message names its log.
        """
        try:
            wait_for(
                lambda: self.running and answers(port_of("operator-health")) and answers(PROXY_PORT),
                f"the operator ({self.runtime}) to be ready",
                deadline,
            )
        except WaitTimeout as error:
            raise WaitTimeout(f"{error}; see {LOG}") from error

    def stop(self) -> None:
        """Stop the operator as a cluster would: SIGTERM, wait for running plays; leave nothing behind."""
        SUPERVISOR.stop(GRACE + 15)
        self.kill_tree()

    def kill_alone(self) -> None:
        """SIGKILL the runtime and nothing else: its plays go on. The supervisor starts it again."""
        pid = self.pid
        if pid is not None:
            kill_all([pid])

    def kill_tree(self, restart: bool = True) -> None:
        """SIGKILL the runtime with all that it started, plays in sessions of their own included.

        Args:
            restart: let the supervisor start it again; else the supervisor is ended first.
        """
        if not restart:
            SUPERVISOR.kill()
        supervisor, root = SUPERVISOR.pid(), self.pid
        # The tree finds the children, the mark those whose parent is gone.
        doomed = {*marked(OPERATOR_MARK), *([root, *descendants(root)] if root else [])} - {supervisor, None}
        kill_all(sorted(pid for pid in doomed if pid is not None))

    def orphans(self) -> list[int]:
        """List processes of an operator that is gone.

        Returns:
            Their pids.
        """
        supervisor, root = SUPERVISOR.pid(), self.pid
        ours = {supervisor, root, *(descendants(root) if root else [])}
        return [pid for pid in marked(OPERATOR_MARK) if pid not in ours]

    def terminate(self) -> None:
        """Send SIGTERM to the runtime alone; the supervisor starts it again when it has ended."""
        RUNTIME.signal(signal.SIGTERM)
