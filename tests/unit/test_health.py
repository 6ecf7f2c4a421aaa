"""A provider's connections: what was found of each, and the status that says so."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import health, sql

from tests.unit import samples
from tests.unit.samples import connection

AT = "2026-01-02T00:00:00Z"


def answered(name: str = "one", read_only: int = 0, tables: int = 3, exposed: int = 0, **fields: Any) -> dict[str, Any]:
    rows = [
        [{"version": "10.11.19-MariaDB", "read_only": read_only, "admin_sees": 1}],
        [{"tables_count": tables}],
        [{"users": 3}],
        [{"exposed": exposed}],
    ]
    return {"query_result": rows, "__dbaas_provider_connection": connection(name), **fields}


def failed(driver: str, name: str = "one") -> dict[str, Any]:
    return {**samples.not_connected(driver), "__dbaas_provider_connection": connection(name)}


MADE = {"query_result": [[] for _ in sql.STATEMENTS["ledger"]], "__dbaas_provider_connection": connection()}
NOT_MADE = {
    **samples.sent(sql.STATEMENTS["ledger"][1], None, "(1044, 'denied')"),
    "__dbaas_provider_connection": connection(),
}
REFUSED = '(2003, "Can\'t connect ([Errno 111] Connection refused)")'


def found(
    results: list[dict[str, Any]], made: list[dict[str, Any]] | None = None, where: dict[str, Any] | None = None
) -> dict[str, Any]:
    return health.provider_found({"connections": [where or connection()]}, results, made or [])[0]


@pytest.mark.parametrize(
    ("result", "lacks"),
    [
        pytest.param(answered(), False, id="has-it"),
        pytest.param(answered(tables=0), True, id="has-none"),
        pytest.param(answered(tables=2), True, id="K1-half"),
        pytest.param(answered(tables=0, read_only=1), False, id="S2-read-only"),
        pytest.param(failed(REFUSED), False, id="away"),
    ],
)
def test_lacks_ledger(result: dict[str, Any], lacks: bool) -> None:
    assert health.lacks_ledger([result]) == ([result["__dbaas_provider_connection"]] if lacks else [])


@pytest.mark.parametrize(
    ("results", "made", "status", "message"),
    [
        pytest.param([answered()], [], "available", "", id="well"),
        pytest.param([answered(tables=0)], [MADE], "available", "", id="ledger-made"),
        pytest.param(
            [answered(tables=0)], [NOT_MADE], "unavailable", "must be mended (error 1044)", id="ledger-refused"
        ),
        pytest.param([answered(tables=0, read_only=1)], [], "unavailable", "read-only", id="S2-no-ledger-yet"),
        pytest.param([answered(read_only=1)], [], "available", "read-only", id="S2-read-only"),
        pytest.param([failed(REFUSED)], [], "unavailable", "can't be reached or is busy (error 2003)", id="away"),
        pytest.param([failed("(1045, 'x')")], [], "unavailable", "must be mended (error 1045)", id="S5-admin-refused"),
        pytest.param(
            [failed('(2026, "SSL is required but the server doesn\'t support it")')],
            [],
            "unavailable",
            "must be mended (error 2026)",
            id="S1-tls",
        ),
        pytest.param(
            [{"failed": True, "msg": "Timed out after 20 second(s).", "__dbaas_provider_connection": connection()}],
            [],
            "unavailable",
            "no number",
            id="frozen",
        ),
    ],
)
def test_found(results: list[dict[str, Any]], made: list[dict[str, Any]], status: str, message: str) -> None:
    got = found(results, made)
    assert got["status"] == status
    assert message in got["message"]
    assert "Errno" not in got["message"], "the server's own words stay inside"
    assert (got["name"], got["hostname"]) == ("one", "one.db.example.com")


def test_s5_an_admin_without_the_right_to_read_accounts() -> None:
    result = {
        **samples.sent(sql.STATEMENTS["health"][2], {"escape": "\\"}, "(1142, 'denied')"),
        "__dbaas_provider_connection": connection(),
    }
    assert "must be mended (error 1142)" in found([result])["message"]


def test_a_connection_that_was_not_asked() -> None:
    got = found([], where=connection(problem="its password secret is missing"))
    assert (got["status"], got["message"]) == ("unavailable", "its password secret is missing")


def test_the_servers_version_and_exposure() -> None:
    got = found([answered(exposed=1)])
    assert (got["databaseVersion"], got["exposed"]) == ("10.11.19-MariaDB", True)


def entry(name: str = "one", status: str = "available", enabled: bool = True, exposed: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "hostname": "h",
        "enabled": enabled,
        "status": status,
        "databaseVersion": "x",
        "message": "",
        "exposed": exposed,
    }


@pytest.mark.parametrize(
    ("entries", "ready", "reason"),
    [
        pytest.param([entry()], "True", "ConnectionsAvailable", id="well"),
        pytest.param([entry(), entry("two", "unavailable")], "False", "ConnectionsUnavailable", id="one-away"),
        pytest.param(
            [entry(), entry("two", "unavailable", enabled=False)],
            "True",
            "ConnectionsAvailable",
            id="a-disabled-one-away",
        ),
    ],
)
def test_ready(entries: list[dict[str, Any]], ready: str, reason: str) -> None:
    status = health.provider_status({}, entries, 3, AT)
    condition = status["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Ready", ready, reason)
    assert (condition["observedGeneration"], status["observedGeneration"]) == (3, 3)
    assert [set(c) for c in status["connectionStatus"]] == [
        {"name", "hostname", "status", "databaseVersion", "message"}
    ] * len(entries)


@pytest.mark.parametrize("exposed", [False, True])
def test_ledger_exposed(exposed: bool) -> None:
    condition = health.provider_status({}, [entry(exposed=exposed)], 1, AT)["conditions"][1]
    assert (condition["type"], condition["status"]) == ("LedgerExposed", str(exposed))


def test_times_move_only_on_a_flip() -> None:
    first = health.provider_status({}, [entry()], 1, "2026-01-01T00:00:00Z")
    again = health.provider_status(first, [entry()], 1, AT)
    assert again == first
    flipped = health.provider_status(first, [entry(status="unavailable")], 1, AT)
    assert [c["lastTransitionTime"] for c in flipped["conditions"]] == [AT, "2026-01-01T00:00:00Z"]
