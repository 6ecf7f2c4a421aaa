"""TLS of a connection against a real server: what each mode does, and that a failure is never the seed's."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, facts, providers, sql

from dev.certificates import ensure_authority
from tests.integration.sqlhelpers import Sql, any_mode, default_server, tls_authority, tls_server, worker

CIPHER = ["SHOW SESSION STATUS LIKE 'Ssl_cipher'"]
MODES = ("preferred", "required", "verify-ca", "verify-identity")


@pytest.fixture(params=[False, True], ids=["offered", "demanded"])
def server(tls_server: Sql, request: pytest.FixtureRequest) -> Iterator[Sql]:
    """The server, once as it is and once with ``require_secure_transport``."""
    tls_server.root("SET GLOBAL require_secure_transport = %s", [request.param])
    yield tls_server
    tls_server.root("SET GLOBAL require_secure_transport = 0")
    tls_server.clean()


def asked(server: Sql, mode: str, ca: Path | None, host: str = "localhost", login: str = "") -> dict[str, Any]:
    arguments = providers.tls_arguments({"mode": mode}, str(ca) if ca else None)
    return server.query(CIPHER, None, login, login_host=host, **arguments)


@pytest.mark.parametrize("mode", MODES)
def test_s1_the_right_authority(server: Sql, tls_authority: Path, mode: str) -> None:
    result = asked(server, mode, tls_authority / "ca.crt")
    assert errors.mysql_outcome(result, CIPHER)["ok"], result.get("msg")
    assert result["query_result"][0][0]["Value"], "the session isn't encrypted"


@pytest.mark.parametrize("login", ["admin", "seed"])
@pytest.mark.parametrize("mode", ["verify-ca", "verify-identity"])
def test_s1_a_wrong_authority_is_the_providers(server: Sql, tmp_path: Path, mode: str, login: str) -> None:
    result = asked(server, mode, ensure_authority(tmp_path, "another"))
    came_to = errors.mysql_outcome(result, CIPHER, login)
    assert (came_to["kind"], came_to["phase"]) == ("provider", "connect"), result["msg"]


@pytest.mark.parametrize("login", ["admin", "seed"])
@pytest.mark.parametrize(("mode", "kind"), [("verify-identity", "provider"), ("verify-ca", "ok")])
def test_s1_a_wrong_host_name(server: Sql, tls_authority: Path, mode: str, kind: str, login: str) -> None:
    result = asked(server, mode, tls_authority / "ca.crt", host="127.0.0.1")
    assert errors.mysql_outcome(result, CIPHER, login)["kind"] == kind, result.get("msg")


@pytest.mark.parametrize("login", ["admin", "seed"])
@pytest.mark.parametrize("text", ["", "no certificate"])
def test_s1_a_ca_that_is_none(server: Sql, tmp_path: Path, text: str, login: str) -> None:
    (tmp_path / "ca.crt").write_text(text, encoding="utf-8")
    result = asked(server, "verify-ca", tmp_path / "ca.crt")
    assert errors.mysql_outcome(result, CIPHER, login)["kind"] == "provider", result["msg"]


@pytest.mark.parametrize("requirement", ["SSL", "X509"])
def test_s1_an_account_that_requires_tls(server: Sql, tls_authority: Path, requirement: str) -> None:
    login = server.account("app")
    server.root(f"ALTER USER app@'%' REQUIRE {requirement}")
    answer = server.facts("app", "app")
    seen = facts.server_facts(answer, {"database": "app", "username": "app"}, "x", {"cluster": "", "request_uid": ""})
    assert (seen["tls"], seen["ssl_accounts"]) == (True, True), "the admin's session shows what the connection has"
    came_to = errors.mysql_outcome(asked(server, "preferred", None, login=login), CIPHER, "seed")
    assert came_to["kind"] == ("ok" if requirement == "SSL" else "refused")


def test_s1_such_an_account_without_tls_is_the_providers(default_server: Sql) -> None:
    login = default_server.account("app")
    default_server.root("ALTER USER app@'%' REQUIRE SSL")
    answer = default_server.facts("app", "app")
    me = {"cluster": "", "request_uid": ""}
    seen = facts.server_facts(answer, {"database": "app", "username": "app"}, "x", me)
    result = default_server.send("login", login=login, username="app")
    assert (result["outcome"]["kind"], result["outcome"]["number"]) == ("refused", 1045)
    assert facts.login_facts(result["outcome"], result, seen) == {"facts": {}, "host": None, "kind": "provider"}


@pytest.mark.parametrize("login", ["admin", "seed"])
@pytest.mark.parametrize("mode", ["required", "verify-ca", "verify-identity"])
def test_s1_a_server_that_offers_none(default_server: Sql, tls_authority: Path, mode: str, login: str) -> None:
    result = asked(default_server, mode, tls_authority / "ca.crt")
    came_to = errors.mysql_outcome(result, CIPHER, login)
    assert (came_to["kind"], came_to["phase"], came_to["number"]) == ("provider", "connect", 2026), result["msg"]


def test_s1_preferred_takes_what_there_is(default_server: Sql) -> None:
    assert asked(default_server, "preferred", None)["query_result"][0][0]["Value"] == ""
    assert sql.STATEMENTS["facts"][1] == CIPHER[0]
