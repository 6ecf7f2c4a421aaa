"""A seed through the operator: taken over, created, or refused for good.

All requests are made at once by one fixture; the tests look at one of them each.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dev import objects
from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import PROVIDER, Sandbox
from dev.waiting import wait_for
from tests.integration.e2ehelpers import (
    DEADLINE,
    OLDER_RIGHTS,
    ROWS,
    Account,
    Log,
    Request,
    World,
    opened,
    quoted,
    text,
    token,
)

pytestmark = pytest.mark.e2e

REFUSED = "False/True/True"
DONE = "True/False/True"
OWNER = f"{OLDER_RIGHTS} ON {{database}}.*"


@dataclass
class Case:
    """What a refused request is made from.

    Attributes:
        account: what is on the server, or is not.
        values: the seed secret, where it differs from the account's.
        spec: of the request, where it differs.
        server_asked: whether the verdict needs the account's login.
    """

    account: Account
    values: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)


def _with_grants(*grants: str) -> Callable[[World, str], Case]:
    return lambda world, _: Case(world.older(world.one, grants=grants))


def _with_values(**values: Any) -> Callable[[World, str], Case]:
    return lambda world, _: Case(world.older(world.one), values)


def _imagined(**names: str) -> Callable[[World, str], Case]:
    return lambda world, _: Case(world.imagined(world.one, **names))


def _other_namespace(world: World, _: str) -> Case:
    return Case(world.older(world.one), spec={"seed": {"name": "somewhere", "namespace": "elsewhere"}})


def _foreign(kind: str) -> Callable[[World, str], Case]:
    def prepare(world: World, namespace: str) -> Case:
        name = f"o1-foreign-{kind.lower()}"
        world.foreign(kind, namespace, f"{name}-db" if kind == "Service" else name)
        return Case(world.older(world.one))

    return prepare


def _disabled(world: World, _: str) -> Case:
    return Case(world.older(world.sandbox.servers["retired"]))


def _admin(world: World, _: str) -> Case:
    return Case(world.imagined(world.one), {"username": world.one.admin_user})


def _mismatch(world: World, _: str) -> Case:
    account = world.older(world.two)
    anonymous = token(12)
    world.two.query(f"CREATE USER ''@'%' IDENTIFIED BY {text(anonymous)}")
    world.cleanup.append(lambda: world.two.query("DROP USER ''@'%'"))
    return Case(account, {"username": f"nobody_{token()}", "password": anonymous})


def _missing(world: World, _: str) -> Case:
    account = world.older(world.one)
    world.one.query(f"DROP DATABASE {quoted(account.database)}")  # its grants stay
    return Case(account)


def _conflict(world: World, _: str) -> Case:
    account = world.older(world.one)
    return Case(account, {"database": f"free_{token()}", "password": "not-this-one"})


def _role(world: World, _: str) -> Case:
    account = world.imagined(world.one)
    world.one.query(f"CREATE ROLE {quoted(account.username)}")
    world.cleanup.append(lambda: world.one.query(f"DROP ROLE {quoted(account.username)}"))
    return Case(account)


def _exposed(world: World, _: str) -> Case:
    start = f"x{token()}"
    world.older(world.one, grants=("SELECT ON {database}.*", f"SELECT ON `{start}%%`.*"))
    return Case(world.imagined(world.one, database=f"{start}_new"))


def _pinned(world: World, _: str) -> Case:
    reference = {"kind": "DatabaseMySQLProvider", "name": PROVIDER}
    return Case(
        world.older(world.one),
        spec={"databaseConnectionReference": {"databaseObjectReference": reference, "name": "two"}},
    )


def _another_database(world: World, _: str) -> Case:
    other = world.older(world.one)
    return Case(world.older(world.one, grants=(OWNER, f"SELECT ON `{other.database}`.*")))


# name: (row of the verdict table, reason, word of the message, how it is prepared)
REFUSALS: dict[str, tuple[str, str, Callable[[World, str], Case]]] = {
    "namespace": ("SeedNamespaceForbidden", "own namespace", _other_namespace),
    "key-missing": ("SeedSecretInvalid", "the key password", _with_values(password=None)),
    "P3-line-break": ("SeedSecretInvalid", "the key username ends with", _with_values(username="u\n")),
    "P4-not-utf8": ("SeedSecretInvalid", "the key username", _with_values(username=b"\xc3\x28")),
    "P7-port": ("SeedSecretInvalid", "the key port", _with_values(port="65536")),
    "S3-host": ("SeedSecretInvalid", "the key hostname", _with_values(hostname="localhost:3306")),
    "O1-foreign-service": ("NameConflict", "A Service", _foreign("Service")),
    "O1-foreign-secret": ("NameConflict", "A Secret", _foreign("Secret")),
    "disabled": ("SeedNoMatchingProvider", "", _disabled),
    "unknown-host": ("SeedNoMatchingProvider", "", _with_values(hostname="db.example.com")),
    "N5-admin": ("SeedReservedName", "", _admin),
    "N5-schema": ("SeedReservedName", "", _with_values(database="MySQL")),
    "N4-user-too-long": ("SeedSecretInvalid", "the key username", _imagined(username="u" * 129)),
    "N4-database-too-long": ("SeedSecretInvalid", "the key database", _imagined(database=f"n_{token(31)}")),
    "mismatch": ("SeedAccountMismatch", "", _mismatch),
    "database-missing": ("SeedDatabaseMissing", "", _missing),
    "denied": ("SeedAccessDenied", "", _with_grants()),
    "N10-read-only": ("SeedAccountUnfit", "", _with_grants("SELECT ON {database}.*")),
    "N10-show-view": ("SeedAccountUnfit", "", _with_grants("SHOW VIEW ON {database}.*")),
    "N10-column": ("SeedAccountUnfit", "", _with_grants("SELECT (id) ON {database}.t")),
    "N10-global": ("SeedAccountUnfit", "", _with_grants("SELECT ON *.*", OWNER)),
    "N10-two-databases": ("SeedAccountUnfit", "", _another_database),
    "rejected": ("SeedCredentialsRejected", "1045", _with_values(password="not-this-one")),
    "user-conflict": ("SeedUserConflict", "", _conflict),
    "role-conflict": ("SeedUserConflict", "", _role),
    "exposed": ("SeedNameExposed", "", _exposed),
    "pinned-elsewhere": ("NoSuchConnection", "", _pinned),
}


@dataclass
class Batch:
    """All requests of this module and what was seen before they were made."""

    world: World
    namespace: str
    cases: dict[str, Case]
    requests: dict[str, Request]
    logs: dict[str, Log]
    hashes: dict[str, list[str]]
    state: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, _operator) as world:
        yield world


@pytest.fixture(scope="module")
def batch(world: World) -> Batch:
    namespace = world.namespace()
    cases = {name: prepare(world, namespace) for name, (_, _, prepare) in REFUSALS.items()}
    cases["adopt"] = Case(world.older(world.one))
    cases["adopt-delete"] = Case(world.older(world.two))
    cases["create"] = Case(world.imagined(world.one))
    cases["create-delete"] = Case(world.imagined(world.two))
    hashes = {name: case.account.hashes() for name, case in cases.items()}
    servers: list[MariaDB] = [world.one, world.two, world.sandbox.servers["retired"]]
    logs = {server.name: Log(server) for server in servers}
    requests = {}
    for name, case in cases.items():
        values = case.account.seed(**case.values)
        requests[name] = world.seeded(namespace, name.lower(), values, delete=name.endswith("-delete"), **case.spec)
    made = Batch(world, namespace, cases, requests, logs, hashes)
    for name, request in requests.items():
        request.settle(deadline=DEADLINE * 2)
        made.state[name] = request.state()
    return made


def _secret_names(world: World, namespace: str) -> set[str]:
    found = objects.call(world.api, "GET", objects.path_of("v1", "Secret", namespace=namespace))
    return {item["metadata"]["name"] for item in found["items"]}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(batch: Batch, name: str) -> None:
    """A reason, one sentence with the key, nothing published, nothing written, the account as it was."""
    reason, words, _ = REFUSALS[name]
    request, case = batch.requests[name], batch.cases[name]
    assert batch.state[name] == f"{reason} {REFUSED}"
    message = request.condition("Ready")["message"]
    assert words in message
    values = case.account.seed(**case.values)
    for key in ("password", "username", "database"):
        value = values.get(key, b"")
        assert not isinstance(value, str) or len(value) < 4 or value not in message
    if not name.startswith("O1-"):
        assert request.service() is None
        assert request.secret() is None
    assert "observedDatabaseConnectionReference" not in (request.read() or {})["status"]
    markers = (case.account.database, case.account.username, request.uid)
    for log in batch.logs.values():
        assert log.writes(*markers) == []
    assert case.account.hashes() == batch.hashes[name]
    assert f"{request.name}-seed" in _secret_names(batch.world, batch.namespace)


def test_refused_has_an_event(batch: Batch) -> None:
    found = objects.call(batch.world.api, "GET", objects.path_of("v1", "Event", namespace=batch.namespace))
    seen = {(e["involvedObject"]["name"], e["reason"], e["type"]) for e in found["items"]}
    assert {(name.lower(), reason, "Warning") for name, (reason, _, _) in REFUSALS.items()} <= seen


@pytest.mark.parametrize("kind", ["Service", "Secret"])
def test_O1_foreign_object_is_left_alone(batch: Batch, kind: str) -> None:
    name = "o1-foreign-service-db" if kind == "Service" else "o1-foreign-secret"
    found = objects.get(batch.world.api, "v1", kind, name, batch.namespace)
    assert found is not None
    assert "ownerReferences" not in found["metadata"]
    assert not found.get("data")


def test_P6_adopted(batch: Batch) -> None:
    """Nothing but rows of the ledger is written; the published Secret reaches the old rows."""
    request, account = batch.requests["adopt"], batch.cases["adopt"].account
    assert batch.state["adopt"] == f"SeedAdopted {DONE}"
    assert account.hashes() == batch.hashes["adopt"]
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    assert (request.values()["PASSWORD"] == account.password) is True
    assert "adopt-seed" in _secret_names(batch.world, batch.namespace)
    [row] = request.rows_in_ledger(batch.world.one)
    assert (row["origin"], row["state"]) == ("adopted", "ready")
    log = batch.logs["one"]
    assert log.writes(account.database) != []
    assert log.changes(account.database, account.username) == []


def test_created(batch: Batch) -> None:
    """Names and password are the seed's; the account opens this database and no other."""
    request, account = batch.requests["create"], batch.cases["create"].account
    assert batch.state["create"] == f"SeedCreated {DONE}"
    assert request.ask("SELECT DATABASE()") == account.database
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    assert (request.values()["PASSWORD"] == account.password) is True
    [row] = request.rows_in_ledger(batch.world.one)
    assert (row["origin"], row["state"]) == ("created", "ready")


@pytest.mark.parametrize("name", ["adopt", "create"])
def test_published_objects_are_the_requests_own(batch: Batch, name: str) -> None:
    request = batch.requests[name]
    for document, label in ((request.service(), "service"), (request.secret(), "secret")):
        assert document is not None
        [owner] = document["metadata"]["ownerReferences"]
        assert owner == {
            "apiVersion": "crd.lagoon.sh/v1alpha1",
            "kind": "DatabaseRequest",
            "name": name,
            "uid": request.uid,
        }
        labels = document["metadata"]["labels"]
        assert labels[f"dbaas.lagoon.sh/{label}"] == "true"
        assert labels["app.kubernetes.io/instance"] == name


@pytest.mark.parametrize("name", ["adopt-delete", "create-delete"])
def test_seed_is_deleted_where_asked_for(batch: Batch, name: str) -> None:
    names = {"adopt-seed", "create-seed", "rejected-seed"}
    wait_for(
        lambda: f"{name}-seed" not in _secret_names(batch.world, batch.namespace),
        f"the Secret {name}-seed to be deleted",
        DEADLINE,
    )
    assert names <= _secret_names(batch.world, batch.namespace)
    assert batch.requests[name].state().endswith(DONE)


def test_another_secret_of_the_seeds_name_is_left_alone(batch: Batch) -> None:
    """deleteAfterSuccess deletes the Secret that was used, not one that took its name later."""
    request, account = batch.requests["adopt-delete"], batch.cases["adopt-delete"].account
    batch.world.secret(batch.namespace, "adopt-delete-seed", account.seed())
    passes = request.passes()
    request.touch()
    request.wait("SeedAdopted")
    request.wait_pass(passes)
    assert "adopt-delete-seed" in _secret_names(batch.world, batch.namespace)


def test_taken_database_is_refused_before_any_login(batch: Batch) -> None:
    """Row 7: the database of another request, even with its right password."""
    world, account = batch.world, batch.cases["adopt"].account
    other = world.namespace()
    log = Log(world.one)
    request = world.seeded(other, "taken", account.seed())
    user = world.seeded(other, "taken-user", {**account.seed(), "database": f"free_{token()}"})
    assert (request.settle(), user.settle()) == ("SeedDatabaseInUse", "SeedDatabaseInUse")
    assert log.logins(account.username) == 0
    assert log.writes(account.database, request.uid, user.uid) == []


@pytest.fixture(scope="module")
def restarted(batch: Batch) -> dict[str, Any]:
    """What differs after a restart of the operator, with one refused seed mended in place before it."""
    world = batch.world
    rejected = batch.cases["rejected"].account
    world.secret(batch.namespace, "rejected-seed", rejected.seed())
    names = [name for name in batch.requests if not name.endswith("-delete")]
    before = {name: batch.requests[name].versions() for name in names}
    passes = {name: batch.requests[name].passes() for name in names}
    logs = {server.name: Log(server) for server in (world.one, world.two)}
    world.restart_operator()
    for name in names:
        batch.requests[name].wait_pass(passes[name])
    after = {name: batch.requests[name].versions() for name in names}
    return {"before": before, "after": after, "logs": logs}


@pytest.mark.parametrize("name", REFUSALS)
def test_K2_no_login_after_a_refusal(batch: Batch, restarted: dict[str, Any], name: str) -> None:
    request, case = batch.requests[name], batch.cases[name]
    assert restarted["after"][name] == restarted["before"][name]
    for log in restarted["logs"].values():
        admin = batch.world.one.admin_user  # it logs in for the provider
        for username in {case.account.username, case.values.get("username")} - {admin, None}:
            assert log.logins(username) == 0
        assert log.statements(request.uid) == []


@pytest.mark.parametrize("name", ["adopt", "create"])
def test_second_pass_writes_nothing(batch: Batch, restarted: dict[str, Any], name: str) -> None:
    account, request = batch.cases[name].account, batch.requests[name]
    assert restarted["after"][name] == restarted["before"][name]
    assert restarted["logs"]["one"].logins(account.username) == 1
    assert restarted["logs"]["one"].writes(account.database, account.username, request.uid) == []


@pytest.mark.usefixtures("restarted")
def test_K2_changed_spec_makes_one_new_try(batch: Batch) -> None:
    request, account = batch.requests["denied"], batch.cases["denied"].account
    log, passes = Log(batch.world.one), request.passes()
    request.touch()
    assert request.settle() == "SeedAccessDenied"
    request.wait_pass(passes)
    assert log.logins(account.username) == 1
    assert log.writes(account.database, account.username, request.uid) == []


@pytest.mark.usefixtures("restarted")
def test_mended_seed_is_taken_over_after_a_change(batch: Batch) -> None:
    request, account = batch.requests["rejected"], batch.cases["rejected"].account
    request.touch()
    assert request.settle() == "SeedAdopted"
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert account.hashes() == batch.hashes["rejected"]


@pytest.mark.usefixtures("restarted")
def test_deleting_refused_requests_asks_no_server(batch: Batch) -> None:
    names = ("N5-admin", "user-conflict", "namespace", "mismatch")
    requests = {name: batch.requests[name] for name in names}
    hashes = {name: batch.cases[name].account.hashes() for name in names}
    logs = [Log(batch.world.one), Log(batch.world.two)]
    for request in requests.values():
        request.delete(wait=False)
    for name, request in requests.items():
        request.wait_gone()
        account = batch.cases[name].account
        for log in logs:
            assert log.statements(request.uid, account.database, account.username) == []
        assert account.hashes() == hashes[name]
