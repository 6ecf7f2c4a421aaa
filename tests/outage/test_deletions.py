"""Deletions that something stands in the way of: by runs of a playbook."""

import base64
import contextlib
import time

import pymysql
import pytest

from dev import objects
from dev.waiting import wait_for
from tests.cases.world import DONE, WAITS, Cases, Place
from tests.integration.e2ehelpers import API, ROWS
from tests.outage.outages import without
from tests.outage.paths import PATHS

SECONDS = 60  # a deletion that meets a lock has to say so in this time, on a busy machine; its own time-out is 5


@pytest.fixture(scope="module")
def place(world: Cases) -> Place:
    return world.place("deletion")


# First: it changes what every run may do, and those below go beside each other.
@pytest.mark.sample(1)
@pytest.mark.parametrize("path", ["plain", "create", "adopt"])
def test_K3_a_service_that_the_api_refuses(world: Cases, place: Place, path: str) -> None:
    """Refused after the database was made: the request says so, goes on when it may, and can be deleted meanwhile."""
    going, ending = PATHS[path](world, place), PATHS[path](world, place)
    with without(world.api, "create", "services"):
        for way in (going, ending):
            assert way.run().again, "nothing runs it again"
            assert way.request.state() == f"KubernetesError {WAITS}", way.request.told()
            assert "403" in way.request.condition("Ready")["message"]
            assert len(way.request.rows_in_ledger(place.server)) == 1
        world.delete(ending.request)
    assert ending.request.read() is None
    assert ending.request.rows_in_ledger(place.server) == []
    if ending.account:
        assert ending.account.exists() == ((True, True) if path == "adopt" else (False, False))
        assert ending.account.hashes() == ending.hashes
    going.finish()
    going.is_done()


@pytest.mark.parametrize("what", ["provider", "password"])
@pytest.mark.parametrize("way_out", ["back", "kept"])
@pytest.mark.long
@pytest.mark.beside
def test_D2_provider_goes_first(world: Cases, place: Place, what: str, way_out: str) -> None:
    """Then the namespace: a condition says what is left where; bringing it back and keeping the database both work."""
    there = world.another(place)
    there.namespace = world.namespace()
    way = PATHS["delete"](world, there)
    assert way.account is not None
    objects.delete(world.api, "v1", "Namespace", there.namespace)
    if what == "provider":
        objects.delete(world.api, API, "DatabaseMySQLProvider", there.scope)
    else:
        objects.delete(world.api, "v1", "Secret", there.scope, "dbaas-operator-system")
    for _ in "12":
        run = way.run()
        assert run.again, "the finalizer would go"
        assert way.request.state() == f"DropPending {WAITS}", way.request.told()
        assert "The database on it can't" in way.request.condition("Ready")["message"], "the connection isn't named"
    assert way.account.exists() == (True, True)
    if way_out == "back":
        world.offer(there.scope, place.server)
        way.finish()
        way.is_done()
    else:
        way.request.change(dropDatabaseOnDelete=False)
        way.finish()
        assert way.request.read() is None
        assert way.account.exists() == (True, True)
    wait_for(lambda: objects.get(world.api, "v1", "Namespace", there.namespace) is None, "the namespace to end", 60)


@pytest.mark.parametrize("way_out", ["ends", "kept"])
@pytest.mark.parametrize("path", ["plain", "adopt"])
@pytest.mark.sample(1)
@pytest.mark.beside
def test_D6_an_open_transaction(world: Cases, place: Place, path: str, way_out: str) -> None:
    """DropPending within seconds; then the session ends and the drop goes on by itself, or all of it is kept."""
    ready = PATHS[path](world, place)
    assert not ready.run().again
    ready.is_done()
    if path == "plain":
        ready.request.ask("CREATE TABLE t (id INT PRIMARY KEY) SELECT 1 AS id")
    account = ready.account or ready.request.account(place.server)
    ready.request.age_by(place.server, 86400)
    world.mark(ready.request)
    with contextlib.closing(ready.request.login()) as session, session.cursor() as cursor:
        session.begin()
        cursor.execute("SELECT * FROM t FOR UPDATE")
        ready.playbook = "finalize-request.yml"
        started = time.monotonic()
        assert ready.run().again, "the finalizer would go"
        assert time.monotonic() - started < SECONDS
        assert ready.request.state() == f"DropPending {WAITS}", ready.request.told()
        assert "session" in ready.request.condition("Ready")["message"]
        assert "1205" in ready.request.condition("Ready")["message"]
        assert account.exists() == (True, True)
        if way_out == "kept":
            ready.request.change(dropDatabaseOnDelete=False)
            ready.finish()
    ready.account = account
    if way_out == "ends":
        ready.finish()
        ready.is_done()
        return
    assert ready.request.read() is None
    assert ready.request.rows_in_ledger(place.server) == []
    assert account.exists() == (True, True)
    seed = objects.get(world.api, "v1", "Secret", f"{ready.request.name}-kept", place.namespace)
    again = world.ask(place, {k: base64.b64decode(v).decode() for k, v in (seed or {})["data"].items()})
    assert world.reconcile(again) == f"SeedAdopted {DONE}", again.told()
    assert again.ask("SELECT COUNT(*) FROM t") == (1 if path == "plain" else ROWS)


@pytest.mark.beside
def test_D1_dropped_by_hand(world: Cases, place: Place) -> None:
    """Database and account are gone already: one run is enough."""
    way = PATHS["delete"](world, place)
    assert way.account is not None
    place.server.query(f"DROP DATABASE `{way.account.database}`")
    place.server.query("DROP USER %s@'%%'", [way.account.username])
    assert way.finish() == 1
    way.is_done()


@pytest.mark.long
@pytest.mark.beside
def test_deletion_of_a_server_that_lost_its_database_user(world: Cases, place: Place) -> None:
    """The published password doesn't log in any more: nothing of a deletion needs it."""
    way = PATHS["delete"](world, place)
    assert way.account is not None
    place.server.query("ALTER USER %s@'%%' ACCOUNT LOCK", [way.account.username])
    with pytest.raises(pymysql.err.MySQLError):
        way.request.login()
    assert way.finish() == 1
    way.is_done()
