"""The two looks at a whole platform: what they find, and that they only read."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import invariants

from dev import objects
from dev.waiting import wait_for
from tests.cases.world import Cases, Place, execute
from tests.integration.e2ehelpers import DEADLINE, READS, Account, Log, Request
from tests.invariants import check
from tests.platform.person import encoded, lose, name_of, patch, ready, restore, run

Json = dict[str, Any]
OTHER_UID = "00000000-1111-4222-8333-444444444444"


@dataclass
class Platform:
    """A server with four Ready requests, and a database that no request has."""

    place: Place
    requests: list[Request]
    accounts: list[Account]
    unowned: Account


@pytest.fixture(scope="module")
def platform(world: Cases) -> Iterator[Platform]:
    place = world.place("look")
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda seeded: ready(world, place, seeded), (True, False, False, False)))
    yield Platform(place, found, [r.account(place.server) for r in found], world.older(place.server))


def versions(platform: Platform) -> list[list[str]]:
    return [request.versions() for request in platform.requests]


def findings(report: Json, platform: Platform) -> list[Json]:
    """Those of the platform's own server: others use the sandbox, too."""
    names = {(r.namespace, r.name) for r in platform.requests}
    server = name_of(platform.place)
    return [f for f in report["findings"] if f["server"] == server or (f["namespace"], f["request"]) in names]


def test_a_look_only_reads_and_finds_nothing_on_a_sound_platform(world: Cases, platform: Platform) -> None:
    log, before = Log(platform.place.server), versions(platform)
    done, report = check(world.sandbox, world.runner.folder)
    assert findings(report, platform) == [], done.output
    assert report["counts"]["logins"] >= len(platform.requests)
    entered = [log.logins(account.username) for account in platform.accounts]
    assert entered == [1] * len(platform.accounts), "each account logs in once"
    orphans, told = run(world, "report-orphans", {})
    assert "Nothing was changed." in orphans.output
    assert orphans.rc == 2, "something is found"
    assert "fatal" not in orphans.output and orphans.output.count("Nothing was changed.") == 1, orphans.output
    mine = [d for d in told["databases"] if d["server"] == name_of(platform.place)]
    assert [(d["database"], d["tables"]) for d in mine] == [(platform.unowned.database, 1)]
    assert mine[0]["bytes"] > 0
    accounts = [a for a in told["accounts"] if a["server"] == name_of(platform.place)]
    assert [(a["user"], a["databases"]) for a in accounts] == [(platform.unowned.username, [platform.unowned.database])]
    sent = [text for kind, text in log.entries() if kind == "Query"]
    wrote = [text for text in sent if not text.upper().startswith((*READS, "ROLLBACK", "COMMIT"))]
    assert sent and not wrote, f"a look wrote: {wrote}"
    assert versions(platform) == before


def broken(world: Cases, platform: Platform) -> None:
    """Break everything that a look looks for, each thing at its own place."""
    server = platform.place.server
    one, two, three, four = platform.requests
    account = platform.accounts[0]
    secret = one.secret()
    assert secret is not None
    prefix = next(key for key in secret["data"] if key.endswith("_PORT")).removesuffix("PORT")
    data = {"data": encoded({f"{prefix}PORT": "1", f"{prefix}PASSWORD": "not the one"})}
    patch(world, "Secret", one.namespace, one.name, data)
    info = {"status": {"databaseInfo": {"databasename": "another", "username": "another"}}}
    patch(world, "DatabaseRequest", one.namespace, one.name, info, status=True)
    patch(
        world,
        "Service",
        one.namespace,
        (one.read() or {})["spec"]["name"],
        {"spec": {"externalName": "elsewhere.example.com"}},
    )
    execute(server, "GRANT SELECT ON `%%`.* TO %s@'%%'", account.username)
    execute(server, f"DROP DATABASE `{platform.accounts[1].database}`")
    execute(server, "DROP USER %s@'%%'", platform.accounts[1].username)
    objects.delete(world.api, "v1", "Secret", two.name, two.namespace)
    nowhere = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "nowhere"}, "name": "nowhere"}
    forged = {"status": {"observedDatabaseConnectionReference": nowhere}}
    patch(world, "DatabaseRequest", three.namespace, three.name, forged, status=True)
    server.query("UPDATE dbaas_operator.ownership SET state = 'deleting' WHERE request_uid = %s", [three.uid])
    server.query("UPDATE dbaas_operator.ownership SET request = 'edited' WHERE request_uid = %s", [three.uid])
    server.query("DELETE FROM dbaas_operator.ownership WHERE request_uid = %s", [four.uid])
    server.query(
        "INSERT INTO dbaas_operator.ownership (database_name, origin, state, fence, cluster, namespace, request,"
        " request_uid, created_at) SELECT 'nobodys', origin, 'ready', 1, cluster, namespace, 'no-such', %s, created_at"
        " FROM dbaas_operator.ownership LIMIT 1",
        [OTHER_UID],
    )


def test_each_breach_is_found(world: Cases, platform: Platform) -> None:
    # After the test above: what follows can't be mended.
    broken(world, platform)
    done, report = check(world.sandbox, world.runner.folder, strict=True)
    found: dict[str, set[str]] = {}
    for finding in findings(report, platform):
        found.setdefault(finding["finding"], set()).add(
            finding["request"] or finding["database"] or finding["username"]
        )
    one, two, three, four = (request.name for request in platform.requests)
    gone = platform.accounts[3]
    assert found == {
        "StatusDiffers": {one},
        "SecretDiffers": {one},
        "ServiceDiffers": {one},
        "LoginFailed": {one},
        "ReachesElsewhere": {one},
        "ReachesAnother": {one},
        "SecretMissing": {two},
        "DatabaseMissing": {two},
        "AccountMissing": {two},
        "ReferenceDiffers": {three},
        "RowDiffers": {three},
        "RowStuck": {three},
        "LedgerRowMissing": {four},
        "RowWithoutRequest": {"no-such"},
        "AccountRowWithoutRow": {gone.database},
        "DatabaseWithoutRow": {gone.database, platform.unowned.database},
        "AccountWithoutRow": {platform.unowned.username},
    }, done.output
    assert re.search(rf"LoginFailed +{re.escape(name_of(platform.place))} ", done.output), "the table is on the screen"
    for finding in report["findings"]:
        assert finding["what"] and finding["do"] == invariants.FINDINGS[finding["finding"]][1]


def test_a_missing_row_stays_a_finding(world: Cases, platform: Platform) -> None:
    """When the request says it too, and so isn't Ready any more."""
    four = platform.requests[3]
    world.run("reconcile-request.yml", four)
    assert four.condition("Ready")["reason"] == "LedgerRowMissing", four.told()
    done, report = check(world.sandbox, world.runner.folder)
    found = [f["request"] for f in findings(report, platform) if f["finding"] == "LedgerRowMissing"]
    assert found == [four.name], done.output


def test_rows_without_a_request_and_requests_with_anothers_row(world: Cases, platform: Platform) -> None:
    former = platform.requests[1]
    again = restore(world, lose(world, former))
    done, told = run(world, "report-orphans", {})
    rows = {r["request"]: r for r in told["rows"] if r["server"] == name_of(platform.place)}
    assert set(rows) >= {former.name, "no-such"}, done.output
    assert rows[former.name]["request_uid"] == former.uid
    mine = [r for r in told["requests"] if r["request"] == former.name]
    assert [(r["uid"], r["request_uid"]) for r in mine] == [(again.uid, former.uid)]
    assert former.name in done.output


def test_a_server_that_is_away_is_told(world: Cases, platform: Platform) -> None:
    server = platform.place.server
    server.stop()
    try:
        _, report = check(world.sandbox, world.runner.folder)
        mine = [f for f in findings(report, platform) if f["finding"] == "ServerUnreadable"]
        assert len(mine) == 1 and "2003" in mine[0]["what"]
        assert "LedgerRowMissing" not in [f["finding"] for f in findings(report, platform)], "it may be there"
    finally:
        server.start()


def test_no_password_in_any_output(world: Cases, platform: Platform) -> None:
    assert world.runner.leaks() == []
    assert [a.username for a in platform.accounts for r in world.runner.runs if a.password in r.output] == []


def test_nothing_is_left_by_a_look(world: Cases) -> None:
    wait_for(lambda: not list(world.runner.home.glob("tmp/ansible-*")), "temporary files of the runs to go", DEADLINE)
