"""What of a request may change before it has its place on a server, once it has, and once it is Ready."""

import uuid
from collections.abc import Iterator

import pytest
from kubernetes.client import ApiClient

from tests.integration.apihelpers import (
    REQUEST,
    Api,
    Json,
    Kind,
    copied,
    fresh_namespace,
    installed,
    own_group,
)

PIN: Json = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "development"},
             "name": "mariadb-1"}
OTHER_PIN: Json = {**PIN, "name": "mariadb-2"}
PLAIN: Json = {"scope": "development", "type": "mariadb", "name": "mariadb"}
SEEDED: Json = {**PLAIN, "seed": {"name": "old", "namespace": "shop"}}
PINNED: Json = {**PLAIN, "databaseConnectionReference": PIN}

PLACED: Json = {"observedDatabaseConnectionReference": PIN}
READY: Json = {**PLACED, "databaseInfo": {"username": "shop", "databasename": "shop"}}

FIXED = "once the database has its place on a server"
NOT_YET = "wait for the request to be Ready"
OTHER_SEED = "can't name another Secret"


@pytest.fixture(scope="module")
def api(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def kind(api: Api) -> Iterator[Kind]:
    """The request's kind in a group that no operator watches: the tests write its status themselves."""
    kind, crd = copied(REQUEST, own_group())
    with installed(api, crd):
        yield kind


@pytest.fixture(scope="module")
def place(api: Api) -> Iterator[str]:
    with fresh_namespace(api, "api-placement") as name:
        yield name


def _stored(api: Api, kind: Kind, place: str, spec: Json, status: Json | None) -> str:
    name = f"r-{uuid.uuid4().hex[:8]}"
    answer = api.create(kind, kind.manifest(name, spec), place)
    assert answer.ok, answer.message
    if status is not None:
        answer = api.patch(kind, name, {"status": status}, place, subresource="status")
        assert answer.ok, answer.message
    return name


@pytest.mark.parametrize("status", [None, {}, PLACED, READY], ids=["new", "no-place", "placed", "ready"])
@pytest.mark.parametrize("change", [
    {"name": "other"},
    {"dropDatabaseOnDelete": False},
    {"forcedReconcilation": "2026-01-31T12:00:00Z"},
], ids=lambda change: next(iter(change)))
@pytest.mark.parametrize("spec", [PLAIN, SEEDED, PINNED], ids=["plain", "seeded", "pinned"])
def test_always_free(api: Api, kind: Kind, place: str, spec: Json, change: Json, status: Json | None) -> None:
    name = _stored(api, kind, place, spec, status)
    answer = api.patch(kind, name, {"spec": change}, place)
    assert answer.ok, answer.message


@pytest.mark.parametrize(("spec", "change"), [
    (PLAIN, {"scope": "production"}),
    (PLAIN, {"type": "mysql"}),
    (PLAIN, {"seed": {"name": "old", "namespace": "shop"}}),
    (SEEDED, {"seed": None}),
    (SEEDED, {"seed": {"name": "other"}}),
    (PLAIN, {"databaseConnectionReference": PIN}),
    (PINNED, {"databaseConnectionReference": OTHER_PIN}),
    (PINNED, {"databaseConnectionReference": None}),
])
@pytest.mark.parametrize("status", [None, {"observedGeneration": 1}], ids=["new", "refused"])
def test_free_without_a_place(api: Api, kind: Kind, place: str, spec: Json, change: Json,
                              status: Json | None) -> None:
    name = _stored(api, kind, place, spec, status)
    answer = api.patch(kind, name, {"spec": change}, place)
    assert answer.ok, answer.message


@pytest.mark.parametrize("status", [PLACED, READY], ids=["placed", "ready"])
@pytest.mark.parametrize(("spec", "change", "field"), [
    (PLAIN, {"scope": "production"}, "spec.scope"),
    (PLAIN, {"type": "mysql"}, "spec.type"),
    (PLAIN, {"databaseConnectionReference": PIN}, "spec.databaseConnectionReference"),
    (PINNED, {"databaseConnectionReference": OTHER_PIN}, "spec.databaseConnectionReference"),
    (PINNED, {"databaseConnectionReference": {"databaseObjectReference": {"name": "other"}}},
     "spec.databaseConnectionReference"),
    (PINNED, {"databaseConnectionReference": None}, "spec.databaseConnectionReference"),
    (SEEDED, {"seed": {"name": "other"}}, "spec.seed"),
    (SEEDED, {"seed": {"namespace": "other"}}, "spec.seed"),
])
def test_fixed_with_a_place(api: Api, kind: Kind, place: str, spec: Json, change: Json, field: str,
                            status: Json) -> None:
    name = _stored(api, kind, place, spec, status)
    answer = api.patch(kind, name, {"spec": change}, place)
    assert answer.code == 422
    assert field in answer.message
    assert FIXED in answer.message
    assert "put the old" in answer.message


@pytest.mark.parametrize(("spec", "change"), [
    (SEEDED, {"seed": None}),
    (PLAIN, {"seed": {"name": "old", "namespace": "shop"}}),
], ids=["taken-away", "given"])
def test_seed_before_ready(api: Api, kind: Kind, place: str, spec: Json, change: Json) -> None:
    name = _stored(api, kind, place, spec, PLACED)
    answer = api.patch(kind, name, {"spec": change}, place)
    assert answer.code == 422
    assert "spec.seed" in answer.message
    assert NOT_YET in answer.message


def test_seed_may_be_taken_away_and_given_again_after_ready(api: Api, kind: Kind, place: str) -> None:
    name = _stored(api, kind, place, SEEDED, READY)
    gone = api.patch(kind, name, {"spec": {"seed": None}}, place)
    assert gone.ok, gone.message
    assert "seed" not in gone.body["spec"]
    again = api.patch(kind, name, {"spec": {"seed": {"name": "new", "namespace": "shop"}}}, place)
    assert again.ok, again.message
    other = api.patch(kind, name, {"spec": {"seed": {"name": "old"}}}, place)
    assert OTHER_SEED in other.message


def test_later_deployment_without_a_seed_may_put_the_whole_object(api: Api, kind: Kind, place: str) -> None:
    name = _stored(api, kind, place, SEEDED, READY)
    stored = api.get(kind, name, place).body
    body = kind.manifest(name, PLAIN, resourceVersion=stored["metadata"]["resourceVersion"])
    answer = api.call("PUT", kind.path(place, name), body)
    assert answer.ok, answer.message
    assert answer.body["status"] == READY


@pytest.mark.parametrize("status", [PLACED, READY], ids=["placed", "ready"])
def test_keeping_the_seed_secret_stays_free(api: Api, kind: Kind, place: str, status: Json) -> None:
    name = _stored(api, kind, place, SEEDED, status)
    answer = api.patch(kind, name, {"spec": {"seed": {"deleteAfterSuccess": True}}}, place)
    assert answer.ok, answer.message


def test_spec_is_free_again_when_the_place_is_given_up(api: Api, kind: Kind, place: str) -> None:
    name = _stored(api, kind, place, SEEDED, PLACED)
    answer = api.patch(kind, name, {"status": {"observedDatabaseConnectionReference": None}}, place,
                       subresource="status")
    assert answer.ok, answer.message
    answer = api.patch(kind, name, {"spec": {"scope": "production", "seed": None}}, place)
    assert answer.ok, answer.message


def test_spec_and_status_have_separate_doors(api: Api, kind: Kind, place: str) -> None:
    name = _stored(api, kind, place, SEEDED, PLACED)
    forged = api.patch(kind, name, {"status": READY, "spec": {"dropDatabaseOnDelete": False}}, place)
    assert forged.ok, forged.message
    assert forged.body["status"] == PLACED
    told = api.patch(kind, name, {"status": {"observedGeneration": 2}, "spec": {"name": "x"}}, place,
                     subresource="status")
    assert told.ok, told.message
    assert told.body["spec"]["name"] == PLAIN["name"]
