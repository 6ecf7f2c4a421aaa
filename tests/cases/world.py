"""What a case needs: servers with their own scopes, accounts on them, requests, and runs for these."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dev import objects
from dev.mariadb import MariaDB
from dev.sandbox import NAMESPACE
from tests.cases.running import Run, Runner
from tests.integration.e2ehelpers import API, MERGE, Account, Request, World, token
from tests.statements import unknown_statements

DONE = "True/False/True"
REFUSED = "False/True/True"
WAITS = "False/False/False"
FINALIZER = "crd.lagoon.sh/database"
# An adopted database is dropped with its request however short that was Ready.
NO_GRACE = {"DBAAS_ADOPTED_GRACE_SECONDS": "0"}


@dataclass
class Place:
    """A server with a scope of its own.

    Attributes:
        server: the server.
        scope: the scope of the provider whose only connection it is.
        namespace: one for the requests of this place.
    """

    server: MariaDB
    scope: str
    namespace: str


def execute(server: MariaDB, statement: str, *values: str) -> None:
    """Run a statement as root, its values quoted by the driver: right in every sql_mode.

    Args:
        server: where.
        statement: with ``%s`` for the values, and ``%%`` for a percent sign.
        *values: the values.
    """
    server.query(statement, list(values))


@dataclass(repr=False)
class Cases(World):
    """The sandbox without an operator, and all that one module of cases makes in it.

    Attributes:
        runner: runs the playbooks.
        admins: the accounts by which providers' connections log in.
    """

    runner: Runner = field(kw_only=True)
    admins: set[str] = field(default_factory=lambda: {"dbaas_admin"})
    _servers: list[MariaDB] = field(default_factory=list)
    _places: dict[str, Place] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def __repr__(self) -> str:
        """No passwords in the message of a test that fails."""
        return "the world"

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Keep jobs apart that share something.

        Args:
            what: the name of it.
        """
        with self._mutex:
            lock = self._locks.setdefault(what, threading.Lock())
        with lock:
            yield

    def place(self, name: str = "plain", options: Mapping[str, str | None] | None = None, **fields: Any) -> Place:
        """A server of this module's own, started with its provider and ledger at the first call.

        Args:
            name: what it is called.
            options: of the server, beside the sandbox's.
            **fields: of the provider's connection.

        Returns:
            The place.
        """
        with self.alone(f"place {name}"):
            if name not in self._places:
                server = self.bare_server(name, options)
                scope = f"case-{name}-{token()}"
                self.offer(scope, server, **fields)
                self.provider_run(scope)
                self._places[name] = Place(server, scope, self.namespace())
            return self._places[name]

    def bare_server(self, name: str, options: Mapping[str, str | None] | None = None) -> MariaDB:
        """A server of this module's own, without provider and ledger.

        Args:
            name: what it is called.
            options: of the server, beside the sandbox's.

        Returns:
            The server, running.
        """
        with contextlib.suppress(Exception):
            MariaDB.load(f"case-{name}").remove()  # of a run that was broken off
        server = MariaDB.new(f"case-{name}", options)
        self._servers.append(server)
        self.cleanup.insert(0, server.remove)  # what is on it goes before
        server.start()
        self.runner.secrets |= {server.admin_password, server.root_password}
        return server

    def offer(self, scope: str, server: MariaDB, username: str = "", password: str = "", **fields: Any) -> None:
        """Write a provider with one connection, without a run for it.

        Args:
            scope: name and scope.
            server: the server that its connection leads to.
            username: the admin's, if it isn't the server's usual one.
            password: likewise.
            **fields: of the connection.
        """
        password = password or server.admin_password
        self.runner.secrets.add(password)
        self.secret(NAMESPACE, scope, {"password": password})
        self.cleanup.append(lambda: objects.delete(self.api, "v1", "Secret", scope, NAMESPACE))
        connection = {
            "name": "it",
            "hostname": server.hostname,
            "port": server.port,
            "username": username or server.admin_user,
            "passwordSecretRef": {"name": scope, "namespace": NAMESPACE},
            **fields,
        }
        spec = {"scope": scope, "connections": [connection]}
        self.apply({"apiVersion": API, "kind": "DatabaseMySQLProvider", "metadata": {"name": scope}, "spec": spec})
        if scope not in self.providers:
            self.providers.append(scope)

    def another(self, place: Place, username: str = "", password: str = "", **fields: Any) -> Place:
        """The same server by another provider: another admin account, or another way to it.

        Args:
            place: the server.
            username: the admin's.
            password: the admin's.
            **fields: of the connection.

        Returns:
            A place with a scope of its own.
        """
        scope = f"case-{token()}"
        self.offer(scope, place.server, username, password, **fields)
        return Place(place.server, scope, place.namespace)

    def admin(
        self, server: MariaDB, username: str, rights: str, password: str = "", option: str = "WITH GRANT OPTION"
    ) -> tuple[str, str]:
        """Make another admin account.

        Args:
            server: where.
            username: its name.
            rights: what it is granted on everything.
            password: made up if empty.
            option: of the grant.

        Returns:
            Name and password.
        """
        password = password or token(12)
        self.admins.add(username)
        execute(server, "CREATE OR REPLACE USER %s@'%%' IDENTIFIED BY %s", username, password)
        execute(server, f"GRANT {rights} ON *.* TO %s@'%%' {option}", username)
        return username, password

    def provider_run(self, scope: str) -> str:
        """Run the provider's playbook, which makes the ledger.

        Args:
            scope: the provider's name.

        Returns:
            What its status says of its connection: ``available``, or the message.
        """
        self.runner.run("reconcile-provider.yml", {"ansible_operator_meta": {"name": scope, "namespace": ""}}).check()
        found = objects.get(self.api, API, "DatabaseMySQLProvider", scope) or {}
        [connection] = found["status"]["connectionStatus"]
        return str(connection["status"] if connection["status"] == "available" else connection["message"])

    def imagined(self, server: MariaDB, database: str = "", username: str = "", password: str = "") -> Account:
        """Names that are on no server yet, and a password that no output may hold."""
        account = Account(server, database or f"db_{token()}", username or f"u_{token()}", password or token(12))
        self.runner.secrets.add(account.password)
        return account

    def ask(
        self,
        place: Place,
        values: Mapping[str, str | bytes] | None = None,
        annotations: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> Request:
        """Create a request, with a seed secret of its own where there are values for one.

        Args:
            place: whose scope, and in whose namespace.
            values: the seed secret's.
            annotations: the request's.
            **spec: what differs; ``name_of_request`` and ``namespace`` aren't of the spec.

        Returns:
            The request.
        """
        name = spec.pop("name_of_request", f"r-{token()}")
        namespace = spec.pop("namespace", place.namespace)
        if values is not None:
            self.secret(namespace, f"{name[:50]}-seed", values)
            spec.setdefault("seed", f"{name[:50]}-seed")
        return self.request(namespace, name, annotations, **{"scope": place.scope, **spec})

    def reconcile(self, request: Request, verbosity: int = 0, settings: Mapping[str, str] | None = None) -> str:
        """Run the playbook once.

        Args:
            request: the request.
            verbosity: how many ``-v``.
            settings: environment variables.

        Returns:
            Reason and conditions.
        """
        self.run("reconcile-request.yml", request, verbosity, settings)
        return request.state()

    def run(
        self, playbook: str, request: Request, verbosity: int = 0, settings: Mapping[str, str] | None = None
    ) -> Run:
        """Run a playbook for a request as the runtime would; it has to end well.

        Args:
            playbook: its name.
            request: the request.
            verbosity: how many ``-v``.
            settings: environment variables.

        Returns:
            The run.
        """
        run = self.runner.request(
            playbook, request.name, request.namespace, request.read(), verbosity, settings
        ).check()
        if (request.secret() or {}).get("data") and request.state().endswith(DONE):
            self.runner.secrets.add(request.values()["PASSWORD"])
        return run

    def steady(self, request: Request) -> None:
        """Run once more: nothing may be written, neither to the cluster nor to the server's ledger."""
        before = request.versions()
        self.reconcile(request)
        assert request.versions() == before, f"a pass without a cause wrote something; it is {request.told()}"

    def mark(self, request: Request) -> None:
        """Give a request the finalizer, as the runtime does, and delete it."""
        path = objects.path_of(API, "DatabaseRequest", request.name, request.namespace)
        objects.call(self.api, "PATCH", path, {"metadata": {"finalizers": [FINALIZER]}}, MERGE)
        request.delete(wait=False)

    def finalize(self, request: Request, verbosity: int = 0, settings: Mapping[str, str] | None = None) -> bool:
        """Run the playbook of a deletion once; without a wish to be run again the finalizer goes.

        Args:
            request: the request, marked by :meth:`mark`.
            verbosity: how many ``-v``.
            settings: environment variables.

        Returns:
            Whether the request is gone.
        """
        if self.run("finalize-request.yml", request, verbosity, settings).again:
            return False
        self.release(request)
        return request.read() is None

    def release(self, request: Request) -> None:
        """Take the finalizer away."""
        path = objects.path_of(API, "DatabaseRequest", request.name, request.namespace)
        objects.call(self.api, "PATCH", path, {"metadata": {"finalizers": None}}, MERGE)

    def delete(self, request: Request, settings: Mapping[str, str] | None = None) -> None:
        """Delete a request; one run has to be enough.

        Args:
            request: the request.
            settings: environment variables.
        """
        self.mark(request)
        assert self.finalize(request, 0, settings), f"the deletion waits; it is {request.told()}"

    def refused(self, request: Request, reason: str, *words: str) -> None:
        """Run once: the request has to be refused for good, with nothing published.

        Args:
            request: the request.
            reason: of the refusal.
            *words: that its sentence has to hold.
        """
        assert self.reconcile(request) == f"{reason} {REFUSED}", request.told()
        message = request.condition("Ready")["message"]
        assert all(word in message for word in words), message
        if reason != "NameConflict":
            assert request.service() is None
            assert request.secret() is None
        assert "observedDatabaseConnectionReference" not in (request.read() or {})["status"]

    def waits(self, request: Request, reason: str, *words: str) -> None:
        """Run once: the request has to wait, and to be run again.

        Args:
            request: the request.
            reason: of the wait.
            *words: that its sentence has to hold.
        """
        run = self.run("reconcile-request.yml", request)
        assert request.state() == f"{reason} {WAITS}", request.told()
        message = request.condition("Ready")["message"]
        assert all(word in message for word in words), message
        assert run.again, "nothing runs it again"

    def unknown_statements(self) -> set[str]:
        """What the admin accounts sent to the servers of this module that is on no list.

        Returns:
            The statements, without their values.
        """
        logs = [server.general_log.read_bytes() for server in self._servers if server.general_log.exists()]
        found = [unknown_statements(log, self.admins) for log in logs]
        assert sum(seen for seen, _ in found), "no admin account sent anything"
        return set().union(*(unknown for _, unknown in found))

    def close(self) -> None:
        """Delete all that was made."""
        for namespace in self.namespaces:
            found = objects.call(self.api, "GET", objects.path_of(API, "DatabaseRequest", namespace=namespace))
            for item in found["items"]:
                if item["metadata"].get("finalizers"):
                    self.release(Request(self, namespace, item["metadata"]["name"]))
        super().close()
