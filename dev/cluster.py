"""The control plane of the sandbox: etcd, kube-apiserver and kube-controller-manager on this machine."""

import os
import secrets
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import yaml

from dev.certificates import ensure_authority, ensure_server, ensure_signing_key
from dev.errors import SandboxError, WaitTimeout
from dev.paths import BIN, LOGS, ROOT, SANDBOX, make_private, write_private
from dev.ports import is_free, port_of
from dev.processes import Process
from dev.waiting import wait_for

FOLDER = SANDBOX / "controlplane"
ADMIN_KUBECONFIG = SANDBOX / "admin.kubeconfig"
AUDIT_LOG = LOGS / "audit.log"
AUDIT_POLICY = ROOT / "dev" / "controlplane" / "audit-policy.yaml"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
# What a request's life needs: owned objects go with their owner, a namespace's objects with the namespace,
# service accounts exist, rights of the admin, edit and view roles are put together, policies are checked.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "clusterrole-aggregation-controller",
    "validatingadmissionpolicy-status-controller",
)

ETCD, APISERVER, MANAGER = Process("etcd"), Process("kube-apiserver"), Process("kube-controller-manager")


def own_cluster() -> Path | None:
    """Tell whether a whole cluster was given instead of the sandbox's control plane.

    Returns:
        The kubeconfig of that cluster, or None. A KUBECONFIG alone isn't enough: DBAAS_USE_CLUSTER=1 must
        be set too, so that no cluster is touched by accident.

    Raises:
        SandboxError: the cluster is asked for, but KUBECONFIG doesn't name one file.
    """
    if os.environ.get("DBAAS_USE_CLUSTER") != "1":
        return None
    given = os.environ.get("KUBECONFIG", "")
    if not given or not Path(given).is_file():
        raise SandboxError("DBAAS_USE_CLUSTER=1 needs KUBECONFIG to name the cluster's kubeconfig (one file)")
    return Path(given).resolve()


def programs_folder() -> Path:
    """Find the folder that holds the control plane's programs.

    Returns:
        KUBEBUILDER_ASSETS if that is set, else the sandbox's own.

    Raises:
        SandboxError: a program is missing there.
    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    folder = Path(assets).resolve() if assets else BIN
    missing = [name for name in PROGRAMS if not (folder / name).exists()]
    if missing:
        cure = "give the right folder or unset it" if assets else "run `make bootstrap`, which builds it once"
        place = f"{folder} (KUBEBUILDER_ASSETS)" if assets else str(folder)
        raise SandboxError(f"{', '.join(missing)} not in {place}; {cure}")
    return folder


def _token(name: str) -> str:
    path = FOLDER / f"{name}.token"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text(encoding="ascii")


def write_kubeconfig(
    path: Path, server: str, authority: Path, user: str, token: str, namespace: str = "default"
) -> Path:
    """Write a kubeconfig with a token.

    Args:
        path: where to, with mode 600.
        server: URL of the API server.
        authority: the certificate authority's file.
        user: the user's name in the file.
        token: the token.
        namespace: default namespace.

    Returns:
        The file.
    """
    return write_private(
        path,
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "sandbox",
                "clusters": [
                    {
                        "name": "sandbox",
                        "cluster": {"server": server, "certificate-authority": str(authority)},
                    }
                ],
                "users": [{"name": user, "user": {"token": token}}],
                "contexts": [
                    {
                        "name": "sandbox",
                        "context": {"cluster": "sandbox", "user": user, "namespace": namespace},
                    }
                ],
            }
        ),
    )


def server_url() -> str:
    """Return the API server's URL."""
    return f"https://127.0.0.1:{port_of('kube-apiserver')}"


def authority() -> Path:
    """Return the file of the certificate authority that signed the API server's certificate."""
    return FOLDER / "ca.crt"


def _start_etcd(folder: Path) -> None:
    client = f"http://127.0.0.1:{port_of('etcd')}"
    peer = f"http://127.0.0.1:{port_of('etcd-peer')}"
    # Data may be lost when the machine fails, never by a kill: --unsafe-no-fsync buys a fast start.
    ETCD.start(
        [
            str(folder / "etcd"),
            f"--data-dir={FOLDER / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ],
        LOGS / "etcd.log",
        cwd=FOLDER,
    )


def _start_apiserver(folder: Path) -> None:
    ensure_authority(FOLDER)
    certificate, key = ensure_server(FOLDER, "kube-apiserver")
    signing = ensure_signing_key(FOLDER / "service-accounts.key")
    tokens = write_private(
        FOLDER / "tokens.csv",
        (
            f'{_token("admin")},sandbox-admin,sandbox-admin,"system:masters"\n'
            f'{_token("manager")},system:kube-controller-manager,kube-controller-manager,"system:masters"\n'
        ),
    )
    APISERVER.start(
        [
            str(folder / "kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{port_of('etcd')}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port_of('kube-apiserver')}",
            # Nothing runs in this cluster, so nobody looks for the API server by its Service.
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={FOLDER / 'certs'}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            "--service-cluster-ip-range=10.96.0.0/20,fd00:10:96::/112",
            f"--service-account-issuer={server_url()}",
            f"--service-account-key-file={signing}",
            f"--service-account-signing-key-file={signing}",
            f"--audit-policy-file={AUDIT_POLICY}",
            f"--audit-log-path={AUDIT_LOG}",
            "--audit-log-mode=blocking",
            "--audit-log-format=json",
        ],
        LOGS / "kube-apiserver.log",
        cwd=FOLDER,
    )


def _start_manager(folder: Path) -> None:
    kubeconfig = write_kubeconfig(
        FOLDER / "manager.kubeconfig", server_url(), authority(), "manager", _token("manager")
    )
    MANAGER.start(
        [
            str(folder / "kube-controller-manager"),
            f"--kubeconfig={kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port_of('kube-controller-manager')}",
            f"--cert-dir={FOLDER / 'certs'}",
            f"--controllers={','.join(CONTROLLERS)}",
            "--leader-elect=false",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
        ],
        LOGS / "kube-controller-manager.log",
        cwd=FOLDER,
    )


def _healthy(url: str, token: str | None, trust: Path | None) -> bool:
    context = None
    if url.startswith("https:"):
        context = ssl.create_default_context(cafile=str(trust) if trust else None)
        if trust is None:  # the manager signs its own certificate; all that is asked is whether it is healthy
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    # Proxy settings of the machine don't concern the loopback address.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _wait(process: Process, healthy: Callable[[], bool], deadline: float) -> None:
    log = LOGS / f"{process.name}.log"

    def ready() -> bool:
        if not process.running:
            raise SandboxError(f"{process.name} ended by itself; see {log}")
        return healthy()

    try:
        wait_for(ready, f"{process.name} to be healthy", deadline)
    except WaitTimeout as error:
        raise WaitTimeout(f"{error}; see {log}") from error


def start() -> Path:
    """Start what isn't running of the control plane and wait until it is healthy.

    Returns:
        The admin's kubeconfig.

    Raises:
        SandboxError: a program is missing, ended by itself, or wasn't healthy in time.
    """
    folder = programs_folder()
    make_private(FOLDER)
    make_private(LOGS)
    for process, port in (
        (ETCD, "etcd"),
        (APISERVER, "kube-apiserver"),
        (MANAGER, "kube-controller-manager"),
    ):
        if not process.running and not is_free(port_of(port)):
            port_of(port, renew=True)
            if process is ETCD:
                APISERVER.stop()  # it would go on asking the old port
            MANAGER.stop()
    _start_etcd(folder)
    _wait(ETCD, lambda: _healthy(f"http://127.0.0.1:{port_of('etcd')}/health", None, None), 60)
    _start_apiserver(folder)
    write_kubeconfig(ADMIN_KUBECONFIG, server_url(), authority(), "sandbox-admin", _token("admin"))
    _wait(APISERVER, lambda: _healthy(f"{server_url()}/readyz", _token("admin"), authority()), 120)
    _start_manager(folder)
    manager = f"https://127.0.0.1:{port_of('kube-controller-manager')}/healthz"
    _wait(MANAGER, lambda: _healthy(manager, None, None), 60)
    return ADMIN_KUBECONFIG


def stop() -> None:
    """Stop the control plane: what depends on another goes first."""
    for process in (MANAGER, APISERVER, ETCD):
        process.stop(20)
