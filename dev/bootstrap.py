"""What the sandbox needs beside Python: Go, the control plane's programs, a MariaDB server.

Run by dev/bootstrap.sh. Silent when nothing is to do.
"""

import os
import shlex
import subprocess
import sys

from dev import build
from dev.cluster import own_cluster, programs_folder
from dev.errors import SandboxError
from dev.mariadb_programs import UNPACKED, find_installed, find_unpacked
from dev.paths import BIN, LOGS, ROOT, make_private

PACKAGES = ("mariadb-server-core", "mariadb-client-core")  # without the service that mariadb-server starts


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def ensure_control_plane() -> None:
    """Build etcd, kube-apiserver, kube-controller-manager and kubectl, unless they are there or given.

    Raises:
        SandboxError: KUBEBUILDER_ASSETS lacks one, or a build failed.
    """
    if own_cluster() is not None:
        return
    if os.environ.get("KUBEBUILDER_ASSETS"):
        programs_folder()  # says what is missing
        return
    parts = [part for part in build.PARTS if not build.is_built(part)]
    if not parts:
        return
    go = build.ensure_go(lambda line: _say(f"[3/6] {line}"))
    _say(f"[3/6] Go: {go}")
    for step, part in enumerate(build.PARTS, start=4):
        if part in parts:
            _say(
                f"[{step}/6] control plane: building {', '.join(build.PARTS[part].values())} "
                f"({build.TIMES[part]} on two cores, once)"
            )
            build.build(part, go)


def _run(log_name: str, *command: str) -> bool:
    log = make_private(LOGS) / log_name
    with log.open("ab") as output:
        return (
            subprocess.run(
                command,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            ).returncode
            == 0
        )


def _wrap_client() -> None:
    """Make ``mariadb`` callable although its libraries are in the unpacked packages."""
    programs = find_unpacked()
    if programs is None or programs.base is None:
        return
    libraries = ":".join(map(str, programs.libraries))
    wrapper = make_private(BIN) / "mariadb"
    wrapper.write_text(
        f"#!/bin/sh\nLD_LIBRARY_PATH={shlex.quote(libraries)} "
        f'exec {shlex.quote(str(programs.base / "bin" / "mariadb"))} "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o700)


def ensure_mariadb() -> None:
    """Install a MariaDB server, as root, or unpack one into the sandbox, unless there is one.

    Raises:
        SandboxError: neither worked.
    """
    if find_installed() or find_unpacked():
        return
    unpack = os.environ.get("DBAAS_MARIADB") == "unpacked"
    if os.getuid() == 0 and not unpack:
        _say(f"[6/6] MariaDB: installing the packages {' and '.join(PACKAGES)}")
        install = (
            "apt-get",
            "-q",
            "-o",
            "DPkg::Lock::Timeout=300",
            "install",
            "-y",
            "--no-install-recommends",
            *PACKAGES,
        )
        if not _run("apt.log", *install):
            _run("apt.log", "apt-get", "-q", "update")
            _run("apt.log", *install)
        if find_installed():
            return
        _say(f"      that failed (see {LOGS / 'apt.log'}); trying to unpack it here instead")
    else:
        _say(f"[6/6] MariaDB: unpacking {' and '.join(PACKAGES)} into the sandbox (no rights needed)")
    _run("apt.log", str(ROOT / "dev" / "unpack.sh"), str(UNPACKED), *PACKAGES)
    if not find_unpacked():
        raise SandboxError(
            f"no MariaDB server could be installed or unpacked (see {LOGS / 'apt.log'}); install "
            "your distribution's MariaDB server package, so that mariadbd is on PATH"
        )
    _wrap_client()


def main() -> int:
    """Do what is left to do.

    Returns:
        Exit status.
    """
    try:
        ensure_control_plane()
        ensure_mariadb()
    except SandboxError as error:
        _say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
