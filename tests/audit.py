"""What the API server wrote down of who asked for what: its audit log, one JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def entries(log: Path, start: int) -> Iterator[dict[str, Any]]:
    """The entries of a log from a place on.

    Args:
        log: the log.
        start: where in it to begin, in bytes.
    """
    with log.open("rb") as stream:
        stream.seek(start)
        for line in stream:
            yield json.loads(line)


def user(entry: dict[str, Any]) -> str:
    """Who asked; empty where the credentials were refused, since the server then knows no user."""
    return str(entry["user"].get("username", ""))
