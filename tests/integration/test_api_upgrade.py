"""Objects that were stored under an older, looser schema stay usable under this one."""

from collections.abc import Iterator
from functools import partial

import pytest
from kubernetes.client import ApiClient

from dev.waiting import wait_for
from tests.integration.apihelpers import (
    CRDS,
    PROVIDER,
    REQUEST,
    Api,
    Json,
    Kind,
    copied,
    fresh_namespace,
    installed,
    own_group,
)

FINALIZER = "example.com/held"
LOOSE: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
PLACE: Json = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "development"},
               "name": "one"}
GOOD: Json = {"scope": "development", "type": "mariadb", "name": "mariadb"}
SERVER: Json = {"name": "one", "hostname": "db.example.com", "username": "dbaas",
                "passwordSecretRef": {"name": "one", "namespace": "databases"}}


def _provider(**change: object) -> Json:
    return {"scope": "development", "connections": [{**SERVER, **change}]}


CASES = [
    pytest.param(REQUEST, "good", GOOD, id="request-good"),
    pytest.param(REQUEST, "r" * 100, GOOD, id="request-long-name"),
    pytest.param(REQUEST, "same", {**GOOD, "seed": {"name": "same", "namespace": "x"}}, id="request-same"),
    pytest.param(REQUEST, "names", {**GOOD, "scope": "{{ X }}", "name": "UPPER_case"}, id="request-names"),
    pytest.param(REQUEST, "type", {**GOOD, "type": "oracle"}, id="request-type"),
    pytest.param(REQUEST, "missing", {"scope": "development"}, id="request-missing-fields"),
    pytest.param(REQUEST, "no-scope", {"seed": {"name": "no-scope"}}, id="request-seed-half"),
    pytest.param(REQUEST, "unknown", {**GOOD, "additionalUsers": [{"a": 1}]}, id="request-unknown-field"),
    pytest.param(REQUEST, "date", {**GOOD, "forcedReconcilation": "yesterday"}, id="request-date"),
    pytest.param(PROVIDER, "good", _provider(), id="provider-good"),
    pytest.param(PROVIDER, "loopback", _provider(hostname="127.0.0.1"), id="provider-loopback"),
    pytest.param(PROVIDER, "port", _provider(port=0), id="provider-port"),
    pytest.param(PROVIDER, "tls", _provider(tls={"mode": "verify-ca"}), id="provider-tls"),
    pytest.param(PROVIDER, "twice", {**_provider(), "connections": [SERVER] * 2}, id="provider-twice"),
    pytest.param(PROVIDER, "empty", {"scope": "development"}, id="provider-empty"),
]


@pytest.fixture(scope="module")
def api(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def upgraded(api: Api) -> Iterator[tuple[str, str]]:
    """Store every case's object under an open schema, then put this project's schema in its place.

    Yields:
        The group of both kinds and the namespace of the requests.
    """
    group = own_group()
    (request, request_crd), (provider, provider_crd) = copied(REQUEST, group), copied(PROVIDER, group)
    with fresh_namespace(api, "api-upgrade") as place, installed(api, _loosened(request_crd)), \
            installed(api, _loosened(provider_crd)):
        try:
            for case in CASES:
                original, name, spec = case.values
                kind = request if original is REQUEST else provider
                body = kind.manifest(str(name), spec, finalizers=[FINALIZER])  # type: ignore[arg-type]
                answer = api.create(kind, body, place)
                assert answer.ok, answer.message
            for kind, crd in (request, request_crd), (provider, provider_crd):
                _put(api, crd)
                wait_for(partial(_is_strict, api, kind, place),
                         f"the stricter schema of {kind.kind} to be in force")
            yield group, place
        finally:
            # Under the open schema again, so that a fault in this one can't keep the objects.
            for kind, crd in (request, request_crd), (provider, provider_crd):
                _put(api, _loosened(crd))
                for item in api.call("GET", kind.path(place)).body.get("items", []):
                    wait_for(partial(_freed, api, kind, item["metadata"]["name"], place),
                             f"{kind.kind} {item['metadata']['name']} to be free of its finalizer")


def _put(api: Api, crd: Json) -> None:
    path = f"{CRDS}/{crd['metadata']['name']}"
    stored = api.call("GET", path).body
    answer = api.call("PUT", path, {**stored, "spec": crd["spec"]})
    assert answer.ok, answer.message


def _freed(api: Api, kind: Kind, name: str, place: str) -> bool:
    answer = api.patch(kind, name, {"metadata": {"finalizers": None}}, place)
    return answer.ok or answer.code == 404


def _is_strict(api: Api, kind: Kind, place: str) -> bool:
    return not api.create(kind, kind.manifest("probe", {}), place, dry_run=True).ok


def _loosened(crd: Json) -> Json:
    [version] = crd["spec"]["versions"]
    loose = {**version, "schema": {"openAPIV3Schema": LOOSE}}
    return {**crd, "spec": {**crd["spec"], "versions": [loose]}}


@pytest.mark.parametrize(("original", "name", "spec"), CASES)
def test_stored_object_stays_usable(api: Api, upgraded: tuple[str, str], original: Kind, name: str,
                                    spec: Json) -> None:
    group, place = upgraded
    kind, _ = copied(original, group)
    status: Json = {"observedGeneration": 1}
    if original is REQUEST:
        status["observedDatabaseConnectionReference"] = PLACE

    told = api.patch(kind, name, {"status": status}, place, subresource="status")
    assert told.ok, told.message
    noted = api.patch(kind, name, {"metadata": {"annotations": {"example.com/note": "x"}}}, place)
    assert noted.ok, noted.message
    # The runtime writes the finalizer by an update of the whole object.
    body = api.get(kind, name, place).body
    body["metadata"]["finalizers"].append("example.com/second")
    held = api.call("PUT", kind.path(place, name), body)
    assert held.ok, held.message
    deleted = api.delete(kind, name, place)
    assert deleted.ok, deleted.message
    told = api.patch(kind, name, {"status": {"observedGeneration": 2}}, place, subresource="status")
    assert told.ok, told.message
    freed = api.patch(kind, name, {"metadata": {"finalizers": None}}, place)
    assert freed.ok, freed.message
    assert api.get(kind, name, place).code == 404
