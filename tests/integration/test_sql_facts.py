"""The facts about a seed, read from a real server: whose account it is, what it may elsewhere, what a name exposes."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, facts, locating, settling, sql

from tests.integration.sqlhelpers import (
    CLUSTER,
    Sql,
    any_mode,
    claim_arguments,
    default_server,
    folding,
    server,
    worker,
)
from tests.unit import samples

ME = {"cluster": CLUSTER, "request_uid": "uid-1"}
EIGHTEEN = ", ".join(sql.DATABASE_PRIVILEGES)


def found(server: Sql, database: str = "team_a", username: str = "app") -> dict[str, Any]:
    return facts.server_facts(
        server.facts(database, username), {"database": database, "username": username}, "dbaas_admin", ME
    )


def may(server: Sql, database: str = "team_a", user: str = "app", host: str = "%") -> dict[str, bool]:
    return facts.rights(server.facts(database, user), user, host, database)


OWN = f"GRANT {EIGHTEEN} ON `team\\_a`.* TO app@'%'"


@pytest.mark.parametrize(
    ("statements", "own"),
    [
        pytest.param([OWN], True, id="N10-as-the-operator-grants"),
        pytest.param([f"GRANT {EIGHTEEN} ON `team_a`.* TO app@'%'"], True, id="N10-as-the-older-operator-granted"),
        pytest.param(["GRANT ALL ON `team\\_a`.* TO app@'%'"], True, id="N10-ALL"),
        pytest.param(
            ["GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX ON `team\\_a`.* TO app@'%'"],
            True,
            id="N10-the-eight",
        ),
        pytest.param(["GRANT SELECT ON `team\\_a`.* TO app@'%'"], False, id="N10-read-only"),
        pytest.param(["GRANT SHOW VIEW ON `team\\_a`.* TO app@'%'"], False, id="N10-show-view-alone"),
        pytest.param(["GRANT SELECT (a) ON team_a.t TO app@'%'"], False, id="N10-column-grant"),
        pytest.param(["GRANT ALL ON team_a.t TO app@'%'"], False, id="N10-table-grant"),
        pytest.param(["GRANT SELECT ON *.* TO app@'%'"], False, id="N10-global-select"),
        pytest.param([OWN, "GRANT SELECT ON *.* TO app@'%'"], False, id="N10-owner-and-global-select"),
        pytest.param([OWN, "GRANT PROCESS ON *.* TO app@'%'"], False, id="N10-owner-and-process"),
        pytest.param([f"GRANT {EIGHTEEN} ON `team%`.* TO app@'%'"], False, id="N10-pattern-that-fits-more"),
        pytest.param(
            [OWN, f"GRANT {EIGHTEEN} ON `team%`.* TO app@'%'"], False, id="N10-owner-and-pattern-that-fits-more"
        ),
        pytest.param([OWN, "GRANT SELECT ON `other`.* TO app@'%'"], False, id="N10-another-database"),
        pytest.param([OWN, "GRANT SELECT ON other.t TO app@'%'"], False, id="N10-another-databases-table"),
        pytest.param([OWN, "GRANT SELECT (a) ON other.t TO app@'%'"], False, id="N10-another-databases-column"),
        pytest.param([OWN, "GRANT EXECUTE ON FUNCTION other.f TO app@'%'"], False, id="N10-another-databases-routine"),
        pytest.param([OWN, "CREATE ROLE a_role", "GRANT a_role TO app@'%'"], False, id="N10-role"),
        pytest.param([OWN, "GRANT PROXY ON x@'%' TO app@'%'"], False, id="N10-proxy"),
        pytest.param(
            [
                OWN,
                "CREATE USER app@localhost",
                "GRANT SELECT ON *.* TO app@localhost",
                "GRANT ALL ON other.* TO app@localhost",
            ],
            True,
            id="N10-the-rights-of-another-host",
        ),
        pytest.param([OWN, "GRANT SELECT ON team_a.t TO app@'%'"], True, id="N10-table-grant-of-its-own-too"),
    ],
)
def test_n10_whose_account_it_is(default_server: Sql, statements: list[str], own: bool) -> None:
    for name in ("team_a", "other"):
        default_server.root(f"CREATE DATABASE {name}")
        default_server.root(f"CREATE TABLE {name}.t (a INT)")
    default_server.root("CREATE FUNCTION other.f() RETURNS INT RETURN 1")
    for name in ("app", "x"):
        default_server.account(name)
    try:
        for statement in statements:
            default_server.root(statement)
        got = may(default_server)
        assert (got["owner"] and not got["elsewhere"]) is own
        # The same account, seen by the survey once its row is in the ledger.
        given = claim_arguments("team_a", "app", origin="adopted")
        default_server.done("claim", "team_a", transaction=True, **given)
        assert facts.rights(default_server.survey("uid-1"), "app", "%", "team_a") == got
    finally:
        default_server.root("DELETE FROM mysql.proxies_priv WHERE User = 'app'")
        default_server.root("FLUSH PRIVILEGES")


MAKE: dict[str, Callable[[Sql], Any]] = {
    "database": lambda s: s.root("CREATE DATABASE team_a"),
    "account": lambda s: s.account("app"),
    "role": lambda s: s.root("CREATE ROLE app"),
}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        pytest.param([], {"database": "missing", "account": "none"}, id="NONE"),
        pytest.param(["database"], {"database": "present", "account": "none"}, id="HALF-database"),
        pytest.param(["account"], {"database": "missing", "account": "exists"}, id="HALF-account"),
        pytest.param(["role"], {"database": "missing", "account": "exists"}, id="HALF-role"),
        pytest.param(["database", "account"], {"database": "present", "account": "exists"}, id="ALL"),
    ],
)
def test_what_exists(server: Sql, made: list[str], words: dict[str, str]) -> None:
    for one in made:
        MAKE[one](server)
    got = found(server)
    assert words.items() <= got["facts"].items()
    assert got["facts"]["exposed"] == "no"


@pytest.mark.parametrize("name", ["TEAM_A", "Team_a", "teamXa", "team_ä"])
def test_n1_names_are_compared_byte_for_byte(server: Sql, name: str) -> None:
    server.root(f"CREATE DATABASE `{name}`")
    server.account(name)
    assert found(server, "team_a", "team_a")["facts"] == {
        "names": "ordinary",
        "lengths": "fit",
        "claim": "free",
        "database": "missing",
        "account": "none",
        "exposed": "no",
    }


@pytest.mark.parametrize(
    ("database", "pattern", "exposed"),
    [
        pytest.param("team_a", "team_a", True, id="N1-unescaped"),
        pytest.param("team_a", "team\\_a", True, id="N1-left-over-grant"),
        pytest.param("teamXa", "team_a", True, id="N1-wildcard"),
        pytest.param("teamXa", "team\\_a", False, id="N1-escaped"),
        pytest.param("team_a", "%", True, id="N1-all"),
        pytest.param("team_a", "team%", True, id="N1-prefix"),
        pytest.param("team_a", "TEAM_A", False, id="N1-another-case"),
        pytest.param("pct%s", "pct\\%s", True, id="N3-percent"),
        pytest.param("pctXs", "pct\\%s", False, id="N3-percent-escaped"),
        pytest.param("a\\b", "a\\\\b", True, id="N3-backslash"),
        pytest.param("ü€", "ü_", True, id="N9-beyond-ascii"),
    ],
)
def test_row_15_another_accounts_grant(server: Sql, database: str, pattern: str, exposed: bool) -> None:
    server.account("other")
    server.root(f"GRANT SELECT ON {sql.identifier(pattern)}.* TO other@'%%'", [])
    assert found(server, database)["facts"]["exposed"] == ("yes" if exposed else "no")
    server.root(f"REVOKE SELECT ON {sql.identifier(pattern)}.* FROM other@'%%'", [])
    assert found(server, database)["facts"]["exposed"] == "no"


@pytest.mark.parametrize("username", ["ü€", "a'b", "a\\b", "a%", "a_", "True", "1", "0", "a@b"])
def test_n8_user_names_of_any_kind(server: Sql, username: str) -> None:
    for name in ("0", "app", "aXb"):
        server.account(name)
    if username != "0":
        assert found(server, "team_a", username)["facts"]["account"] == "none"
    login = server.account(username)
    got = server.facts("team_a", username)
    assert [u["user"] for u in got["users"]] == [username]
    assert server.done("login", login=login, username=username)["query_result"] == [[{"host": "%"}]]


@pytest.mark.parametrize("length", [16, 17, 32, 33, 80, 81, 127, 128])
def test_n4_user_names_up_to_the_servers_limit(default_server: Sql, length: int) -> None:
    username = "u" * length
    assert found(default_server, "app", username)["too_long"] == ""
    given = claim_arguments("app", username)
    default_server.account(username[:-1])
    default_server.done("claim", "app", transaction=True, **given)
    default_server.done(["take", "create_account", "create_database", "grant"], "app", **given)
    default_server.done(["login", "use"], "app", default_server.login_file(username, "geheim"), username=username)
    default_server.done(["take", "drop_database", "drop_account", "give_back"], "app", **given)
    left = {r["User"] for r in default_server.root("SELECT User FROM mysql.user")}
    assert username not in left
    assert username[:-1] in left, "the very account goes and no other"


def test_n4_one_more_than_the_servers_limit(default_server: Sql) -> None:
    assert found(default_server, "app", "u" * 129)["too_long"] == "username"
    refused = default_server.send("create_account", **claim_arguments("app", "u" * 129))
    assert refused["outcome"]["kind"] == "name"


@pytest.mark.parametrize(
    ("database", "there", "too_long"),
    [
        pytest.param("d" * 64, False, "", id="N4-64"),
        pytest.param("d" * 65, False, "database", id="N4-65"),
        pytest.param("d" * 63 + "_", False, "database", id="N4-NONE-64-with-underscore"),
        pytest.param("d" * 63 + "_", True, "", id="N4-ALL-64-with-underscore"),
    ],
)
def test_n4_databases(server: Sql, database: str, there: bool, too_long: str) -> None:
    if there:
        server.root(f"CREATE DATABASE {database}")
    assert found(server, database)["too_long"] == too_long


@pytest.mark.parametrize(
    "database", [pytest.param("€" * 61, id="N9-61-euros"), pytest.param("€" * 64, id="N9-64-euros")]
)
def test_n9_a_name_that_no_folder_holds(server: Sql, database: str) -> None:
    assert found(server, database)["too_long"] == "", "only a write can tell"
    given = claim_arguments(database)
    server.done("claim", database, transaction=True, **given)
    refused = server.send(["take", "create_account", "create_database", "grant"], database, **given)
    assert refused["outcome"]["kind"] == "name"
    steps = ["create_account", "create_database", "grant"]
    row = samples.row("u", database, "creating", ready=None)
    ending = settling.make_failed(samples.seeded(), row, refused["outcome"], steps)
    assert (ending["outcome"]["reason"], ending["outcome"]["params"]["key"]) == ("SeedSecretInvalid", "database")
    server.done(["take", *ending["undo"]], database, **given)
    assert server.root("SELECT User FROM mysql.user WHERE User = 'u'") == []
    assert server.survey("uid-1")["rows"] == []


@pytest.mark.parametrize("origin", ["adopted", "created"])
def test_n9_a_server_that_folds_names(folding: Sql, origin: str) -> None:
    assert folding.root("SELECT @@lower_case_table_names AS n") == [{"n": 1}]
    folding.root("CREATE DATABASE IF NOT EXISTS mydb")
    folding.account("app")
    folding.root(f"GRANT {EIGHTEEN} ON `mydb`.* TO app@'%'")
    try:
        got = found(folding, "MyDB")
        assert (got["database_name"], got["facts"]["database"]) == ("mydb", "present")
        assert facts.rights(folding.facts("MyDB", "app"), "app", "%", got["database_name"]) == {
            "owner": True,
            "full": True,
            "elsewhere": False,
        }
        folding.done("claim", "mydb", transaction=True, **claim_arguments("mydb", "app", samples.UID, origin=origin))
        assert found(folding, "MYDB")["facts"]["claim"] == "taken"
        answer = folding.survey(samples.UID)
        assert answer["databases"] == [{"name": "mydb"}]
        read = samples.seeded(seed=samples.seed(database="MyDB", username="app"))
        entry = {"connection": samples.connection(), "outcome": samples.ok(), "answer": answer}
        row = locating.locate(read, [entry])["row"]
        assert settling.seed_of_row(read, row) == {}, "the same seed, spelled as the server spells it"
    finally:
        folding.clean()


def test_n9_names_are_not_folded_elsewhere(default_server: Sql) -> None:
    default_server.root("CREATE DATABASE mydb")
    got = found(default_server, "MyDB")
    assert (got["database_name"], got["facts"]["database"]) == ("MyDB", "missing")


@pytest.mark.parametrize(
    ("database", "username", "claim"),
    [
        pytest.param("team_a", "another", "taken", id="O4-the-database"),
        pytest.param("another", "app", "taken", id="O10-the-account"),
        pytest.param("another", "another", "free", id="neither"),
        pytest.param("TEAM_A", "APP", "free", id="another-case"),
        pytest.param("teamXa", "äpp", "free", id="another-letter"),
    ],
)
def test_row_7_claims_of_others(server: Sql, database: str, username: str, claim: str) -> None:
    given = claim_arguments("team_a", "app", "uid-2")
    server.done("claim", "team_a", transaction=True, **given)
    assert found(server, database, username)["facts"]["claim"] == claim


def test_row_8_an_anonymous_account(default_server: Sql) -> None:
    default_server.account("", "shared")
    as_somebody = default_server.login_file("nobody", "shared")
    came_to = default_server.send(["login", "use"], "app", as_somebody, username="nobody")["outcome"]
    assert (came_to["kind"], came_to["index"]) == ("other_account", 0)


@pytest.mark.parametrize("username", ["app@localhost", "@", "app@%"])
def test_row_8_is_not_fooled_by_names_with_an_at(server: Sql, username: str) -> None:
    login = server.account(username)
    assert server.done("login", login=login, username=username)["query_result"] == [[{"host": "%"}]]
    assert server.send("login", login=login, username=username.upper() + "x")["outcome"]["kind"] == "other_account"


def test_row_8_a_name_in_quotes_is_another_account(default_server: Sql) -> None:
    # The server takes the quotes off the name in a login.
    default_server.account("app", "right")
    default_server.account("'app'", "wrong")
    login = default_server.login_file("'app'", "right")
    assert default_server.send("login", login=login, username="'app'")["outcome"]["kind"] == "other_account"


def test_several_accounts_of_one_name(default_server: Sql) -> None:
    default_server.account("app", host="%")
    login = default_server.account("app", host="localhost")
    assert found(default_server)["accounts"] == 2
    assert default_server.done("login", login=login, username="app")["query_result"] == [[{"host": "localhost"}]]


def test_o8_the_survey_sees_a_former_uids_row(server: Sql) -> None:
    server.done("claim", "app", transaction=True, **claim_arguments("app", uid="old"))
    server.done("claim", "other", transaction=True, **claim_arguments("other", "u2", "x", request="another"))
    assert [r["request_uid"] for r in server.survey("new")["rows"]] == ["old"]
    assert server.survey("new", namespace="elsewhere")["rows"] == []


@pytest.mark.parametrize("where", ["survey", "facts", "health"])
def test_s5_an_admin_that_may_not_read_accounts(default_server: Sql, where: str) -> None:
    login = default_server.account("half-admin")
    default_server.root("GRANT CREATE USER ON *.* TO 'half-admin'@'%'")
    default_server.root("GRANT SELECT ON dbaas_operator.* TO 'half-admin'@'%'")
    queries = sql.statements(where)
    arguments = {
        "cluster": "c",
        "request_uid": "u",
        "namespace": "n",
        "request": "r",
        "database": "d",
        "username": "u",
        "escape": "\\",
    }
    result = default_server.query(queries, arguments, login)
    assert errors.mysql_outcome(result, queries)["kind"] == "provider", "never: the account doesn't exist"
