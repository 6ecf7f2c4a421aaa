"""The sandbox as a whole: ``python -m dev.sandbox up|down|status|env|remove``."""

import argparse
import base64
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from dev import cluster, mariadb, objects
from dev.errors import SandboxError
from dev.mariadb import MariaDB
from dev.operator import KUBECONFIG as OPERATOR_KUBECONFIG
from dev.operator import RUNTIME, SUPERVISOR, Operator
from dev.paths import BIN, LOGS, ROOT, SANDBOX, SHORT, make_private, write_private
from dev.processes import kill_all, marked

NAMESPACE = "dbaas-operator-system"
SERVICE_ACCOUNT = "dbaas-operator"
PROVIDER = "development"
MANIFESTS = ("crd", "rbac", "admission")
TOKEN_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True)
class Sandbox:
    """A sandbox that is up.

    Attributes:
        kubeconfig: the admin's kubeconfig.
        operator_kubeconfig: kubeconfig with a token of the operator's service account: its rights are real.
        audit_log: the API server's audit log, one JSON object a line (absent with a cluster of your own).
        servers: the MariaDB servers ``one``, ``two`` and ``retired``.
    """

    kubeconfig: Path
    operator_kubeconfig: Path
    audit_log: Path
    servers: dict[str, MariaDB]

    @classmethod
    def load(cls) -> "Sandbox":
        """Take hold of the sandbox that is up.

        Returns:
            The sandbox.

        Raises:
            SandboxError: it isn't up.
        """
        given = cluster.own_cluster()
        if given is None and not (cluster.APISERVER.running and cluster.ADMIN_KUBECONFIG.exists()):
            raise SandboxError("the sandbox isn't up; run `make sandbox-up`")
        return cls(
            given or cluster.ADMIN_KUBECONFIG,
            OPERATOR_KUBECONFIG,
            cluster.AUDIT_LOG,
            mariadb.standard_servers(),
        )

    def api(self) -> client.ApiClient:
        """Make a client with the admin's rights.

        Returns:
            The client.
        """
        return config.new_client_from_config(str(self.kubeconfig))

    def operator_api(self) -> client.ApiClient:
        """Make a client with the operator's rights.

        Returns:
            The client.
        """
        return config.new_client_from_config(str(self.operator_kubeconfig))

    @property
    def operator(self) -> Operator:
        """The operator, running or not."""
        return Operator(self.operator_kubeconfig)

    def ensure_provider(self, name: str = PROVIDER) -> None:
        """Write the provider with the sandbox's servers and the Secrets with their admin passwords.

        Args:
            name: the provider's name, which is its scope too.

        Raises:
            ApiException: the API server refused one of them.
        """
        api = self.api()
        connections = []
        for server in self.servers.values():
            secret = f"{name}-{server.name}"
            objects.apply(
                api,
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": {"name": secret, "namespace": NAMESPACE},
                    "data": {"password": base64.b64encode(server.admin_password.encode()).decode()},
                },
            )
            connections.append(
                {
                    "name": server.name,
                    "hostname": server.hostname,
                    "port": server.port,
                    "username": server.admin_user,
                    "enabled": server.name != "retired",
                    "passwordSecretRef": {"name": secret, "namespace": NAMESPACE},
                }
            )
        objects.apply(
            api,
            {
                "apiVersion": f"{objects.GROUP}/{objects.VERSION}",
                "kind": "DatabaseMySQLProvider",
                "metadata": {"name": name},
                "spec": {"scope": name, "connections": connections},
            },
        )


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Keep two starts or stops apart."""
    make_private(SANDBOX)
    with (SANDBOX / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kubectl(kubeconfig: Path, *arguments: str) -> None:
    given = shutil.which("kubectl") if cluster.own_cluster() else None
    program = given or str(cluster.programs_folder() / "kubectl")
    done = subprocess.run(
        [program, f"--kubeconfig={kubeconfig}", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxError(f"kubectl {' '.join(arguments)} failed:\n{done.stderr.strip()}")


def install(kubeconfig: Path) -> None:
    """Apply the project's CRDs, rights and admission policy.

    Args:
        kubeconfig: the admin's.

    Raises:
        SandboxError: one of them was refused.
    """
    api = config.new_client_from_config(str(kubeconfig))
    objects.apply(api, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for part in MANIFESTS:
        folder = ROOT / "config" / part
        if not (folder / "kustomization.yaml").exists():
            _say(f"config/{part} has no kustomization.yaml, left out")
            continue
        _kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-k", str(folder))
    _kubectl(kubeconfig, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")


def _write_operator_kubeconfig(kubeconfig: Path) -> None:
    api = config.new_client_from_config(str(kubeconfig))
    core = client.CoreV1Api(api)
    request = client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=TOKEN_SECONDS)
    )
    try:
        token = core.create_namespaced_service_account_token(SERVICE_ACCOUNT, NAMESPACE, request).status.token
    except ApiException as error:
        raise SandboxError(
            f"no token for service account {NAMESPACE}/{SERVICE_ACCOUNT}: the API server "
            f"answered {error.status}; config/rbac must hold that account"
        ) from error
    host = api.configuration.host
    authority = SANDBOX / "operator-ca.crt"
    write_private(authority, Path(api.configuration.ssl_ca_cert).read_text(encoding="ascii"))
    cluster.write_kubeconfig(OPERATOR_KUBECONFIG, host, authority, SERVICE_ACCOUNT, token, NAMESPACE)


def up() -> Sandbox:
    """Bring everything up that isn't: control plane, manifests, servers. The operator isn't started.

    Returns:
        The sandbox.

    Raises:
        SandboxError: something is missing or didn't get ready; the message says what to do.
    """
    with _alone():
        kubeconfig = cluster.own_cluster()
        if kubeconfig is None:
            _say("control plane: starting")
            kubeconfig = cluster.start()
        _say("MariaDB servers one, two, retired: starting")
        mariadb.ensure_standard_servers()
        _say("CRDs, rights, admission policy: applying")
        install(kubeconfig)
        _write_operator_kubeconfig(kubeconfig)
    return Sandbox.load()


def down() -> None:
    """Stop all that the sandbox started. What it stored stays."""
    with _alone():
        Operator().stop()
        for server in mariadb.all_servers():
            server.stop()
        cluster.stop()
        kill_all(marked())  # whatever a start that was interrupted left
        shutil.rmtree(SHORT, ignore_errors=True)


def status() -> list[tuple[str, str]]:
    """Tell what is running.

    Returns:
        Name and state of each process.
    """
    rows = [
        (process.name, process.pid())
        for process in (cluster.ETCD, cluster.APISERVER, cluster.MANAGER, SUPERVISOR, RUNTIME)
    ]
    rows += [(server.process.name, server.process.pid()) for server in mariadb.all_servers()]
    return [(name, f"running, pid {pid}" if pid else "stopped") for name, pid in rows]


def is_up() -> bool:
    """Tell whether control plane and servers are running."""
    try:
        return all(server.running for server in Sandbox.load().servers.values())
    except SandboxError:
        return False


def _path() -> str:
    folders = [str(Path(sys.executable).parent)]  # the environment's programs first
    if cluster.own_cluster() is None:
        folders.append(str(cluster.programs_folder()))
    folders += [str(BIN)] if BIN.exists() else []
    return os.pathsep.join(dict.fromkeys([*folders, os.environ.get("PATH", os.defpath)]))


def variables() -> dict[str, str]:
    """Tell where everything of the sandbox is.

    Returns:
        Environment variables, without any password: those are in the option files they name.

    Raises:
        SandboxError: the sandbox isn't up.
    """
    sandbox = Sandbox.load()
    values = {
        "KUBECONFIG": str(sandbox.kubeconfig),
        "PATH": _path(),
        "DBAAS_OPERATOR_KUBECONFIG": str(sandbox.operator_kubeconfig),
        "DBAAS_OPERATOR_LOG": str(sandbox.operator.log),
        "DBAAS_AUDIT_LOG": str(sandbox.audit_log),
        "DBAAS_LOGS": str(LOGS),
    }
    for name, server in sandbox.servers.items():
        prefix = f"DBAAS_SERVER_{name.upper()}"
        values[f"{prefix}_PORT"] = str(server.port)
        values[f"{prefix}_CNF"] = str(server.cnf)
        values[f"{prefix}_ROOT_CNF"] = str(server.root_cnf)
        values[f"{prefix}_GENERAL_LOG"] = str(server.general_log)
    return values


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: by default the process's own.

    Returns:
        Exit status: 0, 1 after an error, 3 for ``status`` of a sandbox that isn't up.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.sandbox", description=__doc__)
    parser.add_argument("verb", choices=("up", "down", "status", "env", "remove"))
    verb = parser.parse_args(arguments).verb
    try:
        if verb == "up":
            up().ensure_provider()
            _say('up; work in it with: eval "$(make -s sandbox-env)"; stop it with: make sandbox-down')
        elif verb == "down":
            down()
        elif verb == "remove":
            down()
            shutil.rmtree(SANDBOX / "mariadb", ignore_errors=True)
            shutil.rmtree(cluster.FOLDER, ignore_errors=True)
        elif verb == "env":
            print("\n".join(f"export {key}={shlex.quote(value)}" for key, value in variables().items()))
        else:
            for name, state in status():
                print(f"{name:26} {state}")
            return 0 if is_up() else 3
    except SandboxError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
