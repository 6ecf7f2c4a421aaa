"""A database goes out of the operator's care; data and account stay."""

import base64
import contextlib

from dev import objects
from dev.waiting import wait_for
from tests.cases.world import Cases
from tests.integration.e2ehelpers import API, DEADLINE, ROWS, Log
from tests.platform.person import lose, ready, row, run


def test_plan_and_no_answer_change_nothing(world: Cases) -> None:
    place = world.place()
    request = ready(world, place)
    account, before, log = request.account(place.server), request.versions(), Log(place.server)
    named = {"namespace": request.namespace, "request": request.name}
    done, report = run(world, "release-database", {**named, "confirm": True}, check=True)
    assert done.rc == 0, done.output
    assert (report["action"], report["database"]) == ("request", account.database)
    assert f"{request.name}-kept" in done.output
    done, _ = run(world, "release-database", named)
    assert done.rc == 2 and "there is no terminal to ask at" in done.output, done.output
    assert log.writes(account.database, account.username) == [], "a plan wrote"
    assert request.versions() == before
    assert row(place, account.database)["state"] == "ready"


def test_a_living_request(world: Cases) -> None:
    place = world.place()
    request = ready(world, place, seeded=True)
    account, published = request.account(place.server), (request.read() or {})["spec"]["name"]
    hashes = account.hashes()
    done, report = run(
        world, "release-database", {"namespace": request.namespace, "request": request.name, "confirm": True}
    )
    assert done.rc == 0 and report["done"], done.output
    request.wait_gone()
    assert row(place, account.database) == {}
    assert account.exists() == (True, True) and account.rows() == ROWS and account.hashes() == hashes
    kept = objects.get(world.api, "v1", "Secret", f"{request.name}-kept", request.namespace)
    assert kept is not None and set(kept["data"]) == {"database", "username", "password", "hostname", "port"}
    values = {key: base64.b64decode(value).decode() for key, value in kept["data"].items()}
    with contextlib.closing(place.server.login(account.username, values["password"], account.database)):
        pass

    def left() -> bool:
        service = objects.get(world.api, "v1", "Service", published, request.namespace)
        return request.secret() is not None or service is not None

    wait_for(lambda: not left(), "what the request published to go", DEADLINE)
    # And back again, by the kept Secret.
    again = world.request(request.namespace, request.name, None, scope=place.scope, seed=f"{request.name}-kept")
    assert world.reconcile(again).startswith("SeedAdopted"), again.told()


def test_rows_that_no_request_has(world: Cases) -> None:
    place = world.place()
    request = ready(world, place)
    account = request.account(place.server)
    lose(world, request)
    named = {"namespace": request.namespace, "request": request.name, "confirm": True}
    with contextlib.closing(place.server.login(account.username, account.password)) as other, other.cursor() as cursor:
        # Somebody is at work on this database.
        cursor.execute("SELECT GET_LOCK(CONCAT('dbaas_operator.', SHA1(%s)), 0)", [account.database])
        done, report = run(world, "release-database", named)
        assert done.rc == 2 and not report["done"] and "at work" in done.output, done.output
    assert row(place, account.database)["request_uid"] == request.uid
    done, report = run(world, "release-database", named)
    assert done.rc == 0 and report["done"], done.output
    assert row(place, account.database) == {}
    assert account.exists() == (True, True)
    assert objects.get(world.api, API, "DatabaseRequest", request.name, request.namespace) is None
