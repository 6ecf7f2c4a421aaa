"""The Kubernetes API stopped, or refusing with 403 or 409, at any step of any path: a wait, and never a verdict."""

import pytest

from dev import cluster, objects
from tests.cases.stepping.pausing import SHORT_TIMEOUTS, Paused
from tests.cases.stepping.steps import Step, chosen
from tests.cases.world import WAITS, Cases, Place
from tests.integration.e2ehelpers import API, Json
from tests.outage.outages import API_OUTAGES
from tests.outage.paths import PATHS, Way

ACTIONS = ("request_read", "request_status", "request_unchanged", "k8s")
PAIRS = [(path, outage) for outage in API_OUTAGES for path in PATHS]
STEPS: dict[str, list[Step]] = {}


@pytest.fixture(scope="module")
def place(world: Cases) -> Place:
    return world.place("outage-api")


@pytest.mark.long
@pytest.mark.parametrize(("path", "outage"), PAIRS)
def test_an_api_that_goes(world: Cases, place: Place, path: str, outage: str) -> None:
    if cluster.own_cluster():
        pytest.skip("this cluster's API server isn't the tests' to stop")
    if path not in STEPS:
        STEPS[path] = [s for s in PATHS[path](world, place).recorded() if s.action.endswith(ACTIONS)]
    assert len(STEPS[path]) > 1, f"the run asked nothing: {STEPS[path]}"
    for step in chosen(STEPS[path], f"{path}, {outage}"):
        try:
            once(PATHS[path](world, place), step, outage)
        except Exception as error:
            error.add_note(f"at step {step.number}, {step.name!r}, pass {step.time}")
            raise


def once(way: Way, step: Step, outage: str) -> None:
    """Begin an outage right before a step, let the run end, end the outage, and let the request finish."""
    shorter = SHORT_TIMEOUTS if outage == "api_frozen" else {}
    paused = Paused(way.world, way.playbook, way.request, step.orders(), shorter)
    paused.wait()
    with API_OUTAGES[outage](way.world.api):
        run = paused.end().check()
        if outage == "forbidden" and run.again:
            state = way.request.state()
            assert state == f"KubernetesError {WAITS}", way.request.told()
            assert "403" in way.request.condition("Ready")["message"]
    assert run.again or outage == "forbidden", "nothing runs it again"
    if way.request.read() is not None:
        way.is_not_condemned()
    if run.again:
        way.finish()
    else:  # all that was left to do was allowed
        way.released(run)
    way.is_done()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Service", "Secret"])
def test_409_what_another_run_published_meanwhile(world: Cases, place: Place, kind: str) -> None:
    """An orphan's object, made between reading and publishing: 409 is a wait, and the next run finds its own."""
    way = PATHS["plain"](world, place)
    paused = Paused(world, way.playbook, way.request, {"at": "Publish | Create or change Service and Secret"})
    paused.wait()
    publish(way, kind, owned=True)
    assert paused.end().check().again, "nothing runs it again"
    assert way.request.state() == f"KubernetesError {WAITS}", way.request.told()
    # 422 where the UID in the patch is what is wrong with it.
    assert any(number in way.request.condition("Ready")["message"] for number in ("409", "422"))
    way.finish()
    way.is_done()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Service", "Secret"])
def test_409_what_a_stranger_made_meanwhile(world: Cases, place: Place, kind: str) -> None:
    """It isn't overwritten; the request says so, and goes on when it is gone."""
    way = PATHS["plain"](world, place)
    paused = Paused(world, way.playbook, way.request, {"at": "Publish | Create or change Service and Secret"})
    paused.wait()
    made = publish(way, kind, owned=False)
    assert paused.end().check().again, "nothing runs it again"
    assert way.request.state() == f"KubernetesError {WAITS}", way.request.told()
    way.run()
    assert way.request.condition("Ready")["reason"] == "PublishConflict"
    name, namespace = made["metadata"]["name"], way.request.namespace
    there = objects.get(world.api, "v1", kind, name, namespace) or {}
    assert there["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    objects.delete(world.api, "v1", kind, name, namespace)
    way.finish()
    way.is_done()


def publish(way: Way, kind: str, owned: bool) -> Json:
    """Make an object under a name that the request publishes."""
    request = way.request
    owner = {"apiVersion": API, "kind": "DatabaseRequest", "name": request.name, "uid": request.uid}
    name = request.name if kind == "Secret" else f"{request.name}-db"
    metadata: Json = {"name": name, "namespace": request.namespace}
    if owned:
        metadata["ownerReferences"] = [owner]
    document: Json = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    if kind == "Service":
        document["spec"] = {"type": "ExternalName", "externalName": "elsewhere.example.com"}
    path = objects.path_of("v1", kind, namespace=request.namespace)
    made: Json = objects.call(way.world.api, "POST", path, document)
    return made


@pytest.mark.long
def test_409_another_secret_in_place_of_the_published_one(world: Cases, place: Place) -> None:
    """A deletion whose Secret was replaced between reading and removing: it waits, and leaves the stranger's."""
    way = PATHS["delete"](world, place)
    paused = Paused(world, way.playbook, way.request, {"at": "Remove | Delete objects"})
    paused.wait()
    objects.delete(world.api, "v1", "Secret", way.request.name, way.request.namespace)
    made = publish(way, "Secret", owned=False)
    assert paused.end().check().again, "nothing runs it again"
    way.finish()
    assert way.request.read() is None
    assert way.account is not None
    assert way.account.exists() == (False, False)
    there = objects.get(world.api, "v1", "Secret", way.request.name, way.request.namespace) or {"metadata": {}}
    assert there["metadata"].get("uid") == made["metadata"]["uid"]
