"""The run by hand of a namespace: what the operator would do, one line a request; with --check, a plan and no more."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dev import objects
from dev.sandbox import Sandbox
from tests.cases.kubeconfigs import of_nobody
from tests.cases.running import Run, Runner
from tests.cases.stepping.steps import stepwise
from tests.cases.world import FINALIZER, Cases, Place
from tests.integration.e2ehelpers import API, Account, token

LINE = re.compile(r"^(\S+) +(would be \w+|needs a person|\w+) +(\S+) +(\d+\.\d) s(?:  (.*))?$", re.MULTILINE)
WRITES = re.compile(r"^(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|GRANT|REVOKE|SET PASSWORD)\b", re.IGNORECASE)


@dataclass
class Hand:
    """A namespace of its own, and runs for it with the admin's kubeconfig."""

    world: Cases
    place: Place
    runner: Runner

    def run(
        self, *arguments: str, namespace: str = "", settings: dict[str, str] | None = None, logins: bool = True
    ) -> Run:
        """Run the playbook, as a person would."""
        variables = {"namespace": namespace or self.place.namespace, **({} if logins else {"seed_logins": False})}
        return self.runner.run("reconcile-namespace.yml", variables, settings=settings, arguments=arguments)

    def lines(self, run: Run) -> dict[str, tuple[str, str, str]]:
        """Verdict, reason and steps by request, as printed."""
        return {name: (verdict, reason, steps) for name, verdict, reason, _, steps in LINE.findall(run.output)}


@pytest.fixture(scope="module")
def hand(world: Cases, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hand]:
    runner = Runner(sandbox.kubeconfig, tmp_path_factory.mktemp("by-hand"))
    yield Hand(world, world.place("by-hand"), runner)


def versions(hand: Hand, namespace: str) -> dict[str, str]:
    """The resourceVersion of everything that a run could write in a namespace."""
    kinds = [(API, "DatabaseRequest"), ("v1", "Secret"), ("v1", "Service"), ("v1", "Event")]
    found = {}
    for version, kind in kinds:
        for item in objects.call(hand.world.api, "GET", objects.path_of(version, kind, namespace=namespace))["items"]:
            found[f"{kind} {item['metadata']['name']}"] = item["metadata"]["resourceVersion"]
    return found


def statements(log: Path, start: int) -> list[str]:
    """The statements in a server's general log behind a place in it."""
    with log.open(encoding="utf-8", errors="replace") as stream:
        stream.seek(start)
        return [line.partition("\t")[2] for line in re.findall(r"(?:Query|Prepare|Execute)\t.*", stream.read())]


def logins(log: Path, start: int, account: Account) -> int:
    """How many logins as an account a server's general log holds behind a place in it."""
    with log.open(encoding="utf-8", errors="replace") as stream:
        stream.seek(start)
        return len(re.findall(rf"Connect\t{re.escape(account.username)}@", stream.read()))


def test_the_plan_is_what_happens(hand: Hand) -> None:
    world, place = hand.world, hand.place
    adopted, created = world.older(place.server), world.imagined(place.server)
    wrong = world.older(place.server)
    requests = {
        "a-adopted": world.ask(place, adopted.seed(), name_of_request="a-adopted"),
        "b-created": world.ask(place, created.seed(), name_of_request="b-created"),
        "c-plain": world.ask(place, name_of_request="c-plain"),
        "d-refused": world.ask(place, wrong.seed(password="not it"), name_of_request="d-refused"),
        "e-waiting": world.ask(place, seed="not-there-yet", name_of_request="e-waiting"),
    }
    going = world.ask(place, name_of_request="f-going")
    assert world.reconcile(going).startswith("DatabaseCreated")
    account = going.account(place.server)
    world.mark(going)
    before, log = versions(hand, place.namespace), place.server.general_log
    start = log.stat().st_size
    planned = hand.run("--check")
    assert hand.lines(planned) == {
        "a-adopted": (
            "would be ready",
            "SeedAdopted",
            "would take database and account over, write Service and Secret",
        ),
        "b-created": ("would be ready", "SeedCreated", hand.lines(planned)["c-plain"][2]),
        "c-plain": (
            "would be ready",
            "DatabaseCreated",
            "would create the account, create the database, grant the account its rights, write Service and Secret",
        ),
        "d-refused": ("refused", "SeedCredentialsRejected", ""),
        "e-waiting": ("waits", "SeedSecretMissing", ""),
        "f-going": ("would be deleted", "-", "would drop the database, drop the account, give the ledger's rows back"),
    }
    assert planned.rc == 2
    assert "Waiting for the seed secret not-there-yet: it isn't there yet." in planned.output
    assert "1 waits, 1 would be deleted. Nothing was written." in planned.output
    assert versions(hand, place.namespace) == before
    assert [s for s in statements(log, start) if WRITES.match(s)] == []
    assert logins(log, start, wrong) == 1

    run = hand.run()
    assert {n: line[:2] for n, line in hand.lines(run).items()} == {
        n: (verdict.removeprefix("would be "), reason) for n, (verdict, reason, _) in hand.lines(planned).items()
    }
    assert run.rc == 2
    assert hand.lines(run)["a-adopted"][2].startswith("did: take database and account over, write Service and Secret")
    assert "drop the database, drop the account" in hand.lines(run)["f-going"][2]
    assert going.read() is None
    assert account.exists() == (False, False)
    for name in ("a-adopted", "b-created", "c-plain"):
        assert requests[name].ask("SELECT 1") == 1
        assert (requests[name].read() or {})["metadata"]["finalizers"] == [FINALIZER]


def test_a_plan_may_leave_logins_out(hand: Hand) -> None:
    world, server = hand.world, hand.place.server
    namespace, account = world.namespace(), world.older(server)
    seeded = world.ask(hand.place, account.seed(), namespace=namespace)
    plain = world.ask(hand.place, namespace=namespace)
    before, start = versions(hand, namespace), server.general_log.stat().st_size
    silent = hand.run("--check", namespace=namespace, logins=False)
    assert {name: line[0] for name, line in hand.lines(silent).items()} == {
        seeded.name: "undecided",
        plain.name: "would be ready",
    }
    assert logins(server.general_log, start, account) == 0
    assert versions(hand, namespace) == before


def test_a_plan_tells_what_a_repair_would_do(hand: Hand) -> None:
    world = hand.world
    namespace = world.namespace()
    request = world.ask(hand.place, namespace=namespace)
    assert hand.run(namespace=namespace).rc == 0
    account = request.account(hand.place.server)
    hashes = account.hashes()
    objects.delete(world.api, "v1", "Secret", request.name, namespace)
    planned = hand.run("--check", namespace=namespace)
    assert hand.lines(planned)[request.name] == (
        "would be ready",
        "DatabaseCreated",
        "would set a new password, write Service and Secret",
    )
    assert account.hashes() == hashes
    assert request.secret() is None
    assert hand.run(namespace=namespace).rc == 0
    assert request.ask("SELECT 1") == 1


def test_one_that_breaks_does_not_stop_the_others(hand: Hand) -> None:
    world = hand.world
    namespace = world.namespace()
    seed = world.older(hand.place.server).seed()
    broken = world.ask(hand.place, seed, namespace=namespace, name_of_request="a")
    well = world.ask(hand.place, namespace=namespace, name_of_request="b")
    orders = stepwise({"at": "Login | Turn it into facts", "do": "fail"})  # which only the seeded one comes to
    run = hand.run(namespace=namespace, settings=orders)
    assert [line[:2] for line in hand.lines(run).values()] == [("waits", "InternalError"), ("ready", "DatabaseCreated")]
    assert run.rc == 2
    assert broken.condition("Ready")["reason"] == "InternalError"
    assert well.ask("SELECT 1") == 1


def test_it_says_what_is_missing(hand: Hand, tmp_path: Path) -> None:
    world = hand.world
    namespace = world.namespace()
    asked = world.ask(hand.place, namespace=namespace)
    nowhere = hand.run(namespace=f"none-{token()}")
    assert nowhere.rc == 2
    assert "There is no namespace none-" in nowhere.output
    for given in ({}, {"namespace": ""}, {"namespace": f"default/../{namespace}"}, {"namespace": f"{namespace}/"}):
        without = hand.runner.run("reconcile-namespace.yml", given)
        assert without.rc == 2
        assert "Say which namespace" in without.output
    silent = hand.run(namespace=namespace, logins=False)
    assert silent.rc == 2
    assert "add --check" in silent.output
    stranger = Runner(of_nobody(world, namespace, tmp_path / "someone.kubeconfig"), tmp_path / "less")
    less = stranger.run("reconcile-namespace.yml", {"namespace": namespace})
    assert less.rc == 2
    assert f"This kubeconfig may not patch databaserequests in {namespace}: use an admin's." in less.output
    assert asked.state().startswith("- ")


def test_no_password_in_any_line(hand: Hand) -> None:
    hand.runner.secrets |= hand.world.runner.secrets
    assert hand.runner.leaks() == []
