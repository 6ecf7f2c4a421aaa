"""Guards: a held lock, a raised fence, a read-only server stop a list with 1242, and nothing behind them runs."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

import contextlib
import time
from typing import Any

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from tests.integration.sqlhelpers import Sql, any_mode, claim_arguments, default_server, server, worker

LOCK, WRITABLE, FENCED = 0, 1, 3
CHANGES = [["create_account"], ["create_database"], ["drop_database"], ["ready"], ["deleting"], ["give_back"]]


def given(database: str = "app", **changes: Any) -> dict[str, Any]:
    return claim_arguments(database, **changes)


def stopped(result: dict[str, Any], index: int, kind: str = "stale") -> None:
    assert result["outcome"] == {"ok": False, "kind": kind, "number": 1242, "phase": "statement", "index": index}


def state(server: Sql) -> tuple[Any, ...]:
    """All that a change could change."""
    columns = "database_name, origin, state, ready_at, fence, cluster, request_uid"
    return (
        server.root("SHOW DATABASES"),
        server.root("SELECT User, Host, authentication_string FROM mysql.user ORDER BY 1, 2"),
        server.root(f"SELECT {columns} FROM dbaas_operator.ownership ORDER BY 1"),
        server.root("SELECT user, host, database_name FROM dbaas_operator.account ORDER BY 1"),
    )


@contextlib.contextmanager
def lock_held(server: Sql, database: str) -> Any:
    """Another session, of an orphaned run for example, holds the lock on a database's name."""
    with contextlib.closing(server.server.login(server.server.admin_user, server.server.admin_password)) as other:
        cursor = other.cursor()
        cursor.execute("SELECT GET_LOCK(CONCAT('dbaas_operator.', SHA1(%s)), 0) AS locked", [database])
        assert cursor.fetchall() == [{"locked": 1}]
        yield


@pytest.mark.parametrize("database", ["app", "pct%s'`"])
def test_k4_a_held_lock_stops_a_change(server: Sql, database: str) -> None:
    server.done("claim", database, transaction=True, **given(database))
    before = state(server)
    with lock_held(server, database):
        stopped(server.send(["take", "create_database"], database, **given(database, fence=1001)), LOCK)
        assert state(server) == before
    server.done(["take", "create_database"], database, **given(database, fence=1001))


def test_k4_a_held_lock_stops_a_claim(default_server: Sql) -> None:
    with lock_held(default_server, "app"):
        stopped(default_server.send("claim", "app", transaction=True, **given()), LOCK)
    assert default_server.survey("uid-1")["rows"] == []


def test_locks_of_other_databases_are_in_nobodys_way(default_server: Sql) -> None:
    began = time.monotonic()
    with lock_held(default_server, "other"):
        default_server.done("claim", "app", transaction=True, **given())
    assert time.monotonic() - began < 3


def test_a_lock_ends_with_its_task(default_server: Sql) -> None:
    default_server.done("claim", "app", transaction=True, **given())
    assert default_server.root("SELECT IS_FREE_LOCK(CONCAT('dbaas_operator.', SHA1('app'))) AS free") == [{"free": 1}]


@pytest.mark.parametrize("forms", CHANGES, ids=lambda forms: forms[0])
def test_k4_a_raised_fence_stops_every_change(server: Sql, forms: list[str]) -> None:
    server.done("claim", "app", transaction=True, **given(fence=1000))
    server.done("take", "app", **given(fence=2000))  # a later run begins to write
    before = state(server)
    stopped(server.send(["take", *forms], "app", **given(fence=1999)), FENCED)
    assert state(server) == before
    server.done(["take", *forms], "app", **given(fence=2000))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"request_uid": "uid-2"}, id="O8-another-uid"),
        pytest.param({"cluster": "cluster-2"}, id="another-cluster"),
        pytest.param({"request_uid": "UID-1"}, id="another-case"),
        pytest.param({"request_uid": "uid-1 "}, id="a-blank-behind"),
        pytest.param({"cluster": "cluster-1 "}, id="a-blank-behind-the-cluster"),
    ],
)
@pytest.mark.parametrize("forms", [["drop_database"], ["give_back"], ["ready"]], ids=lambda forms: forms[0])
def test_o5_nobody_elses_row_can_be_taken(server: Sql, changes: dict[str, str], forms: list[str]) -> None:
    server.done("claim", "app", transaction=True, **given())
    server.root("CREATE DATABASE app")
    before = state(server)
    stopped(server.send(["take", *forms], "app", **given(fence=9999, **changes)), FENCED)
    assert state(server) == before


@pytest.mark.parametrize("name", ["App", "app ", "äpp"])
def test_o5_names_are_compared_byte_for_byte(server: Sql, name: str) -> None:
    server.done("claim", "app", transaction=True, **given())
    before = state(server)
    stopped(server.send(["take", "give_back"], name, **given(fence=9999)), FENCED)
    assert state(server) == before


def test_no_row_no_change(server: Sql) -> None:
    server.root("CREATE DATABASE app")
    stopped(server.send(["take", "drop_database"], "app", **given()), FENCED)
    assert server.root("SHOW DATABASES LIKE 'app'")


def test_k1_the_rows_go_all_at_once_or_not_at_all(server: Sql) -> None:
    """Whatever statement a connection ends before: half a row would block the name for good."""
    texts = sql.statements(["take", "give_back"], "app")
    for sent in range(len(texts) + 1):
        server.done("claim", "app", transaction=True, **given())
        with contextlib.closing(server.server.login(server.server.admin_user, server.server.admin_password)) as run:
            for text in texts[:sent]:
                run.cursor().execute(text, {"database": "app", **given()})
        of_both = "SELECT (SELECT COUNT(*) FROM dbaas_operator.ownership) AS o, COUNT(*) AS a"
        [left] = server.root(f"{of_both} FROM dbaas_operator.account")
        assert left["o"] == left["a"], f"half a row is left before statement {sent}"
        server.clean()


def test_s2_read_only_stops_claim_change_and_ledger(server: Sql) -> None:
    server.done("claim", "other", transaction=True, **given("other", uid="uid-2", username="u2"))
    server.root("SET GLOBAL read_only = 1")
    before = state(server)
    stopped(server.send("claim", "app", transaction=True, **given()), WRITABLE, "read_only")
    stopped(server.send(["take", "ready"], "other", **given("other", uid="uid-2")), WRITABLE, "read_only")
    stopped(server.send("ledger"), 0, "read_only")
    assert state(server) == before
    server.done("survey", cluster="c", request_uid="u", namespace="n", request="r")  # reads go on


def test_s2_read_only_stops_an_admin_that_may_override_it(default_server: Sql) -> None:
    name = default_server.server.admin_user
    default_server.root(f"GRANT READ_ONLY ADMIN ON *.* TO {name}@'%%'", [])
    try:
        default_server.root("SET GLOBAL read_only = 1")
        stopped(default_server.send("claim", "app", transaction=True, **given()), WRITABLE, "read_only")
        assert default_server.survey("uid-1")["rows"] == []
    finally:
        default_server.root(f"REVOKE READ_ONLY ADMIN ON *.* FROM {name}@'%%'", [])


@pytest.mark.parametrize(
    ("second", "index"),
    [
        pytest.param({"database": "app", "uid": "uid-2", "username": "u2"}, 2, id="O4-one-database"),
        pytest.param(
            {"database": "app", "uid": "uid-2", "username": "u2", "cluster": "cluster-2"}, 2, id="O4-two-clusters"
        ),
        pytest.param({"database": "app2", "uid": "uid-2", "username": "u"}, 3, id="O10-one-user-name"),
        pytest.param({"database": "app2", "uid": "uid-1", "username": "u2"}, 2, id="one-request-two-databases"),
        pytest.param({"database": "app", "uid": "uid-1", "username": "u"}, 2, id="K1-its-own-again"),
    ],
)
def test_a_second_claim_is_lost_and_leaves_nothing(server: Sql, second: dict[str, str], index: int) -> None:
    server.done("claim", "app", transaction=True, **given(username="u"))
    before = state(server)
    changes = {**second}
    database = changes.pop("database")
    result = server.send("claim", database, transaction=True, **given(database, **changes))
    assert result["outcome"] == {"ok": False, "kind": "claimed", "number": 1062, "phase": "statement", "index": index}
    assert state(server) == before


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"database": "App", "username": "U"}, id="another-case"),
        pytest.param({"database": "äpp", "username": "ü"}, id="another-letter"),
        pytest.param({"database": "app2", "username": "u", "host": "localhost"}, id="another-host"),
    ],
)
def test_claims_of_different_names_do_not_meet(server: Sql, second: dict[str, str]) -> None:
    server.done("claim", "app", transaction=True, **given())
    changes = {**second}
    database = changes.pop("database")
    server.done("claim", database, transaction=True, **given(database, uid="uid-2", **changes))


@pytest.mark.parametrize("length", [pytest.param(64, id="N4-database-64")])
def test_the_ledger_holds_the_longest_names(server: Sql, length: int) -> None:
    database, user = "€" * length, "€" * 128
    server.done(
        "claim",
        database,
        transaction=True,
        **given(database, username=user, namespace="n" * 63, request="r" * 253, uid="u" * 64, cluster="c" * 255),
    )
    assert server.root("SELECT database_name AS d FROM dbaas_operator.ownership") == [{"d": database.encode()}]
    assert server.root("SELECT user AS u FROM dbaas_operator.account") == [{"u": user.encode()}]


def test_d6_a_locked_database_ends_within_seconds(default_server: Sql) -> None:
    default_server.done("claim", "app", transaction=True, **given())
    default_server.root("CREATE DATABASE app")
    default_server.root("CREATE TABLE app.t (a INT) ENGINE=InnoDB")
    with contextlib.closing(
        pymysql.connect(
            unix_socket=str(default_server.server.socket), user="root", password=default_server.server.root_password
        )
    ) as other:
        cursor = other.cursor()
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM app.t")
        began = time.monotonic()
        result = default_server.send(["take", "drop_database"], "app", **given())
        assert (result["outcome"]["kind"], result["outcome"]["number"]) == ("locked", 1205)
        assert time.monotonic() - began < 20
    default_server.done(["take", "drop_database", "give_back"], "app", **given())


def test_the_lock_is_waited_for_shortly_only() -> None:
    assert ", 3) = 1" in sql.STATEMENTS["take"][LOCK]
