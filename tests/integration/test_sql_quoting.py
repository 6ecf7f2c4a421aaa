"""Names, patterns and arguments on a real server in three sql_modes: what goes in comes back byte for byte."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

import contextlib
from typing import Any

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import facts, names, seed_secret, sql
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.integration.sqlhelpers import Sql, any_mode, claim_arguments, default_server, server, worker
from tests.passwords import parameters
from tests.unit.samples import encode

# What quoting, patterns, the driver's formatting, templates and file names stumble over, before everything else.
AWKWARD = "`'\"\\%_.:/;,#-@$&*()[]{}<>|!?=+~^ sdLi%(0ü€ßΩ漢\uffee"
LETTERS = st.one_of(
    st.sampled_from(AWKWARD), st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cc", "Cn", "Co"])
)
ANY_LINE = st.text(
    st.one_of(st.sampled_from(AWKWARD + "😀\t"), st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])),
    min_size=1,
    max_size=60,
)
SLOW_IS_FINE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def _is_a_seeds_name(name: str) -> bool:
    try:
        for key in ("database", "username"):
            seed_secret._name(key, name)
    except seed_secret.SeedKeyError:
        return False
    return True


NAMES = st.text(LETTERS, min_size=1, max_size=12).filter(_is_a_seeds_name)
SPELLED = [
    pytest.param("ak-test", id="N2-dash"),
    pytest.param("a:b", id="N3-colon"),
    pytest.param("a.b", id="N3-dot"),
    pytest.param("a/b", id="N3-slash"),
    pytest.param("a b", id="N3-blank"),
    pytest.param("a`b", id="N3-backtick"),
    pytest.param("a'b", id="N3-quote"),
    pytest.param('a"b', id="N3-double-quote"),
    pytest.param("a\\b", id="N3-backslash"),
    pytest.param("a\\_b", id="N3-backslash-underscore"),
    pytest.param("pct%s", id="N3-percent"),
    pytest.param("%(database)s", id="N3-argument"),
    pytest.param("a; DROP DATABASE mysql; -- x", id="N3-statement"),
    pytest.param("{database}", id="N3-mark-database"),
    pytest.param("{pattern}", id="N3-mark-pattern"),
    pytest.param("{privileges}", id="N3-mark-privileges"),
    pytest.param("# x{pattern}", id="N3-mark-behind-a-comment-sign"),
    pytest.param("team_a", id="N1-underscore"),
    pytest.param("(1049, 'x')", id="N8-1049"),
    pytest.param('(2003, "y")', id="N8-2003"),
    pytest.param("ü€漢", id="N9-in-the-plane"),
    pytest.param("True", id="P2-bool"),
    pytest.param("[1, 2]", id="P2-list"),
    pytest.param("1045", id="P1-number"),
]


def databases(server: Sql) -> set[bytes]:
    rows = server.root("SELECT HEX(schema_name) AS name FROM information_schema.schemata")
    own = {b"mysql", b"sys", b"information_schema", b"performance_schema", sql.LEDGER.encode()}
    return {bytes.fromhex(row["name"]) for row in rows} - own


def accounts(server: Sql) -> set[bytes]:
    rows = server.root("SELECT HEX(User) AS name FROM mysql.user WHERE Host = '%'")
    return {bytes.fromhex(row["name"]) for row in rows} - {server.server.admin_user.encode()}


def full_cycle(server: Sql, database: str, user: str, password: str) -> None:
    """All that a request does to a server, and what the server has of it at each step."""
    before = databases(server), accounts(server)
    given = claim_arguments(database, user, password=password)
    server.done("claim", database, transaction=True, **given)
    server.done(["take", "create_account", "create_database", "grant"], database, **given)
    assert databases(server) - before[0] == {database.encode()}
    assert accounts(server) - before[1] == {user.encode()}
    granted = server.root("SELECT HEX(Db) AS db, HEX(User) AS user FROM mysql.db WHERE User = %s", [user])
    assert [(bytes.fromhex(r["db"]).decode(), bytes.fromhex(r["user"]).decode()) for r in granted] == [
        (sql.escape_pattern(database), user)
    ]
    shown = [next(iter(r.values())) for r in server.root("SHOW GRANTS FOR %s@'%%'", [user])]
    # SHOW GRANTS quotes as sql_mode of its session says; root's is the server's.
    marks = ("`", '"')
    assert any(f" ON {m}{sql.escape_pattern(database).replace(m, m + m)}{m}.* TO " in s for s in shown for m in marks)

    # The account logs in by a login file and enters; the operator finds it to be the database's own.
    login = server.login_file(user, password)
    came_in = server.done(["login", "use"], database, login, username=user)
    assert came_in["query_result"][0] == [{"host": "%"}]
    answer = server.facts(database, user)
    assert [r["name"] for r in answer["databases"]] == [database]
    assert [r["user"] for r in answer["users"]] == [user]
    assert facts.rights(answer, user, "%", database) == {"owner": True, "full": True, "elsewhere": False}
    found = server.survey("uid-1")
    assert (found["rows"][0]["database_name"], found["accounts"][0]["user"]) == (database, user)
    assert [r["name"] for r in found["databases"]] == [database]
    assert [(r["user"], r["host"]) for r in found["users"]] == [(user, "%")]
    assert facts.rights(found, user, "%", database) == {"owner": True, "full": True, "elsewhere": False}

    # As an application would: another client, the same bytes.
    with contextlib.closing(server.server.login(user, password, database)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT HEX(DATABASE()) AS name")
        assert bytes.fromhex(cursor.fetchall()[0]["name"]) == database.encode()
        cursor.execute("SHOW DATABASES")
        assert {r["Database"] for r in cursor.fetchall()} == {"information_schema", database}
    server.done(["take", "deleting"], database, **given)
    assert server.done("content", database)["query_result"] == [[{"objects": 0}]]
    server.done(["take", "drop_database", "drop_account", "give_back"], database, **given)
    assert (databases(server), accounts(server)) == before
    assert server.survey("uid-1")["rows"] == []


@pytest.mark.parametrize("name", SPELLED)
def test_names_through_a_full_cycle(server: Sql, name: str) -> None:
    assert seed_secret._name("database", name) == name
    full_cycle(server, name, name, "geheim")


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW_IS_FINE)
@given(database=NAMES, user=NAMES, password=ANY_LINE)
def test_any_name_through_a_full_cycle(server: Sql, database: str, user: str, password: str) -> None:
    assume(not names.is_reserved(database, user, server.server.admin_user))
    try:
        full_cycle(server, database, user, password)
    except BaseException:
        server.clean()
        raise


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_IS_FINE)
@given(value=st.text(st.characters(exclude_categories=["Cs"]), max_size=80), name=NAMES)
def test_arguments_arrive_byte_for_byte(server: Sql, value: str, name: str) -> None:
    result = server.query(
        [f"SELECT HEX(%(value)s) AS value, %(number)s AS number, HEX(%(name)s) AS {sql.identifier(name)}"],
        {"value": value, "number": 7, "name": name},
    )
    row = result["query_result"][0][0]
    assert bytes.fromhex(row["value"]) == value.encode()
    assert bytes.fromhex(row[name]) == name.encode()
    assert row["number"] == 7


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_IS_FINE)
@given(password=ANY_LINE)
def test_any_password_logs_in(server: Sql, password: str) -> None:
    # The account is made by the operator's statement and tried by the operator's login file and by another client.
    given = claim_arguments("app", "app", password=password)
    server.send("drop_account", **given)
    server.done("create_account", **given)
    server.done("login", login=server.login_file("app", password), username="app")
    server.server.login("app", password).close()
    server.done("set_password", **{**given, "password": password + "x"})
    server.server.login("app", password + "x").close()
    with pytest.raises(pymysql.err.OperationalError, match="1045"):
        server.server.login("app", password)


@pytest.mark.parametrize("password", parameters("app", "ap", "{'a': 1}", "a\\b'c"))
def test_passwords(server: Sql, password: str) -> None:
    full_cycle(server, "app", "app", password)
    assert seed_secret._text("password", {"password": encode(password)}) == password


@pytest.mark.parametrize(
    ("database", "neighbour"),
    [
        pytest.param("team_a", "teamXa", id="N1-underscore"),
        pytest.param("team%", "team-of-others", id="N1-percent"),
        pytest.param("a\\_b", "a_b", id="N1-backslash-underscore"),
        pytest.param("a\\b", "ab", id="N1-backslash"),
        pytest.param("a.b", "a", id="N3-dot"),
    ],
)
def test_a_grant_opens_no_neighbour(server: Sql, database: str, neighbour: str) -> None:
    server.root(f"CREATE DATABASE {sql.identifier(neighbour)}", [])
    given = claim_arguments(database)
    server.done("claim", database, transaction=True, **given)
    for _ in range(2):  # a second pass changes nothing
        server.send(["take", "create_account"], database, **given)
        server.send(["take", "create_database"], database, **given)
        server.done(["take", "grant"], database, **given)
    refused = server.send(["login", "use"], neighbour, server.login_file("u", "geheim"), username="u")
    assert (refused["outcome"]["number"], refused["outcome"]["index"]) == (1044, 1)
    assert refused["outcome"]["kind"] == "no_access"


def test_the_older_operators_unescaped_grant_is_seen_as_it_is(default_server: Sql) -> None:
    login = default_server.account("old")
    for name in ("team_a", "teamXa"):
        default_server.root(f"CREATE DATABASE {name}")
    default_server.root(f"GRANT {', '.join(sql.DATABASE_PRIVILEGES)} ON `team_a`.* TO old@'%'")
    assert default_server.send(["login", "use"], "teamXa", login, username="old")["outcome"]["ok"], (
        "the server's own reading"
    )
    answer: dict[str, Any] = default_server.facts("team_a", "old")
    assert facts.rights(answer, "old", "%", "team_a") == {"owner": True, "full": True, "elsewhere": False}
    assert facts.rights(answer, "old", "%", "teamXa") == {"owner": False, "full": False, "elsewhere": True}
    exposed = default_server.facts("teamXa", "new")["exposures"]
    assert [r["user"] for r in exposed] == ["old"], "row 15: a database of this name would be open to it"
