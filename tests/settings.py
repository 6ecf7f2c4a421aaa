"""What tests and their fixtures share beside fixtures; a conftest file can't be imported by its own name."""

from pathlib import Path

# What a test can wait for: an adopted database may be dropped after this many seconds of being ready.
SETTINGS = {"DBAAS_ADOPTED_GRACE_SECONDS": "3"}

#: Where each log stood when the tests began, so that the last ones can tell this run's part of it.
LOG_STARTS: dict[Path, int] = {}
