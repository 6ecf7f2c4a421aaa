"""What is whose, when things change at the wrong moment: by runs of a playbook."""

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from dev import objects
from tests.cases.stepping.pausing import Paused
from tests.cases.world import DONE, REFUSED, WAITS, Cases, Place
from tests.integration.e2ehelpers import API, ROWS, Account, Log, token
from tests.outage.outages import forbidden
from tests.outage.paths import FINALIZE, PATHS, RECONCILE, Way, handed_over

AT_THE_CLAIM = {"at": "Claim | Insert the rows"}


@pytest.fixture(scope="module")
def place(world: Cases) -> Place:
    return world.place("ownership")


# First: it changes what every run may do, and those below go beside each other.
def test_O6_no_drop_where_the_api_fails(world: Cases, place: Place) -> None:
    """Whose the database is can't be read: the deletion waits, and drops nothing."""
    way = PATHS["delete"](world, place)
    assert way.account is not None
    log = Log(place.server)
    with forbidden(world.api):
        assert way.run().again, "the finalizer would go"
        assert way.request.state() == f"KubernetesError {WAITS}", way.request.told()
    assert log.writes(way.account.database, way.account.username, way.request.uid) == []
    assert way.account.exists() == (True, True)
    way.finish()
    way.is_done()


def stopped(world: Cases, place: Place, path: str, at: dict[str, str]) -> tuple[Way, Account, Paused]:
    """A seeded request whose run stands still before a task."""
    way = PATHS[path](world, place)
    assert way.account is not None
    paused = Paused(world, RECONCILE, way.request, at)
    paused.wait()
    return way, way.account, paused


@pytest.mark.parametrize("gone", ["database", "both"])
@pytest.mark.long
@pytest.mark.beside
def test_O9_gone_between_probe_and_claim(world: Cases, place: Place, gone: str) -> None:
    """The claim is given back and the seed judged anew: nobody is Ready on nothing."""
    way, account, paused = stopped(world, place, "adopt", AT_THE_CLAIM)
    place.server.query(f"DROP DATABASE {sql.identifier(account.database)}")
    if gone == "both":
        place.server.query("DROP USER %s@'%%'", [account.username])
    assert paused.end().check().again, "nothing runs it again"
    assert way.request.state() == f"Creating {WAITS}", way.request.told()
    assert way.request.rows_in_ledger(place.server) == []
    way.finish()
    if gone == "database":
        assert way.request.state() == f"SeedDatabaseMissing {REFUSED}", way.request.told()
        assert way.request.rows_in_ledger(place.server) == []
    else:
        assert way.request.state() == f"SeedCreated {DONE}", way.request.told()
        assert way.request.ask("SELECT DATABASE()") == account.database


@pytest.mark.long
@pytest.mark.beside
def test_O9_changes_hands_between_probe_and_claim(world: Cases, place: Place) -> None:
    """The account loses the database to another one: the take-over is judged anew, and refused."""
    way, account, paused = stopped(world, place, "adopt", AT_THE_CLAIM)
    place.server.query(f"REVOKE ALL ON {sql.identifier(account.database)}.* FROM '{account.username}'@'%'")
    other = world.older(place.server, grants=(f"ALL ON {sql.identifier(account.database)}.*",))
    hashes = other.hashes()
    assert paused.end().check().again, "nothing runs it again"
    way.finish()
    assert way.request.state() == f"SeedAccessDenied {REFUSED}", way.request.told()
    assert way.request.rows_in_ledger(place.server) == []
    assert (way.request.secret(), other.hashes(), account.rows()) == (None, hashes, ROWS)


@pytest.mark.long
@pytest.mark.beside
def test_O8_a_stranger_of_the_same_name(world: Cases, place: Place) -> None:
    """Namespace and name are another's by now, the row is the first one's: no access, no drop, nothing told of it."""
    first = world.ask(place, namespace=world.namespace())
    assert world.reconcile(first) == f"DatabaseCreated {DONE}", first.told()
    owned = first.account(place.server)
    objects.delete(world.api, API, "DatabaseRequest", first.name, first.namespace)
    assert first.read() is None, "it had no finalizer: its row is left, as by a cluster that was lost"
    second = world.request(first.namespace, first.name, scope=place.scope)
    log = Log(place.server)
    world.run(RECONCILE, second)
    assert second.condition("Ready")["reason"] == "OwnershipUnproven", second.told()
    assert owned.database not in str(second.read())
    world.mark(second)
    ending = world.runner.run(FINALIZE, handed_over(second)).check()
    assert not ending.again
    world.release(second)
    assert owned.exists() == (True, True)
    assert log.changes(owned.database, owned.username) == []
    assert len(first.rows_in_ledger(place.server)) == 1


@pytest.mark.long
@pytest.mark.beside
def test_O3_a_refused_statement_leaves_the_table(world: Cases, place: Place) -> None:
    """A database with a table comes up behind the claim, and then the account's step fails: the table survives."""
    way, account, paused = stopped(world, place, "create", {"at": "Make | Send the statements"})
    name = sql.identifier(account.database)
    place.server.query(f"CREATE DATABASE {name}")
    place.server.query("CREATE TABLE t (id INT)", database=account.database)
    place.server.query("CREATE USER %s@'%%' IDENTIFIED BY %s", [account.username, token(12)])
    paused.end().check()
    way.finish()
    assert way.request.state() == f"DatabaseExists {REFUSED}", way.request.told()
    assert account.exists() == (True, True)
    assert account.rows() == 0
    assert way.request.rows_in_ledger(place.server) == []
