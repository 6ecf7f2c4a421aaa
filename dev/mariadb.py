"""MariaDB servers of the sandbox: own data folders and ports, loopback only, never the system's."""

import contextlib
import getpass
import json
import os
import secrets
import shutil
import signal
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
from pymysql.cursors import DictCursor

from dev.errors import SandboxError, WaitTimeout
from dev.mariadb_programs import ensure_template, find_programs
from dev.paths import LOGS, SANDBOX, SHORT, make_private, read_json, write_private
from dev.ports import is_free, port_of
from dev.processes import Process
from dev.waiting import wait_for

FOLDER = SANDBOX / "mariadb"
STANDARD = ("one", "two", "retired")
ADMIN = "dbaas_admin"
# What docs/operations.md tells an admin to grant; the sandbox uses exactly this account.
ADMIN_RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, "
    "LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER, "
    "CREATE USER"
)
# At the front of each generated admin password: what breaks naive quoting, templating and encoding.
AWKWARD = "a'b\"c\\d %s {x} €#"
DEFAULT_OPTIONS: Mapping[str, str] = {
    "bind-address": "127.0.0.1",
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "16M",
    "innodb-flush-log-at-trx-commit": "2",
    "performance-schema": "OFF",
    "key-buffer-size": "1M",
    "aria-pagecache-buffer-size": "8M",
    "general-log": "1",
}


def _generated(length: int = 24) -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(length))


@dataclass
class MariaDB:
    """One server.

    Attributes:
        name: its name in the sandbox; connections of the provider are called the same.
        port: its TCP port.
        admin_user: the operator's account on it, ``'dbaas_admin'@'%'``.
        admin_password: that account's password.
        root_password: the password of root@localhost.
        extra_options: server options beside the sandbox's own, by name without dashes; None for a flag.
    """

    name: str
    port: int
    admin_user: str
    admin_password: str = field(repr=False)
    root_password: str = field(repr=False)
    extra_options: dict[str, str | None]
    hostname: str = "localhost"

    @classmethod
    def load(cls, name: str) -> "MariaDB":
        """Read what the sandbox knows of a server.

        Args:
            name: the server's name.

        Returns:
            The server, running or not.

        Raises:
            SandboxError: there is none of that name.
        """
        known = read_json(FOLDER / name / "server.json")
        if known is None:
            raise SandboxError(f"the sandbox has no MariaDB server {name!r}; run `make sandbox-up`")
        return cls(**known)

    @classmethod
    def new(cls, name: str, extra_options: Mapping[str, str | None] | None = None) -> "MariaDB":
        """Make a server that isn't started yet, or take the one of that name with these options.

        Args:
            name: lower-case letters, digits and dashes.
            extra_options: server options by name without the leading dashes; None for a flag.

        Returns:
            The server.
        """
        try:
            server = cls.load(name)
        except SandboxError:
            server = cls(name, port_of(f"mariadb-{name}"), ADMIN, AWKWARD + _generated(), _generated(), {})
        server.extra_options = dict(extra_options or {})
        server._save()
        return server

    def _save(self) -> None:
        # The general log and the data are inside, so nobody else may enter.
        make_private(FOLDER)
        make_private(self.folder)
        write_private(self.folder / "server.json", json.dumps(self.__dict__, indent=2) + "\n")
        for file, user, password in (
            (self.cnf, self.admin_user, self.admin_password),
            (self.root_cnf, "root", self.root_password),
        ):
            quoted = password.replace("\\", "\\\\").replace('"', '\\"')
            place = f"socket={self.socket}\n" if user == "root" else f"host=127.0.0.1\nport={self.port}\n"
            write_private(
                file, f'[client]\nuser={user}\npassword="{quoted}"\n{place}default-character-set=utf8mb4\n'
            )

    @property
    def address(self) -> str:
        """Host and port as the reports on a platform name a server."""
        return f"{self.hostname}:{self.port}"

    @property
    def folder(self) -> Path:
        """Everything of this server."""
        return FOLDER / self.name

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def socket(self) -> Path:
        """The unix socket."""
        return SHORT / f"mariadb-{self.name}.sock"

    @property
    def general_log(self) -> Path:
        """The log of every statement and login."""
        return self.folder / "general.log"

    @property
    def error_log(self) -> Path:
        """The server's own log."""
        return LOGS / f"mariadb-{self.name}.log"

    @property
    def cnf(self) -> Path:
        """Option file for ``mariadb --defaults-extra-file``, with the operator's account."""
        return self.folder / "admin.cnf"

    @property
    def root_cnf(self) -> Path:
        """Option file for ``mariadb --defaults-extra-file``, with root."""
        return self.folder / "root.cnf"

    @property
    def process(self) -> Process:
        """The server's process."""
        return Process(f"mariadb-{self.name}")

    @property
    def running(self) -> bool:
        """Whether the process is there (a frozen one is)."""
        return self.process.running

    def launch(self) -> None:
        """Start the process without waiting until it answers.

        Raises:
            SandboxError: its port is taken by something else, or there is no MariaDB server.
        """
        if self.running:
            return
        if not is_free(self.port):
            raise SandboxError(
                f"port {self.port} of MariaDB {self.name!r} is taken by another program; end "
                f"that, or remove mariadb-{self.name} from {SANDBOX / 'ports.json'} and the "
                f"folder {self.folder}"
            )
        programs = find_programs()
        make_private(SHORT)
        first = not self.data.exists()
        options = {
            **DEFAULT_OPTIONS,
            **self.extra_options,
            "datadir": str(self.data),
            "socket": str(self.socket),
            "port": str(self.port),
            "pid-file": str(self.folder / "mariadbd.pid"),
            "general-log-file": str(self.general_log),
            "user": getpass.getuser(),
        }
        if first:
            fresh = self.folder / "data.new"
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(ensure_template(programs), fresh)
            fresh.rename(self.data)
        if not self._marker.exists():
            setup = write_private(
                self.folder / "first-start.sql",
                "DELETE FROM mysql.global_priv WHERE User='root' AND Host<>'localhost';\n"
                "FLUSH PRIVILEGES;\n"
                f"ALTER USER root@localhost IDENTIFIED BY '{self.root_password}';\n",
            )
            options["init-file"] = str(setup)
        command = [str(programs.server), "--no-defaults", *programs.options]
        command += [f"--{key}" if value is None else f"--{key}={value}" for key, value in options.items()]
        self.process.start(command, self.error_log, programs.environment)

    @property
    def _marker(self) -> Path:
        return self.folder / "set-up"

    def start(self, deadline: float = 60.0) -> None:
        """Start the server and wait until it answers.

        Args:
            deadline: seconds it gets.

        Raises:
            SandboxError: it ended, or didn't answer in time; the message names its log.
        """
        self.launch()
        try:
            wait_for(self._answers, f"MariaDB {self.name!r} to answer", deadline)
        except WaitTimeout as error:
            raise WaitTimeout(f"{error}; see {self.error_log}") from error
        if not self._marker.exists():
            self._set_up()

    def _answers(self) -> bool:
        if not self.running:
            raise SandboxError(f"MariaDB {self.name!r} ended by itself; see {self.error_log}")
        try:
            self.query("SELECT 1")
        except pymysql.err.OperationalError:
            return False
        return True

    def _set_up(self) -> None:
        account = f"'{self.admin_user}'@'%%'"
        self.query(f"CREATE OR REPLACE USER {account} IDENTIFIED BY %s", [self.admin_password])
        self.query(f"GRANT {ADMIN_RIGHTS} ON *.* TO {account.replace('%%', '%')} WITH GRANT OPTION")
        (self.folder / "first-start.sql").unlink(missing_ok=True)
        write_private(self._marker, "")

    def stop(self) -> None:
        """Stop the server and wait until it is gone."""
        self.process.stop(60)

    def restart(self) -> None:
        """Stop and start the server."""
        self.stop()
        self.start()

    def freeze(self) -> None:
        """Stop the process from running, with its connections open (SIGSTOP)."""
        self.process.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self.process.signal(signal.SIGCONT)

    def remove(self) -> None:
        """Stop the server and remove all that is its."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            self.socket.unlink()

    def query(
        self, sql: str, args: Sequence[Any] | Mapping[str, Any] | None = None, database: str | None = None
    ) -> list[dict[str, Any]]:
        """Run one statement as root over the unix socket.

        Args:
            sql: the statement; with args, ``%s`` or ``%(name)s`` stand for them, ``%%`` for a percent sign.
            args: values to fill in.
            database: database to use.

        Returns:
            The rows, if any.

        Raises:
            pymysql.err.MySQLError: the server refused, or can't be reached.
        """
        with (
            contextlib.closing(
                pymysql.connect(
                    unix_socket=str(self.socket),
                    user="root",
                    password=self.root_password,
                    database=database,
                    charset="utf8mb4",
                    autocommit=True,
                    connect_timeout=10,
                    cursorclass=DictCursor,
                )
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(sql, args)
            return list(cursor.fetchall())

    def login(
        self, user: str, password: str, database: str | None = None
    ) -> "pymysql.Connection[DictCursor]":
        """Log in over TCP, as an application would.

        Args:
            user: the account's name.
            password: its password.
            database: database to use.

        Returns:
            The connection; close it.

        Raises:
            pymysql.err.MySQLError: the server refused, or can't be reached.
        """
        return pymysql.connect(
            host=self.hostname,
            port=self.port,
            user=user,
            password=password.encode().decode("latin-1"),
            database=database,
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=10,
            read_timeout=60,
            cursorclass=DictCursor,
        )


def standard_servers() -> dict[str, MariaDB]:
    """List the servers that the sandbox always has.

    Returns:
        Server by name.
    """
    return {name: MariaDB.load(name) for name in STANDARD}


def ensure_standard_servers() -> dict[str, MariaDB]:
    """Make and start the servers that the sandbox always has.

    Returns:
        Server by name, all of them answering.
    """
    ensure_template(find_programs())
    servers = {name: MariaDB.new(name) for name in STANDARD}
    for server in servers.values():
        if not server.running and not is_free(server.port):
            server.port = port_of(f"mariadb-{server.name}", renew=True)
            server._save()
        server.thaw()
        server.launch()
    for server in servers.values():
        server.start()
    return servers


def all_servers() -> list[MariaDB]:
    """List every server that the sandbox has a folder of, those of tests too.

    Returns:
        The servers.
    """
    if not FOLDER.exists():
        return []
    return [
        MariaDB.load(name) for name in sorted(os.listdir(FOLDER)) if (FOLDER / name / "server.json").exists()
    ]
