"""MariaDBConsumer objects as the older operator leaves them, whole and broken."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiClient

from dev import objects
from dev.mariadb import MariaDB
from dev.waiting import wait_for
from tests.integration.e2ehelpers import OLDER_RIGHTS, Account, Request, World, quoted, token

Json = dict[str, Any]

OLD = "mariadb.amazee.io/v1"
CRD = Path(__file__).with_name("mariadbconsumers.crd.yaml")
KEEP_LABEL = "dbaas.amazee.io/no-drop-database"


def install(api: ApiClient) -> None:
    """Install the older operator's kind, as its chart does."""
    document = yaml.safe_load(CRD.read_text(encoding="utf-8"))
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{document['metadata']['name']}"
    query = {"fieldManager": objects.MANAGER, "force": "true"}
    objects.call(api, "PATCH", path, document, "application/apply-patch+yaml", query)

    def established() -> bool:
        found = objects.call(api, "GET", path)
        return any(c["type"] == "Established" and c["status"] == "True" for c in found["status"]["conditions"] or [])

    wait_for(established, "the kind MariaDBConsumer to be served", 30)


@dataclass
class Site:
    """One MariaDBConsumer with what is behind it.

    Attributes:
        world: where it lives.
        namespace: its namespace.
        name: its name.
        account: what its fields name.
        made: the object as it was made.
    """

    world: World
    namespace: str
    name: str
    account: Account
    made: Json = field(default_factory=dict)

    def read(self) -> Json | None:
        """The object, or None."""
        return objects.get(self.world.api, OLD, "MariaDBConsumer", self.name, self.namespace)

    @property
    def request(self) -> Request:
        """The request that is made for it."""
        found = objects.get(self.world.api, f"{objects.GROUP}/{objects.VERSION}", "DatabaseRequest", self.name,
                            self.namespace)  # fmt: skip
        return Request(self.world, self.namespace, self.name, found["metadata"]["uid"] if found else "")

    def seed(self) -> Json | None:
        """The seed secret that is made for it, or None."""
        return objects.get(self.world.api, "v1", "Secret", f"{self.name}-seed", self.namespace)

    def differences(self) -> Json:
        """What of the object isn't as it was made, but for what the API server itself notes."""
        now, before = self.read() or {}, self.made
        parts = {key: now.get(key) for key in {*now, *before} - {"metadata"} if now.get(key) != before.get(key)}
        noted = {"resourceVersion", "managedFields"}
        for key in {*now["metadata"], *before["metadata"]} - noted:
            if now["metadata"].get(key) != before["metadata"].get(key):
                parts[key] = now["metadata"].get(key)
        return parts


def make(
    world: World,
    namespace: str,
    name: str,
    account: Account,
    environment: str,
    consumer: Mapping[str, str | None] | None = None,
    provider: Mapping[str, str | None] | None = None,
) -> Site:
    """Make a MariaDBConsumer, and the Service that the older operator made for it.

    Args:
        world: where.
        namespace: its namespace.
        name: its name.
        account: what it names.
        environment: ``spec.environment``; "" for none.
        consumer: fields of ``spec.consumer`` that differ; None leaves one out.
        provider: the same of ``spec.provider``.

    Returns:
        The site.
    """
    service = f"{name[:22]}-{uuid.uuid4()}"
    data = {"database": account.database, "username": account.username, "password": account.password}
    place = {"hostname": account.server.hostname, "port": str(account.server.port), "name": "old", "namespace": "old"}
    spec: Json = {
        "consumer": {k: v for k, v in {**data, **(consumer or {})}.items() if v is not None},
        "provider": {k: v for k, v in {**place, **(provider or {})}.items() if v is not None},
    }
    spec["consumer"]["services"] = {"primary": service}
    spec |= {"environment": environment} if environment else {}
    metadata = {"name": name, "namespace": namespace, "labels": {"app": "site"}}
    path = objects.path_of(OLD, "MariaDBConsumer", namespace=namespace)
    document = {"apiVersion": OLD, "kind": "MariaDBConsumer", "metadata": metadata, "spec": spec}
    made = objects.call(world.api, "POST", path, document, query={"fieldValidation": "Strict"})
    world.foreign("Service", namespace, service)
    return Site(world, namespace, name, account, made)


@dataclass(frozen=True)
class Broken:
    """A way in which a MariaDBConsumer can be broken.

    Attributes:
        state: what the migration makes of it: ``not-tried``, or ``refused`` by the operator.
        reason: the reason.
        prepare: makes the account; returns it with what differs: fields of consumer and provider, the environment.
    """

    state: str
    reason: str
    prepare: Callable[[World, MariaDB, str, str], tuple[Account, Json]]


def _fields(**more: Any) -> Callable[[World, MariaDB, str, str], tuple[Account, Json]]:
    return lambda world, server, *_: (world.older(server), more)


def _grants(*grants: str) -> Callable[[World, MariaDB, str, str], tuple[Account, Json]]:
    return lambda world, server, *_: (world.older(server, grants=grants), {})


def _foreign(kind: str) -> Callable[[World, MariaDB, str, str], tuple[Account, Json]]:
    def prepare(world: World, server: MariaDB, namespace: str, name: str) -> tuple[Account, Json]:
        world.foreign(kind, namespace, name)
        return world.older(server), {}

    return prepare


def _missing(world: World, server: MariaDB, *_: str) -> tuple[Account, Json]:
    account = world.older(server)
    server.query(f"DROP DATABASE {quoted(account.database)}")  # its grants stay
    return account, {}


def _conflict(world: World, server: MariaDB, *_: str) -> tuple[Account, Json]:
    return world.older(server), {"consumer": {"database": f"free_{token()}", "password": "not-this-one"}}


def _exposed(world: World, server: MariaDB, *_: str) -> tuple[Account, Json]:
    start = f"x{token()}"
    world.older(server, grants=("SELECT ON {database}.*", f"SELECT ON `{start}____`.*"))
    return world.imagined(server, database=f"{start}_new"), {}


def _admin(world: World, server: MariaDB, *_: str) -> tuple[Account, Json]:
    return world.older(server), {"consumer": {"username": server.admin_user}}


def _two_databases(world: World, server: MariaDB, *_: str) -> tuple[Account, Json]:
    other = world.older(server)
    owner = f"{OLDER_RIGHTS} ON {{database}}.*"
    return world.older(server, grants=(owner, f"SELECT ON `{other.database}`.*")), {}


BROKEN: dict[str, Broken] = {
    "no-password": Broken("not-tried", "SeedSecretInvalid", _fields(consumer={"password": None})),
    "no-database": Broken("not-tried", "SeedSecretInvalid", _fields(consumer={"database": ""})),
    "no-username": Broken("not-tried", "SeedSecretInvalid", _fields(consumer={"username": None})),
    "no-host": Broken("not-tried", "SeedSecretInvalid", _fields(provider={"hostname": None, "port": None})),
    "bad-port": Broken("not-tried", "SeedSecretInvalid", _fields(provider={"port": "3306.0"})),
    "no-environment": Broken("not-tried", "ScopeInvalid", _fields(environment="")),
    "unknown-environment": Broken("not-tried", "ProviderMissing", _fields(environment="nowhere")),
    "unknown-host": Broken("not-tried", "SeedNoMatchingProvider", _fields(provider={"hostname": "db.example.com"})),
    "system-database": Broken("not-tried", "SeedReservedName", _fields(consumer={"database": "MySQL"})),
    "admin-account": Broken("not-tried", "SeedReservedName", _admin),
    "foreign-service": Broken("not-tried", "NameConflict", _foreign("Service")),
    "foreign-secret": Broken("not-tried", "NameConflict", _foreign("Secret")),
    "wrong-password": Broken("refused", "SeedCredentialsRejected", _fields(consumer={"password": "not-this-one"})),
    "database-missing": Broken("refused", "SeedDatabaseMissing", _missing),
    "no-rights": Broken("refused", "SeedAccessDenied", _grants()),
    "read-only": Broken("refused", "SeedAccountUnfit", _grants("SELECT ON {database}.*")),
    "two-databases": Broken("refused", "SeedAccountUnfit", _two_databases),
    "user-conflict": Broken("refused", "SeedUserConflict", _conflict),
    "name-exposed": Broken("refused", "SeedNameExposed", _exposed),
    "user-too-long": Broken("refused", "SeedSecretInvalid", _fields(consumer={"username": "u" * 129})),
}


def make_broken(world: World, namespace: str, kind: str, server: MariaDB, environment: str) -> Site:
    """Make a broken MariaDBConsumer, named after the way in which it is broken.

    Args:
        world: where.
        namespace: its namespace.
        kind: a key of :data:`BROKEN`.
        server: where what it names is.
        environment: that it has unless that is what is broken.

    Returns:
        The site.
    """
    account, fields = BROKEN[kind].prepare(world, server, namespace, kind)
    return make(world, namespace, kind, account, **{"environment": environment, **fields})
