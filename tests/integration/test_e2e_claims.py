"""Requests that want the same thing at the same moment, and requests that have to wait."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import PROVIDER, Sandbox
from dev.waiting import wait_for
from tests.integration.e2ehelpers import DEADLINE, ROWS, Account, Log, Request, World, opened, text, token

pytestmark = pytest.mark.e2e

IN_USE = "SeedDatabaseInUse"


@dataclass
class Race:
    """Two requests that can't both have what they want."""

    accounts: tuple[Account, Account]
    requests: tuple[Request, Request]
    reason: str
    log: Log

    def settle(self) -> tuple[Request, Request, Account]:
        """Wait for both.

        Returns:
            The one that got it, the other one, and what the other wanted.
        """
        reasons = [request.settle() for request in self.requests]
        assert sorted(reasons) == sorted([self.reason, IN_USE])
        won = reasons.index(self.reason)
        return self.requests[won], self.requests[1 - won], self.accounts[1 - won]


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, _operator) as world:
        yield world


@pytest.fixture(scope="module")
def races(world: World) -> dict[str, Race]:
    made = {}
    for kind in ("ALL", "ALL-two-namespaces", "NONE", "O10-one-user"):
        first = world.older(world.one) if kind.startswith("ALL") else world.imagined(world.one)
        second = first
        if kind.startswith("O10"):
            second = world.imagined(world.one, username=first.username, password=first.password)
        near = world.namespace()
        far = world.namespace() if "two" in kind else near
        for name, namespace, account in (("a", near, first), ("b", far, second)):
            world.secret(namespace, f"{name}-seed", account.seed())
        log = Log(world.one)
        requests = (world.request(near, "a", seed="a-seed"), world.request(far, "b", seed="b-seed"))
        reason = "SeedAdopted" if kind.startswith("ALL") else "SeedCreated"
        made[kind] = Race((first, second), requests, reason, log)
    return made


@pytest.mark.parametrize("kind", ["ALL", "ALL-two-namespaces", "NONE", "O10-one-user"])
def test_O4_exactly_one_gets_it(world: World, races: dict[str, Race], kind: str) -> None:
    race = races[kind]
    winner, loser, wanted = race.settle()
    assert loser.state() == f"{IN_USE} False/True/True"
    assert loser.service() is None
    assert loser.secret() is None
    assert loser.rows_in_ledger(world.one) == []
    assert len(winner.rows_in_ledger(world.one)) == 1
    assert winner.ask("SELECT CURRENT_USER()") == f"{wanted.username}@%"
    created = [s for s in race.log.statements(wanted.username) if s.startswith("CREATE USER")]
    assert len(created) == (0 if kind.startswith("ALL") else 1)
    if kind.startswith("ALL"):
        assert race.log.changes(wanted.database, wanted.username) == []
        assert winner.ask("SELECT COUNT(*) FROM t") == ROWS
    if kind.startswith("O10"):
        assert wanted.exists() == (False, True)


def test_O4_refusal_stands_until_the_spec_changes(world: World, races: dict[str, Race]) -> None:
    winner, loser, account = races["ALL-two-namespaces"].settle()
    winner.age_by(world.one, -3600)  # deleted early: the database is kept
    winner.delete()
    assert account.rows() == ROWS
    log = Log(world.one)
    assert loser.state() == f"{IN_USE} False/True/True"
    assert log.logins(account.username) == 0
    loser.touch()
    assert loser.settle() == "SeedAdopted"
    assert loser.ask("SELECT COUNT(*) FROM t") == ROWS


def test_seed_secret_that_comes_later(world: World) -> None:
    namespace, account = world.namespace(), world.older(world.two)
    request = world.request(namespace, "later", seed="later-seed")
    assert request.wait("SeedSecretMissing") == "SeedSecretMissing False/False/False"
    assert "the seed secret later-seed:" in request.condition("Ready")["message"]
    world.secret(namespace, "later-seed", account.seed())
    assert request.wait("SeedAdopted") == "SeedAdopted True/False/True"


@pytest.fixture(scope="module")
def spare(world: World) -> Iterator[MariaDB]:
    """A server that the tests may stop, with a scope of its own."""
    server = MariaDB.new("spare")
    server.start()
    world.cleanup.insert(0, server.remove)  # last of all
    yield server
    # Requests on it can be deleted only while it runs and takes writes.
    server.start()
    server.query("SET GLOBAL read_only = 0")


@pytest.fixture(scope="module")
def scope(world: World, spare: MariaDB) -> str:
    """The spare server's scope; the first request of it comes before the provider."""
    return f"spare-{token()}"


def test_provider_that_comes_later(world: World, spare: MariaDB, scope: str) -> None:
    """The request goes on by itself, also over the time until the ledger is made."""
    request = world.request(world.namespace(), "early", scope=scope)
    assert request.wait("ProviderMissing") == "ProviderMissing False/False/False"
    world.provider(scope, spare)
    assert request.wait("DatabaseCreated") == "DatabaseCreated True/False/True"
    assert request.account(spare).exists() == (True, True)


@pytest.fixture
def served(world: World, spare: MariaDB, scope: str) -> str:
    """The scope with its provider, ready."""
    world.provider(scope, spare)
    world.wait_provider(scope)
    return scope


@pytest.mark.long
def test_server_that_is_down(world: World, spare: MariaDB, served: str) -> None:
    namespace, account = world.namespace(), world.older(spare)
    spare.stop()
    plain = world.request(namespace, "plain", scope=served)
    seeded = world.seeded(namespace, "seeded", account.seed(), scope=served)
    for request in (plain, seeded):
        assert request.wait("ConnectionUnavailable") == "ConnectionUnavailable False/False/False"
        assert spare.name in request.condition("Ready")["message"]
    spare.start()
    assert plain.wait("DatabaseCreated") == "DatabaseCreated True/False/True"
    assert seeded.wait("SeedAdopted") == "SeedAdopted True/False/True"
    assert seeded.ask("SELECT COUNT(*) FROM t") == ROWS


@pytest.mark.long
def test_S2_read_only_server(world: World, spare: MariaDB, served: str) -> None:
    """Nothing is written, not even by an admin that may; after the promotion all go on by themselves."""
    namespace, account, fresh = world.namespace(), world.older(spare), world.imagined(spare)
    spare.query(f"GRANT READ_ONLY ADMIN ON *.* TO {text(spare.admin_user)}@'%'")
    spare.query("SET GLOBAL read_only = 1")
    log = Log(spare)
    requests = {
        "DatabaseCreated": world.request(namespace, "plain", scope=served),
        "SeedAdopted": world.seeded(namespace, "all", account.seed(), scope=served),
        "SeedCreated": world.seeded(namespace, "none", fresh.seed(), scope=served),
    }
    for request in requests.values():
        assert request.wait("ServerReadOnly") == "ServerReadOnly False/False/False"
    markers = [account.database, account.username, fresh.database, *(r.uid for r in requests.values())]
    assert log.writes(*markers) == []
    spare.query("SET GLOBAL read_only = 0")
    spare.query(f"REVOKE READ_ONLY ADMIN ON *.* FROM {text(spare.admin_user)}@'%'")
    for reason, request in requests.items():
        request.wait(reason)


@pytest.mark.long
def test_P5_password_policy(world: World, spare: MariaDB, served: str) -> None:
    """A weak password of a seed is refused and all is undone; a generated one passes."""
    spare.query("INSTALL SONAME 'simple_password_check'")
    try:
        namespace, account = world.namespace(), world.imagined(spare, password="weak")
        weak = world.seeded(namespace, "weak", account.seed(), scope=served)
        plain = world.request(namespace, "plain", scope=served)
        assert weak.settle() == "SeedPasswordPolicy"
        assert account.exists() == (False, False)
        assert weak.rows_in_ledger(spare) == []
        assert weak.secret() is None
        assert "observedDatabaseConnectionReference" not in (weak.read() or {})["status"]
        assert plain.settle() == "DatabaseCreated"
    finally:
        spare.query("UNINSTALL SONAME 'simple_password_check'")


@pytest.mark.long
def test_deletion_waits_for_its_server(world: World, spare: MariaDB, served: str) -> None:
    """DropPending while the server is away; the request goes when it is back, and its database with it."""
    request = world.request(world.namespace(), "stuck", scope=served)
    request.wait("DatabaseCreated")
    account = request.account(spare)
    spare.stop()
    request.delete(wait=False)
    request.wait("DropPending")
    spare.start()
    request.wait_gone()
    assert account.exists() == (False, False)


def test_other_scopes_do_not_wait(world: World, spare: MariaDB, served: str) -> None:
    """A server that is down holds up its own scope only."""
    spare.stop()
    try:
        request = world.request(world.namespace(), "elsewhere", scope=PROVIDER)
        request.wait("DatabaseCreated")
    finally:
        spare.start()
    wait_for(lambda: spare.running, "the spare server to be back", DEADLINE)
