"""Requests, servers and logs as the end-to-end tests see them: from outside the operator."""

import base64
import contextlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pymysql
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql
from kubernetes.client import ApiClient

from dev import objects
from dev.errors import WaitTimeout
from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import NAMESPACE, PROVIDER, Sandbox
from dev.waiting import wait_for
from tests.settings import SETTINGS

Json = dict[str, Any]

API = f"{objects.GROUP}/{objects.VERSION}"
# Seconds. A machine that does other things too is slow; a request that was lost never ends.
DEADLINE = 120.0
CLOSING = 300.0  # for all requests of a test module together
# The grant that the older operator wrote: by name, with the database's name unescaped.
OLDER_RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, "
    "LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER"
)
ROWS = 7  # of the table in each database that stood there before its request
CREATE_TABLE = f"CREATE TABLE t (id INT PRIMARY KEY) AS SELECT seq AS id FROM seq_1_to_{ROWS}"
READS = ("SELECT", "SHOW", "SET", "USE")
MERGE = "application/merge-patch+json"


def token(length: int = 4) -> str:
    """Make up what no other test uses."""
    return secrets.token_hex(length)


def quoted(name: str) -> str:
    """Quote a name for a statement that is sent without arguments."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """Quote a string for a statement that is sent without arguments."""
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


class Log:
    """What a server's general log holds from a moment on."""

    def __init__(self, server: MariaDB) -> None:
        """Begin now."""
        self.server = server
        self._start = server.general_log.stat().st_size

    def entries(self) -> list[tuple[str, str]]:
        """Command (``Connect``, ``Query``) and its text, in order; a text may have several lines."""
        with self.server.general_log.open("rb") as stream:
            stream.seek(self._start)
            content = stream.read().decode(errors="replace")
        pattern = r"^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *\d+ (Connect|Query|Quit|Init DB|Execute|Prepare)\t?"
        parts = re.split(pattern, content, flags=re.MULTILINE)
        return list(zip(parts[1::2], parts[2::2], strict=True))

    def logins(self, username: str) -> int:
        """How often this account tried to log in."""
        return sum(kind == "Connect" and body.startswith(f"{username}@") for kind, body in self.entries())

    def statements(self, *markers: str) -> list[str]:
        """The statements that hold one of these words."""
        return [b.strip() for kind, b in self.entries() if kind == "Query" and any(m in b for m in markers)]

    def writes(self, *markers: str) -> list[str]:
        """Those of them that change something."""
        return [s for s in self.statements(*markers) if not s.upper().startswith(READS)]

    def changes(self, *markers: str) -> list[str]:
        """Those of them that change something other than the ledger."""
        return [s for s in self.writes(*markers) if "dbaas_operator." not in s]


@dataclass
class Account:
    """A database with an account, as the older operator left them, or as a seed imagines them."""

    server: MariaDB
    database: str
    username: str
    password: str = field(repr=False)  # no password in the message of a test that fails

    def seed(self, **other: str | bytes | None) -> dict[str, str | bytes]:
        """The seed secret's keys; ``None`` leaves one out."""
        values: dict[str, str | bytes | None] = {
            "database": self.database,
            "username": self.username,
            "password": self.password,
            "hostname": self.server.hostname,
            "port": str(self.server.port),
            **other,
        }
        return {key: value for key, value in values.items() if value is not None}

    def exists(self) -> tuple[bool, bool]:
        """Whether the database and an account of this name are there."""
        schemas = self.server.query("SELECT 1 FROM information_schema.schemata WHERE schema_name = %s", [self.database])
        users = self.server.query("SELECT 1 FROM mysql.user WHERE User = %s", [self.username])
        return bool(schemas), bool(users)

    def hashes(self) -> list[str]:
        """The accounts of this name with all that the server stores of them."""
        rows = self.server.query("SELECT * FROM mysql.global_priv WHERE User = %s ORDER BY Host", [self.username])
        return [repr(row) for row in rows]

    def rows(self) -> int:
        """Rows of the table, counted as root."""
        [row] = self.server.query("SELECT COUNT(*) AS n FROM t", database=self.database)
        return int(row["n"])


@dataclass
class Request:
    """One DatabaseRequest."""

    world: "World"
    namespace: str
    name: str
    uid: str = ""

    def read(self) -> Json | None:
        """The object, or None."""
        return objects.get(self.world.api, API, "DatabaseRequest", self.name, self.namespace)

    def condition(self, kind: str) -> Json:
        """One of its conditions; empty where there is none for the present generation."""
        found = self.read() or {"metadata": {"generation": 0}}
        generation = found["metadata"]["generation"]
        for condition in found.get("status", {}).get("conditions", []):
            if condition["type"] == kind and condition["observedGeneration"] == generation:
                return dict(condition)
        return {}

    def state(self) -> str:
        """Reason and the three conditions in one line, for a comparison and for a message."""
        words = [self.condition(kind).get("status", "-") for kind in ("Ready", "Error", "Settled")]
        return f"{self.condition('Ready').get('reason', '-')} {'/'.join(words)}"

    def told(self) -> str:
        """What its conditions say, for the message of a failed wait."""
        return f"it is {self.state()}: {self.condition('Ready').get('message')}"

    def wait(self, *reasons: str, deadline: float = DEADLINE) -> str:
        """Wait until one of these reasons stands there for the present generation.

        Returns:
            :meth:`state`.
        """
        try:
            wait_for(
                lambda: self.condition("Ready").get("reason") in reasons,
                f"{self.namespace}/{self.name} to be {' or '.join(reasons)}",
                deadline,
            )
        except WaitTimeout as error:
            raise AssertionError(f"{error}; {self.told()}") from error
        return self.state()

    def settle(self, deadline: float = DEADLINE) -> str:
        """Wait until it is settled.

        Returns:
            The reason.
        """
        try:
            wait_for(
                lambda: self.condition("Settled").get("status") == "True",
                f"{self.namespace}/{self.name} to be settled",
                deadline,
            )
        except WaitTimeout as error:
            raise AssertionError(f"{error}; {self.told()}") from error
        return str(self.condition("Ready")["reason"])

    def change(self, **spec: Any) -> None:
        """Merge a change into the spec; None takes a field away."""
        path = objects.path_of(API, "DatabaseRequest", self.name, self.namespace)
        objects.call(self.world.api, "PATCH", path, {"spec": spec}, MERGE)

    def touch(self) -> None:
        """Ask for one more try."""
        self.change(forcedReconcilation=f"2026-01-31T12:00:00.{secrets.randbelow(10**9):09}Z")

    def delete(self, wait: bool = True) -> None:
        """Delete it, and wait until it is gone."""
        objects.delete(self.world.api, API, "DatabaseRequest", self.name, self.namespace)
        if wait:
            self.wait_gone()

    def wait_gone(self) -> None:
        """Wait until it is gone."""
        try:
            wait_for(lambda: self.read() is None, f"{self.namespace}/{self.name} to be gone", DEADLINE)
        except WaitTimeout as error:
            raise AssertionError(f"{error}; {self.told()}") from error

    def service(self) -> Json | None:
        """The Service of ``spec.name``."""
        found = self.read()
        name = found["spec"]["name"] if found else "mariadb"
        return objects.get(self.world.api, "v1", "Service", name, self.namespace)

    def secret(self) -> Json | None:
        """The Secret of the request's name."""
        return objects.get(self.world.api, "v1", "Secret", self.name, self.namespace)

    def versions(self) -> list[str]:
        """The resourceVersions of all that a pass could write."""
        found = [self.read(), self.service(), self.secret()]
        return [document["metadata"]["resourceVersion"] if document else "-" for document in found]

    def values(self) -> dict[str, str]:
        """The published Secret's values, keys without their prefix."""
        secret = self.secret()
        assert secret is not None, f"{self.namespace}/{self.name} published no Secret"
        texts = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
        return {key.rpartition("_")[2]: value for key, value in texts.items()}

    def login(self) -> "pymysql.Connection[Any]":
        """Log in as an application would: by the published Secret, at the host that the Service names."""
        values, service = self.values(), self.service()
        assert service is not None, f"{self.namespace}/{self.name} published no Service"
        return pymysql.connect(
            host=service["spec"]["externalName"],
            port=int(values["PORT"]),
            user=values["USERNAME"],
            password=values["PASSWORD"].encode().decode("latin-1"),
            database=values["DATABASE"],
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=10,
        )

    def ask(self, sql: str) -> Any:
        """The first value that a statement gives, sent with :meth:`login`."""
        with contextlib.closing(self.login()) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            row = cursor.fetchone()
            return row[0] if row else None

    def account(self, server: MariaDB) -> Account:
        """What it owns, after its status."""
        info = (self.read() or {})["status"]["databaseInfo"]
        return Account(server, info["databasename"], info["username"], self.values()["PASSWORD"])

    def rows_in_ledger(self, server: MariaDB) -> list[Json]:
        """Its rows in a server's ledger."""
        return server.query("SELECT * FROM dbaas_operator.ownership WHERE request_uid = %s", [self.uid])

    def age_by(self, server: MariaDB, seconds: int) -> None:
        """Move the moment at which it became Ready, so that no test waits for the grace time to pass."""
        server.query(
            "UPDATE dbaas_operator.ownership SET ready_at = ready_at - INTERVAL %s SECOND WHERE request_uid = %s",
            [seconds, self.uid],
        )

    def wait_pass(self, after: int) -> None:
        """Wait until more than this many runs of it have ended."""
        wait_for(lambda: self.passes() > after, f"a run of {self.namespace}/{self.name} to end", DEADLINE)

    def passes(self) -> int:
        """How many runs of it have ended, by the operator's log."""
        log = self.world.operator.log.read_text(encoding="utf-8", errors="replace")
        real = f'exited successfully","job":"\\d+","name":"{self.name}","namespace":"{self.namespace}"'
        standin = f"DatabaseRequest {self.namespace}/{self.name} job \\d+: ended"
        return len(re.findall(f"{real}|{standin}", log))


@dataclass
class World:
    """The sandbox with a running operator, and all that one test module makes in it."""

    sandbox: Sandbox
    operator: Operator
    api: ApiClient
    namespaces: list[str] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)
    cleanup: list[Callable[[], object]] = field(default_factory=list)
    closing: float = CLOSING

    @property
    def one(self) -> MariaDB:
        """The server ``one``."""
        return self.sandbox.servers["one"]

    @property
    def two(self) -> MariaDB:
        """The server ``two``."""
        return self.sandbox.servers["two"]

    def namespace(self, name: str = "") -> str:
        """Make a namespace."""
        name = name or f"e2e-{token()}"
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.namespaces.append(name)
        return name

    def apply(self, document: Json) -> Json:
        """Apply an object."""
        return objects.apply(self.api, document)

    def secret(self, namespace: str, name: str, values: Mapping[str, str | bytes], **fields: Any) -> Json:
        """Write a Secret."""
        data = {
            key: base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()
            for key, value in values.items()
        }
        metadata = {"name": name, "namespace": namespace}
        return self.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data, **fields})

    def foreign(self, kind: str, namespace: str, name: str) -> None:
        """Make a Service or Secret that no request owns."""
        document: Json = {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
        }
        if kind == "Service":
            document["spec"] = {"type": "ExternalName", "externalName": "foreign.example.com"}
        self.apply(document)

    def request(self, namespace: str, name: str, annotations: Mapping[str, str] | None = None, **spec: Any) -> Request:
        """Create a request; ``seed`` alone may be the name of a Secret."""
        if isinstance(spec.get("seed"), str):
            spec["seed"] = {"name": spec["seed"], "namespace": namespace}
        document = {
            "apiVersion": API,
            "kind": "DatabaseRequest",
            "metadata": {"name": name, "namespace": namespace, "annotations": dict(annotations or {})},
            "spec": {"scope": PROVIDER, "type": "mariadb", "name": f"{name[:55]}-db", **spec},
        }
        path = objects.path_of(API, "DatabaseRequest", namespace=namespace)
        made = objects.call(self.api, "POST", path, document, query={"fieldValidation": "Strict"})
        return Request(self, namespace, name, made["metadata"]["uid"])

    def seeded(
        self, namespace: str, name: str, values: Mapping[str, str | bytes], delete: bool = False, **spec: Any
    ) -> Request:
        """Create a request with a seed secret of its own, ``<name>-seed``."""
        self.secret(namespace, f"{name}-seed", values)
        seed = {"name": f"{name}-seed", "namespace": namespace, "deleteAfterSuccess": delete}
        return self.request(namespace, name, **{"seed": seed, **spec})

    def imagined(self, server: MariaDB, database: str = "", username: str = "", password: str = "") -> Account:
        """Names that are on no server yet; whatever is made of them is dropped at the end."""
        account = Account(server, database or f"db_{token()}", username or f"u_{token()}", password or token(12))
        self.cleanup.append(lambda: self._forget(account))
        return account

    def older(
        self,
        server: MariaDB,
        database: str = "",
        username: str = "",
        password: str = "",
        grants: tuple[str, ...] | None = None,
    ) -> Account:
        """A database with a table and an account, as the older operator left them.

        Args:
            server: where.
            database: made up if empty.
            username: likewise.
            password: likewise.
            grants: what the account has instead; ``{database}`` stands for the quoted name, ``%%`` for a percent sign.

        Returns:
            The account.
        """
        account = self.imagined(server, database, username, password)
        # The values are quoted by the driver: right in every sql_mode.
        name, user = sql.identifier(account.database), account.username
        server.query(f"CREATE DATABASE {name}", [])
        server.query(CREATE_TABLE, database=account.database)
        server.query("CREATE USER %s@'%%' IDENTIFIED BY %s", [user, account.password])
        for grant in (f"{OLDER_RIGHTS} ON {{database}}.*",) if grants is None else grants:
            server.query(f"GRANT {grant.replace('{database}', name)} TO %s@'%%'", [user])
        return account

    def _forget(self, account: Account) -> None:
        account.server.query(f"DROP DATABASE IF EXISTS {quoted(account.database)}")
        for row in account.server.query("SELECT Host FROM mysql.user WHERE User = %s", [account.username]):
            account.server.query(f"DROP USER {text(account.username)}@{text(row['Host'])}")

    def provider(self, scope: str, *servers: MariaDB, **other: Any) -> None:
        """Make a provider with the scope's name for these servers, and wait until its ledgers are made.

        Args:
            scope: name and scope.
            *servers: its connections, named after them.
            **other: fields of each connection that differ.
        """
        connections = []
        for server in servers:
            secret = f"{scope}-{server.name}"
            self.secret(NAMESPACE, secret, {"password": server.admin_password})
            self.cleanup.append(partial(objects.delete, self.api, "v1", "Secret", secret, NAMESPACE))
            connections.append(
                {
                    "name": server.name,
                    "hostname": server.hostname,
                    "port": server.port,
                    "username": server.admin_user,
                    "passwordSecretRef": {"name": secret, "namespace": NAMESPACE},
                    **other,
                }
            )
        self.apply(
            {
                "apiVersion": API,
                "kind": "DatabaseMySQLProvider",
                "metadata": {"name": scope},
                "spec": {"scope": scope, "connections": connections},
            }
        )
        if scope not in self.providers:
            self.providers.append(scope)

    def wait_provider(self, name: str) -> None:
        """Wait until a provider's run has found all servers and made their ledgers."""

        def ready() -> bool:
            found = objects.get(self.api, API, "DatabaseMySQLProvider", name) or {}
            conditions = found.get("status", {}).get("conditions", [])
            return any(
                c["type"] == "Ready" and c["status"] == "True"
                and c["observedGeneration"] == found["metadata"]["generation"]
                for c in conditions
            )  # fmt: skip

        wait_for(ready, f"the provider {name} to be ready", DEADLINE)

    def restart_operator(self) -> None:
        """Stop the operator as a cluster would and start it again: it runs every object once."""
        self.operator.stop()
        self.operator.start(SETTINGS)

    def close(self) -> None:
        """Delete all that was made; what can't be deleted in time is an error."""
        for name in self.namespaces:
            objects.delete(self.api, "v1", "Namespace", name)

        def left() -> list[str]:
            return [n for n in self.namespaces if objects.get(self.api, "v1", "Namespace", n) is not None]

        try:
            wait_for(lambda: not left(), "all namespaces of the test to be gone", self.closing)
        except WaitTimeout as error:
            raise AssertionError(f"{error}: {', '.join(left())} are left") from error
        finally:
            for name in self.providers:
                objects.delete(self.api, API, "DatabaseMySQLProvider", name)
            for undo in reversed(self.cleanup):
                undo()


@contextmanager
def opened(sandbox: Sandbox, operator: Operator) -> Iterator[World]:
    """Take hold of the sandbox for one test module, with the operator running.

    Args:
        sandbox: the sandbox, its provider made.
        operator: its operator.

    Yields:
        The world; all that was made in it goes at the end.
    """
    for server in sandbox.servers.values():
        server.thaw()
        server.start()
    operator.start(SETTINGS)
    world = World(sandbox, operator, sandbox.api())
    world.wait_provider(PROVIDER)
    try:
        yield world
    finally:
        world.close()
