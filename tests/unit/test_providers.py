"""Connections of providers, and which one a seed means."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import providers

from tests.unit.samples import REFERENCE, connection


def provider(
    name: str = "dev", scope: str = "development", entries: list[dict[str, Any]] | None = None, **metadata: Any
) -> dict[str, Any]:
    entries = entries or [{"name": "one"}]
    full = [
        {
            "hostname": f"{e['name']}.example.com",
            "username": "admin",
            "passwordSecretRef": {"name": "p", "namespace": "n"},
            **e,
        }
        for e in entries
    ]
    return {"metadata": {"name": name, **metadata}, "spec": {"scope": scope, "connections": full}}


def test_defaults_of_a_connection() -> None:
    assert providers.connections([provider()], "development", None) == [
        {
            "provider": "dev",
            "name": "one",
            "hostname": "one.example.com",
            "port": 3306,
            "enabled": True,
            "username": "admin",
            "replicas": [],
            "tls": {},
            "secret_ref": {"name": "p", "namespace": "n"},
            "in_scope": True,
            "referenced": False,
        }
    ]


def names(*args: Any) -> list[tuple[str, str]]:
    return [(c["provider"], c["name"]) for c in providers.connections(*args)]


def test_only_the_scope_and_the_referenced() -> None:
    dev, prod = provider("dev"), provider("prod", "production", [{"name": "one"}, {"name": "two"}])
    assert names([dev, prod], "development", None) == [("dev", "one")]
    reference = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "prod"}, "name": "two"}
    found = providers.connections([dev, prod], "development", reference)
    assert [(c["provider"], c["name"], c["in_scope"], c["referenced"]) for c in found] == [
        ("dev", "one", True, False),
        ("prod", "two", False, True),
    ]


def test_disabled_ones_may_hold_a_row() -> None:
    entries: list[dict[str, Any]] = [{"name": "two", "enabled": False}, {"name": "one"}]
    assert names([provider(entries=entries)], "development", None) == [("dev", "one"), ("dev", "two")]


def test_order_is_by_name() -> None:
    many = [provider("b", entries=[{"name": "z"}, {"name": "a"}]), provider("a")]
    assert names(many, "development", None) == [("a", "one"), ("b", "a"), ("b", "z")]


def test_a_provider_that_goes_is_no_choice() -> None:
    assert names([provider(deletionTimestamp="2026-01-01T00:00:00Z")], "development", None) == []


@pytest.mark.parametrize("reference", [None, {}, {"name": "one"}, {"databaseObjectReference": {}}])
def test_o11_references_of_any_shape(reference: dict[str, Any] | None) -> None:
    assert names([provider()], "production", reference) == []


ONE = connection(hostname="Db.Example.com.", port=3307, replicas=["Replica.example.com"])


@pytest.mark.parametrize(
    ("candidates", "hostname", "port", "found", "replica"),
    [
        pytest.param([ONE], "db.example.com", 3307, True, False, id="S3-case-and-dot"),
        pytest.param([ONE], "db.example.com", 3306, False, False, id="another-port"),
        pytest.param([ONE], "other.example.com", 3307, False, False, id="another-host"),
        pytest.param([ONE], "replica.example.com", 3307, False, True, id="a-replica"),
        pytest.param([ONE], "replica.example.com", 3306, False, True, id="a-replica-of-another-port"),
        pytest.param([{**ONE, "enabled": False}], "db.example.com", 3307, False, False, id="disabled"),
        pytest.param([{**ONE, "in_scope": False}], "db.example.com", 3307, False, False, id="another-scope"),
        pytest.param(
            [{**ONE, "enabled": False}], "replica.example.com", 3307, False, False, id="replica-of-a-disabled"
        ),
        pytest.param([], "db.example.com", 3307, False, False, id="none"),
        pytest.param([connection(hostname="fd00:0:0::5")], "fd00::5", 3306, True, False, id="S4-IPv6"),
    ],
)
def test_match(candidates: list[dict[str, Any]], hostname: str, port: int, found: bool, replica: bool) -> None:
    got, is_replica = providers.match(candidates, hostname, port)
    assert (got is not None, is_replica) == (found, replica)
    assert got is None or got is candidates[0]


def test_match_goes_on_past_another_port_of_the_host() -> None:
    same_host = [connection("a", hostname="db", port=1), connection("b", hostname="db", port=2)]
    assert providers.match(same_host, "db", 2)[0] is same_host[1]


@pytest.mark.parametrize(
    ("pin", "pinned"),
    [
        pytest.param(None, True, id="none"),
        pytest.param({}, True, id="empty"),
        pytest.param(REFERENCE, True, id="this"),
        pytest.param({**REFERENCE, "name": "two"}, False, id="another-connection"),
        pytest.param(
            {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "prod"}, "name": "one"},
            False,
            id="another-provider",
        ),
    ],
)
def test_pin(pin: dict[str, Any] | None, pinned: bool) -> None:
    assert providers.is_pinned(connection(), pin) is pinned


@pytest.mark.parametrize(
    ("tls", "arguments"),
    [
        pytest.param({}, {}, id="S1-default"),
        pytest.param({"mode": "preferred"}, {}, id="S1-preferred"),
        pytest.param({"mode": "required"}, {"check_hostname": False}, id="S1-required"),
        pytest.param({"mode": "verify-ca"}, {"ca_cert": "/ca", "check_hostname": False}, id="S1-verify-ca"),
        pytest.param({"mode": "verify-identity"}, {"ca_cert": "/ca"}, id="S1-verify-identity"),
    ],
)
def test_tls_arguments(tls: dict[str, Any], arguments: dict[str, Any]) -> None:
    assert providers.tls_arguments(tls, "/ca") == arguments


def test_reference_names_the_connection_again() -> None:
    assert providers.reference_of(connection()) == REFERENCE
    assert providers.is_pinned(connection(), providers.reference_of(connection()))
