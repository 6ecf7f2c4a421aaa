"""Every statement form on a real server, by the admin account with the GRANT list of the docs and no more."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

import datetime
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import facts, health, sql

from tests.integration.sqlhelpers import CLUSTER, MODES, Sql, any_mode, claim_arguments, default_server, server, worker

DATABASE, USER, UID = "team_a's", "app`user", "uid-1"
# The order of a request's life; a form that is added must be added here.
LIFE: list[tuple[list[str], bool]] = [
    (["ledger"], False),
    (["health"], False),
    (["survey"], False),
    (["facts"], False),
    (["claim"], True),
    (["take", "create_account"], False),
    (["take", "set_password"], False),
    (["take", "create_database"], False),
    (["content"], False),
    (["take", "grant"], False),
    (["take", "ready"], False),
    (["take", "hand_over"], False),
    (["survey"], False),
    (["inventory"], False),
    (["sizes"], False),
    (["facts"], False),
    (["take", "deleting"], False),
    (["take", "drop_database", "drop_account"], False),
    (["take", "give_back"], False),
]
HEIR = {"heir_namespace": "other", "heir_request": "heir", "heir_uid": UID}
ARGUMENTS: dict[str, Any] = {**claim_arguments(DATABASE, USER, UID), "escape": "\\", **HEIR}


def test_every_form_is_tried() -> None:
    assert {form for forms, _ in LIFE for form in forms} | {"login", "use"} == set(sql.STATEMENTS)


def test_the_admin_has_the_list_of_rights_and_no_more(default_server: Sql) -> None:
    name = default_server.server.admin_user
    shown = [next(iter(row.values())) for row in default_server.root(f"SHOW GRANTS FOR {name}")]
    assert len(shown) == 1
    rights = shown[0].removeprefix("GRANT ").split(" ON *.* TO ")[0].split(", ")
    assert sorted(rights) == sorted([*sql.DATABASE_PRIVILEGES, "CREATE USER"])
    assert shown[0].endswith("WITH GRANT OPTION")


def test_every_form_on_the_server(server: Sql) -> None:
    mode = set(server.root("SELECT @@global.sql_mode AS mode")[0]["mode"].split(","))
    assert any(set(wanted.split(",")) <= mode for wanted in MODES.values())
    for forms, transaction in LIFE:
        result = server.done(forms, DATABASE, transaction=transaction, **ARGUMENTS)
        assert len(result["query_result"]) == len(sql.statements(forms, DATABASE))
        if "grant" in forms:
            came_in = server.done(["login", "use"], DATABASE, server.login_file(USER, "geheim"), username=USER)
            assert came_in["query_result"][0] == [{"host": "%"}]
    assert server.root("SELECT * FROM dbaas_operator.ownership") == []
    assert server.root("SELECT * FROM dbaas_operator.account") == []


@pytest.mark.parametrize(
    "order",
    [
        pytest.param(["create_account", "create_database", "grant"], id="as-made"),
        pytest.param(["create_account", "grant", "create_database"], id="grant-first"),
    ],
)
def test_several_forms_in_one_go(default_server: Sql, order: list[str]) -> None:
    default_server.done("claim", DATABASE, transaction=True, **ARGUMENTS)
    default_server.done(["take", *order, "ready"], DATABASE, **ARGUMENTS)
    found = default_server.survey(UID)
    assert facts.rights(found, USER, "%", DATABASE) == {"owner": True, "full": True, "elsewhere": False}
    default_server.done(["take", "drop_database", "drop_account", "give_back"], DATABASE, **ARGUMENTS)


@pytest.mark.parametrize("forms", [["drop_account"], ["drop_database"], ["deleting"], ["ready"]])
def test_d1_what_is_gone_already_is_fine(server: Sql, forms: list[str]) -> None:
    server.done("claim", DATABASE, transaction=True, **ARGUMENTS)
    for _ in range(2):
        server.done(["take", *forms], DATABASE, **ARGUMENTS)
    server.done(["take", "give_back"], DATABASE, **ARGUMENTS)


def test_the_surveys_keys_fit(server: Sql) -> None:
    server.done("claim", DATABASE, transaction=True, **ARGUMENTS)
    server.done(["take", "create_account", "create_database", "grant", "ready"], DATABASE, **ARGUMENTS)
    server.root("GRANT SELECT ON *.* TO %s@'%%'", [USER])
    server.root("CREATE ROLE a_role")
    server.root("GRANT a_role TO %s@'%%'", [USER])
    found = server.survey(UID)
    assert set(found["server"][0]) >= {"read_only", "version", "databases_count"}
    assert int(found["server"][0]["read_only"]) == 0
    assert found["ledger"] == [{"version": sql.LEDGER_VERSION}]
    row = found["rows"][0]
    assert 0 <= int(row.pop("ready_seconds")) < 60
    made = datetime.datetime.strptime(row.pop("created_at"), "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.UTC)
    assert abs((datetime.datetime.now(datetime.UTC) - made).total_seconds()) < 60, "it is UTC"
    expected = {
        "database_name": DATABASE,
        "origin": "created",
        "state": "ready",
        "namespace": "ns",
        "request": "req",
        "request_uid": UID,
    }
    assert {key: row[key] for key in expected} == expected
    assert found["accounts"] == [
        {"user": USER, "host": "%", "database_name": DATABASE, "origin": "created", "purpose": "owner"}
    ]
    assert found["databases"] == [{"name": DATABASE}]
    assert found["users"] == [{"user": USER, "host": "%"}]
    assert [(g["User"], g["Host"], g["Db"]) for g in found["grants"]] == [(USER, "%", sql.escape_pattern(DATABASE))]
    assert found["other_grants"] == [{"user": USER, "host": "%", "pattern": ""}]
    assert {g["grantee"] for g in found["global_grants"]} == {f"'{USER}'@'%'"}


def test_the_facts_keys_fit(server: Sql) -> None:
    server.done("claim", DATABASE, transaction=True, **ARGUMENTS)
    server.done(["take", "create_account", "create_database", "grant"], DATABASE, **ARGUMENTS)
    server.root("CREATE USER other@'%'")
    server.root("GRANT SELECT ON `team%`.* TO other@'%'")
    found = server.facts(DATABASE, USER)
    assert found["names"] == [{"database_name": DATABASE, "admin_sees": 1, "user_length": 128, "pattern_length": 64}]
    assert [set(r) for r in found["tls"]] == [{"Variable_name", "Value"}]
    assert found["databases"] == [{"name": DATABASE}]
    assert found["users"] == [{"user": USER, "host": "%", "ssl_type": ""}]
    assert found["claims"] == [{"cluster": CLUSTER, "request_uid": UID}]
    assert [(g["User"], g["Db"]) for g in found["grants"]] == [(USER, sql.escape_pattern(DATABASE))]
    assert (found["other_grants"], found["global_grants"]) == ([], [])
    assert found["exposures"] == [{"user": "other", "host": "%"}]
    assert facts.server_facts(
        found, {"database": DATABASE, "username": USER}, "x", {"cluster": CLUSTER, "request_uid": "y"}
    )["facts"] == {
        "names": "ordinary",
        "lengths": "fit",
        "claim": "taken",
        "database": "present",
        "account": "exists",
        "exposed": "yes",
    }


def asked(server: Sql) -> list[dict[str, Any]]:
    return [{**server.done("health", escape="\\"), "__dbaas_provider_connection": {"name": "one"}}]


def test_the_ledger_is_made_once_and_kept(default_server: Sql) -> None:
    default_server.root("DROP DATABASE dbaas_operator")
    assert health.lacks_ledger(asked(default_server)) == [{"name": "one"}]
    default_server.done("ledger")
    default_server.done("claim", "app", transaction=True, **claim_arguments("app"))
    default_server.done("ledger")
    assert health.lacks_ledger(asked(default_server)) == []
    assert len(default_server.survey(UID)["rows"]) == 1
    tables = default_server.root(
        "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = 'dbaas_operator'"
    )
    assert {t["table_name"]: t["engine"] for t in tables} == dict.fromkeys(("meta", "ownership", "account"), "InnoDB")


@pytest.mark.parametrize("sent", range(1, len(sql.STATEMENTS["ledger"])))
def test_k1_a_ledger_that_was_begun_is_finished(default_server: Sql, sent: int) -> None:
    # What a kill between two of its statements leaves.
    default_server.root("DROP DATABASE dbaas_operator")
    try:
        assert not default_server.query(sql.statements("ledger")[:sent]).get("failed")
        assert health.lacks_ledger(asked(default_server)) == [{"name": "one"}], "nobody would ever finish it"
    finally:
        default_server.done("ledger")
    assert default_server.survey(UID)["ledger"] == [{"version": sql.LEDGER_VERSION}]


@pytest.mark.parametrize(
    ("pattern", "exposed"),
    [
        ("%", True),
        ("dbaas%", True),
        ("dbaas_operator", True),
        ("dbaas\\_operator", True),
        ("dbaasXoperator", False),
        ("app", False),
    ],
)
def test_who_reaches_the_ledger(server: Sql, pattern: str, exposed: bool) -> None:
    server.root("CREATE USER x@'%'")
    server.root(f"GRANT SELECT ON {sql.identifier(pattern)}.* TO x@'%%'", [])
    assert (int(asked(server)[0]["query_result"][3][0]["exposed"]) > 0) is exposed


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("CREATE TABLE {d}.t (a INT)", id="table"),
        pytest.param("CREATE VIEW {d}.v AS SELECT 1", id="view"),
        pytest.param("CREATE FUNCTION {d}.f() RETURNS INT RETURN 1", id="routine"),
        pytest.param("CREATE EVENT {d}.e ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1", id="event"),
    ],
)
def test_content_counts_what_a_database_holds(server: Sql, more: str) -> None:
    for name in ("app", "APP", "äpp", "app2", "a_p"):
        server.root(f"CREATE DATABASE `{name}`")
    for name in ("APP", "äpp", "app2", "a_p"):
        server.root(more.format(d=f"`{name}`"))
    # Names are compared byte for byte: the neighbours' objects aren't this database's.
    assert server.done("content", "app")["query_result"] == [[{"objects": 0}]]
    server.root(more.format(d="`app`"))
    assert server.done("content", "app")["query_result"] == [[{"objects": 1}]]
