"""Names that people really use, and names that attackers would: nothing else is made, opened or dropped."""
# names of tests hold the ids of cases

from typing import Any

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from tests.cases.verdicts import judge
from tests.cases.world import DONE, NO_GRACE, Cases, Place, execute
from tests.integration.e2ehelpers import ROWS, Account, Request, token

MODES = {"ANSI": "ANSI", "NO_BACKSLASH_ESCAPES": "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES"}


def granted(account: Account) -> list[str]:
    """The patterns that an account was granted something on."""
    own = "SELECT Db FROM mysql.db WHERE CONVERT(User USING utf8mb4) = %s ORDER BY Db"
    rows = account.server.query(own, [account.username])
    return [row["Db"] for row in rows]


def names_of(account: Account) -> tuple[set[str], set[str]]:
    """All databases and accounts of a server whose names a comparison could take for these."""
    databases = account.server.query("SELECT schema_name AS name FROM information_schema.schemata")
    users = account.server.query("SELECT User AS name FROM mysql.user")
    folded = {account.database.casefold()[:8], account.username.casefold()[:8]}
    return tuple({r["name"] for r in rows if r["name"].casefold()[:8] in folded} for rows in (databases, users))  # type: ignore[return-value]


def created(world: Cases, place: Place, account: Account, **spec: Any) -> Request:
    """Make a request of names that are on no server, and look at what came of it."""
    request = world.ask(place, account.seed(), **spec)
    assert world.reconcile(request) == f"SeedCreated {DONE}", request.told()
    values = request.values()
    assert (values["DATABASE"], values["USERNAME"]) == (account.database, account.username)
    assert request.ask("SELECT DATABASE()") == account.database
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    assert request.ask("SELECT COUNT(*) FROM information_schema.schemata") == 2  # its own and information_schema
    assert granted(account) == [sql.escape_pattern(account.database)]
    return request


def cycle(world: Cases, place: Place, database: str, username: str, **spec: Any) -> None:
    """Create and delete: only this database and this account come and go."""
    account = world.imagined(place.server, database, username)
    before = names_of(account)
    request = created(world, place, account, **spec)
    after = names_of(account)
    assert (after[0] - before[0], after[1] - before[1]) == ({database}, {username})
    world.delete(request)
    assert names_of(account) == before
    assert granted(account) == []
    assert request.rows_in_ledger(place.server) == []


def test_N1_underscore_opens_one_database_only(world: Cases) -> None:
    place = world.place()
    unique = token()
    other = world.older(place.server, database=f"teamX{unique}")
    request = created(world, place, world.imagined(place.server, f"team_{unique}"))
    with pytest.raises(pymysql.err.OperationalError, match="1044"):
        request.ask(f"USE {sql.identifier(other.database)}")
    world.steady(request)
    assert granted(other) == [other.database]


def test_N2_dashes(world: Cases) -> None:
    place = world.place()
    namespace = world.namespace(f"ak-test-{token()}")
    account = world.imagined(place.server, "ak-test", "ak-test-user")
    request = created(world, place, account, namespace=namespace, name_of_request="ak-test")
    world.steady(request)
    world.delete(request)
    assert account.exists() == (False, False)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["a:b", "a.b", "a/b", "a b", "a`b", "a'b", "a\\b", "a\\_b", "pct%s"])
def test_N3_any_character(world: Cases, name: str) -> None:
    cycle(world, world.place(), name, name)


def long_name(length: int) -> str:
    """A name of so many characters, like no other of this module from its first character on."""
    return chr(ord("A") + length % 26) * 3 + str(length) + "u" * (length - 3 - len(str(length)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [16, 17, 32, 33, 80, 81, 128])
def test_N4_long_user(world: Cases, length: int) -> None:
    """128 is what MariaDB 10.11 holds; neighbours that a server which cuts would take for it stay."""
    place, name = world.place(), long_name(length)
    rows = place.server.query(
        "SELECT character_maximum_length AS n FROM information_schema.columns"
        " WHERE table_schema = 'mysql' AND table_name = 'user' AND column_name = 'User'"
    )
    assert rows == [{"n": 128}], "the lengths of this test are another server's"
    neighbours = [name[:-1], name[: length // 2], *([name + "u"] if length < 128 else [])]
    for neighbour in neighbours:
        execute(place.server, "CREATE USER %s@'%%' IDENTIFIED BY %s", neighbour, token())
    cycle(world, place, f"n4_{length}", name)
    assert set(neighbours) <= names_of(Account(place.server, "", name, ""))[1]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("database", "username", "key"),
    [("n4-short", long_name(129), "username"), ("made_" + "d" * 59, "n4-short", "database")],
    ids=["user-129", "database-64-with-underscore"],
)
def test_N4_too_long_to_be_made(world: Cases, database: str, username: str, key: str) -> None:
    place = world.place()
    account = world.imagined(place.server, database, username)
    before = names_of(account)
    world.refused(world.ask(place, account.seed()), "SeedSecretInvalid", f"the key {key} ")
    assert names_of(account) == before


def test_N4_database_of_64_characters_is_taken_over(world: Cases) -> None:
    place = world.place()
    account = world.older(place.server, "N4_" + "d" * 61)
    request = world.ask(place, account.seed())
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS


OWN_USERS = ["dbaas_admin", "root", "mysql.sys", "mariadb.sys"]
OWN_DATABASES = ["MySQL", "sys", "information_schema", "PERFORMANCE_SCHEMA", "dbaas_operator"]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        *(("username", name, "SeedReservedName") for name in OWN_USERS),
        *(("database", name, "SeedReservedName") for name in OWN_DATABASES),
        *((key, value, "SeedSecretInvalid") for key in ("username", "database") for value in ("", " app", "app ")),
    ],
)
def test_N5_names_that_are_nobodys(world: Cases, key: str, value: str, reason: str) -> None:
    place = world.place()
    account = world.imagined(place.server)
    request = world.ask(place, account.seed(**{key: value}))
    world.refused(request, reason, *([f"the key {key} "] if reason == "SeedSecretInvalid" else []))
    if reason == "SeedReservedName":
        before = whole_server(place)
        world.delete(request)
        assert before <= whole_server(place)
    assert account.exists() == (False, False)


def whole_server(place: Place) -> set[str]:
    """The server's own databases and accounts, with all that is stored of an account."""
    rows = place.server.query("SELECT schema_name AS name FROM information_schema.schemata")
    users = place.server.query("SELECT * FROM mysql.global_priv WHERE User IN ('root', 'mariadb.sys', 'dbaas_admin')")
    own = {"mysql", "sys", "information_schema", "performance_schema", "dbaas_operator"}
    return ({row["name"] for row in rows} & own) | {repr(row) for row in users}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        *(("ANSI", kind) for kind in ("created", "plain")),
        *(("NO_BACKSLASH_ESCAPES", kind) for kind in ("created", "adopted", "plain")),
    ],
)
def test_N6_other_sql_modes(world: Cases, mode: str, kind: str) -> None:
    place = world.place(mode.lower().replace("_", "-"), {"sql-mode": MODES[mode]})
    database, username, password = f'a\\b"{token()}', f"c\\d'{token()}", "a\\b'c"
    if kind == "plain":
        request = world.ask(place)
        assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
        account = request.account(place.server)
    elif kind == "created":
        account = world.imagined(place.server, database, username, password)
        request = created(world, place, account)
    else:
        # In a grant's pattern a backslash stands before a sign that means itself.
        own = f"ALL PRIVILEGES ON {sql.identifier(sql.escape_pattern(database))}.*"
        account = world.older(place.server, database, username, password, grants=(own,))
        before = account.hashes()
        request = world.ask(place, account.seed())
        assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
        assert account.hashes() == before
    assert (request.values()["PASSWORD"] == account.password) is True
    assert request.ask("SELECT DATABASE()") == account.database
    for _ in range(2):
        world.steady(request)
    if kind == "created":
        world.delete(request)
        assert account.exists() == (False, False)


def test_N7_long_names_that_differ_at_their_ends(world: Cases) -> None:
    place = world.place()
    start = f"n7{token()}".ljust(60, "n")
    requests = []
    for end in ("aaa", "bbb"):
        namespace = world.namespace(start + end)
        requests.append(world.ask(place, namespace=namespace, name_of_request=start + end))
    for request in requests:
        assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    databases = [request.values()["DATABASE"] for request in requests]
    assert len(set(databases)) == 2
    assert [request.ask("SELECT DATABASE()") for request in requests] == databases


@pytest.mark.sample(1)
@pytest.mark.parametrize(("database", "username"), [("(1049, 'x')", '(2003, "y")'), ('(2003, "y")', "(1049, 'x')")])
def test_N8_names_like_errors(world: Cases, database: str, username: str) -> None:
    with world.alone("N8"):
        cycle(world, world.place(), database, username)


@pytest.mark.sample(2)
@pytest.mark.parametrize("row", range(9, 17))
def test_N8_verdicts_are_those_of_plain_names(world: Cases, row: int) -> None:
    unique = token()
    database, username = f"(1049, 'x{unique}')", f'(2003, "y{unique}")'
    if row % 2:
        database, username = username, database
    with world.alone("N8"):
        judge(world, row, database, username, f"(1045, '{unique}')")


def folding(world: Cases) -> Place:
    """A server that folds the names of databases to lower case."""
    return world.place("folding", {"lower-case-table-names": "1"})


def test_N9_folded_names_are_taken_over(world: Cases) -> None:
    place = folding(world)
    account = world.older(place.server, "MyDB", "MyUser")
    before = account.hashes()
    request = world.ask(place, account.seed())
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert account.hashes() == before
    world.steady(request)
    world.delete(request, NO_GRACE)
    assert account.exists() == (False, False)


def test_N9_folded_names_are_made(world: Cases) -> None:
    place = folding(world)
    account = world.imagined(place.server, "NewDB", "NewUser")
    request = world.ask(place, account.seed())
    assert world.reconcile(request) == f"SeedCreated {DONE}", request.told()
    assert request.ask("SELECT DATABASE()") == "newdb"
    assert granted(account) == ["newdb"]
    world.steady(request)
    taken = world.imagined(place.server, "NEWDB")
    world.refused(world.ask(place, taken.seed()), "SeedDatabaseInUse")
    world.delete(request)
    assert account.exists() == (False, False)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("database", "username", "key"),
    [("n9-db", "n9-x😀", "username"), ("n9-x😀", "n9-user", "database"), ("€" * 61, "n9-€", "database"),
     ("#mysql50#n9", "n9-prefix", "database"), ("n9\tdb", "n9-tab", "database")],
    ids=["user-emoji", "database-emoji", "database-61-euros", "database-prefix", "database-tab"],
)  # fmt: skip
def test_N9_names_that_the_server_would_change(world: Cases, database: str, username: str, key: str) -> None:
    place = world.place()
    account = world.imagined(place.server, database, username)
    before = names_of(account)
    request = world.ask(place, account.seed())
    world.refused(request, "SeedSecretInvalid", f"the key {key} ")
    assert names_of(account) == before
    assert granted(account) == []
    assert request.rows_in_ledger(place.server) == []


OWNER = "ALL PRIVILEGES ON {database}.*"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "grants",
    [
        pytest.param(("SELECT (id) ON {database}.t",), id="column"),
        pytest.param(("SHOW VIEW ON {database}.*",), id="show-view"),
        pytest.param((OWNER, "SELECT ON *.*"), id="global"),
        pytest.param(("ALL PRIVILEGES ON `n10%%`.*",), id="wider-pattern"),
        pytest.param((OWNER, "SELECT ON n10_other.*"), id="another-database"),
        pytest.param((OWNER, "EXECUTE ON PROCEDURE n10_other.p"), id="another-procedure"),
        pytest.param((OWNER, "n10_role"), id="role"),
        pytest.param(("SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER ON {database}.*",), id="no-index"),
        pytest.param(("ALL PRIVILEGES ON {database}.t",), id="tables-only"),
    ],
)
def test_N10_accounts_that_own_less_or_more(world: Cases, grants: tuple[str, ...]) -> None:
    place = world.place()
    with world.alone("N10"):
        for statement in (
            "CREATE DATABASE IF NOT EXISTS n10_other",
            "CREATE TABLE IF NOT EXISTS n10_other.t (id INT)",
            "CREATE PROCEDURE IF NOT EXISTS n10_other.p() SELECT 1",
            "CREATE ROLE IF NOT EXISTS n10_role",
        ):
            place.server.query(statement)
    account = world.older(place.server, database=f"n10_{token()}", grants=grants)
    before = account.hashes()
    world.refused(world.ask(place, account.seed()), "SeedAccountUnfit")
    assert account.hashes() == before


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "grants",
    [
        pytest.param(None, id="older-operator"),
        pytest.param((OWNER,), id="all"),
        pytest.param((OWNER, "SELECT ON {database}.t"), id="own-table-too"),
        pytest.param((f"{OWNER}", "SELECT (id) ON {database}.t"), id="own-column-too"),
    ],
)
def test_N10_accounts_that_own_exactly_this(world: Cases, grants: tuple[str, ...] | None) -> None:
    place = world.place()
    account = world.older(place.server, database=f"n10_own_{token()}", grants=grants)
    before = account.hashes()
    request = world.ask(place, account.seed())
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    assert account.hashes() == before
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS


def test_no_password_anywhere(finished: Cases) -> None:
    """After all of this module: what the runs printed, and what they left in their folders."""
    assert finished.runner.leaks() == []


def test_only_known_statements(finished: Cases) -> None:
    """After all of this module: what the admin accounts sent to its servers."""
    assert finished.unknown_statements() == set()
