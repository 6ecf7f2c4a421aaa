"""Where each log stood when the tests began, so that the last ones can tell this run's part of it."""

from pathlib import Path

LOG_STARTS: dict[Path, int] = {}
