"""What the operator counts on in the Ansible runtime, tried on the runtime in use.

That is ``ansible-operator`` where it is on PATH, else the development stand-in. Both must behave alike: a
rule that only one of them keeps would make the end-to-end tests prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from dev.operator import Operator
from dev.sandbox import Sandbox
from dev.standin.playground import ENVIRONMENT, FINALIZER, GROUP, PERIOD_ANNOTATION, VERSION, Playground
from dev.waiting import wait_for

pytestmark = pytest.mark.e2e
LONG = "1h"  # a period that doesn't come in a test


@dataclass(frozen=True)
class Runtime:
    """The runtime in use on the playground, running."""

    operator: Operator
    playground: Playground


@pytest.fixture(scope="module")
def runtime(
    sandbox: Sandbox, _operator: Operator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Runtime]:
    """The runtime in use, on playbooks of its own; the sandbox's operator is stopped for it."""
    playground = Playground(sandbox.api(), tmp_path_factory.mktemp("runtime"))
    _operator.stop()  # whoever needs it starts it again, with settings of its own
    operator = Operator(sandbox.kubeconfig, playground.watches)
    try:
        operator.start(ENVIRONMENT)
        yield Runtime(operator, playground)
    finally:
        operator.stop()
        playground.close()


@pytest.fixture
def playground(runtime: Runtime) -> Iterator[Playground]:
    """The playground, with the runtime running and no object yet."""
    yield runtime.playground
    runtime.playground.clear()


@pytest.mark.parametrize("case", ["fails", "rescued", "waits_in_secret"])
def test_is_tried_again_at_once(playground: Playground, case: str) -> None:
    """A failed task counts, rescued or not; a censored requeue_after is an error too."""
    name = playground.create("Probe", {"case": case, "period": LONG})
    playground.wait_runs(name, 3)


@pytest.mark.parametrize(
    "case",
    ["ends_well", "ignored", "failed_when_false", "end_play", "unreachable", "waits", "waits_after_rescue"],
)
def test_is_not_tried_again(playground: Playground, case: str) -> None:
    """These ends are good ones; requeue_after is one even after a rescued failure."""
    name = playground.create("Probe", {"case": case, "period": LONG})
    playground.wait_runs(name, 1)
    playground.settle("Probe")
    assert playground.runs(name) == ["run"]


def test_requeue_after_comes_again(playground: Playground) -> None:
    """The period of requeue_after stands in for the kind's own."""
    name = playground.create("Probe", {"case": "waits", "period": "500ms"})
    playground.wait_runs(name, 3)


def test_only_a_new_generation_runs(playground: Playground) -> None:
    """Status and annotations don't cause a run, the spec does."""
    name = playground.create("Probe", {"case": "ends_well"})
    playground.wait_runs(name, 1)
    playground.patch("Probe", name, {"metadata": {"annotations": {"note": "changed"}}})
    found = playground.get("Probe", name)
    assert found is not None
    place = (GROUP, VERSION, playground.namespace, "probes", name)
    playground.objects.patch_namespaced_custom_object_status(*place, {"status": {"note": "changed"}})
    playground.settle("Probe")
    assert playground.runs(name) == ["run"]
    playground.patch("Probe", name, {"spec": {"more": True}})
    playground.wait_runs(name, 2)
    playground.settle("Probe")
    assert playground.runs(name) == ["run", "run"]


def test_runs_of_one_object_do_not_overlap(playground: Playground) -> None:
    """Changes during a run make exactly one more, after it."""
    name = playground.create("Probe", {"case": "lingers"})
    playground.wait_runs(name, 1)
    for number in range(3):
        playground.patch("Probe", name, {"spec": {"change": number}})
    assert playground.runs(name) == ["run"]
    (playground.folder / f"{name}.go").touch()
    playground.wait_runs(name, 2)
    playground.settle("Probe")
    assert playground.runs(name) == ["run", "run"]


def test_period_annotation(playground: Playground) -> None:
    """An object's annotation overrides the kind's period."""
    name = playground.create("Probe", {"case": "ends_well"}, {PERIOD_ANNOTATION: "500ms"})
    playground.wait_runs(name, 3)


def test_bad_period_annotation(playground: Playground) -> None:
    """A period that can't be read is told in the status, by the runtime itself, and nothing is run."""
    name = playground.create("Probe", {"case": "ends_well"}, {PERIOD_ANNOTATION: "5"})

    def failure() -> list[dict[str, Any]]:
        conditions = ((playground.get("Probe", name) or {}).get("status") or {}).get("conditions", [])
        return [item for item in conditions if item["type"] == "Failure" and item["status"] == "True"]

    [condition] = wait_for(failure, f"the condition Failure of {name}", 30)
    assert "Unable to parse reconcile period annotation" in condition["message"]
    playground.delete("Probe", name)
    assert playground.runs(name) == []


def test_text_of_the_spec_is_not_templated(playground: Playground) -> None:
    """With markUnsafe, neither as a variable of its own nor in the whole object."""
    text = "{{ 6 * 7 }}"
    name = playground.create("Probe", {"case": "text", "text": text})
    file = playground.folder / f"{name}.text"
    wait_for(file.exists, f"the file written by {name}", 30)
    assert file.read_text(encoding="utf-8") == f"{text} {text}"


def test_created_object_gets_its_owner_and_is_watched(playground: Playground) -> None:
    """A Service made by POST gets one reference with four fields; deleted or edited, it causes a run."""
    name = playground.create("Probe", {"case": "creates"})
    service = _wait_service(playground, name)
    owner = playground.get("Probe", name)
    assert owner is not None
    uid = owner["metadata"]["uid"]
    expected = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Probe", "name": name, "uid": uid}
    [reference] = service.metadata.owner_references
    assert playground.core.api_client.sanitize_for_serialization(reference) == expected
    playground.settle("Probe")
    runs = len(playground.runs(name))
    playground.core.delete_namespaced_service(name, playground.namespace)
    playground.wait_runs(name, runs + 1)
    _wait_service(playground, name)
    playground.settle("Probe")
    runs = len(playground.runs(name))
    playground.core.patch_namespaced_service(
        name, playground.namespace, {"spec": {"externalName": "x.example.com"}}
    )
    playground.wait_runs(name, runs + 1)


def test_applied_object_gets_no_owner(playground: Playground) -> None:
    """Server-side apply is no POST: no reference, so nothing to find the owner by."""
    name = playground.create("Probe", {"case": "applies"})
    assert _wait_service(playground, name).metadata.owner_references is None


def test_finalizer_goes_after_a_good_run(playground: Playground) -> None:
    """The finalizer is there before the first run and is taken away after one good run with its variables."""
    name = playground.create("FinalProbe", {"case": "ends_well"})
    playground.wait_runs(name, 1)
    found = playground.get("FinalProbe", name)
    assert found is not None
    assert found["metadata"]["finalizers"] == [FINALIZER]
    _delete_and_wait(playground, name)
    assert playground.runs(name) == ["run", "final"]


@pytest.mark.parametrize("final", ["fails", "rescued", "waits"])
def test_finalizer_stays(playground: Playground, final: str) -> None:
    """A failed finalizer run and one that asks for another keep the object; it goes after a good one."""
    name = playground.create("FinalProbe", {"case": "ends_well", "final": final, "period": "200ms"})
    playground.wait_runs(name, 1)
    playground.delete("FinalProbe", name)
    playground.wait_runs(name, 3)
    assert playground.get("FinalProbe", name) is not None
    playground.patch("FinalProbe", name, {"spec": {"final": "ends_well"}})
    _wait_gone(playground, name)


def test_unreachable_host_drops_the_finalizer(playground: Playground) -> None:
    """It counts as a good run; this is why the connection is always local."""
    name = playground.create("FinalProbe", {"case": "ends_well", "final": "unreachable"})
    playground.wait_runs(name, 1)
    _delete_and_wait(playground, name)
    assert playground.runs(name) == ["run", "final"]


def test_deletion_during_a_run(playground: Playground) -> None:
    """The run ends first, then the finalizer's run comes."""
    name = playground.create("FinalProbe", {"case": "lingers"})
    playground.wait_runs(name, 1)
    playground.delete("FinalProbe", name)
    (playground.folder / f"{name}.go").touch()
    _wait_gone(playground, name)
    assert playground.runs(name) == ["run", "final"]


def test_playbook_that_can_not_be_parsed(playground: Playground, runtime: Runtime) -> None:
    """It is tried again and again, and the object's status says nothing."""
    needle = "did not receive playbook_on_stats event"
    before = runtime.operator.log.read_text(encoding="utf-8", errors="replace").count(needle)
    name = playground.create("BrokenProbe", {})

    def failures() -> int:
        return runtime.operator.log.read_text(encoding="utf-8", errors="replace").count(needle) - before

    wait_for(lambda: failures() >= 2, "two failures without a stats event in the operator's log", 60)
    found = playground.get("BrokenProbe", name)
    assert found is not None
    assert "status" not in found


def test_restart_runs_every_object_once(playground: Playground, runtime: Runtime) -> None:
    """Also one whose requeue_after has not come yet."""
    names = [playground.create("Probe", {"case": case, "period": LONG}) for case in ("ends_well", "waits")]
    for name in names:
        playground.wait_runs(name, 1)
    runtime.operator.stop()
    runtime.operator.start(ENVIRONMENT)
    for name in names:
        playground.wait_runs(name, 2)
    playground.settle("Probe")
    assert [playground.runs(name) for name in names] == [["run", "run"]] * 2


def _wait_service(playground: Playground, name: str) -> Any:
    def read() -> Any:
        try:
            return playground.core.read_namespaced_service(name, playground.namespace)
        except ApiException as error:
            if error.status == 404:
                return None
            raise

    return wait_for(read, f"the Service {name}", 60)


def _delete_and_wait(playground: Playground, name: str) -> None:
    playground.delete("FinalProbe", name)
    _wait_gone(playground, name)


def _wait_gone(playground: Playground, name: str) -> None:
    wait_for(lambda: playground.get("FinalProbe", name) is None, f"{name} to be gone", 60)
