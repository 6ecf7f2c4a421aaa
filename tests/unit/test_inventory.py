"""What servers answered, as the looks at a whole platform read it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import inventory, platform_reading, sql, tables

from tests.unit import samples
from tests.unit.samples import CLUSTER, connection


def server(name: str = "one", **changes: Any) -> dict[str, Any]:
    """A server with one connection."""
    [found] = platform_reading.servers([{**connection(name), "scope": "development", **changes}])
    return found


def test_connections_to_one_place_are_one_server() -> None:
    broken = {
        **connection("one", provider="b"),
        "scope": "x",
        "hostname": "ONE.db.example.com.",
        "problem": "no secret",
    }
    good = {**connection("one"), "scope": "y"}
    other = {**connection("one", port=3307, enabled=False), "scope": "y"}
    first, second = platform_reading.servers([broken, good, other])
    assert (first["name"], first["connection"], len(first["connections"])) == ("one.db.example.com:3306", good, 2)
    assert (second["name"], second["enabled"]) == ("one.db.example.com:3307", False)


@pytest.mark.parametrize(
    ("pattern", "database", "fits"),
    [
        ("app", "app", True),
        ("app", "apps", False),
        ("team_a", "teamXa", True),
        (r"team\_a", "teamXa", False),
        (r"team\_a", "team_a", True),
        ("%", "a\nb", True),
        ("a%b", "a.b", True),
        ("a.b", "axb", False),
        ("a\\\\b", "a\\b", True),
        ("a\\b", "a\\b", True),
    ],
)
def test_n1_what_a_pattern_opens(pattern: str, database: str, fits: bool) -> None:
    assert inventory.pattern_fits(pattern, database) is fits
    if fits and pattern != database:
        assert inventory.has_wildcard(pattern) or sql.unescape_pattern(pattern) == database


@pytest.mark.parametrize(("pattern", "has"), [("a", False), ("a_", True), (r"a\_", False), (r"a\_%", True)])
def test_which_patterns_are_more_than_a_name(pattern: str, has: bool) -> None:
    assert inventory.has_wildcard(pattern) is has


@pytest.mark.parametrize(
    ("changes", "sets", "problem"),
    [
        ({}, {}, ""),
        ({"problem": "no secret"}, {}, "no secret"),
        ({}, {"server": [{"admin_sees": 0}]}, "its admin account lacks SELECT on *.*"),
        ({}, {"ledger": [{"version": None}]}, "it has no ledger yet"),
        ({}, {"ledger": [{"version": sql.LEDGER_VERSION + 1}]}, "a newer operator wrote its ledger"),
    ],
)
def test_what_keeps_a_server_from_being_read(changes: dict[str, Any], sets: dict[str, Any], problem: str) -> None:
    where = server(**changes)
    answer = samples.answer(**sets)
    result = {"query_result": [answer[key] for key in sql.INVENTORY], "__dbaas_platform_server": where}
    asked = [] if where["connection"]["problem"] else [result]
    read = {"servers": [where], "cluster": CLUSTER}
    [entry] = inventory.asked(read, asked, "inventory")
    assert (entry["problem"], entry["answer"] is None) == (problem, bool(problem))
    assert inventory.to_ask(read) == ([] if "problem" in changes else [where])


@pytest.mark.parametrize(
    ("error", "problem"),
    [("(2003, 'x')", "it can't be read (error 2003)"), ("(1146, 'x')", "it has no ledger yet")],
)
def test_a_server_that_refuses(error: str, problem: str) -> None:
    where = server()
    failed = samples.sent(sql.STATEMENTS["inventory"][1], {"a": 1}, error) | {"__dbaas_platform_server": where}
    [entry] = inventory.asked({"servers": [where]}, [failed], "inventory")
    assert entry["problem"] == problem


def test_what_is_nobodys_is_not_the_servers_own() -> None:
    answer = samples.answer(
        rows=[samples.ledger_row()],
        accounts=[samples.ledger_account()],
        databases=[{"name": n} for n in ("app", "old", "mysql", "SYS", "dbaas_operator")],
        users=[{"user": u, "host": "%"} for u in ("app-user", "old", "root", "mysql.sys", "dbaas_admin", "")],
    )
    entry = {"server": server(), "answer": answer}
    assert inventory.unowned_databases(entry) == ["old"]
    assert [a["user"] for a in inventory.unowned_accounts(entry)] == ["", "old"], "an anonymous one is nobody's"


def test_a_table_cannot_move_the_cursor() -> None:
    assert tables.table(("A", "B"), [("x", "y\x1b[2J\n"), ("längere", 1)]) == [
        "A        B",
        "x        y\\x1b[2J\\n",
        "längere  1",
    ]
    assert tables.table(("A",), []) == []


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 20, "5.0 MiB"), (2 << 60, "2097152.0 TiB")],
)
def test_sizes(count: int, text: str) -> None:
    assert tables.size(count) == text
