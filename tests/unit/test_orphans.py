"""The exit status of the report on what nobody looks after."""

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import orphans

NOTHING: dict[str, Any] = {"databases": [], "accounts": [], "rows": [], "requests": [], "unread": []}
SOME: dict[str, dict[str, Any]] = {
    "databases": {"server": "s", "database": "d", "tables": 1, "bytes": 1},
    "accounts": {"server": "s", "user": "u", "host": "%", "databases": []},
}


@pytest.mark.parametrize("kind", ["", *SOME])
def test_it_counts_as_failed_where_something_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {**NOTHING, **({kind: [SOME[kind]]} if kind else {})}
    monkeypatch.setattr(orphans, "orphans", lambda *_: found)
    assert orphans.report({"cluster": "c", "requests": []}, [], {})["failed"] is bool(kind)


@pytest.mark.parametrize("enabled", [True, False])
def test_it_counts_as_failed_where_a_server_may_hold_more(enabled: bool) -> None:
    entry = {"server": {"name": "s", "enabled": enabled, "connections": []}, "problem": "away", "answer": None}
    assert orphans.report({"cluster": "c", "requests": []}, [entry], {})["failed"] is enabled
