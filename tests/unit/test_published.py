"""What is published: made, changed, replaced and retired, and never anybody else's."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import published, seed_secret, settling

from tests.unit import samples
from tests.unit.samples import OTHER_UID, UID, connection, encode, owned, read, row

NAME, ADDRESS = connection(hostname="db.example.com"), connection(hostname="192.0.2.5", port=3307)
PASSWORD = "a'b\"c ü€😀"


def live(wanted: dict[str, dict[str, Any]], **more: dict[str, Any]) -> dict[str, Any]:
    """The objects as the API server gives them back: with what it adds of itself."""
    found: dict[str, Any] = {"service": None, "secret": None, "slice": None}
    for kind, document in wanted.items():
        stored = copy.deepcopy(document)
        stored["metadata"].update(
            {"uid": f"{kind}-uid", "resourceVersion": "5", "creationTimestamp": "x", "managedFields": []}
        )
        if kind == "service":
            stored["spec"] = {k: v for k, v in stored["spec"].items() if v is not None}
            stored["spec"].update({"sessionAffinity": "None", "internalTrafficPolicy": "Cluster"})
            if stored["spec"]["type"] == "ClusterIP":
                stored["spec"].update({"clusterIP": "10.0.0.7", "clusterIPs": ["10.0.0.7"]})
        if kind == "slice":
            stored["endpoints"][0]["conditions"] = {"ready": True}
        found[kind] = {**stored, **more.get(kind, {})}
    return found


def planned(
    found: dict[str, Any], where: dict[str, Any] = NAME, password: str = PASSWORD, **changes: Any
) -> dict[str, Any]:
    return published.plan(read(published=found, **changes), where, row(), {"password": password})


def kinds(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["kind"] for entry in entries]


def wanted(where: dict[str, Any] = NAME, password: str = PASSWORD, **changes: Any) -> dict[str, dict[str, Any]]:
    return published.desired(read(**changes)["request"], where, row(), password)


NOTHING: dict[str, Any] = {"service": None, "secret": None, "slice": None}
DONE: dict[str, list[dict[str, Any]]] = {"replace": [], "apply": [], "retire": []}


def test_service_and_secret_of_a_name() -> None:
    documents = wanted()
    assert set(documents) == {"service", "secret"}
    service, secret = documents["service"], documents["secret"]
    assert service["spec"] == {
        "type": "ExternalName",
        "externalName": "db.example.com",
        "ports": None,
    }
    assert (service["metadata"]["name"], secret["metadata"]["name"]) == ("mariadb", "req")
    assert service["metadata"]["labels"]["dbaas.lagoon.sh/service"] == "true"
    assert secret["metadata"]["labels"]["dbaas.lagoon.sh/secret"] == "true"
    for document in documents.values():
        assert document["metadata"]["namespace"] == "ns"
        assert document["metadata"]["labels"]["app.kubernetes.io/instance"] == "req"
        assert document["metadata"]["ownerReferences"] == [
            {"apiVersion": "crd.lagoon.sh/v1alpha1", "kind": "DatabaseRequest", "name": "req", "uid": UID}
        ]
    assert {key: base64.b64decode(value).decode() for key, value in secret["data"].items()} == {
        "MARIADB_HOST": "mariadb",
        "MARIADB_PORT": "3306",
        "MARIADB_DATABASE": "app",
        "MARIADB_USERNAME": "app-user",
        "MARIADB_PASSWORD": PASSWORD,
    }


def test_keys_of_a_name_with_dashes_and_replicas() -> None:
    where = connection(replicas=["r1.example.com", "r2.example.com"])
    secret = published.desired(samples.request({"name": "my-db"}), where, row(), "x")["secret"]
    assert set(secret["data"]) == {
        f"MY_DB_{k}" for k in ("HOST", "PORT", "DATABASE", "USERNAME", "PASSWORD", "READREPLICA_HOSTS")
    }
    assert base64.b64decode(secret["data"]["MY_DB_READREPLICA_HOSTS"]) == b"r1.example.com,r2.example.com"


@pytest.mark.parametrize(
    ("hostname", "family"),
    [
        pytest.param("192.0.2.5", "IPv4", id="S4-IPv4"),
        pytest.param("fd00::5", "IPv6", id="S4-IPv6"),
        pytest.param("db.example.com", None, id="S4-name"),
        pytest.param("1.example.com", None, id="S4-name-with-a-number"),
    ],
)
def test_s4_addresses(hostname: str, family: str | None) -> None:
    documents = wanted(connection(hostname=hostname, port=3307))
    assert published.address_family(hostname) == family
    assert ("slice" in documents) is (family is not None)
    if family:
        service, piece = documents["service"], documents["slice"]
        assert "selector" not in service["spec"]
        assert (service["spec"]["type"], service["spec"]["externalName"]) == ("ClusterIP", None)
        assert piece["addressType"] == family
        assert piece["endpoints"] == [{"addresses": [hostname]}]
        assert piece["metadata"]["labels"]["kubernetes.io/service-name"] == service["metadata"]["name"]
        assert [p["port"] for p in piece["ports"]] == [p["port"] for p in service["spec"]["ports"]] == [3307]
        assert piece["ports"][0]["name"] == service["spec"]["ports"][0]["name"], "or the service finds no endpoint"


@pytest.mark.parametrize("where", [pytest.param(NAME, id="name"), pytest.param(ADDRESS, id="address")])
def test_create(where: dict[str, Any]) -> None:
    got = planned(NOTHING, where)
    assert (got["replace"], got["retire"]) == ([], [])
    assert kinds(got["apply"]) == [d["kind"] for d in wanted(where).values()]
    # A create ignores this UID, a patch is refused by it: what came up in the meantime isn't overwritten.
    assert {d["metadata"]["uid"] for d in got["apply"]} == {published.CREATE_ONLY}


@pytest.mark.parametrize("where", [pytest.param(NAME, id="name"), pytest.param(ADDRESS, id="address")])
def test_a_steady_pass_writes_nothing(where: dict[str, Any]) -> None:
    assert planned(live(wanted(where)), where) == DONE


def patched(found: dict[str, Any], kind: str, where: dict[str, Any] = NAME) -> dict[str, Any]:
    got = planned(found, where)
    assert (got["replace"], got["retire"], kinds(got["apply"])) == ([], [], [kind])
    document = got["apply"][0]
    assert document["metadata"]["uid"] == f"{kind.lower()}-uid", "only the very object that was read"
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("spec", "externalName"), "evil.example.com", id="O5-host-edited"),
        pytest.param(("metadata", "labels"), {}, id="labels-gone"),
        pytest.param(("metadata", "ownerReferences"), "twice", id="two-owners"),
    ],
)
def test_an_edited_service_is_put_right(path: tuple[str, str], value: Any) -> None:
    found = live(wanted())
    if value == "twice":
        value = found["service"]["metadata"]["ownerReferences"] * 2
    found["service"][path[0]][path[1]] = value
    assert patched(found, "Service")["spec"]["externalName"] == "db.example.com"


def test_labels_of_others_stay() -> None:
    found = live(wanted())
    found["service"]["metadata"]["labels"]["team"] = "x"
    found["secret"]["metadata"]["annotations"] = {"a": "b"}
    assert planned(found) == DONE


def test_o5_an_edited_secret_is_put_right() -> None:
    found = live(wanted())
    found["secret"]["data"]["MARIADB_DATABASE"] = encode("somebody-elses")
    assert patched(found, "Secret")["data"]["MARIADB_DATABASE"] == encode("app")


def test_stale_keys_go() -> None:
    found = live(wanted())
    found["secret"]["data"].update({"OLD_HOST": encode("x"), "OLD_PASSWORD": encode("x")})
    document = patched(found, "Secret")
    assert (document["data"]["OLD_HOST"], document["data"]["OLD_PASSWORD"]) == (None, None)
    assert document["data"]["MARIADB_PASSWORD"] == encode(PASSWORD)


def test_an_emptied_secret_is_filled() -> None:
    found = live(wanted())
    del found["secret"]["data"]
    assert patched(found, "Secret")["data"] == wanted()["secret"]["data"]


FIXED = [{"immutable": True}, {"type": "kubernetes.io/basic-auth"}]


@pytest.mark.parametrize("change", FIXED)
def test_what_can_not_be_changed_and_is_right_is_left(change: dict[str, Any]) -> None:
    found = live(wanted(), secret=change)
    found["secret"]["data"]["MORE"] = encode("x")
    assert planned(found) == DONE


@pytest.mark.parametrize("change", FIXED)
def test_what_can_not_be_changed_is_replaced(change: dict[str, Any]) -> None:
    found = live(wanted(), secret=change)
    found["secret"]["data"]["MARIADB_PORT"] = encode("1")
    got = planned(found)
    assert got["replace"] == [
        {"apiVersion": "v1", "kind": "Secret", "name": "req", "namespace": "ns", "uid": "secret-uid"}
    ]
    assert kinds(got["apply"]) == ["Secret"]
    assert got["apply"][0]["metadata"]["uid"] == published.CREATE_ONLY


def test_s4_name_to_address_and_back() -> None:
    there = planned(live(wanted(NAME)), ADDRESS)
    assert (there["replace"], there["retire"], kinds(there["apply"])) == (
        [],
        [],
        ["Service", "EndpointSlice", "Secret"],
    )
    assert there["apply"][0]["metadata"]["uid"] == "service-uid", "the Service follows in place"
    assert there["apply"][0]["spec"]["externalName"] is None
    back = planned(live(wanted(ADDRESS)), NAME)
    assert (back["replace"], kinds(back["apply"])) == ([], ["Service", "Secret"])
    assert back["apply"][0]["metadata"]["uid"] == "service-uid"
    assert [(d["kind"], d["uid"]) for d in back["retire"]] == [("EndpointSlice", "slice-uid")]


def test_s4_another_address() -> None:
    got = planned(live(wanted(ADDRESS)), connection(hostname="192.0.2.6", port=3307))
    assert (got["replace"], kinds(got["apply"]), got["retire"]) == ([], ["EndpointSlice"], [])


def test_s4_another_family_replaces_the_slice() -> None:
    got = planned(live(wanted(ADDRESS)), connection(hostname="fd00::5", port=3307))
    assert kinds(got["replace"]) == kinds(got["apply"]) == ["EndpointSlice"]


def test_a_former_names_service_goes_last() -> None:
    old = owned("Service", "former")
    got = planned(live(wanted()), stale_services=[old])
    assert got == {
        **DONE,
        "retire": [
            {"apiVersion": "v1", "kind": "Service", "name": "former", "namespace": "ns", "uid": "Service-former-uid"}
        ],
    }


@pytest.mark.parametrize("kind", ["Service", "Secret"])
@pytest.mark.parametrize(
    "owners",
    [
        pytest.param([], id="O1-nobodys"),
        pytest.param(None, id="O1-no-field"),
        pytest.param(
            [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "req", "uid": UID}], id="O1-another-kind"
        ),
        pytest.param(
            [{"apiVersion": "crd.lagoon.sh/v1alpha1", "kind": "DatabaseRequest", "name": "req", "uid": OTHER_UID}],
            id="O8-same-name-another-uid",
        ),
    ],
)
def test_foreign_objects(kind: str, owners: list[dict[str, str]] | None) -> None:
    foreign = owned(kind, "x")
    foreign["metadata"]["ownerReferences"] = owners
    found = read(published={**NOTHING, kind.lower(): foreign})
    assert published.conflicts(found["request"], found["published"]) == [kind]
    assert settling.publish_conflict(found) == {"reason": "PublishConflict", "params": {"kind": kind}}
    assert published.removals(found) == [], "never deleted with the request"
    assert published.published_password(found) is None, "never read"


def test_own_objects_are_no_conflict() -> None:
    found = read(published=live(wanted(ADDRESS)))
    assert published.conflicts(found["request"], found["published"]) == []
    assert settling.publish_conflict(found) == {}


def test_a_slice_of_others_is_a_conflict_too() -> None:
    found = read(published={**live(wanted()), "slice": owned("EndpointSlice", "mariadb", "somebody")})
    assert settling.publish_conflict(found)["params"] == {"kind": "EndpointSlice"}
    assert "EndpointSlice" not in kinds(published.removals(found))


def test_removals_are_the_requests_own() -> None:
    found = read(
        published={**live(wanted(ADDRESS)), "secret": owned("Secret", "req", OTHER_UID)},
        stale_services=[owned("Service", "former")],
    )
    assert [(d["kind"], d["name"]) for d in published.removals(found)] == [
        ("Service", "mariadb"),
        ("EndpointSlice", "mariadb"),
        ("Service", "former"),
    ]
    assert all(d["uid"] for d in published.removals(found))


@pytest.mark.parametrize(
    ("data", "password"),
    [
        pytest.param({"MARIADB_PASSWORD": encode(PASSWORD)}, PASSWORD, id="there"),
        pytest.param(
            {"FORMER_PASSWORD": encode(PASSWORD), "FORMER_HOST": encode("x")}, PASSWORD, id="of-a-former-name"
        ),
        pytest.param(
            {"A_PASSWORD": encode("planted"), "MARIADB_PASSWORD": encode(PASSWORD)},
            PASSWORD,
            id="O5-beside-a-planted-key",
        ),
        pytest.param({"MARIADB_HOST": encode("x")}, None, id="O5-key-gone"),
        pytest.param({"MARIADB_PASSWORD": encode(b"\xff\xfe")}, None, id="P4-not-text"),
        pytest.param({"MARIADB_PASSWORD": "A"}, None, id="not-base64"),
        pytest.param({}, None, id="empty"),
        pytest.param(None, None, id="none"),
    ],
)
def test_published_password(data: dict[str, str] | None, password: str | None) -> None:
    found = read(published={**NOTHING, "secret": owned("Secret", "req", data=data)})
    assert published.published_password(found) == password


def kept(there: dict[str, Any] | None = None, login: dict[str, str] | None = None) -> dict[str, Any]:
    where = connection(hostname="db.example.com", port=3307)
    found = read(kept=there, request_deleting=True)
    return published.kept_plan(
        found, {**row(), "connection": where}, {"password": PASSWORD} if login is None else login
    )


NOTHING_KEPT: dict[str, Any] = {"create": [], "release": {}, "conflict": False}
STORED = {"name": "req-kept", "namespace": "ns", "uid": "kept-uid"}
RELEASED = {"apiVersion": "v1", "kind": "Secret", "metadata": {**STORED, "ownerReferences": None}}


def test_d7_the_kept_secret_is_a_seed() -> None:
    got = kept()
    assert (len(got["create"]), got["release"], got["conflict"]) == (1, {}, False)
    secret = got["create"][0]
    assert seed_secret.parse(secret["data"]) == {
        "database": "app",
        "username": "app-user",
        "password": PASSWORD,
        "hostname": "db.example.com",
        "port": 3307,
    }
    assert secret["metadata"]["name"] == "req-kept"
    assert secret["metadata"]["labels"]["dbaas.lagoon.sh/kept"] == "true"
    assert "ownerReferences" not in secret["metadata"], "it outlives the request"
    assert secret["metadata"]["uid"] == published.CREATE_ONLY


def test_d7_without_a_password_there_is_nothing_to_keep() -> None:
    assert kept(login={}) == NOTHING_KEPT


@pytest.mark.parametrize("owners", [None, [{"kind": "DatabaseRequest", "name": "req", "uid": UID}]])
def test_d7_one_that_was_made_is_released(owners: list[dict[str, str]] | None) -> None:
    made = kept()["create"][0]
    there = {**made, "metadata": {**made["metadata"], **STORED, "ownerReferences": owners, "resourceVersion": "7"}}
    assert kept(there) == {**NOTHING_KEPT, "release": RELEASED}


@pytest.mark.parametrize("data", [{}, None, {"password": encode("another")}])
def test_o1_another_secret_of_that_name_is_left_alone(data: dict[str, str] | None) -> None:
    there = {"metadata": {**STORED}, "data": data}
    assert kept(there) == {**NOTHING_KEPT, "conflict": True}


@pytest.mark.parametrize(
    ("result", "release"),
    [
        pytest.param({"result": {"results": [{"result": {"metadata": STORED}}]}}, RELEASED, id="a-list"),
        pytest.param({"result": {"metadata": STORED}}, RELEASED, id="one"),
        pytest.param({"failed": True, "status": 403}, {}, id="D4-refused"),
        pytest.param({"failed": True, "result": {}}, {}, id="failed"),
    ],
)
def test_d7_what_was_made_just_now_is_released(result: dict[str, Any], release: dict[str, Any]) -> None:
    plan_before = kept()
    assert published.kept_made(plan_before, result) == {**plan_before, "release": release}
