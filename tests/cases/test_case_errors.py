"""The server's error numbers, produced on a real server: what each does to the operator's login and to a seed's.

A number that can't be made here on purpose has its row in tests/unit/test_errors.py.
"""
# names of tests hold the ids of cases

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import names, sql

from dev import objects
from dev.mariadb import ADMIN_RIGHTS, MariaDB
from tests.cases.world import DONE, Cases, Place, execute
from tests.integration.e2ehelpers import ROWS, Log, Request, token

# These change what the whole server does, so they have it for themselves, one after another.
Trouble = Callable[[Cases, MariaDB, str, str], AbstractContextManager[object]]


def shared(world: Cases) -> Place:
    """The server of the troubles that concern one account."""
    return world.place()


def troubled(world: Cases) -> Place:
    """The server of the troubles that concern all accounts."""
    return world.place("troubled", {"max-user-connections": "100", "skip-name-resolve": None})


def altered(change: str) -> Trouble:
    """An account with something altered."""

    @contextmanager
    def trouble(_: Cases, server: MariaDB, username: str, __: str) -> Iterator[None]:
        execute(server, f"ALTER USER %s@'%%' {change}", username)
        yield

    return trouble


@contextmanager
def wrong_password(_: Cases, server: MariaDB, username: str, __: str) -> Iterator[None]:
    execute(server, "ALTER USER %s@'%%' IDENTIFIED BY 'another'", username)
    yield


@contextmanager
def plugin_gone(world: Cases, server: MariaDB, username: str, _: str) -> Iterator[None]:
    """The account's plugin isn't loaded any more."""
    with world.alone("plugin"):
        server.query("INSTALL SONAME 'auth_ed25519'")
        execute(server, "ALTER USER %s@'%%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')", username)
        server.query("UNINSTALL SONAME 'auth_ed25519'")
    yield


@contextmanager
def all_connections_taken(_: Cases, server: MariaDB, username: str, password: str) -> Iterator[None]:
    """The account may have one connection, and has it."""
    execute(server, "ALTER USER %s@'%%' WITH MAX_USER_CONNECTIONS 1", username)
    with closing(server.login(username, password)):
        yield


# What happens to one account: (number, trouble); for an admin always the provider's to mend, but for 1226.
ACCOUNT: dict[int, Trouble] = {
    1045: wrong_password,
    1698: altered("IDENTIFIED VIA unix_socket"),
    1524: plugin_gone,
    1820: altered("PASSWORD EXPIRE"),
    4151: altered("ACCOUNT LOCK"),
    1226: all_connections_taken,
}

# What the refusal of a seed has to say of these.
SAID = {1524: "plugin", 1820: "expired", 4151: "locked"}


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", ACCOUNT)
def test_admin_login(world: Cases, number: int) -> None:
    place = shared(world)
    username, password = world.admin(place.server, f"adm-{number}", ADMIN_RIGHTS)
    account, log = world.older(place.server), Log(place.server)
    request = world.ask(world.another(place, username, password), account.seed())
    with ACCOUNT[number](world, place.server, username, password):
        world.waits(request, "ConnectionUnavailable" if number == 1226 else "ProviderError", f"error {number}")
    assert log.logins(account.username) == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", ACCOUNT)
def test_seed_login(world: Cases, number: int) -> None:
    place = shared(world)
    account = world.older(place.server)
    request = world.ask(place, account.seed())
    with ACCOUNT[number](world, place.server, account.username, account.password):
        before = account.hashes()
        if number == 1226:
            world.waits(request, "ConnectionUnavailable", "error 1226")
        else:
            # A person reads the sentence, not the number.
            world.refused(request, "SeedCredentialsRejected", f"error {number}", SAID.get(number, ""))
        assert account.hashes() == before
    if number == 1226:
        assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


# What an admin lacks, and the first statement that shows it.
RIGHTS = {
    1142: "CREATE USER",
    1227: ADMIN_RIGHTS.replace(", CREATE USER", "").replace(" INSERT,", ""),  # MariaDB takes INSERT for it, too
    1044: ADMIN_RIGHTS.replace(" CREATE,", ""),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", RIGHTS)
def test_admin_without_a_right(world: Cases, number: int) -> None:
    place = shared(world)
    username, password = world.admin(place.server, f"lacks-{number}", RIGHTS[number])
    if number != 1142:
        execute(place.server, f"GRANT INSERT ON {sql.LEDGER}.* TO %s@'%%'", username)
    request = world.ask(world.another(place, username, password))
    world.waits(request, "ProviderError", f"error {number}")
    assert request.secret() is None
    execute(place.server, f"GRANT {ADMIN_RIGHTS} ON *.* TO %s@'%%' WITH GRANT OPTION", username)
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    assert request.ask("SELECT DATABASE()") == request.values()["DATABASE"]


@contextmanager
def setting(server: MariaDB, name: str, value: str) -> Iterator[None]:
    """A global variable changed for a time."""
    [before] = server.query(f"SELECT @@GLOBAL.{name} AS value")
    server.query(f"SET GLOBAL {name} = {value}")
    try:
        yield
    finally:
        execute(server, f"SET GLOBAL {name} = %s", before["value"])


@contextmanager
def connections(server: MariaDB, username: str, password: str, count: int) -> Iterator[None]:
    """Connections of an account, held for a time."""
    with contextlib.ExitStack() as held:
        for _ in range(count):
            held.enter_context(closing(server.login(username, password)))
        yield


@contextmanager
def too_many_connections(world: Cases, server: MariaDB, _: str, __: str) -> Iterator[None]:
    crowd = world.older(server)
    with setting(server, "max_connections", "10"), connections(server, crowd.username, crowd.password, 10):
        yield


@contextmanager
def too_many_of_one_user(_: Cases, server: MariaDB, username: str, password: str) -> Iterator[None]:
    with setting(server, "max_user_connections", "1"), connections(server, username, password, 1):
        yield


@contextmanager
def blocked(_: Cases, server: MariaDB, username: str, __: str) -> Iterator[None]:
    """Too many wrong passwords."""
    with setting(server, "max_password_errors", "1"):
        with pytest.raises(pymysql.err.MySQLError):
            server.login(username, "wrong")
        yield
    server.query("FLUSH PRIVILEGES")


@contextmanager
def disconnected_when_expired(_: Cases, server: MariaDB, username: str, __: str) -> Iterator[None]:
    execute(server, "ALTER USER %s@'%%' PASSWORD EXPIRE", username)
    with setting(server, "disconnect_on_expired_password", "ON"):
        yield


@contextmanager
def broken_init_connect(_: Cases, server: MariaDB, __: str, ___: str) -> Iterator[None]:
    """A number that no table knows (1184)."""
    with setting(server, "init_connect", "'SELECT nothing FROM nowhere'"):
        yield


@contextmanager
def locked_ledger(_: Cases, server: MariaDB, __: str, ___: str) -> Iterator[None]:
    with closing(server_root(server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLES {sql.LEDGER}.ownership WRITE")
        yield


@contextmanager
def frozen(_: Cases, server: MariaDB, __: str, ___: str) -> Iterator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextmanager
def stopped(_: Cases, server: MariaDB, __: str, ___: str) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


def server_root(server: MariaDB) -> "pymysql.Connection[pymysql.cursors.Cursor]":
    """A connection of root's that stays open."""
    return pymysql.connect(unix_socket=str(server.socket), user="root", password=server.root_password, autocommit=True)


SERVER: dict[str, tuple[Trouble, str, str]] = {
    "1040": (too_many_connections, "ConnectionUnavailable", "error 1040"),
    "1203": (too_many_of_one_user, "ConnectionUnavailable", "error 1203"),
    "4150": (blocked, "ConnectionUnavailable", "error 4150"),
    "1862": (disconnected_when_expired, "ProviderError", "error 1862"),
    "1184-unknown": (broken_init_connect, "ConnectionUnavailable", "error 1184"),
    "1205": (locked_ledger, "ConnectionUnavailable", "error 1205"),
    "time-out": (frozen, "ConnectionUnavailable", "no number"),
    "2003-stopped": (stopped, "ConnectionUnavailable", "error 2003"),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", SERVER)
def test_admin_of_a_troubled_server(world: Cases, kind: str) -> None:
    """The request waits, the seed sees no login; it goes on by itself afterwards."""
    trouble, reason, words = SERVER[kind]
    usual = troubled(world)
    with world.alone("the troubled server"):
        username, password = world.admin(usual.server, f"adm-{kind}", ADMIN_RIGHTS)
        place = world.another(usual, username, password)
        account = world.older(usual.server)
        request = world.ask(place, account.seed())
        log = Log(usual.server)
        with trouble(world, usual.server, username, password):
            world.waits(request, reason, words)
        assert log.logins(account.username) == 0
        if kind in ("1040", "time-out", "2003-stopped"):
            assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
            assert request.ask("SELECT COUNT(*) FROM t") == ROWS


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("4150", "error 4150"), ("1203", "error 1203"), ("1184-unknown", "error 1184"), ("1862", "")],
)
def test_seed_of_a_troubled_server(world: Cases, kind: str, outcome: str) -> None:
    """The admin gets in, the seed's account doesn't: a verdict only where the number says so."""
    usual = troubled(world)
    with world.alone("the troubled server"):
        # An admin with every right is above these troubles.
        place = world.another(usual, *world.admin(usual.server, f"above-{kind}", "ALL PRIVILEGES"))
        account = world.older(usual.server)
        request = world.ask(place, account.seed())
        with SERVER[kind][0](world, usual.server, account.username, account.password):
            if outcome:
                world.waits(request, "ConnectionUnavailable", outcome)
            else:
                world.refused(request, "SeedCredentialsRejected", f"error {kind}")


def test_1130_admin_of_another_host(world: Cases) -> None:
    place = world.place("hosts", {"skip-name-resolve": None})
    execute(place.server, "RENAME USER %s@'%%' TO %s@'10.9.9.9'", place.server.admin_user, place.server.admin_user)
    place.server.query("FLUSH PRIVILEGES")  # or the hosts are still those of before
    world.waits(world.ask(place), "ConnectionUnavailable", "error 1130")


def test_transport_that_no_way_has(world: Cases) -> None:
    """The server demands TLS and has none: 1045 on MariaDB, 3159 on MySQL; never a word on the seed."""
    place = world.place("transport", {"skip-ssl": None})
    account = world.older(place.server)
    place.server.query("SET GLOBAL require_secure_transport = ON")
    log = Log(place.server)
    world.waits(world.ask(place, account.seed()), "ProviderError", "error 1045")
    assert log.logins(account.username) == 0


def test_server_that_lets_everybody_in(world: Cases) -> None:
    """Started without its grant tables, it takes any password and no account: no verdict on a seed, nothing made."""
    place = world.place("grantless")
    account = world.older(place.server)
    place.server.stop()
    place.server.extra_options = {"skip-grant-tables": None}
    place.server.start()
    for request in (world.ask(place, account.seed(password="wrong")), world.ask(place)):
        world.waits(request, "ProviderError")
        assert request.rows_in_ledger(place.server) == []


def test_1146_server_without_a_ledger(world: Cases) -> None:
    server = world.bare_server("bare")
    scope = f"bare-{token()}"
    world.offer(scope, server)
    request = world.ask(Place(server, scope, world.namespace()))
    world.waits(request, "LedgerMissing", "error 1146")
    assert world.provider_run(scope) == "available"
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()


@contextmanager
def deaf_server() -> Iterator[int]:
    """A port of loopback that accepts and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            with contextlib.suppress(OSError):
                while True:
                    listening.accept()[0].close()

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_2013_connection_that_ends(world: Cases) -> None:
    place = shared(world)
    with deaf_server() as port:
        world.waits(world.ask(world.another(place, port=port)), "ConnectionUnavailable", "error 2013")


def test_2003_name_that_nobody_knows(world: Cases) -> None:
    there = world.another(shared(world), hostname="db.invalid")
    world.waits(world.ask(there), "ConnectionUnavailable", "error 2003")


def _cluster(world: Cases) -> str:
    found = objects.get(world.api, "v1", "Namespace", "kube-system")
    assert found is not None
    return str(found["metadata"]["uid"])


def _plant(server: MariaDB, table: str, **values: str) -> None:
    columns = ", ".join(values)
    marks = ", ".join(["%s"] * len(values))
    statement = f"INSERT INTO {sql.LEDGER}.{table} ({columns}, created_at) VALUES ({marks}, UTC_TIMESTAMP())"
    execute(server, statement, *values.values())


def test_1062_claim_of_an_account_that_is_taken(world: Cases) -> None:
    """The claim of a plain request is lost: nothing is made, and nothing of it stays in the ledger."""
    place = shared(world)
    request = world.ask(place)
    username = names.derived_account(_cluster(world), request.uid)
    _plant(place.server, "account", user=username, host="%", database_name="x", origin="created", purpose="owner")
    world.refused(request, "DatabaseExists")
    assert request.rows_in_ledger(place.server) == []


def _derived(world: Cases, request: Request) -> str:
    return names.derived_database(request.namespace, request.name, _cluster(world), request.uid)


def test_1242_lock_of_another_run(world: Cases) -> None:
    """Another run has the database's lock: this one ends and is run again; nothing was made."""
    place = shared(world)
    request = world.ask(place)
    database = _derived(world, request)
    with closing(server_root(place.server)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT GET_LOCK(CONCAT('{sql.LEDGER}.', SHA1(%s)), 0)", [database])
        world.waits(request, "Creating")
        assert request.rows_in_ledger(place.server) == []
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()


def test_1007_database_that_is_there_already(world: Cases) -> None:
    """O2: the derived name is somebody's database: never taken over, and it stays as it is."""
    place = shared(world)
    request = world.ask(place)
    database = _derived(world, request)
    place.server.query(f"CREATE DATABASE `{database}`")
    place.server.query("CREATE TABLE t (id INT)", database=database)
    world.refused(request, "DatabaseExists")
    assert request.rows_in_ledger(place.server) == []
    assert place.server.query("SELECT COUNT(*) AS n FROM t", database=database) == [{"n": 0}]


def test_1396_and_1008_what_is_gone_already(world: Cases) -> None:
    """D1: account and database were dropped by hand: the deletion is done in one run."""
    place = shared(world)
    request = world.ask(place)
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    account = request.account(place.server)
    execute(place.server, f"DROP DATABASE {sql.identifier(account.database)}")
    execute(place.server, "DROP USER %s@'%%'", account.username)
    world.delete(request)
    assert request.rows_in_ledger(place.server) == []


def test_no_password_anywhere(finished: Cases) -> None:
    """After all of this module: what the runs printed, and what they left in their folders."""
    assert finished.runner.leaks() == []
