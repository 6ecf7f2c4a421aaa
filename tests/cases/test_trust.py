"""What a tenant can't do, whatever it writes: everything in its namespace, its requests' status included.

The runs are made by hand, one after another, so that each moment of a change is a chosen one.
"""
# names of tests hold the ids of cases

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient

from dev import objects
from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import NAMESPACE, Sandbox
from tests import audit
from tests.cases.stepping.pausing import paused
from tests.cases.stepping.steps import without_operator
from tests.cases.world import DONE, NO_GRACE, REFUSED, Cases, Place
from tests.integration.apihelpers import PROVIDER, REQUEST, Answer, Api, Json
from tests.integration.e2ehelpers import API, ROWS, Account, Log, Request, World, opened, token

RBAC = "/apis/rbac.authorization.k8s.io/v1"
OPERATOR = "system:serviceaccount:dbaas-operator-system:dbaas-operator"


@dataclass
class Tenant:
    """A service account with every right on the group's objects, Secrets and Services of its one namespace.

    Attributes:
        world: where.
        namespace: its own.
        api: the API as this account.
    """

    world: Cases
    namespace: str
    api: Api

    @classmethod
    def made(cls, world: Cases, admin: Api) -> "Tenant":
        """Make a namespace with the account."""
        namespace = world.namespace()
        home = f"{RBAC}/namespaces/{namespace}"
        everything = [
            {"apiGroups": ["crd.lagoon.sh"], "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["secrets", "services"], "verbs": ["*"]},
        ]
        subject = {"kind": "ServiceAccount", "name": "tenant", "namespace": namespace}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"}
        for path, body in (
            (f"/api/v1/namespaces/{namespace}/serviceaccounts", {}),
            (f"{home}/roles", {"rules": everything}),
            (f"{home}/rolebindings", {"roleRef": role, "subjects": [subject]}),
        ):
            answer = admin.call("POST", path, {"metadata": {"name": "tenant"}, **body})
            assert answer.ok, answer.message
        return cls(world, namespace, Api(admin.client, f"system:serviceaccount:{namespace}:tenant"))

    def ask(self, place: Place, name: str, annotations: Json | None = None, **spec: Any) -> Request:
        """Create a request."""
        full = {"scope": place.scope, "type": "mariadb", "name": f"{name}-db", **spec}
        body = REQUEST.manifest(name, full, annotations=annotations or {})
        answer = self.api.create(REQUEST, body, self.namespace)
        assert answer.ok, answer.message
        return Request(self.world, self.namespace, name, answer.body["metadata"]["uid"])

    def forge(self, request: Request, **status: Any) -> Answer:
        """Write into a request's status."""
        answer = self.api.patch(REQUEST, request.name, {"status": status}, self.namespace, subresource="status")
        assert answer.ok, answer.message
        return answer

    def _path(self, plural: str, name: str = "") -> str:
        return f"/api/v1/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def secret(self, name: str, values: dict[str, str | bytes], **metadata: Any) -> Json:
        """Create a Secret."""
        data = {key: base64.b64encode(v if isinstance(v, bytes) else v.encode()).decode() for key, v in values.items()}
        answer = self.api.call("POST", self._path("secrets"), {"metadata": {"name": name, **metadata}, "data": data})
        assert answer.ok, answer.message
        return answer.body

    def service(self, name: str, **metadata: Any) -> Json:
        """Create a Service that leads to a host of its own."""
        spec = {"type": "ExternalName", "externalName": "tenant.example.com"}
        answer = self.api.call("POST", self._path("services"), {"metadata": {"name": name, **metadata}, "spec": spec})
        assert answer.ok, answer.message
        return answer.body

    def edit(self, plural: str, name: str, change: Json) -> None:
        """Merge a change into an object."""
        answer = self.api.call(
            "PATCH", self._path(plural, name), change, content_type="application/merge-patch+json"
        )
        assert answer.ok, answer.message

    def remove(self, plural: str, name: str) -> None:
        """Delete an object."""
        answer = self.api.call("DELETE", self._path(plural, name))
        assert answer.ok, answer.message

    def found(self, plural: str, name: str) -> Json:
        """Read an object; it has to be there."""
        answer = self.api.call("GET", self._path(plural, name))
        assert answer.ok, answer.message
        return answer.body


@dataclass
class Victim:
    """Another tenant's request with its database, and proof that nothing happened to it.

    Attributes:
        request: the request, Ready.
        account: what it owns.
        before: all that a run could have changed of it.
    """

    request: Request
    account: Account
    before: Json

    @classmethod
    def made(cls, world: Cases, place: Place) -> "Victim":
        """Make one, with a table."""
        request = world.ask(place, namespace=world.namespace())
        assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
        account = request.account(place.server)
        table = f"CREATE TABLE t (id INT PRIMARY KEY) AS SELECT seq AS id FROM seq_1_to_{ROWS}"
        place.server.query(table, database=account.database)
        victim = cls(request, account, {})
        victim.before = victim.now()
        return victim

    def now(self) -> Json:
        """All that a run could change of it."""
        server = self.account.server
        return {
            "versions": self.request.versions(),
            "account": self.account.hashes(),
            "grants": server.query("SELECT * FROM mysql.db WHERE User = %s", [self.account.username]),
            "row": self.request.rows_in_ledger(server),
            "data": self.account.rows(),
        }

    def info(self) -> Json:
        """It as ``databaseInfo`` names it."""
        return {"username": self.account.username, "databasename": self.account.database}

    def is_untouched(self, log: Log) -> None:
        """Nothing of it changed, nobody logged in as it, no statement that changes something names it."""
        assert self.now() == self.before
        assert log.logins(self.account.username) == 0
        assert log.writes(self.account.database, self.account.username, self.request.uid) == []


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cases]:
    with without_operator(sandbox, tmp_path_factory.mktemp("trust")) as world:
        yield world


@pytest.fixture(scope="module")
def admin(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def place(world: Cases) -> Place:
    return world.place("trust")


@pytest.fixture(scope="module")
def tenant(world: Cases, admin: Api) -> Tenant:
    return Tenant.made(world, admin)


@pytest.fixture(scope="module")
def victim(world: Cases, place: Place) -> Victim:
    return Victim.made(world, place)


def name_of(text: str) -> str:
    """A request's name that no other test uses."""
    return f"{text}-{token()}"


def condition(kind: str, status: str, reason: str, message: str = "", generation: int = 1) -> Json:
    """A condition as a tenant may write it."""
    at = "2026-01-31T12:00:00Z"
    return {"type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": at, "observedGeneration": generation}  # fmt: skip


def reference(place: Place) -> Json:
    """A place's connection as status names it."""
    return {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": place.scope}, "name": "it"}


# --- O11 under the runtime, which hands the object over as variables; first, since the other runs are made without it


@pytest.fixture
def running(sandbox: Sandbox, operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, operator) as running:
        yield running
    operator.stop()


def test_O11_braces_under_the_runtime(running: World, admin: Api, tmp_path: Path) -> None:
    pwned = tmp_path / "pwned"
    texts = braces(pwned)
    request = running.request(running.namespace(), "braces", {"example.com/note": texts[0]})
    request.wait("DatabaseCreated")
    own, passes = request.account(server_of(running, request)), request.passes()
    answer = admin.patch(REQUEST, request.name, {"status": with_braces(texts)}, request.namespace, subresource="status")
    assert answer.ok, answer.message
    request.touch()
    request.wait_pass(passes)
    request.wait("DatabaseCreated")
    assert (request.read() or {})["status"]["databaseInfo"]["databasename"] == own.database
    answer = admin.patch(REQUEST, request.name, {"status": with_braces(texts)}, request.namespace, subresource="status")
    assert answer.ok, answer.message
    request.delete()
    assert own.exists() == (False, False)
    assert not pwned.exists()
    assert objects.get(running.api, API, "DatabaseRequest", request.name, request.namespace) is None


def server_of(world: World, request: Request) -> MariaDB:
    """The server on which a request has its place."""
    connection = (request.read() or {})["status"]["observedDatabaseConnectionReference"]["name"]
    return world.sandbox.servers[connection]


# --- O1: objects that were there before


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "seeded"), [("Secret", False), ("Secret", True), ("Service", True)],
    ids=["Secret-plain", "Secret-seeded", "Service-seeded"],
)
@pytest.mark.beside
def test_O1_object_made_beforehand(world: Cases, place: Place, tenant: Tenant, kind: str, seeded: bool) -> None:
    """It is neither overwritten nor deleted, also where it looks like the operator's own."""
    name = name_of("o1")
    labels = {
        "dbaas.lagoon.sh/secret": "true",
        "app.kubernetes.io/managed-by": "dbaas-operator",
        "app.kubernetes.io/instance": name,
    }
    if kind == "Secret":
        plural, made = "secrets", tenant.secret(name, {"O1_DB_PASSWORD": "mine"}, labels=labels)
    else:
        plural, made = "services", tenant.service(f"{name}-db", labels=labels)
    account = world.older(place.server)
    if seeded:
        tenant.secret(f"{name}-seed", account.seed())
    seed = {"seed": {"name": f"{name}-seed", "namespace": tenant.namespace}} if seeded else {}
    log = Log(place.server)
    request = tenant.ask(place, name, **seed)
    world.refused(request, "NameConflict", kind)
    assert log.changes(request.uid, account.database, account.username) == []
    assert request.rows_in_ledger(place.server) == []
    assert log.logins(account.username) == 0
    world.delete(request, NO_GRACE)
    kept = tenant.found(plural, made["metadata"]["name"])
    assert kept["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    assert account.rows() == ROWS


@pytest.mark.beside
def test_O1_object_put_in_place_of_a_published_one(world: Cases, place: Place, tenant: Tenant) -> None:
    """Once Ready, the same: a stranger under the wanted name is left alone and survives the request."""
    request = tenant.ask(place, name_of("o1"))
    world.reconcile(request)
    service = f"{request.name}-db"
    tenant.remove("services", service)
    made = tenant.service(service, labels={"app.kubernetes.io/instance": request.name})
    world.run("reconcile-request.yml", request)
    assert request.condition("Ready")["reason"] == "PublishConflict"
    account = request.account(place.server)
    world.delete(request)
    assert tenant.found("services", service)["metadata"]["uid"] == made["metadata"]["uid"]
    assert account.exists() == (False, False)


# --- O5: another tenant's database


def encoded(value: str) -> str:
    """A value of a Secret."""
    return base64.b64encode(value.encode()).decode()


@pytest.mark.beside
def test_O5_edited_secret_and_status(world: Cases, place: Place, tenant: Tenant, victim: Victim) -> None:
    """Names of another's database in the published Secret, in status and in the seed; then the request is deleted."""
    request = tenant.ask(place, name_of("o5"))
    world.reconcile(request)
    own, secret = request.account(place.server), request.name
    prefix = f"{request.name}-db".upper().replace("-", "_")
    log = Log(place.server)
    tenant.edit("secrets", secret, {"data": {
        f"{prefix}_DATABASE": encoded(victim.account.database),
        f"{prefix}_USERNAME": encoded(victim.account.username),
    }})  # fmt: skip
    tenant.forge(request, databaseInfo=victim.info())
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    values = request.values()
    assert (values["DATABASE"], values["USERNAME"]) == (own.database, own.username)
    assert request.ask("SELECT DATABASE()") == own.database
    # Again, and the deletion comes before a run mends it.
    tenant.edit("secrets", secret, {"data": {f"{prefix}_DATABASE": encoded(victim.account.database)}})
    tenant.forge(request, databaseInfo=victim.info())
    world.delete(request)
    assert own.exists() == (False, False)
    victim.is_untouched(log)


@pytest.mark.beside
def test_O5_edited_spec(world: Cases, place: Place, tenant: Tenant, victim: Victim) -> None:
    """A seed with another's names, given to a request that is Ready, changes nothing and drops its own only."""
    request = tenant.ask(place, name_of("o5"))
    world.reconcile(request)
    own = request.account(place.server)
    log = Log(place.server)
    tenant.secret(f"{request.name}-seed", {**victim.account.seed(), "password": own.password})
    seed = {"name": f"{request.name}-seed", "namespace": tenant.namespace}
    request.change(seed=seed, name=f"{victim.request.name}-db")
    world.run("reconcile-request.yml", request)
    assert request.condition("Ready")["reason"] == "SeedMismatch"
    world.delete(request)
    assert own.exists() == (False, False)
    victim.is_untouched(log)


@pytest.mark.beside
def test_O5_a_seed_that_names_a_taken_database(world: Cases, place: Place, tenant: Tenant, victim: Victim) -> None:
    """Even one with the right password (stolen, say) is refused before any login; its deletion drops nothing."""
    log = Log(place.server)
    tenant.secret("stolen", victim.account.seed())
    request = tenant.ask(place, name_of("o5"), seed={"name": "stolen", "namespace": tenant.namespace})
    world.refused(request, "SeedDatabaseInUse")
    tenant.forge(request, databaseInfo=victim.info(), observedDatabaseConnectionReference=reference(place))
    world.delete(request, NO_GRACE)
    victim.is_untouched(log)


# --- O11: a forged status

FORGED = ("reference", "ready", "ready-without-reference", "refused", "everything")


def forged(kind: str, place: Place, victim: Victim) -> Json:
    """A status that claims another's database."""
    ready = [condition("Ready", "True", "DatabaseCreated"), condition("Error", "False", "DatabaseCreated"),
             condition("Settled", "True", "DatabaseCreated")]  # fmt: skip
    refused = [condition("Ready", "False", "DatabaseExists"), condition("Error", "True", "DatabaseExists"),
               condition("Settled", "True", "DatabaseExists")]  # fmt: skip
    seed = {"uid": victim.request.uid, "resourceVersion": "1"}
    there = {"observedDatabaseConnectionReference": reference(place)}
    every: dict[str, Json] = {
        "reference": {**there, "observedSeed": seed},
        "ready": {**there, "databaseInfo": victim.info(), "conditions": ready, "observedGeneration": 1},
        "ready-without-reference": {"databaseInfo": victim.info(), "conditions": ready, "observedGeneration": 1},
        "refused": {**there, "databaseInfo": victim.info(), "conditions": refused, "observedGeneration": 1},
        "everything": {**there, "databaseInfo": victim.info(), "observedSeed": seed, "conditions": ready},
    }
    return every[kind]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "run_before"),
    [*((kind, True) for kind in FORGED), ("ready", False), ("everything", False)],
    ids=[*(f"{kind}-run" for kind in FORGED), "ready-deleted-at-once", "everything-deleted-at-once"],
)
@pytest.mark.beside
def test_O11_forged_status_gives_nothing(
    world: Cases, place: Place, tenant: Tenant, victim: Victim, kind: str, run_before: bool
) -> None:
    log = Log(place.server)
    request = tenant.ask(place, name_of("o11"))
    tenant.forge(request, **forged(kind, place, victim))
    if run_before:
        world.run("reconcile-request.yml", request)
        secret = request.secret()
        if secret is not None:  # it may well get a database, its own
            assert request.values()["DATABASE"] != victim.account.database
            assert request.values()["USERNAME"] != victim.account.username
            assert (request.read() or {})["status"]["databaseInfo"] != victim.info()
    world.delete(request, NO_GRACE)
    victim.is_untouched(log)


@pytest.mark.beside
def test_O11_forged_reference_of_a_ready_request(
    world: Cases, place: Place, tenant: Tenant, victim: Victim
) -> None:
    """It leads to another server, where the tenant has nothing, and back: nothing is made there, nothing is lost."""
    elsewhere = world.place("trust-other")
    other = Victim.made(world, elsewhere)
    request = tenant.ask(place, name_of("o11"))
    world.reconcile(request)
    own = request.account(place.server)
    log = Log(elsewhere.server)
    tenant.forge(request, observedDatabaseConnectionReference=reference(elsewhere), databaseInfo=other.info())
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    status = (request.read() or {})["status"]
    assert status["observedDatabaseConnectionReference"] == reference(place)
    assert status["databaseInfo"] == {"username": own.username, "databasename": own.database}
    tenant.forge(request, observedDatabaseConnectionReference=reference(elsewhere), databaseInfo=other.info())
    world.delete(request)
    assert own.exists() == (False, False)
    assert elsewhere.server.query("SELECT * FROM dbaas_operator.ownership WHERE request_uid = %s", [request.uid]) == []
    assert log.writes() == log.writes("no such word at all")
    other.is_untouched(log)


def braces(place: Path) -> list[str]:
    """Texts that a template engine would run, or break on; each leaves the file if it is run."""
    return [
        f"{{{{ lookup('ansible.builtin.pipe', 'touch {place}') }}}}",
        f"{{% if lookup('pipe', 'touch {place}') %}}x{{% endif %}}",
        "{% raw %}",
        "{{ no_such_variable.at_all }}",
        "{number} {connection} {0} {} {{",
    ]


def with_braces(texts: list[str], generation: int = 1) -> Json:
    """A status with such text in every string that takes one."""
    lookup = texts[0]
    types = ["Ready", "Error", "Settled", "Other"]
    return {
        "conditions": [condition(t, "False", "Creating", texts[i], generation) for i, t in enumerate(types)],
        "databaseInfo": {"username": lookup[:128], "databasename": texts[2]},
        "observedSeed": {"uid": lookup[:128], "resourceVersion": texts[3][:63]},
    }  # fmt: skip


@pytest.mark.beside
def test_O11_braces_in_a_status_are_text(world: Cases, place: Place, tenant: Tenant) -> None:
    """They don't break the next runs either: of a request that is Ready, and of its deletion."""
    pwned = world.runner.folder / f"pwned-{token()}"
    texts = braces(pwned)
    request = tenant.ask(place, name_of("o11"), {"example.com/note": texts[0], "example.com/open": texts[2]})
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    own = request.account(place.server)
    tenant.forge(request, **with_braces(texts))
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    assert request.account(place.server) == own
    conditions = {c["type"]: c for c in (request.read() or {})["status"]["conditions"]}
    assert not any("{" in conditions[t]["message"] for t in ("Ready", "Error", "Settled"))
    world.steady(request)
    there = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": texts[0]}, "name": texts[2]}
    tenant.forge(request, **with_braces(texts))
    tenant.forge(request, observedDatabaseConnectionReference=there)
    world.run("reconcile-request.yml", request)
    tenant.forge(request, **with_braces(texts))
    world.delete(request)
    assert own.exists() == (False, False)
    assert not pwned.exists()


@pytest.mark.beside
def test_O11_braces_before_the_first_run(world: Cases, place: Place, tenant: Tenant) -> None:
    pwned = world.runner.folder / f"pwned-{token()}"
    account = world.older(place.server)
    tenant.secret("braces", account.seed())
    request = tenant.ask(place, name_of("o11"), seed={"name": "braces", "namespace": tenant.namespace})
    status = with_braces(braces(pwned))
    tenant.forge(request, conditions=status["conditions"], observedSeed=status["observedSeed"])
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    assert account.rows() == ROWS
    assert not pwned.exists()


def test_O11_tenant_has_no_say_over_providers(admin: Api, place: Place, tenant: Tenant) -> None:
    """The Role's ``*`` is of one namespace: a server of its own, or another's password, is out of reach."""
    spec = {"scope": place.scope, "connections": [
        {"name": "mine", "hostname": "tenant.example.com", "username": "root",
         "passwordSecretRef": {"name": "mine", "namespace": tenant.namespace}}]}  # fmt: skip
    assert tenant.api.create(PROVIDER, PROVIDER.manifest("mine", spec)).code == 403
    assert tenant.api.get(PROVIDER, place.scope).code == 403
    assert tenant.api.call("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets/{place.scope}").code == 403
    assert admin.get(PROVIDER, place.scope).ok


# --- O12: the seed secret is swapped for another


def swap(tenant: Tenant, name: str, values: dict[str, str | bytes], in_place: bool) -> Json:
    """Put another Secret under a name, or other values into it."""
    if in_place:
        tenant.edit("secrets", name, {"data": {key: encoded(str(value)) for key, value in values.items()}})
        return tenant.found("secrets", name)
    tenant.remove("secrets", name)
    return tenant.secret(name, values)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("kind", "at"),
    [
        ("adopted", "Claim | Write the reference"),
        ("adopted", "Publish | Compare what is published"),
        ("created", "Make | Send the statements"),
        ("created", "Publish | Compare what is published"),
    ],
)
@pytest.mark.beside
def test_O12_what_was_probed_is_published(world: Cases, place: Place, tenant: Tenant, kind: str, at: str) -> None:
    """Between probe and publication another Secret takes the seed's name; it isn't deleted either."""
    make = world.older if kind == "adopted" else world.imagined
    account, other = make(place.server), world.older(place.server)
    name = name_of("o12")
    tenant.secret(f"{name}-seed", account.seed())
    seed = {"name": f"{name}-seed", "namespace": tenant.namespace, "deleteAfterSuccess": True}
    request = tenant.ask(place, name, seed=seed)
    log = Log(place.server)
    with paused(world, request, {"at": at}) as run:
        # Another password for the same account, then another account altogether.
        values = account.seed(password=f"other-{token()}") if at.startswith("Publish") else other.seed()
        swapped = swap(tenant, f"{name}-seed", values, in_place=False)
        run.end().check()
    values_published = request.values()
    assert values_published["DATABASE"] == account.database
    assert (values_published["PASSWORD"] == account.password) is True
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    kept = tenant.found("secrets", f"{name}-seed")
    assert kept["metadata"]["uid"] == swapped["metadata"]["uid"]
    # The next pass leaves it as well, and does nothing with what it names.
    world.run("reconcile-request.yml", request)
    assert tenant.found("secrets", f"{name}-seed")["metadata"]["uid"] == swapped["metadata"]["uid"]
    if not at.startswith("Publish"):
        assert log.logins(other.username) == 0
        assert other.rows() == ROWS
        assert log.changes(other.database, other.username) == []
    assert (request.values()["PASSWORD"] == account.password) is True


@pytest.mark.sample(1)
@pytest.mark.parametrize("in_place", [True, False], ids=["edited", "replaced"])
@pytest.mark.beside
def test_O12_another_seed_is_not_deleted(world: Cases, place: Place, tenant: Tenant, in_place: bool) -> None:
    """It is swapped right before the deletion that ``deleteAfterSuccess`` asks for."""
    account, name = world.older(place.server), name_of("o12")
    tenant.secret(f"{name}-seed", account.seed())
    seed = {"name": f"{name}-seed", "namespace": tenant.namespace, "deleteAfterSuccess": True}
    request = tenant.ask(place, name, seed=seed)
    with paused(world, request, {"at": "Remove | Delete objects"}) as run:
        swapped = swap(tenant, f"{name}-seed", account.seed(password="another"), in_place)
        run.end().check()
    after = [request.state()]
    for _ in range(2):
        kept = tenant.found("secrets", f"{name}-seed")
        assert kept["metadata"]["uid"] == swapped["metadata"]["uid"]
        after.append(world.reconcile(request))
    assert (request.values()["PASSWORD"] == account.password) is True
    # Ready from the first run on: that there is another secret now is no failure of anything.
    assert after == [f"SeedAdopted {DONE}"] * 3


@pytest.mark.beside
def test_O12_the_very_seed_is_deleted(world: Cases, place: Place, tenant: Tenant) -> None:
    """The counterpart: without a swap it goes."""
    account, name = world.older(place.server), name_of("o12")
    tenant.secret(f"{name}-seed", account.seed())
    seed = {"name": f"{name}-seed", "namespace": tenant.namespace, "deleteAfterSuccess": True}
    request = tenant.ask(place, name, seed=seed)
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    assert tenant.api.call("GET", f"/api/v1/namespaces/{tenant.namespace}/secrets/{name}-seed").code == 404


# --- other namespaces


def asked_for(audit_log: Path, start: int, name: str) -> list[str]:
    """What the operator asked the API server for of the objects of a name."""
    return [
        f"{entry['verb']} {entry['objectRef'].get('namespace', '')}/{entry['objectRef']['resource']}"
        for entry in audit.entries(audit_log, start)
        if audit.user(entry) == OPERATOR and (entry.get("objectRef") or {}).get("name") == name
    ]


@pytest.mark.beside
def test_seed_of_another_namespace_is_not_read(
    world: Cases, place: Place, tenant: Tenant, sandbox: Sandbox
) -> None:
    """Refused without a look, whatever status says and whether the Secret exists or not."""
    account, name = world.older(place.server), name_of("far-seed")
    far = world.namespace()
    world.secret(far, name, account.seed())
    start, log = sandbox.audit_log.stat().st_size, Log(place.server)
    messages = []
    for namespace in (far, NAMESPACE):
        request = tenant.ask(place, name_of("far"), seed={"name": name, "namespace": namespace})
        tenant.forge(request, observedDatabaseConnectionReference=reference(place))
        world.run("reconcile-request.yml", request)
        assert request.state() == f"SeedNamespaceForbidden {REFUSED}", request.told()
        messages.append(request.condition("Ready")["message"])
        world.delete(request, NO_GRACE)
    assert messages[0] == messages[1]
    assert asked_for(sandbox.audit_log, start, name) == []
    assert log.logins(account.username) == 0


@pytest.mark.beside
def test_seed_of_another_namespace_given_later(
    world: Cases, place: Place, tenant: Tenant, sandbox: Sandbox
) -> None:
    """A request that is Ready gets such a seed: neither read nor used to find a password."""
    account, name = world.older(place.server), name_of("far-seed")
    world.secret(world.namespace(), name, account.seed())
    request = tenant.ask(place, name_of("far"))
    world.reconcile(request)
    tenant.remove("secrets", request.name)
    start = sandbox.audit_log.stat().st_size
    request.change(seed={"name": name, "namespace": NAMESPACE})
    world.run("reconcile-request.yml", request)
    assert request.condition("Ready")["reason"] == "SeedMismatch"
    assert asked_for(sandbox.audit_log, start, name) == []
