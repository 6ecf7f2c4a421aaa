"""Requests that wait, through the operator: they say what for, go on by themselves, and don't hammer the server."""

import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from dev import cluster, objects
from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.paths import ROOT
from dev.waiting import wait_for
from tests.integration.e2ehelpers import Account, Log, Request, World, token
from tests.outage.crowd import Crowd, crowd_server
from tests.outage.outages import SERVER_OUTAGES, api_stopped
from tests.settings import SETTINGS

pytestmark = pytest.mark.e2e

FEW = 10
WITHIN = 60.0  # seconds in which a few requests have to go on; more of them are as fast as the machine
EACH = 30.0  # seconds of a deadline for one request, on a busy machine
BROKE = ("failed task event", "did not receive playbook_on_stats")


@pytest.fixture(scope="module")
def served(busy: World) -> Iterator[tuple[MariaDB, str]]:
    with crowd_server(busy, "waiting") as served:
        yield served


class Watched:
    """What the operator's log and the server's say over a time."""

    def __init__(self, world: World, server: MariaDB) -> None:
        """Begin now."""
        self._world, self._log, self._started = world, Log(server), time.monotonic()
        self._read = world.operator.log.stat().st_size

    def operator(self) -> str:
        """The operator's log since then."""
        with self._world.operator.log.open("rb") as log:
            log.seek(self._read)
            return log.read().decode(errors="replace")

    def looks(self) -> int:
        """How many runs of requests ended with the wish to be run again, or as any run does."""
        return len(re.findall(r"DatabaseRequest \S+: next run after|exited successfully\",\"job", self.operator()))

    def told(self) -> str:
        """How often was looked, and how often logged in."""
        minutes = (time.monotonic() - self._started) / 60
        logins = sum(kind == "Connect" for kind, _ in self._log.entries())
        gaps = [float(gap) for gap in re.findall(r"DatabaseRequest \S+: next run after ([\d.]+) s", self.operator())]
        assert all(5 <= gap <= 30 for gap in gaps), gaps
        often = f"{self.looks() / minutes:.0f} looks and {logins / minutes:.0f} logins a minute"
        # The stand-in alone writes down its gaps.
        return f"{often}, gaps of {sorted(gaps)} s" if gaps else often


def is_well(log: str) -> None:
    """No run of a time was a failed one."""
    assert not [line for line in log.splitlines() if any(word in line for word in BROKE)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("outage", "number"), [("stopped", 10), ("frozen", 10), ("full", 10), ("read_only", 10), ("stopped", 50)]
)
def test_requests_that_wait_for_a_server(
    busy: World, served: tuple[MariaDB, str], outage: str, number: int
) -> None:
    """Each says so; when it is over, all go on by themselves. No run of them is a failed one."""
    begin, reasons = SERVER_OUTAGES[outage]
    many = Crowd(busy, *served, busy.namespace())
    create = many.prepare(seeded=number // 2, plain=number - number // 2, refused=0)
    watched = Watched(busy, many.server)
    with begin(many.server):
        create()
        wait_for(
            lambda: all(told.lstrip("*") in reasons for told in many.reasons().values()) and many.reasons(),
            f"{number} requests to say what they wait for ({outage})",
            300 + number * EACH,
        )
        waiting = Watched(busy, many.server)
        wait_for(lambda: waiting.looks() >= number, f"{number} more looks at what waits", 300 + number * EACH)
        print(f"{number} requests, {outage}, while they wait: {waiting.told()}")
        assert all(told.startswith("*") for told in many.reasons().values()), "a seed was condemned"
    ended = time.monotonic()
    wait_for(lambda: any(not r.startswith("*") for r in many.reasons().values()), "the first to go on", WITHIN)
    moved = time.monotonic() - ended
    many.settle(WITHIN if number <= FEW else WITHIN + number * EACH)
    print(f"{number}, {outage}: the first went on {moved:.0f} s after its end, all {time.monotonic() - ended:.0f} s")
    is_well(watched.operator())
    many.is_right()
    many.age()
    many.delete(300 + number * EACH)
    many.nothing_is_left()


@pytest.mark.long
def test_requests_that_wait_for_the_api(busy: World, served: tuple[MariaDB, str]) -> None:
    """The API server goes while they are made, and while they are deleted, and comes back: all end right."""
    if cluster.own_cluster():
        pytest.skip("this cluster's API server isn't the tests' to stop")
    many = Crowd(busy, *served, busy.namespace())
    many.make(seeded=2, plain=2, refused=2)
    wait_for(lambda: many.rows(), "the first of them to be claimed", 120)
    with api_stopped(busy.api):
        pass
    many.settle(300.0)
    many.is_right()
    many.age()
    for request, _ in many.requests.values():
        request.delete(wait=False)
    wait_for(lambda: len(many.found()) < len(many.requests), "the first of them to be gone", 120)
    with api_stopped(busy.api):
        pass
    many.delete(300.0)
    many.nothing_is_left()


@pytest.mark.long
def test_K2_ten_resyncs_and_a_restart(busy: World, served: tuple[MariaDB, str], tmp_path: Path) -> None:
    """From the moment a refusal is written: not one statement of the seed's account; a changed spec: one new try."""
    server, scope = served
    accounts = {
        "rejected": busy.older(server),
        "denied": busy.older(server, grants=()),
        "unfit": busy.older(server, grants=("SELECT ON {database}.*",)),
    }
    reasons = {
        "rejected": "SeedCredentialsRejected", "denied": "SeedAccessDenied", "unfit": "SeedAccountUnfit",
    }  # fmt: skip
    namespace = busy.namespace()
    often = tmp_path / "watches.yaml"
    text = (ROOT / "watches.yaml").read_text(encoding="utf-8")
    often.write_text(text.replace("reconcilePeriod: 6h", "reconcilePeriod: 1s"), encoding="utf-8")
    operator = Operator(busy.operator.kubeconfig, often)
    operator.start(SETTINGS)
    try:
        requests: dict[str, Request] = {}
        for name, account in accounts.items():
            values = {**account.seed(), **({"password": "not-this-one"} if name == "rejected" else {})}
            requests[name] = busy.seeded(namespace, name, values, scope=scope)
        for name, request in requests.items():
            assert request.settle(300) == reasons[name]
        log, before = Log(server), {name: request.versions() for name, request in requests.items()}
        after = {name: request.passes() + 10 for name, request in requests.items()}
        for name, request in requests.items():
            wait_for(partial(has_passed, request, after[name]), f"ten more runs of {name}", 300)
        operator.stop()
        ended = {name: request.passes() for name, request in requests.items()}
        busy.operator.start(SETTINGS)
        for name, request in requests.items():
            request.wait_pass(ended[name])
        silent(log, accounts, requests, before)
        for name, request in requests.items():
            request.touch()
            assert request.settle(300) == reasons[name]
        for name, account in accounts.items():
            assert log.logins(account.username) == 1, f"{name}: a changed spec is exactly one new try"
    finally:
        operator.stop()
        busy.operator.start(SETTINGS)


def has_passed(request: Request, number: int) -> bool:
    """Whether so many runs of it have ended."""
    return request.passes() >= number


def silent(log: Log, accounts: dict[str, Account], requests: dict[str, Request], before: dict[str, list[str]]) -> None:
    """Nothing was logged in, asked or written."""
    for name, account in accounts.items():
        assert log.logins(account.username) == 0, name
        assert log.statements(account.username, account.database, requests[name].uid) == [], name
        assert requests[name].versions() == before[name], name


@pytest.mark.long
def test_D4_a_namespace_that_is_deleted(busy: World, served: tuple[MariaDB, str]) -> None:
    """With requests, seed secrets and published Secrets in it: it ends, and what is on the server follows the rules."""
    server, scope = served
    namespace = busy.namespace()
    account = busy.older(server)
    adopted = busy.seeded(namespace, "adopted", account.seed(), scope=scope)
    plain = busy.request(namespace, "plain", scope=scope)
    refused = busy.seeded(namespace, "refused", {**account.seed(), "port": "none"}, scope=scope)
    assert (adopted.settle(), plain.settle(), refused.settle()) == (
        "SeedAdopted", "DatabaseCreated", "SeedSecretInvalid",
    )  # fmt: skip
    made = plain.account(server)
    adopted.age_by(server, -3600)  # deleted early
    objects.delete(busy.api, "v1", "Namespace", namespace)
    wait_for(lambda: objects.get(busy.api, "v1", "Namespace", namespace) is None, "the namespace to end", 180)
    assert made.exists() == (False, False)
    assert account.exists() == (True, True)
    assert adopted.rows_in_ledger(server) == plain.rows_in_ledger(server) == []


@pytest.mark.long
def test_D3_every_way_through_the_finalizer(busy: World, served: tuple[MariaDB, str]) -> None:
    """Whatever state a request is in, it goes in the end, or says what is in the way."""
    server, scope = served
    namespace, lost = busy.namespace(), f"lost-{token()}"
    account, early = busy.older(server), busy.older(server)
    made = {
        "refused": busy.seeded(namespace, "refused", {**account.seed(), "port": "none"}, scope=scope),
        "no-seed": busy.request(namespace, "no-seed", scope=scope, seed="nowhere"),
        "no-provider": busy.request(namespace, "no-provider", scope=lost),
        "ready": busy.request(namespace, "ready", scope=scope),
        "kept": busy.request(namespace, "kept", scope=scope, dropDatabaseOnDelete=False),
        "early": busy.seeded(namespace, "early", early.seed(), scope=scope),
        "stuck": busy.request(namespace, "stuck", scope=scope),
    }
    reasons = {
        "refused": "SeedSecretInvalid", "no-seed": "SeedSecretMissing", "no-provider": "ProviderMissing",
        "ready": "DatabaseCreated", "kept": "DatabaseCreated", "early": "SeedAdopted", "stuck": "DatabaseCreated",
    }  # fmt: skip
    for name, request in made.items():
        request.wait(reasons[name])
    made["early"].age_by(server, -3600)
    for name, request in made.items():
        if name != "stuck":
            request.delete(wait=False)
    never_run = busy.request(namespace, "never-run", scope=lost)
    never_run.delete(wait=False)
    for name, request in made.items():
        if name != "stuck":
            request.wait_gone()
    never_run.wait_gone()
    server.stop()
    try:
        made["stuck"].delete(wait=False)
        made["stuck"].wait("DropPending")
    finally:
        server.start()
    made["stuck"].wait_gone()
    assert early.exists() == (True, True)

