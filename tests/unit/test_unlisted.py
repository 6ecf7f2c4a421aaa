"""Requests whose server no provider lists any more: said to be that, and not laid to the ledger's charge."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import invariants, orphans

LOST = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "lost"}, "name": "one"}
TOLD = [{"type": "Ready", "status": "True", "observedGeneration": 1}]
INFO = {"databasename": "app", "username": "app-user"}


def read(**status: Any) -> dict[str, Any]:
    """What platform_read found: one request."""
    request = {
        "uid": "u", "namespace": "shop", "name": "shop", "version": "7", "generation": 1, "deleting": False,
        "spec": {"name": "db"}, "status": {"conditions": TOLD, **status},
    }  # fmt: skip
    return {"cluster": "c", "requests": [request], "secrets": {}, "services": {}}


def server(provider: str, problem: str = "") -> dict[str, Any]:
    """A server that was asked, and has no rows."""
    answer: dict[str, Any] | None = None if problem else {"rows": [], "accounts": [], "databases": [], "users": []}
    listed = {"name": "db:3306", "enabled": True, "connections": [{"provider": provider, "name": "one"}]}
    return {"server": listed, "problem": problem, "answer": answer}


@pytest.mark.parametrize(
    ("status", "entries", "expected"),
    [
        ({"observedDatabaseConnectionReference": LOST}, [], ["ConnectionUnlisted"]),
        ({"observedDatabaseConnectionReference": LOST}, [server("other")], ["ConnectionUnlisted"]),
        ({"observedDatabaseConnectionReference": LOST}, [server("lost")], ["LedgerRowMissing"]),
        ({"observedDatabaseConnectionReference": LOST}, [server("lost", "away")], ["ServerUnreadable"]),
        ({}, [server("other")], ["LedgerRowMissing"]),
        ({"conditions": [], "databaseInfo": INFO}, [server("other")], ["LedgerRowMissing"]),
        ({"conditions": []}, [server("other")], []),
    ],
)
def test_a_request_without_a_row(status: dict[str, Any], entries: list[dict[str, Any]], expected: list[str]) -> None:
    found = invariants.compare(read(**status), read(**status), entries, {}, False)
    assert [finding["finding"] for finding in found] == expected


def test_the_orphan_report_says_what_it_could_not_ask() -> None:
    report = orphans.report(read(observedDatabaseConnectionReference=LOST), [], {})
    assert [unread["server"] for unread in report["data"]["unread"]] == ["lost/one"]
    assert report["failed"]
    assert not orphans.report(read(), [], {})["failed"]
