"""A database becomes another request's."""

from typing import Any

from tests.cases.world import DONE, Cases, Place
from tests.integration.e2ehelpers import ROWS, Account, Log, Request, token
from tests.platform.person import Json, age, ready, row, run

PERSON = "False/True/False"


def hand_over(
    world: Cases, source: Request, target: Request, check: bool = False, **more: Any
) -> tuple[int, str, Json]:
    names = {"from": f"{source.namespace}/{source.name}", "to": f"{target.namespace}/{target.name}"}
    done, report = run(world, "hand-over-database", {**names, "confirm": True, **more}, check)
    return done.rc, done.output, report


def waiting_for(world: Cases, place: Place, account: Account) -> Request:
    """A request in another namespace whose seed names a database that is another request's."""
    return world.ask(place, account.seed(), namespace=world.namespace(), name_of_request=f"heir-{token()}")


def test_to_another_namespace(world: Cases) -> None:
    place = world.place()
    source = ready(world, place, seeded=True)
    account, log = source.account(place.server), Log(place.server)
    target = waiting_for(world, place, account)
    assert world.reconcile(target).startswith("SeedDatabaseInUse")
    before = [source.versions(), target.versions()]
    status, output, report = hand_over(world, source, target, check=True)
    assert status == 0 and report["action"] == "hand_over" and "LedgerRowMissing" in output, output
    assert [source.versions(), target.versions()] == before and log.writes(account.database) == [], "a plan wrote"
    fence = row(place, account.database)["fence"]
    status, output, _ = hand_over(world, source, target)
    assert status == 0, output
    found = row(place, account.database)
    assert [found[key] for key in ("namespace", "request", "request_uid")] == [
        target.namespace,
        target.name,
        target.uid,
    ]
    assert found["fence"] > fence and found["state"] == "ready"
    # The former owner owns nothing, and drops nothing.
    assert world.reconcile(source) == f"LedgerRowMissing {PERSON}", source.told()
    world.delete(source)
    age(place, account.database)
    assert account.exists() == (True, True) and account.rows() == ROWS
    assert world.reconcile(target) == f"SeedAdopted {DONE}", target.told()
    assert "for a former request, from which it came to this one" in target.condition("Ready")["message"]
    world.steady(target)
    assert target.ask("SELECT COUNT(*) FROM t") == ROWS


def test_a_row_that_is_being_deleted_stays_its_owners(world: Cases) -> None:
    place = world.place()
    source = ready(world, place)
    account = source.account(place.server)
    elsewhere = world.ask(place, namespace=world.namespace())
    state = "UPDATE dbaas_operator.ownership SET state = 'deleting'"
    place.server.query(f"{state} WHERE request_uid = %s", [source.uid])
    log = Log(place.server)
    status, output, _ = hand_over(world, source, elsewhere)
    assert status == 2 and "state deleting" in output, output
    assert log.writes(account.database, source.uid) == []
    assert row(place, account.database)["request_uid"] == source.uid
