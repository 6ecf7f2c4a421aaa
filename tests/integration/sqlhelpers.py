"""A MariaDB server for the tests of the operator's SQL, and statements sent as the operator sends them.

No control plane is needed: fixtures here stand beside those of conftest.py, and a test module imports them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials, errors, facts, sql
from pymysql.cursors import DictCursor

from dev.certificates import ensure_authority, ensure_server
from dev.mariadb import MariaDB
from dev.paths import ROOT

Dict = dict[str, Any]
#: The modes in which every statement has to mean the same.
MODES = {
    "default": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
    "ANSI": "ANSI",
    "NO_BACKSLASH_ESCAPES": "STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES",
}
CLUSTER = "cluster-1"
SESSION = {"lock_wait_timeout": 5, "innodb_lock_wait_timeout": 5}


class Worker:
    """The process that runs the module."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "collections"), str(ROOT)))}
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/integration/mysql_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def run(self, arguments: Dict) -> Dict:
        """The result of one run of the module."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the process that runs the module ended"
        result: Dict = json.loads(line)
        return result

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class Sql:
    """One server, seen by the operator: its statement forms, sent through community.mysql by one of its accounts."""

    def __init__(self, server: MariaDB, worker: Worker, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self._worker = worker
        self._number = 0
        self._root: pymysql.Connection[DictCursor] | None = None
        self.admin = str(folder / "admin")
        Path(self.admin).write_text(credentials.option_file(server.admin_user, server.admin_password), encoding="utf-8")

    def login_file(self, user: str, password: str) -> str:
        """Write a login file as the operator does, and return its path."""
        self._number += 1
        path = self.folder / f"login-{self._number % 50}"
        path.write_text(credentials.option_file(user, password), encoding="utf-8")
        return str(path)

    def query(self, queries: list[str] | str, arguments: Dict | None = None, login: str = "", **more: Any) -> Dict:
        """Send statements as the admin, or by another login file; the module's result."""
        given: Dict = {
            "config_file": login or self.admin,
            "login_host": self.server.hostname,
            "login_port": self.server.port,
            "connect_timeout": 5,
            "session_vars": {} if login else SESSION,
            "query": queries,
            **({"named_args": arguments} if arguments else {}),
            **more,
        }
        return self._worker.run(given)

    def send(
        self, forms: list[str] | str, database: str = "", login: str = "", transaction: bool = False, **arguments: Any
    ) -> Dict:
        """Send statement forms; the module's result with ``outcome``, what the operator reads out of it."""
        queries = sql.statements(forms, database or None)
        result = self.query(queries, {"database": database, **arguments}, login, single_transaction=transaction)
        result["outcome"] = errors.mysql_outcome(result, queries, "seed" if login else "admin")
        return result

    def done(
        self, forms: list[str] | str, database: str = "", login: str = "", transaction: bool = False, **arguments: Any
    ) -> Dict:
        """Send statement forms that have to work."""
        result = self.send(forms, database, login, transaction, **arguments)
        assert result["outcome"]["ok"], f"{forms}: {result['outcome']} {result.get('msg')}"
        return result

    def facts(self, database: str, username: str) -> dict[str, list[Dict]]:
        """The row sets of the statements ``facts``."""
        return facts.keyed(self.done("facts", database, username=username, escape="\\"), "facts")

    def survey(self, uid: str, namespace: str = "ns", request: str = "req") -> dict[str, list[Dict]]:
        """The row sets of the survey."""
        found = self.done("survey", cluster=CLUSTER, request_uid=uid, namespace=namespace, request=request)
        return facts.keyed(found, "survey")

    def root(self, statement: str, arguments: Any = None) -> list[Dict]:
        """Run one statement as root, on one connection for all of them."""
        if self._root is None or not self._root.open:
            self._root = pymysql.connect(
                unix_socket=str(self.server.socket),
                user="root",
                password=self.server.root_password,
                autocommit=True,
                cursorclass=DictCursor,
            )
        with self._root.cursor() as cursor:
            cursor.execute(statement, arguments)
            return list(cursor.fetchall())

    def close(self) -> None:
        """Close root's connection."""
        if self._root is not None:
            self._root.close()

    def account(self, user: str, password: str = "geheim", host: str = "%") -> str:
        """Make an account as root, and return its login file."""
        self.root("CREATE OR REPLACE USER %s@%s IDENTIFIED BY %s", [user, host, password])
        return self.login_file(user, password)

    def clean(self) -> None:
        """Take away every database and account that isn't the server's own, and what the ledger holds."""
        for row in self.root("SELECT schema_name AS name FROM information_schema.schemata"):
            if row["name"] not in ("mysql", "sys", "information_schema", "performance_schema", sql.LEDGER):
                self.root(f"DROP DATABASE {sql.identifier(row['name'])}", [])
        own = ("root", "mysql", "mariadb.sys", self.server.admin_user)
        for row in self.root("SELECT User, Host, is_role FROM mysql.user"):
            if row["is_role"] == "Y":
                self.root(f"DROP ROLE {sql.identifier(row['User'])}", [])
            elif row["User"] not in own:
                self.root("DROP USER %s@%s", [row["User"], row["Host"]])
        for table in ("mysql.db", "mysql.tables_priv", "mysql.columns_priv", "mysql.procs_priv"):
            if self.root(f"SELECT 1 FROM {table} WHERE User <> 'mariadb.sys'"):  # left behind by a DROP DATABASE
                self.root(f"DELETE FROM {table} WHERE User <> 'mariadb.sys'")
                self.root("FLUSH PRIVILEGES")
        for table in ("account", "ownership"):
            self.root(f"DELETE FROM {sql.LEDGER}.{table}")


def claim_arguments(database: str, username: str = "u", uid: str = "uid-1", fence: int = 1000, **changes: Any) -> Dict:
    """The arguments of a claim and of every change of its row."""
    return {
        "username": username,
        "host": "%",
        "origin": "created",
        "cluster": CLUSTER,
        "namespace": "ns",
        "request": "req",
        "request_uid": uid,
        "fence": fence,
        "password": "geheim",
        **changes,
    }


def _started(name: str, options: dict[str, str | None], worker: Worker, folder: Path) -> Iterator[Sql]:
    server = MariaDB.new(name + os.environ.get("PYTEST_XDIST_WORKER", ""), options)
    server.thaw()
    server.stop()  # a run that was broken off may have left it, with other options
    server.start()
    found = Sql(server, worker, folder)
    found.query(sql.statements("ledger"))
    found.clean()
    yield found
    found.close()
    server.stop()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """The process that runs community.mysql's code."""
    # The driver loads the machine's certificates at each login, which takes longer than all the rest together.
    none = tmp_path_factory.mktemp("certificates") / "none.pem"
    none.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(none))
        made = Worker()
        yield made
        made.close()


@pytest.fixture(scope="module")
def any_mode(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sql]:
    """A server of the tests' own, with the ledger on it."""
    yield from _started("sql", {}, worker, tmp_path_factory.mktemp("logins"))


@pytest.fixture(params=sorted(MODES))
def server(any_mode: Sql, request: pytest.FixtureRequest) -> Iterator[Sql]:
    """The server in each of the modes, emptied after the test."""
    any_mode.root("SET GLOBAL sql_mode = %s", [MODES[request.param]])
    yield any_mode
    any_mode.root("SET GLOBAL read_only = 0")
    any_mode.clean()


@pytest.fixture
def default_server(any_mode: Sql) -> Iterator[Sql]:
    """The server in its default mode, emptied after the test."""
    any_mode.root("SET GLOBAL sql_mode = %s", [MODES["default"]])
    yield any_mode
    any_mode.root("SET GLOBAL read_only = 0")
    any_mode.clean()


@pytest.fixture(scope="module")
def folding(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sql]:
    """A server that folds the names of databases to lower case."""
    yield from _started("sql-folding", {"lower-case-table-names": "1"}, worker, tmp_path_factory.mktemp("logins"))


@pytest.fixture(scope="module")
def tls_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate authority, ``ca.crt``."""
    folder = tmp_path_factory.mktemp("authority")
    ensure_authority(folder)
    return folder


@pytest.fixture(scope="module")
def tls_server(tls_authority: Path, worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sql]:
    """A server that offers TLS, by a certificate for ``localhost``, which the authority signed."""
    certificate, key = ensure_server(tls_authority, "server", ("localhost",))
    options: dict[str, str | None] = {
        "ssl-ca": str(tls_authority / "ca.crt"),
        "ssl-cert": str(certificate),
        "ssl-key": str(key),
    }
    yield from _started("sql-tls", options, worker, tmp_path_factory.mktemp("logins"))
