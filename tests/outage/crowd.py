"""Many requests at once through the operator, and what is measured meanwhile."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pymysql

from dev import objects
from dev.errors import WaitTimeout
from dev.mariadb import MariaDB
from dev.ports import is_free
from dev.processes import descendants
from dev.waiting import wait_for
from tests.integration.e2ehelpers import API, ROWS, Account, Json, Request, World, token

KIB = 1024
REFUSED = {"SeedCredentialsRejected", "SeedNoMatchingProvider", "SeedReservedName", "SeedSecretInvalid"}


@dataclass
class Crowd:
    """Requests of all kinds.

    Attributes:
        world: where.
        server: on which server.
        scope: of a provider with this server alone.
        namespace: theirs.
        requests: name -> the request, and the reason with which it is to settle.
        accounts: of those with a seed.
    """

    world: World
    server: MariaDB
    scope: str
    namespace: str
    requests: dict[str, tuple[Request, str]] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)

    def make(self, seeded: int, plain: int, refused: int) -> None:
        """Make what they need, then all of them at once, in a mixed order; see :meth:`prepare`."""
        self.prepare(seeded, plain, refused)()

    def prepare(self, seeded: int, plain: int, refused: int) -> Callable[[], None]:
        """Make what they need.

        Args:
            seeded: every second one with a database that is there.
            plain: without a seed.
            refused: for one of four causes.

        Returns:
            What makes them.
        """
        wanted: dict[str, tuple[str, str | None]] = {}
        for number in range(seeded):
            name, there = f"seeded-{number}", number % 2 == 0
            self.accounts[name] = (self.world.older if there else self.world.imagined)(self.server)
            wanted[name] = ("SeedAdopted" if there else "SeedCreated", f"{name}-seed")
            self.world.secret(self.namespace, f"{name}-seed", self.accounts[name].seed())
        for number in range(plain):
            wanted[f"plain-{number}"] = ("DatabaseCreated", None)
        for number in range(refused):
            name, reason = f"refused-{number}", sorted(REFUSED)[number % len(REFUSED)]
            wanted[name] = (reason, f"{name}-seed")
            self.world.secret(self.namespace, f"{name}-seed", self._bad(name, reason))
        names = sorted(wanted)
        random.Random("order").shuffle(names)

        def create() -> None:
            for name in names:
                reason, seed = wanted[name]
                more = {"seed": seed} if seed else {}
                request = self.world.request(self.namespace, name, None, scope=self.scope, **more)
                self.requests[name] = (request, reason)

        return create

    def _bad(self, name: str, reason: str) -> dict[str, str | bytes]:
        if reason == "SeedCredentialsRejected":
            self.accounts[name] = self.world.older(self.server)
            return {**self.accounts[name].seed(), "password": "not-this-one"}
        account = self.world.imagined(self.server)
        broken: dict[str, dict[str, str | bytes]] = {
            "SeedNoMatchingProvider": {"hostname": "db.example.com"},
            "SeedReservedName": {"database": "mysql"},
            "SeedSecretInvalid": {"port": "none"},
        }
        return {**account.seed(), **broken[reason]}

    def found(self) -> dict[str, Json]:
        """All of them as the API has them, by name."""
        listed = objects.call(self.world.api, "GET", objects.path_of(API, "DatabaseRequest", namespace=self.namespace))
        return {item["metadata"]["name"]: item for item in listed["items"]}

    def reasons(self) -> dict[str, str]:
        """Of each, the reason of Ready; behind a star where it isn't settled."""
        told = {}
        for name, item in self.found().items():
            conditions = {c["type"]: c for c in item.get("status", {}).get("conditions", [])}
            settled = conditions.get("Settled", {}).get("status") == "True"
            told[name] = ("" if settled else "*") + str(conditions.get("Ready", {}).get("reason", "-"))
        return told

    def settle(self, deadline: float) -> None:
        """Wait until each has the reason that it should have.

        Args:
            deadline: seconds for all together.
        """
        wanted = {name: reason for name, (_, reason) in self.requests.items()}

        def off() -> dict[str, str]:
            now = self.reasons()
            return {n: f"{now.get(n)}, not {r}" for n, r in wanted.items() if now.get(n) != r}

        try:
            wait_for(lambda: not off(), f"{len(wanted)} requests to settle", deadline)
        except WaitTimeout as error:
            raise AssertionError(f"{error}: {off()}") from error

    def is_right(self) -> None:
        """Demand of each what its reason says: a Secret that logs in, one row, the rows of old; or nothing at all."""
        claimed = {r["request_uid"].decode() for r in self.rows()}
        for name, (request, reason) in self.requests.items():
            if reason in REFUSED:
                assert request.secret() is None, name
                assert request.service() is None, name
                assert request.uid not in claimed, name
                continue
            assert request.uid in claimed, name
            account = request.account(self.server)
            assert request.ask("SELECT DATABASE()") == account.database, name
            if name in self.accounts:
                assert (request.values()["PASSWORD"] == self.accounts[name].password) is True, name
            if reason == "SeedAdopted":
                assert request.ask("SELECT COUNT(*) FROM t") == ROWS, name
        assert len(claimed) == sum(reason not in REFUSED for _, reason in self.requests.values())

    def rows(self) -> list[Json]:
        """The server's ledger."""
        return self.server.query("SELECT request_uid FROM dbaas_operator.ownership")

    def age(self) -> None:
        """Make all of them old enough for a deletion that drops."""
        self.server.query("UPDATE dbaas_operator.ownership SET ready_at = ready_at - INTERVAL 1 DAY")

    def delete(self, deadline: float) -> None:
        """Delete all at once, and wait until they are gone.

        Args:
            deadline: seconds for all together.
        """
        for request, _ in self.requests.values():
            request.delete(wait=False)
        try:
            wait_for(lambda: not self.found(), f"{len(self.requests)} requests to be gone", deadline)
        except WaitTimeout as error:
            raise AssertionError(f"{error}: {self.reasons()}") from error

    def nothing_is_left(self) -> None:
        """Demand that server and namespace are as before; accounts whose request was refused were never touched."""
        refused = {a.username for name, a in self.accounts.items() if self.requests[name][1] in REFUSED}
        databases = {a.database for name, a in self.accounts.items() if self.requests[name][1] in REFUSED}
        own = {"root", "mysql", "mariadb.sys", self.server.admin_user}
        schemas = {"mysql", "sys", "information_schema", "performance_schema", "dbaas_operator"}
        assert self.rows() == []
        assert self.server.query("SELECT 1 FROM dbaas_operator.account") == []
        assert {r["User"] for r in self.server.query("SELECT User FROM mysql.user")} - own == refused
        left = {r["n"] for r in self.server.query("SELECT schema_name AS n FROM information_schema.schemata")}
        assert left - schemas == databases

        def objects_left() -> list[str]:
            found = []
            for kind in ("Secret", "Service"):
                listed = objects.call(self.world.api, "GET", objects.path_of("v1", kind, namespace=self.namespace))
                found += [item["metadata"]["name"] for item in listed["items"]]
            return [name for name in found if not name.endswith("-seed")]

        wait_for(lambda: not objects_left(), "published objects to go with their requests", 60)


@contextmanager
def crowd_server(world: World, name: str) -> Iterator[tuple[MariaDB, str]]:
    """A server with a scope of its own, empty but for the ledger.

    Args:
        world: where.
        name: of the server.

    Yields:
        Server and scope.
    """
    server = MariaDB.new(name)
    server.thaw()
    server.remove()
    server = MariaDB.new(name)
    server.start()
    world.cleanup.insert(0, server.remove)
    scope = f"{name}-{token()}"
    world.provider(scope, server)
    world.wait_provider(scope)
    try:
        yield server, scope
    finally:
        # Its requests are deleted with the world, and need it.
        server.thaw()
        server.start()


def memory(pids: list[int]) -> int:
    """Resident memory of processes, in MiB; those that are gone count nothing."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total // KIB


@dataclass
class Sampler:
    """Looks at server and operator every second, from a thread of its own.

    Attributes:
        world: whose operator.
        server: which server.
        connections: the most that were seen at once.
        alone: most MiB of the operator's own process.
        tree: most MiB of it with all its runs.
        samples: how often it looked.
    """

    world: World
    server: MariaDB
    connections: int = 0
    alone: int = 0
    tree: int = 0
    samples: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Sampler":
        """Begin."""
        self._thread = threading.Thread(target=self._work, name="sampler", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(1.0):
            pid = self.world.operator.pid
            if pid is not None:
                self.alone = max(self.alone, memory([pid]))
                self.tree = max(self.tree, memory([pid, *descendants(pid)]))
            try:
                [row] = self.server.query("SHOW GLOBAL STATUS LIKE 'Max_used_connections'")
            except pymysql.err.MySQLError:
                continue  # a chaos loop has stopped it
            self.connections = max(self.connections, int(row["Value"]))
            self.samples += 1

    def told(self) -> str:
        """What was seen."""
        return (
            f"server connections at most {self.connections}, operator at most {self.alone} MiB alone and {self.tree}"
            f" MiB with its runs ({self.samples} samples)"
        )


class Chaos:
    """Kills and freezes operator and server at random, until the time is over. One seed gives one order of deeds."""

    def __init__(self, world: World, server: MariaDB, seed: str) -> None:
        """Prepare.

        Args:
            world: whose operator.
            server: which server.
            seed: of the order.
        """
        self._world, self._server = world, server
        self._random = random.Random(seed)
        self.deeds: list[str] = []

    def run(self, seconds: float) -> None:
        """Do one deed after another, with pauses; in the end all runs again.

        Args:
            seconds: how long.
        """
        never = threading.Event()
        end = time.monotonic() + seconds
        choices: dict[str, Callable[[], None]] = {
            "operator killed, runs and all": self._world.operator.kill_tree,
            "operator killed alone": self._world.operator.kill_alone,
            "operator told to end": self._world.operator.terminate,
            "server killed": self._kill_server,
            "server restarted": self._server.restart,
            "server frozen": partial(self._freeze, never),
        }
        while (left := end - time.monotonic()) > 0:
            name = self._random.choice(sorted(choices))
            self.deeds.append(name)
            choices[name]()
            never.wait(min(left, self._random.uniform(2, 12)))
        self._server.thaw()
        self._server.start()
        self._world.operator.wait_ready(120)

    def _kill_server(self) -> None:
        self._server.process.kill()
        # The process is gone a moment before its sockets are.
        wait_for(lambda: is_free(self._server.port), "the killed server's port to be free", 20)
        self._server.start()

    def _freeze(self, never: threading.Event) -> None:
        self._server.freeze()
        never.wait(self._random.uniform(1, 15))
        self._server.thaw()
