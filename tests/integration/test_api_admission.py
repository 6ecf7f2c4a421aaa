"""The runtime obeys annotations that tenants can write: the admission policy keeps them within bounds."""

import copy
import uuid
from collections.abc import Iterator

import pytest
from kubernetes.client import ApiClient

from dev.waiting import wait_for
from tests.integration.apihelpers import (
    GROUP,
    PROVIDER,
    REQUEST,
    Api,
    Json,
    Kind,
    copied,
    documents,
    fresh_namespace,
    installed,
    own_group,
)

PREFIX = "ansible.sdk.operatorframework.io/"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"

SPEC: Json = {"scope": "development", "type": "mariadb", "name": "mariadb"}
SPECS: dict[str, Json] = {
    REQUEST.kind: SPEC,
    PROVIDER.kind: {"scope": "development", "connections": [
        {"name": "one", "hostname": "db.example.com", "username": "dbaas",
         "passwordSecretRef": {"name": "one", "namespace": "databases"}}]},
}

PERIOD = "write a duration from 1m to 24h"
VERBOSITY = 'write "0", "1" or "2"'
ARTIFACTS = 'write a whole number from "4" to "20"'
OTHERS = "only reconcile-period, verbosity and max-runner-artifacts are allowed"


@pytest.fixture(scope="module")
def api(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def place(api: Api) -> Iterator[str]:
    with fresh_namespace(api, "api-admission") as name:
        yield name


@pytest.mark.parametrize("kind", [REQUEST, PROVIDER], ids=lambda kind: kind.kind)
@pytest.mark.parametrize("annotations", [
    {},
    {"example.com/anything": "{{ 7*7 }}"},
    {"operatorframework.io/verbosity": "9"},
    *({PREFIX + "reconcile-period": value} for value in
      ("1m", "60s", "60000ms", "1m0s", "1h", "1h30m", "0.5h", "1.5h", "24h", "1440m", "86400s", "23h59m60s")),
    *({PREFIX + "verbosity": value} for value in ("0", "1", "2")),
    *({PREFIX + "max-runner-artifacts": value} for value in ("4", "9", "10", "19", "20")),
    {PREFIX + "reconcile-period": "6h", PREFIX + "verbosity": "1", PREFIX + "max-runner-artifacts": "4"},
], ids=str)
def test_annotation_is_accepted(api: Api, place: str, kind: Kind, annotations: dict[str, str]) -> None:
    body = kind.manifest("api-admission", SPECS[kind.kind], annotations=annotations)
    answer = api.create(kind, body, place, dry_run=True)
    assert answer.ok, answer.message


REFUSED = [
    *(("reconcile-period", value, PERIOD) for value in (
        "", "0", "0s", "1ns", "59s", "59.999s", "-1h", "+1h", "24h0.001s", "24h1s", "25h", "999999h",
        "99999999h", "999999999999999999999h", "abc", "1", "60", "1d", "1h 30m", " 1h", "1h\n", "h", "1.h",
        ".5h", "1e3s", "1H", "1h" * 30, "{{ 1h }}")),
    *(("verbosity", value, VERBOSITY) for value in (
        "", "3", "7", "-1", "+1", "01", "2.0", "1 ", "1\n", "abc", "99999999999")),
    *(("max-runner-artifacts", value, ARTIFACTS) for value in (
        "", "0", "1", "2", "3", "21", "100", "-1", "+1", "05", "1.5", "20\n", "abc", "99999999999999999999")),
    *((name, "x", OTHERS) for name in ("ansible-verbosity", "Verbosity", "reconcile-period2", "anything")),
]


@pytest.mark.parametrize("kind", [REQUEST, PROVIDER], ids=lambda kind: f"O11-{kind.kind}")
@pytest.mark.parametrize(("name", "value", "says"), REFUSED)
def test_annotation_is_refused(api: Api, place: str, kind: Kind, name: str, value: str, says: str) -> None:
    body = kind.manifest("api-admission", SPECS[kind.kind], annotations={PREFIX + name: value})
    answer = api.create(kind, body, place, dry_run=True)
    assert answer.code == 422
    assert says in answer.message
    assert "the annotation away" in answer.message or "take the others away" in answer.message


@pytest.fixture(scope="module")
def guarded(api: Api, place: str) -> Iterator[tuple[Kind, str]]:
    """A copy of the request's kind and of the policy, and an object from before the policy.

    Yields:
        The kind, and the name of a stored object whose annotation is out of bounds and that is held by a
        finalizer.
    """
    group = own_group()
    kind, crd = copied(REQUEST, group)
    [policy] = documents("admission/runtime_annotations_policy.yaml")
    [binding] = documents("admission/runtime_annotations_binding.yaml")
    name = f"annotations-{uuid.uuid4().hex[:8]}"
    policy, binding = _renamed(policy, name), _renamed(binding, name)
    [rule] = policy["spec"]["matchConstraints"]["resourceRules"]
    assert rule["apiGroups"] == [GROUP]
    rule["apiGroups"] = [group]
    binding["spec"]["policyName"] = name
    with installed(api, crd):
        old = kind.manifest("old", SPEC, annotations={PREFIX + "verbosity": "99"},
                            finalizers=["example.com/held"])
        answer = api.create(kind, old, place)
        assert answer.ok, answer.message
        try:
            for path, body in (POLICIES, policy), (BINDINGS, binding):
                answer = api.call("POST", path, body)
                assert answer.ok, answer.message
            probe = kind.manifest("probe", SPEC, annotations={PREFIX + "verbosity": "99"})
            wait_for(lambda: not api.create(kind, probe, place, dry_run=True).ok, "the policy to be in force")
            yield kind, "old"
        finally:
            for path in BINDINGS, POLICIES:
                api.call("DELETE", f"{path}/{name}")
            api.patch(kind, "old", {"metadata": {"annotations": None, "finalizers": None}}, place)


def _renamed(body: Json, name: str) -> Json:
    return {**copy.deepcopy(body), "metadata": {"name": name}}


def test_object_from_before_the_policy(api: Api, place: str, guarded: tuple[Kind, str]) -> None:
    kind, name = guarded

    def annotate(value: str | None, key: str = "verbosity") -> tuple[int, str]:
        change = {"metadata": {"annotations": {PREFIX + key: value}}}
        answer = api.patch(kind, name, change, place, dry_run=True)
        return answer.code, answer.message

    # Alive: every write says what is wrong until it is put right; the status stays writable.
    answer = api.patch(kind, name, {"spec": {"name": "other"}}, place)
    assert answer.code == 422
    assert VERBOSITY in answer.message
    answer = api.patch(kind, name, {"status": {"observedGeneration": 1}}, place, subresource="status")
    assert answer.ok, answer.message
    assert annotate("2") == (200, "")
    assert annotate(None) == (200, "")

    # Being deleted: what it carries already passes, a new order doesn't.
    assert api.delete(kind, name, place).ok
    answer = api.patch(kind, name, {"spec": {"dropDatabaseOnDelete": False}}, place)
    assert answer.ok, answer.message
    assert VERBOSITY in annotate("9999999")[1]
    assert PERIOD in annotate("abc", "reconcile-period")[1]
    assert OTHERS in annotate("x", "anything")[1]
    assert annotate("2") == (200, "")
    assert annotate(None) == (200, "")

    body = api.get(kind, name, place).body
    body["metadata"]["finalizers"] = []
    answer = api.call("PUT", kind.path(place, name), body)
    assert answer.ok, answer.message
    assert api.get(kind, name, place).code == 404


def test_update_of_an_object_is_judged(api: Api, place: str, guarded: tuple[Kind, str]) -> None:
    kind, _ = guarded
    name = f"r-{uuid.uuid4().hex[:8]}"
    assert api.create(kind, kind.manifest(name, SPEC), place).ok
    answer = api.patch(kind, name, {"metadata": {"annotations": {PREFIX + "reconcile-period": "1ns"}}}, place)
    assert answer.code == 422
    assert PERIOD in answer.message
    assert api.delete(kind, name, place).ok
