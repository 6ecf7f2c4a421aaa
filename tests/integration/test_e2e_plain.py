"""A request without a seed through the operator: made, kept in repair, deleted; and what deletion leaves.

The requests of one fixture are made at once; each test waits for its own.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import names as derived

from dev import objects
from dev.operator import Operator, environment
from dev.paths import ROOT
from dev.sandbox import Sandbox
from dev.waiting import wait_for
from tests.integration.e2ehelpers import (
    DEADLINE,
    MERGE,
    ROWS,
    Account,
    Log,
    Request,
    World,
    opened,
    quoted,
    token,
)

pytestmark = pytest.mark.e2e

DONE = "True/False/True"
LONG = 63


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, _operator) as world:
        yield world


@pytest.fixture(scope="module")
def batch(world: World) -> dict[str, Request]:
    """Requests of these names; ``long-1`` and ``long-2`` differ only after the sixtieth character."""
    namespace = world.namespace()
    for kind in ("Service", "Secret"):
        name = f"foreign-{kind.lower()}"
        world.foreign(kind, namespace, f"{name}-db" if kind == "Service" else name)
    names = ("plain", "drift", "renamed", "no-database", "no-account", "foreign-service", "foreign-secret")
    made = {name: world.request(namespace, name) for name in names}
    made["kept"] = world.request(namespace, "kept", dropDatabaseOnDelete=False)
    start = f"long-{token()}-"
    for number in "12":
        # Two namespaces and two names that share the first sixty characters.
        long = world.namespace(start.ljust(LONG - 3, "n") + f"00{number}")
        made[f"long-{number}"] = world.request(long, "r".ljust(LONG - 3, "r") + f"00{number}")
    for name in ("early", "late"):
        account = world.older(world.one)
        made[name] = world.seeded(namespace, name, account.seed())
    return made


def _home(world: World, request: Request) -> Account:
    """Where a request's database is, by the server's own word."""
    request.wait("DatabaseCreated", "SeedAdopted", "SeedCreated")
    status = (request.read() or {})["status"]
    return request.account(world.sandbox.servers[status["observedDatabaseConnectionReference"]["name"]])


def _password_works(account: Account) -> bool:
    try:
        account.server.login(account.username, account.password, account.database).close()
    except pymysql.err.OperationalError:
        return False
    return True


def test_created(world: World, batch: dict[str, Request]) -> None:
    request = batch["plain"]
    account = _home(world, request)
    assert request.state() == f"DatabaseCreated {DONE}"
    assert request.ask("SELECT DATABASE()") == account.database
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    assert account.database.startswith(f"{request.namespace}-plain-")
    [row] = request.rows_in_ledger(account.server)
    assert (row["origin"], row["state"]) == ("created", "ready")
    service = request.service() or {}
    assert service["spec"]["externalName"] == account.server.hostname
    assert set((request.secret() or {})["data"]) == {
        f"PLAIN_DB_{key}" for key in ("HOST", "PORT", "DATABASE", "USERNAME", "PASSWORD")
    }


def _touch_service(world: World, request: Request) -> None:
    """Let the operator look again without a change of the spec: an owned Service gets an annotation."""
    name = (request.service() or {})["metadata"]["name"]
    path = objects.path_of("v1", "Service", name, request.namespace)
    note = {"metadata": {"annotations": {"example.com/note": token()}}}
    objects.call(world.api, "PATCH", path, note, MERGE)


def test_second_pass_writes_nothing(world: World, batch: dict[str, Request]) -> None:
    request = batch["plain"]
    account = _home(world, request)
    log, passes = Log(account.server), request.passes()
    _touch_service(world, request)
    before = request.versions()
    wait_for(lambda: log.logins(account.username), "the second pass to log in", DEADLINE)
    request.wait_pass(passes)
    assert request.versions() == before
    assert log.writes(account.database, account.username, request.uid) == []


def test_N7_long_names_lead_to_two_databases(world: World, batch: dict[str, Request]) -> None:
    first, second = (_home(world, batch[name]) for name in ("long-1", "long-2"))
    assert (first.database, first.username) != (second.database, second.username)
    assert first.database != second.database
    for name, account in (("long-1", first), ("long-2", second)):
        assert len(account.database) <= 64
        assert batch[name].ask("SELECT DATABASE()") == account.database


@pytest.mark.parametrize("kind", ["Service", "Secret"])
def test_O1_name_conflict(world: World, batch: dict[str, Request], kind: str) -> None:
    """Somebody else's object is neither overwritten nor deleted with the request."""
    request = batch[f"foreign-{kind.lower()}"]
    assert request.settle() == "NameConflict"
    assert request.state() == "NameConflict False/True/True"
    name = "foreign-service-db" if kind == "Service" else "foreign-secret"
    before = objects.get(world.api, "v1", kind, name, request.namespace)
    assert before is not None
    assert "ownerReferences" not in before["metadata"]
    request.delete()
    assert objects.get(world.api, "v1", kind, name, request.namespace) == before


def test_O2_derived_database_exists(world: World) -> None:
    """A database that stands under the derived name is never taken over."""
    scope = f"scope-{token()}"
    request = world.request(world.namespace(), "exists", scope=scope)
    request.wait("ProviderMissing")
    cluster = (objects.get(world.api, "v1", "Namespace", "kube-system") or {})["metadata"]["uid"]
    name = derived.derived_database(request.namespace, request.name, cluster, request.uid)
    account = world.older(world.two, database=name)
    world.provider(scope, world.two)
    assert request.settle() == "DatabaseExists"
    assert account.rows() == ROWS
    assert request.rows_in_ledger(world.two) == []
    request.delete()
    assert account.rows() == ROWS


def test_changed_name_moves_service_and_keys(world: World, batch: dict[str, Request]) -> None:
    request = batch["renamed"]
    account = _home(world, request)
    request.change(name="other-name")
    request.wait("DatabaseCreated")
    assert objects.get(world.api, "v1", "Service", "renamed-db", request.namespace) is None
    secret = request.secret() or {}
    assert all(key.startswith("OTHER_NAME_") for key in secret["data"])
    assert request.ask("SELECT DATABASE()") == account.database
    assert (request.values()["PASSWORD"] == account.password) is True


def test_deleted_service_comes_back(world: World, batch: dict[str, Request]) -> None:
    request = batch["drift"]
    _home(world, request)
    old = (request.service() or {})["metadata"]["uid"]
    objects.delete(world.api, "v1", "Service", "drift-db", request.namespace)
    wait_for(
        lambda: (request.service() or {"metadata": {"uid": old}})["metadata"]["uid"] != old,
        "the deleted Service to come back",
        DEADLINE,
    )
    assert request.ask("SELECT 1") == 1


def test_edited_service_is_put_right(world: World, batch: dict[str, Request]) -> None:
    request = batch["drift"]
    account = _home(world, request)
    path = objects.path_of("v1", "Service", "drift-db", request.namespace)
    objects.call(world.api, "PATCH", path, {"spec": {"externalName": "elsewhere.example.com"}}, MERGE)
    wait_for(
        lambda: (request.service() or {})["spec"]["externalName"] == account.server.hostname,
        "the edited Service to be put right",
        DEADLINE,
    )


def _edit_secret(world: World, request: Request, change: dict[str, Any]) -> None:
    path = objects.path_of("v1", "Secret", request.name, request.namespace)
    objects.call(world.api, "PATCH", path, change, MERGE)


@pytest.mark.parametrize("how", ["deleted", "edited"])
def test_lost_password_is_replaced(world: World, batch: dict[str, Request], how: str) -> None:
    """The account gets a new password that logs in; the lost one doesn't any more."""
    request = batch["drift"]
    before = _home(world, request)
    if how == "deleted":
        objects.delete(world.api, "v1", "Secret", request.name, request.namespace)
    else:
        edited = {"DRIFT_DB_PASSWORD": "edited", "DRIFT_DB_DATABASE": "mysql"}
        _edit_secret(world, request, {"stringData": edited})
    request.touch()
    request.wait("DatabaseCreated")
    assert request.ask("SELECT DATABASE()") == before.database
    assert (request.values()["PASSWORD"] == before.password) is False
    assert not _password_works(before)


def test_immutable_secret_is_replaced(world: World, batch: dict[str, Request]) -> None:
    """Where it isn't right: one that is holds the only copy of the password, and is left."""
    request = batch["drift"]
    before = _home(world, request)
    _edit_secret(world, request, {"immutable": True, "stringData": {"DRIFT_DB_PORT": "1"}})
    request.touch()
    request.wait("DatabaseCreated")
    assert not (request.secret() or {}).get("immutable")
    assert request.ask("SELECT DATABASE()") == before.database
    assert (request.values()["PASSWORD"] == before.password) is True


@pytest.mark.parametrize("name", ["no-database", "no-account"])
def test_D1_dropped_by_hand_first(world: World, batch: dict[str, Request], name: str) -> None:
    request = batch[name]
    account = _home(world, request)
    if name == "no-database":
        account.server.query(f"DROP DATABASE {quoted(account.database)}")
    else:
        account.server.query(f"DROP USER {quoted(account.username)}@'%'")
    request.delete()
    assert account.exists() == (False, False)
    assert request.rows_in_ledger(account.server) == []


def test_D7_kept_database_is_taken_over(world: World, batch: dict[str, Request]) -> None:
    request = batch["kept"]
    account = _home(world, request)
    request.ask("CREATE TABLE t (id INT PRIMARY KEY) SELECT 1 AS id")
    request.delete()
    kept = objects.get(world.api, "v1", "Secret", "kept-kept", request.namespace)
    assert kept is not None
    assert "ownerReferences" not in kept["metadata"]
    assert kept["metadata"]["labels"]["dbaas.lagoon.sh/kept"] == "true"
    assert set(kept["data"]) == {"database", "username", "password", "hostname", "port"}
    assert request.rows_in_ledger(account.server) == []
    assert account.rows() == 1
    new = world.request(request.namespace, "kept-again", seed="kept-kept")
    assert new.settle() == "SeedAdopted"
    assert new.ask("SELECT COUNT(*) FROM t") == 1
    new.age_by(account.server, 3600)
    new.delete()
    assert account.exists() == (False, False)


def test_O7_adopted_and_deleted_early_is_kept(world: World, batch: dict[str, Request]) -> None:
    request = batch["early"]
    account = _home(world, request)
    hashes = account.hashes()
    request.age_by(account.server, -3600)
    log = Log(account.server)
    request.delete()
    assert account.hashes() == hashes
    assert account.rows() == ROWS
    assert request.rows_in_ledger(account.server) == []
    assert log.changes(account.database, account.username) == []
    events = objects.call(world.api, "GET", objects.path_of("v1", "Event", namespace=request.namespace))
    assert ("early", "DatabaseKept") in {(e["involvedObject"]["name"], e["reason"]) for e in events["items"]}


def test_O7_adopted_and_deleted_late_is_dropped(world: World, batch: dict[str, Request]) -> None:
    request = batch["late"]
    account = _home(world, request)
    request.age_by(account.server, 3600)
    request.delete()
    assert account.exists() == (False, False)
    assert request.rows_in_ledger(account.server) == []
    for leftover in (request.service(), request.secret()):
        assert leftover is None


def test_D5_deleted_and_made_again(world: World, batch: dict[str, Request]) -> None:
    """Exactly its own database and account go; the same name gets new ones."""
    request, neighbour = batch["plain"], _home(world, batch["renamed"])
    before = _home(world, request)
    request.delete()
    assert before.exists() == (False, False)
    assert neighbour.exists() == (True, True)
    assert request.rows_in_ledger(before.server) == []
    again = world.request(request.namespace, request.name)
    after = _home(world, again)
    assert again.ask("SELECT DATABASE()") == after.database
    assert after.database != before.database
    assert (after.password == before.password) is False


PUBLISH = """\
- name: Publish for a connection that nothing listens at
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Read
      lagoon.dbaas.request_read: {name: "{{ wanted['name'] }}", namespace: "{{ wanted['namespace'] }}"}
      register: __dbaas_request_read
    - name: Publish
      ansible.builtin.include_role: {name: dbaas_request, tasks_from: publish}
      vars:
        __dbaas_request_connection: {hostname: "{{ wanted['hostname'] }}", port: 3306, replicas: []}
        __dbaas_request_row: {database: d, username: u}
        __dbaas_request_login: {source: generated, password: p, config_file: /nowhere}
        __dbaas_request_planned: []
    - name: Check
      ansible.builtin.assert:
        that: __dbaas_request_outcome == {}
"""


def test_S4_service_follows_a_new_address(world: World, tmp_path: Path) -> None:
    """Name, addresses of both families, and back: an ExternalName, or a Service with an EndpointSlice."""
    request = world.request(world.namespace(), "address", scope=f"scope-{token()}")
    playbook = tmp_path / "publish.yml"
    playbook.write_text(PUBLISH, encoding="utf-8")

    def publish(hostname: str) -> tuple[Any, Any]:
        wanted = {"name": request.name, "namespace": request.namespace, "hostname": hostname}
        program = Path(sys.executable).with_name("ansible-playbook")
        done = subprocess.run(
            [str(program), str(playbook), "-e", json.dumps({"wanted": wanted})],
            env=environment(world.sandbox.operator_kubeconfig),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        place = ("discovery.k8s.io/v1", "EndpointSlice", "address-db", request.namespace)
        return (request.service() or {})["spec"], objects.get(world.api, *place)

    name = "db.example.com"
    for hostname, family in ((name, ""), ("192.0.2.5", "IPv4"), ("192.0.2.6", "IPv4"), ("fd00::5", "IPv6"), (name, "")):
        spec, endpoints = publish(hostname)
        if family:
            assert spec["type"] == "ClusterIP"
            assert "selector" not in spec
            assert "externalName" not in spec
            assert endpoints["addressType"] == family
            assert endpoints["endpoints"][0]["addresses"] == [hostname]
            assert endpoints["metadata"]["labels"]["kubernetes.io/service-name"] == "address-db"
        else:
            assert (spec["type"], spec["externalName"]) == ("ExternalName", hostname)
            assert endpoints is None
