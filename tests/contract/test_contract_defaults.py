"""Defaults: one value in role, argument spec, schema and code."""

import copy

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import claiming, dropping, providers, seed_secret

from tests.contract.project import COLLECTION, PROVIDER, PYTHON, REQUEST, ROLES, ROOT, load, schema

CONNECTION = {
    "name": "one",
    "hostname": "db.example.com",
    "username": "dbaas",
    "passwordSecretRef": {"name": "p", "namespace": "n"},
}


def spec_of(plural):
    return schema(plural)["properties"]["spec"]["properties"]


CONNECTION_SCHEMA = spec_of(PROVIDER)["connections"]["items"]["properties"]


def connection(**more):
    provider = {
        "metadata": {"name": "p"},
        "spec": {"scope": "s", "connections": [{**copy.deepcopy(CONNECTION), **more}]},
    }
    return providers.connections([provider], "s", None)[0]


@pytest.mark.parametrize("role", ROLES)
def test_argument_specs_are_the_defaults(role):
    specs = load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]
    options = {name: option for spec in specs.values() for name, option in spec["options"].items()}
    files = {file.stem for file in (ROOT / f"roles/{role}/tasks").glob("*.yml")}
    assert set(specs) <= files, "each is an entry point"
    defaults = load(f"roles/{role}/defaults/main.yml")
    required = [name for name, option in options.items() if option.get("required")]
    assert [name for name in options if name not in required] == list(defaults)
    types = {"str": str, "int": int, "bool": bool, "dict": dict, "list": list}
    for name, option in options.items():
        assert option["description"], name
        if name in required:
            continue
        assert option["default"] == defaults[name], name
        assert isinstance(option["default"], types[option["type"]]) or "{{" in option["default"], name


@pytest.mark.parametrize("role", ROLES)
def test_readme_lists_the_arguments(role):
    text = (ROOT / f"roles/{role}/README.md").read_text(encoding="utf-8")
    for name in load(f"roles/{role}/defaults/main.yml"):
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("role", ROLES)
def test_meta_is_filled_in(role):
    info = load(f"roles/{role}/meta/main.yml")["galaxy_info"]
    assert (info["role_name"], info["license"], info["min_ansible_version"]) == (role, "Apache-2.0", "2.18")
    assert info["author"] == "dbaas-operator maintainers"


def test_the_collection_has_the_licence_that_its_files_say():
    assert load(COLLECTION / "galaxy.yml")["license"] == ["GPL-3.0-or-later"]
    for file in PYTHON:
        if file.name != "__init__.py":
            assert "GNU General Public License v3.0+" in file.read_text(encoding="utf-8").splitlines()[0], (
                file
            )


@pytest.mark.parametrize(("field", "value"), [("port", 3306), ("enabled", True)])
def test_a_connection_without_a_field_is_read_as_the_schema_fills_it_in(field, value):
    assert CONNECTION_SCHEMA[field]["default"] == value
    assert connection() == connection(**{field: value})
    assert connection()[field] == value


def test_tls_is_preferred_unless_said_otherwise():
    assert CONNECTION_SCHEMA["tls"]["default"] == {}
    mode = CONNECTION_SCHEMA["tls"]["properties"]["mode"]
    assert mode["default"] == "preferred"
    assert providers.tls_arguments({}, None) == providers.tls_arguments({"mode": mode["default"]}, None) == {}
    assert providers.tls_arguments({"mode": "required"}, None) != {}


def test_a_seed_without_a_port_has_the_connections_default():
    assert CONNECTION_SCHEMA["port"]["default"] == seed_secret.DEFAULT_PORT


def test_a_deletion_drops_unless_said_otherwise():
    default = spec_of(REQUEST)["dropDatabaseOnDelete"]["default"]
    assert default is True

    def action(spec):
        row = {"username": "u", "origin": "created", "state": "ready", "ready_seconds": 1}
        return dropping.finalize({"request": {"spec": spec}}, {"row": row}, 900)["action"]

    assert action({}) == action({"dropDatabaseOnDelete": default}) == "drop"
    assert action({"dropDatabaseOnDelete": not default}) == "keep"


def test_a_seed_is_kept_unless_said_otherwise():
    default = spec_of(REQUEST)["seed"]["properties"]["deleteAfterSuccess"]["default"]
    assert default is False

    def deleted(**more):
        request = {"namespace": "n", "spec": {"seed": {"name": "s", "namespace": "n", **more}}, "status": {}}
        return claiming.used_seed(
            {"request": request, "seed": {"state": "valid", "uid": "u", "resource_version": "1"}}
        )

    assert deleted() == deleted(deleteAfterSuccess=default) == []
    assert len(deleted(deleteAfterSuccess=not default)) == 1


def test_every_default_of_the_schema_is_known_here():
    def found(node, path=""):
        for name, inner in node.get("properties", {}).items():
            yield from ([f"{path}{name}"] if "default" in inner else [])
            yield from found(inner, f"{path}{name}.")
            yield from found(inner.get("items", {}), f"{path}{name}[].")

    assert set(found(schema(REQUEST))) == {"spec.seed.deleteAfterSuccess", "spec.dropDatabaseOnDelete"}
    assert set(found(schema(PROVIDER))) == {
        "spec.connections[].port",
        "spec.connections[].enabled",
        "spec.connections[].tls",
        "spec.connections[].tls.mode",
    }


def test_settings_of_the_deployment_are_those_of_the_roles():
    (manager,) = load("config/manager/manager.yaml")["spec"]["template"]["spec"]["containers"]
    settings = {e["name"]: e["value"] for e in manager["env"]}
    defaults = load("roles/dbaas_request/defaults/main.yml")
    assert (
        f"default({settings['DBAAS_ADOPTED_GRACE_SECONDS']}, true)" in defaults["dbaas_request_grace_seconds"]
    )
    assert settings["DBAAS_CLUSTER_ID"] == ""
    assert "DBAAS_CLUSTER_ID" in defaults["dbaas_request_cluster_id"]
    table = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    for name, value in settings.items():
        if name.startswith(("DBAAS_", "MAX_CONCURRENT_")):
            assert f"| `{name}` | {f'`{value}`' if value else 'empty'} |" in table, name
