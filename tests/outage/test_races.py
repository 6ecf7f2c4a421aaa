"""Two runs at the same moment, and a request that changes or goes while a run works on it.

The runs are made by hand, as an operator beside another one would make them, or one that lives on after its operator.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions

from dev import objects
from dev.waiting import wait_for
from tests.cases.running import Run
from tests.cases.stepping.pausing import Paused
from tests.cases.stepping.steps import Step, chosen
from tests.cases.world import DONE, REFUSED, Cases, Place
from tests.integration.e2ehelpers import API, ROWS, Account, Json, Log, Request, token
from tests.outage.outages import uncollected
from tests.outage.paths import FINALIZE, PATHS, RECONCILE, Way, handed_over

PAUSE = 10  # seconds between two tries of one request
IN_USE = "SeedDatabaseInUse"
KINDS = ("ALL-two-namespaces", "NONE", "O10-one-user", "ALL")
ROUNDS = list(enumerate(islice(cycle(KINDS), 50)))
AT_THE_CLAIM = {"at": "Claim | Insert the rows"}


@pytest.fixture(scope="module")
def place(world: Cases) -> Place:
    return world.place("race")


def at_once(*paused: Paused) -> list[Run]:
    """Let runs go on at the same moment, and wait for their ends."""
    with ThreadPoolExecutor(len(paused)) as pool:
        return list(pool.map(Paused.end, paused))


def to_its_end(world: Cases, request: Request, run: Run) -> str:
    """Run a request again for as long as it asks for that."""
    for _ in range(5):
        if not run.check().again:
            return request.state()
        run = world.runner.run(RECONCILE, handed_over(request))
    raise AssertionError(f"five runs weren't enough; {request.told()}")


@pytest.mark.sample(1)
@pytest.mark.parametrize(("number", "kind"), ROUNDS, ids=[f"{n}-{kind}" for n, kind in ROUNDS])
def test_O4_two_requests_at_the_same_moment(world: Cases, place: Place, number: int, kind: str) -> None:
    """Both stand right before the claim and then go at once: one gets it, the other is refused, nothing is doubled."""
    existing = kind.startswith("ALL")
    first = world.older(place.server) if existing else world.imagined(place.server)
    second = first
    if kind.startswith("O10"):
        second = world.imagined(place.server, username=first.username, password=first.password)
    spaces = [place.namespace, world.namespace() if "two" in kind else place.namespace]
    requests = [world.ask(place, account.seed(), namespace=space)
                for account, space in zip((first, second), spaces, strict=True)]  # fmt: skip
    log = Log(place.server)
    paused = [Paused(world, RECONCILE, request, AT_THE_CLAIM) for request in requests]
    for run in paused:
        run.wait()
    runs = at_once(*paused)
    states = [to_its_end(world, request, run) for request, run in zip(requests, runs, strict=True)]
    good = f"{'SeedAdopted' if existing else 'SeedCreated'} {DONE}"
    assert sorted(states) == sorted([good, f"{IN_USE} {REFUSED}"]), [r.told() for r in requests]
    winner, loser = requests if states[0] == good else reversed(requests)
    assert (len(winner.rows_in_ledger(place.server)), loser.rows_in_ledger(place.server)) == (1, [])
    assert (loser.service(), loser.secret()) == (None, None)
    assert winner.ask("SELECT CURRENT_USER()") == f"{first.username}@%"
    made = [s for s in log.statements(first.username) if s.startswith("CREATE USER")]
    assert len(made) == (0 if existing else 1)
    if existing:
        assert winner.ask("SELECT COUNT(*) FROM t") == ROWS
    if first is not second:
        lost = first if winner is requests[1] else second
        assert lost.exists() == (False, True)


@pytest.mark.long
@pytest.mark.parametrize("path", ["adopt", "create", "plain"])
@pytest.mark.parametrize("at", ["Claim | Insert the rows", "Change | Send the statements"])
def test_two_runs_of_one_request(world: Cases, place: Place, path: str, at: str) -> None:
    """Operator and ad hoc run, or two operators: no double create, no lost row, and a Secret that logs in."""
    way = PATHS[path](world, place)
    log = Log(place.server)
    paused = []
    for _ in "12":  # the second finds the first one's row, if it has claimed
        paused.append(Paused(world, RECONCILE, way.request, {"at": at}))
        paused[-1].wait()
    for ended in at_once(*paused):
        ended.check()
    way.finish()
    way.is_done()
    account = way.account or way.request.account(place.server)
    for word, most in (("CREATE DATABASE", 1), ("DROP", 0)):
        sent = [s for s in log.statements(account.database, account.username) if s.startswith(word)]
        assert len(sent) <= most, f"{word} was sent {len(sent)} times"


@pytest.mark.long
def test_two_runs_of_one_deletion(world: Cases, place: Place) -> None:
    """Both stand before the first change; the row decides, and nothing is left."""
    way = PATHS["delete"](world, place)
    paused = [Paused(world, FINALIZE, way.request, {"at": "Change | Send the statements"}) for _ in "12"]
    for run in paused:
        run.wait()
    runs = [run.check() for run in at_once(*paused)]
    if all(run.again for run in runs):
        way.finish()
    else:
        world.release(way.request)
    way.is_done()


STEPS: dict[str, list[Step]] = {}
PLACES = ("request_status", "request_unchanged", "mysql_query", "k8s")


def steps_of(world: Cases, place: Place, path: str) -> list[Step]:
    """The tasks of a path that ask or change something, behind the first reading."""
    if path not in STEPS:
        STEPS[path] = [s for s in PATHS[path](world, place).recorded() if s.action.endswith(PLACES)]
    return STEPS[path]


@pytest.mark.long
@pytest.mark.parametrize("path", ["adopt", "create", "plain"])
def test_deleted_while_it_is_made(world: Cases, place: Place, path: str) -> None:
    """The deletion comes and ends between two steps of a run that lives on: nothing of it is left anywhere."""
    for step in chosen(steps_of(world, place, path), f"{path}, deleted"):
        way = PATHS[path](world, place)
        paused = Paused(world, RECONCILE, way.request, step.orders())
        paused.wait()
        world.mark(way.request)
        ending = Way(world, place, way.request, way.account, way.hashes, FINALIZE)
        ending.finish()
        assert way.request.read() is None
        paused.end().check()
        is_without_a_trace(way, f"{path}: {step.name!r}, pass {step.time}")


def is_without_a_trace(way: Way, what: str) -> None:
    """Demand that nothing is left of a request that is gone; what was there before it is as it was."""
    assert way.request.rows_in_ledger(way.place.server) == [], f"{what}: its row is left"
    info: Account | None = way.account
    if info is not None:
        assert info.exists() == ((True, True) if way.hashes else (False, False)), what
        assert info.hashes() == way.hashes, what

    def published() -> list[str]:
        found = (way.request.secret(), objects.get(way.world.api, "v1", "Service", service, way.request.namespace))
        return [document["metadata"]["name"] for document in found if document]

    # What an orphan publishes for an owner that is gone is collected.
    service = f"{way.request.name}-db"
    wait_for(lambda: not published(), f"{what}: what was published for a request that is gone to be collected", 90)


@pytest.mark.long
@pytest.mark.parametrize("path", ["adopt", "create"])
def test_spec_changed_while_it_runs(world: Cases, place: Place, path: str) -> None:
    """The run that read the old spec does no harm; the next one brings about the new one."""
    for step in chosen(steps_of(world, place, path), f"{path}, changed"):
        way = PATHS[path](world, place)
        paused = Paused(world, RECONCILE, way.request, step.orders())
        paused.wait()
        name = f"n-{token()}"
        way.request.change(name=name)
        paused.end().check()
        way.finish()
        way.is_done()
        assert (way.request.service() or {})["metadata"]["name"] == name
        services = objects.call(world.api, "GET", objects.path_of("v1", "Service", namespace=way.request.namespace))
        assert f"{way.request.name}-db" not in {item["metadata"]["name"] for item in services["items"]}


@pytest.mark.long
def test_K2_spec_changed_while_it_is_refused(world: Cases, place: Place) -> None:
    """The refusal of the old spec isn't one of the new: exactly one new try is made of it."""
    account = world.older(place.server)
    request = world.ask(place, {**account.seed(), "password": "not-this-one"})
    paused = Paused(world, RECONCILE, request, {"at": "Report | Write the condition"})
    paused.wait()
    request.touch()
    paused.end().check()
    assert request.state() == "- -/-/-", "the refusal was written for a generation that nobody looked at"
    log = Log(place.server)
    found = request.read() or {}
    assert world.runner.run(RECONCILE, handed_over(request)).check().again, "the new try comes after a pause"
    wait_for(lambda: not too_early(found), "ten seconds between two tries to pass", 30)
    world.refused(request, "SeedCredentialsRejected")
    assert log.logins(account.username) == 1
    world.run(RECONCILE, request)
    assert log.logins(account.username) == 1


def too_early(found: Json) -> bool:
    """Whether a refused request may not be tried again yet."""
    since = conditions.find(found["status"], "Error")["lastTransitionTime"]
    return conditions.seconds_since(since, conditions.now()) < PAUSE


def test_D5_made_again_before_the_old_objects_are_collected(world: Cases, place: Place) -> None:
    """Deleted early and made again at once, with a slow garbage collector: taken over again, not refused."""
    way = PATHS["adopt"](world, place)
    assert not way.run().again
    world.mark(way.request)
    with uncollected():
        assert not world.run(FINALIZE, way.request).again
        world.release(way.request)
        seed = f"{way.request.name}-seed"
        again = world.request(way.request.namespace, way.request.name, scope=place.scope, seed=seed)
        assert again.uid != way.request.uid
        assert world.reconcile(again) == f"SeedAdopted {DONE}", again.told()
    assert again.ask("SELECT COUNT(*) FROM t") == ROWS
    assert objects.get(world.api, API, "DatabaseRequest", again.name, again.namespace) is not None
