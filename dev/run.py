"""``make run``: the operator in the foreground, against the cluster that KUBECONFIG names."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from dev.errors import SandboxError
from dev.operator import PROXY_PORT, command, environment
from dev.paths import ROOT
from dev.ports import answers


def start() -> NoReturn:
    """Replace this process by the operator.

    Raises:
        SandboxError: the operator can't be started.
    """
    given = os.environ.get("KUBECONFIG", "")
    if not Path(given).is_file():
        raise SandboxError(
            "KUBECONFIG doesn't name a kubeconfig; for the sandbox: make sandbox-up && "
            'eval "$(make -s sandbox-env)" && KUBECONFIG=$DBAAS_OPERATOR_KUBECONFIG make run'
        )
    if answers(PROXY_PORT):
        raise SandboxError(f"port {PROXY_PORT} is taken, perhaps by a running operator; end it first")
    words = command(ROOT / "watches.yaml")
    settings = {key: value for key, value in os.environ.items() if key.startswith("DBAAS_")}
    surroundings = environment(Path(given).resolve(), settings)
    print(f"running {' '.join(words)}", file=sys.stderr, flush=True)
    os.chdir(ROOT)
    os.execvpe(words[0], words, surroundings)  # noqa: S606  # no shell is wanted


if __name__ == "__main__":
    try:
        start()
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
