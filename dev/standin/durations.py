"""Durations in Go's notation, as watches.yaml, annotations and ``requeue_after`` write them."""

from __future__ import annotations

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def parse_duration(text: str) -> float:
    """Read a duration such as ``90s``, ``1h30m`` or ``0``.

    Args:
        text: the duration; a number without a unit is an error, but for ``0``.

    Returns:
        The duration in seconds.

    Raises:
        ValueError: if the text is no duration.
    """
    sign = -1.0 if text.startswith("-") else 1.0
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0.0
    seconds, position = 0.0, 0
    while match := _PART.match(rest, position):
        seconds += float(match[1]) * _UNITS[match[2]]
        position = match.end()
    if not rest or position != len(rest):
        raise ValueError(
            f"{text!r} is not a duration: write for example 30s, 5m or 1h30m, each number with its unit"
        )
    return sign * seconds
