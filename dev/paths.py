"""Where the sandbox keeps things: one ignored folder in the checkout, and one short folder for sockets."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SANDBOX = Path(os.environ.get("DBAAS_SANDBOX_DIR") or ROOT / ".sandbox").resolve()
BIN = SANDBOX / "bin"
PIDS = SANDBOX / "pids"
LOGS = SANDBOX / "logs"

# Distinguishes this checkout's processes and sockets from those of another checkout on the same machine.
MARK = hashlib.sha256(str(SANDBOX).encode()).hexdigest()[:12]
# The name of a unix socket holds at most 107 bytes, so sockets can't live under a deep checkout.
SHORT = Path(tempfile.gettempdir()) / f"dbaas-sandbox-{os.getuid()}-{MARK}"


def make_private(folder: Path) -> Path:
    """Make a folder that only its owner may enter.

    Args:
        folder: the folder to make; parents are made too.

    Returns:
        The folder.

    Raises:
        PermissionError: it exists and belongs to somebody else.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
        raise PermissionError(f"{folder} isn't a folder of this user's; remove it")
    folder.chmod(0o700)
    return folder


def write_private(path: Path, text: str) -> Path:
    """Write a file that only its owner may read, replacing an older one in one step.

    Args:
        path: the file.
        text: what to write, as UTF-8.

    Returns:
        The file.
    """
    make_private(path.parent)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    fresh.replace(path)
    return path


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Args:
        path: the file.

    Returns:
        What it holds, or None if there is no such file or it was cut off while being written.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
