"""What the API server accepts and refuses of the two kinds, and what it says."""

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.client import ApiClient

from tests.integration.apihelpers import (
    CONFIG,
    CRDS,
    PROVIDER,
    REQUEST,
    Api,
    Json,
    Kind,
    documents,
    fresh_namespace,
    with_change,
)

SPEC: Json = {"scope": "development", "type": "mariadb", "name": "mariadb"}
SEED: Json = {"name": "old-credentials", "namespace": "shop"}
PIN: Json = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "development"},
             "name": "mariadb-1"}
FULL: Json = {**SPEC, "seed": {**SEED, "deleteAfterSuccess": True}, "dropDatabaseOnDelete": False,
              "forcedReconcilation": "2026-01-31T12:00:00Z", "databaseConnectionReference": PIN}
CONNECTION: Json = {"name": "mariadb-1", "hostname": "mariadb-1.example.com", "username": "dbaas",
                    "passwordSecretRef": {"name": "mariadb-1", "namespace": "dbaas-operator-system"}}
CA: Json = {"name": "ca", "namespace": "dbaas-operator-system", "key": "ca.crt"}
FULL_CONNECTION: Json = {**CONNECTION, "port": 3307, "enabled": False,
                         "replicaHostnames": ["replica.example.com"],
                         "tls": {"mode": "verify-identity", "caSecretRef": CA}}

NAME_63 = "n" * 63
HOST_253 = ".".join(["h" * 63, "o" * 63, "s" * 63, "t" * 61])


@pytest.fixture(scope="module")
def api(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def place(api: Api) -> Iterator[str]:
    with fresh_namespace(api, "api-schema") as name:
        yield name


def _provider(connection: Json) -> Json:
    return {"scope": "development", "connections": [connection]}


def _hostname(value: str) -> Json:
    return _provider({**CONNECTION, "hostname": value})


@pytest.mark.parametrize("spec", [
    pytest.param(SPEC, id="least"),
    pytest.param(FULL, id="everything"),
    pytest.param({**SPEC, "type": "mysql"}, id="mysql"),
    pytest.param({**SPEC, "scope": "s" * 63}, id="scope-63"),
    pytest.param({**SPEC, "scope": "7"}, id="scope-digit"),
    pytest.param({**SPEC, "name": NAME_63}, id="name-63"),
    pytest.param({**SPEC, "name": "a-1"}, id="name-dash"),
    pytest.param({**SPEC, "seed": {**SEED, "name": "s" * 253}}, id="seed-name-253"),
    pytest.param({**SPEC, "seed": {**SEED, "name": "a.b-c"}}, id="seed-name-dots"),
    pytest.param({**SPEC, "seed": {**SEED, "namespace": "elsewhere"}}, id="seed-elsewhere-is-judged-later"),
    pytest.param({**SPEC, "forcedReconcilation": "2026-01-31T12:00:00.123+02:00"}, id="date-time-with-zone"),
])
def test_request_is_accepted(api: Api, place: str, spec: Json) -> None:
    answer = api.create(REQUEST, REQUEST.manifest("shop-db", spec), place, dry_run=True)
    assert answer.ok, answer.message


def test_request_defaults(api: Api, place: str) -> None:
    answer = api.create(REQUEST, REQUEST.manifest("shop-db", {**SPEC, "seed": SEED}), place, dry_run=True)
    assert answer.body["spec"] == {**SPEC, "seed": {**SEED, "deleteAfterSuccess": False},
                                   "dropDatabaseOnDelete": True}


def test_request_of_63_characters_is_accepted(api: Api, place: str) -> None:
    answer = api.create(REQUEST, REQUEST.manifest("r" * 63, SPEC), place, dry_run=True)
    assert answer.ok, answer.message


@pytest.mark.parametrize(("path", "value", "says"), [
    ("scope", ..., "spec.scope: Required value"),
    ("scope", "", "spec.scope"),
    ("scope", "s" * 64, "may not be more than 63"),
    ("scope", "Development", "lower-case letters, digits and dashes"),
    ("scope", "-a", "write the scope of a DatabaseMySQLProvider"),
    ("scope", "a-", "write the scope of a DatabaseMySQLProvider"),
    ("type", ..., "spec.type: Required value"),
    ("type", "postgres", 'supported values: "mysql", "mariadb"'),
    ("type", "MySQL", 'supported values: "mysql", "mariadb"'),
    ("name", ..., "spec.name: Required value"),
    ("name", "n" * 64, "may not be more than 63"),
    ("name", "1db", "beginning with a letter"),
    ("name", "Maria", "write a name that a Service may have"),
    ("name", "a.b", "write a name that a Service may have"),
    ("name", "a_b", "write a name that a Service may have"),
    ("name", "a-", "not ending with a dash"),
    ("seed", {"name": "x"}, "spec.seed.namespace: Required value"),
    ("seed", {"namespace": "x"}, "spec.seed.name: Required value"),
    ("seed.name", "shop-db", "seed.name must differ from the request's own name"),
    ("seed.name", "s" * 254, "may not be more than 253"),
    ("seed.name", "a..b", "write the name of a Secret"),
    ("seed.namespace", "a.b", "write the request's own namespace"),
    ("seed.namespace", "n" * 64, "may not be more than 63"),
    ("seed.hostname", "x", 'unknown field "spec.seed.hostname"'),
    ("seed.deleteAfterSuccess", "yes", "must be of type boolean"),
    ("dropDatabaseOnDelete", "no", "must be of type boolean"),
    ("forcedReconcilation", "now", "must be of type date-time"),
    ("forcedReconcilation", "2026-01-31", "must be of type date-time"),
    ("databaseConnectionReference.databaseObjectReference", ...,
     "databaseConnectionReference.databaseObjectReference: Required value"),
    ("databaseConnectionReference.name", ..., "databaseConnectionReference.name: Required value"),
    ("databaseConnectionReference.name", "Maria 1", "write the name of one of the provider's connections"),
    ("databaseConnectionReference.databaseObjectReference.kind", "Secret",
     'supported values: "DatabaseMySQLProvider"'),
    ("databaseConnectionReference.databaseObjectReference.name", "A",
     "write the name of a DatabaseMySQLProvider"),
    ("databaseConnectionReference.databaseObjectReference.namespace", "x", "unknown field"),
    ("additionalUsers", 1, 'unknown field "spec.additionalUsers"'),
    ("surprise", {"a": 1}, 'unknown field "spec.surprise"'),
])
def test_request_is_refused(api: Api, place: str, path: str, value: Any, says: str) -> None:
    body = REQUEST.manifest("shop-db", with_change(FULL, path, value))
    answer = api.create(REQUEST, body, place, dry_run=True)
    assert answer.code in (400, 422)
    assert says in answer.message


def test_request_of_64_characters_is_refused(api: Api, place: str) -> None:
    answer = api.create(REQUEST, REQUEST.manifest("r" * 64, SPEC), place, dry_run=True)
    assert answer.code == 422
    assert "choose a shorter name" in answer.message


@pytest.mark.parametrize("text", [
    "{{ 7*7 }}", "{{ lookup('pipe','touch pwned') }}", "{% raw %}", "a'b", 'a"b', "a`b", "a\\b", "a\nb",
    "shop\n", "a\u0000b", "a b", "$(id)", "ä"], ids=lambda text: f"P2-{text!r}")
@pytest.mark.parametrize("path", [
    "scope", "type", "name", "seed.name", "seed.namespace", "forcedReconcilation",
    "databaseConnectionReference.name", "databaseConnectionReference.databaseObjectReference.kind",
    "databaseConnectionReference.databaseObjectReference.name"])
def test_no_string_of_a_request_holds_code(api: Api, place: str, path: str, text: str) -> None:
    body = REQUEST.manifest("shop-db", with_change(FULL, path, text))
    answer = api.create(REQUEST, body, place, dry_run=True)
    assert answer.code == 422
    assert f"spec.{path}" in answer.message


@pytest.mark.parametrize("spec", [
    pytest.param(_provider(CONNECTION), id="least"),
    pytest.param(_provider(FULL_CONNECTION), id="everything"),
    pytest.param({"scope": "development", "connections": [
        {**CONNECTION, "name": f"c{number}", "port": 3306 + number, "replicaHostnames": [HOST_253]}
        for number in range(50)]}, id="50-connections"),
    pytest.param({"scope": "development", "connections": [
        CONNECTION, {**CONNECTION, "name": "b", "port": 3307}]}, id="one-host-two-ports"),
    pytest.param(_hostname("localhost"), id="localhost"),
    pytest.param(_hostname("db"), id="host-one-label"),
    pytest.param(_hostname("a1-b.c2.example"), id="host-dashes"),
    pytest.param(_hostname("10.example.com"), id="host-digits-first"),
    pytest.param(_hostname(HOST_253), id="host-253"),
    pytest.param(_hostname("192.0.2.5"), id="S4-ipv4"),
    pytest.param(_hostname("10.0.0.1"), id="S4-ipv4-private"),
    pytest.param(_hostname("fd00::5"), id="S4-ipv6"),
    pytest.param(_provider({**CONNECTION, "replicaHostnames": ["192.0.2.6", "fd00::6"]}), id="S4-replicas"),
    pytest.param(_provider({**CONNECTION, "username": "u" * 128}), id="user-128"),
    pytest.param(_provider({**CONNECTION, "username": "it's {me} ü"}), id="user-any-text"),
    pytest.param(_provider({**CONNECTION, "port": 65535}), id="port-65535"),
    pytest.param(_provider({**CONNECTION, "tls": {"mode": "required"}}), id="tls-required"),
    pytest.param(_provider({**CONNECTION, "tls": {"mode": "verify-ca", "caSecretRef": CA}}), id="tls-ca"),
])
def test_provider_is_accepted(api: Api, spec: Json) -> None:
    answer = api.create(PROVIDER, PROVIDER.manifest("api-schema", spec), dry_run=True)
    assert answer.ok, answer.message


def test_provider_defaults(api: Api) -> None:
    answer = api.create(PROVIDER, PROVIDER.manifest("api-schema", _provider(CONNECTION)), dry_run=True)
    assert answer.body["spec"]["connections"] == [
        {**CONNECTION, "port": 3306, "enabled": True, "tls": {"mode": "preferred"}}]


@pytest.mark.parametrize(("path", "value", "says"), [
    ("scope", ..., "spec.scope: Required value"),
    ("scope", "Dev", "lower-case letters, digits and dashes"),
    ("connections", ..., "spec.connections: Required value"),
    ("connections", [], "should have at least 1 items"),
    ("connections", [{**CONNECTION, "name": f"c{number}", "port": number + 1} for number in range(51)],
     "must have at most 50 items"),
    ("connections", [CONNECTION, {**CONNECTION, "port": 3307}], "Duplicate value"),
    ("connections", [CONNECTION, {**CONNECTION, "name": "b"}], "list each server once"),
    ("connections", [CONNECTION, {**CONNECTION, "name": "b", "port": 3306}], "list each server once"),
    ("connections.0.name", ..., "name: Required value"),
    ("connections.0.name", "Maria DB", "for example mariadb-1"),
    ("connections.0.name", "n" * 64, "may not be more than 63"),
    ("connections.0.hostname", ..., "hostname: Required value"),
    ("connections.0.port", 0, "should be greater than or equal to 1"),
    ("connections.0.port", 65536, "should be less than or equal to 65535"),
    ("connections.0.port", "3306", "must be of type integer"),
    ("connections.0.username", ..., "username: Required value"),
    ("connections.0.username", "", "should be at least 1 chars long"),
    ("connections.0.username", "u" * 129, "may not be more than 128"),
    ("connections.0.username", "dbaas\n", "without control characters or line breaks"),
    ("connections.0.username", "a\u0085b", "without control characters or line breaks"),
    ("connections.0.passwordSecretRef", ..., "passwordSecretRef: Required value"),
    ("connections.0.passwordSecretRef.name", "A", "write the name of a Secret"),
    ("connections.0.passwordSecretRef.namespace", ..., "namespace: Required value"),
    ("connections.0.passwordSecretRef.namespace", "a.b", "write the name of a namespace"),
    ("connections.0.passwordSecretRef.key", "x", "unknown field"),
    ("connections.0.password", "x", 'unknown field "spec.connections[0].password"'),
    ("connections.0.enabled", "yes", "must be of type boolean"),
    ("connections.0.replicaHostnames", ["replica"] * 2, "Duplicate value"),
    ("connections.0.replicaHostnames", [f"r{number}" for number in range(11)], "must have at most 10 items"),
    ("connections.0.replicaHostnames", ["Replica"], "write a host name in lower case"),
    ("connections.0.replicaHostnames", ["127.0.0.1"], "write an address that the whole cluster can reach"),
    ("connections.0.replicaHostnames", ["FD00::5"], "write the address in its shortest form"),
    ("connections.0.tls.mode", "on",
     'supported values: "preferred", "required", "verify-ca", "verify-identity"'),
    ("connections.0.tls", {"mode": "verify-ca"}, "need caSecretRef"),
    ("connections.0.tls", {"mode": "verify-identity"}, "need caSecretRef"),
    ("connections.0.tls.caSecretRef.key", ..., "key: Required value"),
    ("connections.0.tls.caSecretRef.key", "a/b", "write a key that a Secret may have"),
    ("connections.0.tls.caSecretRef.key", "..", "write a key that a Secret may have"),
    ("connections.0.tls.caSecretRef.name", "a b", "write the name of a Secret"),
    ("connections.0.tls.caSecretRef.namespace", "A", "write the name of a namespace"),
])
def test_provider_is_refused(api: Api, path: str, value: Any, says: str) -> None:
    spec = with_change(_provider(FULL_CONNECTION), path, value)
    answer = api.create(PROVIDER, PROVIDER.manifest("api-schema", spec), dry_run=True)
    assert answer.code in (400, 422)
    assert says in answer.message


NO_NAME = "write a host name in lower case"
NO_ADDRESS = "write an address that the whole cluster can reach"


@pytest.mark.parametrize(("hostname", "says"), [
    ("DB.example.com", NO_NAME),
    ("db_eu.example.com", NO_NAME),
    ("db.example.com.", NO_NAME),
    ("host:3306", NO_NAME),
    ("[fd00::5]", NO_NAME),
    ("-a", NO_NAME),
    ("a..b", NO_NAME),
    ("h" * 64, NO_NAME),
    ("", "should be at least 1 chars long"),
    (HOST_253 + "x", "may not be more than 253"),
    ("{{ host }}", NO_NAME),
    ("a'b", NO_NAME),
    ("a b", NO_NAME),
    ("db\n", NO_NAME),
    ("127.1", NO_NAME),
    ("2130706433", NO_NAME),
    ("0x7f000001", NO_NAME),
    ("0177.0.0.1", NO_NAME),
    ("::ffff:127.0.0.1", NO_NAME),
    ("fe80::1%eth0", NO_NAME),
    ("127.0.0.1", NO_ADDRESS),
    ("127.8.8.8", NO_ADDRESS),
    ("::1", NO_ADDRESS),
    ("169.254.169.254", NO_ADDRESS),
    ("fe80::1", NO_ADDRESS),
    ("0.0.0.0", NO_ADDRESS),
    ("0.1.2.3", NO_ADDRESS),
    ("::", NO_ADDRESS),
    ("224.0.0.1", NO_ADDRESS),
    ("239.1.2.3", NO_ADDRESS),
    ("ff02::1", NO_ADDRESS),
    ("ff0e::1", NO_ADDRESS),
    ("255.255.255.255", NO_ADDRESS),
    ("FD00::5", "write the address in its shortest form"),
    ("fd00:0:0::5", "write the address in its shortest form"),
], ids=lambda text: f"S4-{text[:40]}")
def test_hostname_is_refused(api: Api, hostname: str, says: str) -> None:
    answer = api.create(PROVIDER, PROVIDER.manifest("api-schema", _hostname(hostname)), dry_run=True)
    assert answer.code == 422
    assert says in answer.message
    assert "spec.connections[0].hostname" in answer.message


@pytest.mark.parametrize("kind", [REQUEST, PROVIDER], ids=lambda kind: kind.kind)
def test_schema_is_closed_bounded_and_explained(api: Api, kind: Kind) -> None:
    crd = api.call("GET", f"{CRDS}/{kind.plural}.{kind.group}").body
    [version] = crd["spec"]["versions"]
    properties = version["schema"]["openAPIV3Schema"]["properties"]
    faults: list[str] = []

    def walk(node: Json, path: str) -> None:
        if not node.get("description") and not path.endswith("[]"):
            faults.append(f"{path} has no description")
        if "additionalProperties" in node or node.get("x-kubernetes-preserve-unknown-fields"):
            faults.append(f"{path} is open")
        if node["type"] == "string" and "maxLength" not in node:
            faults.append(f"{path} has no maxLength")
        if node["type"] == "array":
            if "maxItems" not in node:
                faults.append(f"{path} has no maxItems")
            walk(node["items"], f"{path}[]")
        for name, child in node.get("properties", {}).items():
            walk(child, f"{path}.{name}")

    walk(properties["spec"], "spec")
    walk(properties["status"], "status")
    assert not faults


@pytest.mark.parametrize(("kind", "columns"), [
    (REQUEST, ["Name", "Ready", "Reason", "Database", "Server", "Since", "Age", "Message"]),
    (PROVIDER, ["Name", "Scope", "Ready", "Age"]),
], ids=lambda value: value.kind if isinstance(value, Kind) else "")
def test_printer_columns(api: Api, place: str, kind: Kind, columns: list[str]) -> None:
    answer = api.call("GET", kind.path(place), accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert [column["name"] for column in answer.body["columnDefinitions"]] == columns


def test_request_has_a_short_name(api: Api) -> None:
    resources = api.call("GET", f"/apis/{REQUEST.group}/{REQUEST.version}").body["resources"]
    [found] = [resource for resource in resources if resource["name"] == REQUEST.plural]
    assert found["shortNames"] == ["dbr"]


SHIPPED = {
    "Secret": Kind("", "v1", "secrets", "Secret"),
    "Deployment": Kind("apps", "v1", "deployments", "Deployment"),
    REQUEST.kind: REQUEST,
    PROVIDER.kind: PROVIDER,
}


@pytest.mark.parametrize("path", ["manager/manager.yaml", *sorted(
    str(file.relative_to(CONFIG)) for file in (CONFIG / "samples").glob("*.yaml")
    if file.name != "kustomization.yaml")])
def test_shipped_manifest_is_accepted(api: Api, path: str) -> None:
    for body in documents(path):
        kind, metadata = SHIPPED[body["kind"]], body["metadata"]
        answer = api.call("PATCH", kind.path(metadata.get("namespace", ""), metadata["name"]), body,
                          query={"fieldManager": "test", "force": "true", "dryRun": "All"},
                          content_type="application/apply-patch+yaml")
        assert answer.ok, answer.message
