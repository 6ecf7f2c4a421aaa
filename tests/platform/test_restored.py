"""O8: a request that came back from a backup has a new UID; a stranger's request of the same name looks the same."""
# names of tests hold the ids of cases

from typing import Any

import pytest

from dev import objects
from dev.waiting import wait_for
from tests.cases.world import DONE, Cases
from tests.integration.e2ehelpers import DEADLINE, ROWS, Log, Request
from tests.invariants import check
from tests.platform.person import age, lose, name_of, patch, ready, restore, row, run

PERSON = "False/True/False"


def gone(world: Cases, request: Request, *kinds: str) -> None:
    """Wait until the cluster has removed what a request that is gone had published."""

    def left() -> list[Any]:
        found = [request.secret() if kind == "Secret" else request.service() for kind in kinds]
        return [document for document in found if document is not None]

    wait_for(lambda: not left(), f"the objects of {request.namespace}/{request.name} to be collected", DEADLINE)


def test_O8_seeded(world: Cases) -> None:
    place = world.place()
    before = ready(world, place, seeded=True)
    account = before.account(place.server)
    hashes = account.hashes()
    after = restore(world, lose(world, before))
    gone(world, before, "Service", "Secret")
    assert world.reconcile(after).startswith("Creating"), after.told()
    assert world.reconcile(after) == f"SeedAdopted {DONE}", after.told()
    assert row(place, account.database)["request_uid"] == after.uid != before.uid
    assert after.ask("SELECT COUNT(*) FROM t") == ROWS
    assert account.hashes() == hashes, "the account was altered"
    world.steady(after)


def test_O8_plain_with_its_secret(world: Cases) -> None:
    place = world.place()
    before = ready(world, place)
    account, secret, service = before.account(place.server), before.secret(), before.service()
    assert secret is not None and service is not None
    found = lose(world, before)
    gone(world, before, "Service", "Secret")
    for document in (secret, service):
        kept = {key: document["metadata"][key] for key in ("name", "namespace", "labels")}
        body = {"data": document["data"]} if "data" in document else {"spec": {
            key: document["spec"][key] for key in ("type", "externalName")
        }}  # fmt: skip
        kind = "Secret" if "data" in document else "Service"
        world.apply({"apiVersion": "v1", "kind": kind, "metadata": kept, **body})
    after = restore(world, found)
    assert world.reconcile(after).startswith("Creating"), after.told()
    age(place, account.database)
    assert world.reconcile(after) == f"DatabaseCreated {DONE}", after.told()
    assert "for a former request, from which they came to this one" in after.condition("Ready")["message"]
    assert row(place, account.database)["request_uid"] == after.uid
    assert after.values()["PASSWORD"] == account.password, "the application's password was changed"
    after.ask("SELECT 1")


@pytest.mark.long
def test_O8_without_its_secret(world: Cases) -> None:
    place = world.place()
    before = ready(world, place)
    account = before.account(place.server)
    place.server.query("CREATE TABLE t (id INT)", database=account.database)
    after = restore(world, lose(world, before))
    gone(world, before, "Service", "Secret")
    log = Log(place.server)
    assert world.reconcile(after) == f"OwnershipUnproven {PERSON}", after.told()
    assert log.logins(account.username) == 0, "there was nothing to try"
    # A person knows that it is the same one.
    same = f"{after.namespace}/{after.name}"
    done, report = run(world, "hand-over-database", {"confirm": True, "from": same, "to": same})
    assert done.rc == 0 and report["done"], done.output
    assert world.reconcile(after) == f"DatabaseCreated {DONE}", after.told()
    assert after.ask("SELECT COUNT(*) FROM t") == 0
    assert after.account(place.server).database == account.database


def test_O8_stranger_of_the_same_name(world: Cases) -> None:
    place = world.place()
    before = ready(world, place, seeded=True, namespace=world.namespace())
    account = before.account(place.server)
    found = lose(world, before)
    objects.delete(world.api, "v1", "Secret", found["spec"]["seed"]["name"], before.namespace)
    gone(world, before, "Service", "Secret")
    # The stranger guesses: a seed with the right names, and a Secret as if it came back.
    seed = found["spec"]["seed"]["name"]
    world.secret(before.namespace, seed, account.seed(password="a guess of a stranger"))
    stranger = restore(world, found)
    log = Log(place.server)
    assert world.reconcile(stranger) == f"OwnershipUnproven {PERSON}", stranger.told()
    assert log.logins(account.username) == 1
    world.reconcile(stranger)
    assert log.logins(account.username) == 1, "one guess for each change of the request"
    # The last try was just now, however slow this machine is.
    conditions = (stranger.read() or {})["status"]["conditions"]
    just_now = [{**c, "lastTransitionTime": "2999-01-01T00:00:00Z"} for c in conditions]
    patch(
        world, "DatabaseRequest", stranger.namespace, stranger.name, {"status": {"conditions": just_now}}, status=True
    )
    stranger.touch()
    run_again = world.run("reconcile-request.yml", stranger)
    assert run_again.again, "a new guess so soon is put off"
    assert log.logins(account.username) == 1, "a new guess came too fast"
    assert stranger.secret() is None and stranger.service() is None
    assert log.changes(account.database, account.username) == []
    world.delete(stranger)
    assert account.exists() == (True, True) and account.rows() == ROWS
    assert row(place, account.database)["request_uid"] == before.uid
    # And the row is reported as what it is.
    _, report = check(world.sandbox, world.runner.folder)
    mine = [f["finding"] for f in report["findings"] if f["database"] == account.database]
    assert mine == ["RowWithoutRequest"]
    assert any(f["server"] == name_of(place) for f in report["findings"])
