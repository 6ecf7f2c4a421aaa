"""The proof of what the operator says, taken outside it: from the API, the servers and their general logs."""

import base64
import contextlib
from collections.abc import Iterable

import pymysql

from dev import objects
from dev.demo import cases, names
from dev.demo.generallog import WRITE, GeneralLog
from dev.demo.requests import Course, Document, Requests, account_row
from dev.mariadb import MariaDB

LEDGER = " dbaas_operator."
CLAIM = f"INSERT INTO{LEDGER}ownership"
#: (server, "database" or "account", name)
Thing = tuple[str, str, str]


class NotProved(Exception):
    """What was found isn't what was said; the message says what, without any password."""


def demand(holds: bool, otherwise: str) -> None:
    """Insist on something.

    Args:
        holds: whether it holds.
        otherwise: what is wrong if it doesn't.

    Raises:
        NotProved: it doesn't.
    """
    if not holds:
        raise NotProved(otherwise)


class Prover:
    """Looks for the proof of each request."""

    def __init__(self, requests: Requests, servers: dict[str, MariaDB], logs: dict[str, GeneralLog]) -> None:
        """Take what the proofs are taken from.

        Args:
            requests: the requests.
            servers: the servers by name.
            logs: their general logs.
        """
        self._api, self._servers, self._logs = requests.api, servers, logs
        self._before: set[Thing] = set()
        self._marks: dict[str, int] = {}

    def _get(self, kind: str, name: str, namespace: str = names.NAMESPACE) -> Document | None:
        return objects.get(self._api, "v1", kind, name, namespace)

    def ready(self, course: Course) -> str:
        """Log in as an application would and count the rows.

        Args:
            course: of a request that is Ready.

        Returns:
            What was found.

        Raises:
            NotProved: something is missing or differs.
        """
        name = course.case.name
        service, secret = self._get("Service", name), self._get("Secret", name)
        demand(service is not None, "no Service was published")
        demand(secret is not None, "no Secret was published")
        assert service is not None and secret is not None
        for document in (service, secret):
            owners = [owner["uid"] for owner in document["metadata"].get("ownerReferences", [])]
            demand(owners == [course.uid], f"a published object has {len(owners)} owners or another one")
        prefix = name.upper().replace("-", "_")
        values = {
            key.removeprefix(f"{prefix}_"): base64.b64decode(value).decode() for key, value in secret["data"].items()
        }
        demand(values.get("HOST") == name, "the Secret's host isn't the Service")
        rows = _count_rows(service["spec"]["externalName"], values, create=not course.case.adopts)
        if not course.case.adopts:
            return f"{rows} rows written and counted by the Secret's login"
        demand(rows == names.ROWS, f"{rows} rows instead of {names.ROWS}")
        demand(values["DATABASE"] == course.seed["database"], "another database than the seed's was published")
        after = account_row(self._servers[course.case.server], course.seed["username"])
        demand(after == course.account, "the account's password or rights were changed")
        elsewhere = [text for text in self._writes(course) if LEDGER not in text]
        demand(not elsewhere, f"{len(elsewhere)} writes outside the ledger")
        return f"{rows} rows by the Secret's login, account as it was, only the ledger written"

    def refused(self, course: Course) -> str:
        """Look for a write, a login or a published object of a request that was refused.

        Args:
            course: the request's; the operator was started anew since.

        Returns:
            What was found.

        Raises:
            NotProved: something was written, tried or published.
        """
        case, log = course.case, self._logs[course.case.server]
        writes = self._writes(course)
        said = "no write"
        if course.reason == "SeedDatabaseInUse":
            demand(all(CLAIM in text for text in writes) and len(writes) <= 1, f"{len(writes)} writes")
            said = "one INSERT, which failed" if writes else said
        elif course.reason == "SeedPasswordPolicy":
            said = self._nothing_left(course)
        else:
            demand(not writes, f"{len(writes)} writes on the server")
        logins = log.logins(course.seed["username"])
        demand(
            logins == course.logins,
            f"{logins - course.logins} logins of the seed's account after the refusal",
        )
        demand(logins == 0 or case.row is None or case.row > 7, f"{logins} logins before the verdict")
        self._nothing_published(course)
        tried = f"{logins} login{'s' * (logins > 1)}, none after the restart" if logins else "no login"
        return f"{said}, {tried}"

    def _writes(self, course: Course) -> list[str]:
        """Writes for a request since it was made: by the operator's account, and any by the seed's."""
        admin = self._servers[course.case.server].admin_user
        seed, log = course.seed, self._logs[course.case.server]
        by_seed = [entry.text for entry in log.statements(seed["username"], [], course.mark)]
        return [
            *log.writes_for(course.uid, [seed["database"], seed["username"]], admin, course.mark),
            *(text for text in by_seed if WRITE.match(text)),
        ]

    def _nothing_left(self, course: Course) -> str:
        server = self._servers[course.case.server]
        demand(not account_row(server, course.seed["username"]), "the account was left")
        found = self.things([course.case.server])
        demand((server.name, "database", course.seed["database"]) not in found, "the database was left")
        self._no_row(course)
        return "what was made is undone"

    def _no_row(self, course: Course) -> None:
        rows = self._servers[course.case.server].query(
            "SELECT 1 FROM dbaas_operator.ownership o LEFT JOIN dbaas_operator.account a"
            " USING (database_name) WHERE o.request_uid = %s OR a.user = %s",
            [course.uid, course.seed["username"]],
        )
        demand(not rows, "the ledger still has a row of it")

    def _nothing_published(self, course: Course) -> None:
        demand(self._get("Secret", course.case.name) is None, "a Secret was published")
        service = self._get("Service", course.case.name)
        if cases.FOREIGN_SERVICE in course.case.left:
            demand(
                service is not None and "ownerReferences" not in service["metadata"],
                "the other's Service was touched",
            )
        else:
            demand(service is None, "a Service was published")
        seed = self._get("Secret", f"{course.case.name}-seed", course.case.seed_namespace)
        demand(seed is not None, "the seed secret is gone")

    def things(self, servers: Iterable[str]) -> set[Thing]:
        """List databases and accounts.

        Args:
            servers: on which servers.

        Returns:
            All of them, the servers' own too.
        """
        found = set()
        for name in servers:
            query = self._servers[name].query
            for row in query("SELECT schema_name AS name FROM information_schema.schemata"):
                found.add((name, "database", row["name"]))
            for row in query("SELECT CONCAT(User, '@', Host) AS name FROM mysql.user"):
                found.add((name, "account", row["name"]))
        return found

    def remember(self) -> None:
        """Keep in mind what is on the servers, and where their logs stand: deletions follow."""
        self._before = self.things(self._servers)
        self._marks = {name: log.mark() for name, log in self._logs.items()}

    def dropped(self, course: Course, all_dropped: set[Thing]) -> str:
        """See that database and account of a deleted request are gone, and nothing of anybody else's.

        Args:
            course: of the request that is gone.
            all_dropped: what all the deletions since ``remember`` have to drop.

        Returns:
            What was found.

        Raises:
            NotProved: too much or too little is gone.
        """
        own, after = own_things(course), self.things(self._servers)
        demand(own <= self._before, "its database or account wasn't there before")
        kinds = ", ".join(sorted(kind for _, kind, _ in own & after))
        demand(not kinds, f"still there: {kinds}")
        others = self._before - after - all_dropped
        demand(not others, f"{len(others)} databases or accounts of others are gone, too")
        self._no_row(course)
        return "then both gone, all others there"

    def kept(self, course: Course) -> str:
        """See that the adopted database and account of a deleted request are as they were.

        Args:
            course: of the request that is gone.

        Returns:
            What was found.

        Raises:
            NotProved: one of them is gone or altered.
        """
        case, server = course.case, self._servers[course.case.server]
        demand(own_things(course) <= self.things([case.server]), "its database or account is gone")
        self._no_row(course)
        login = {"DATABASE": case.database_name, "USERNAME": case.user_name, "PORT": str(server.port)}
        rows = _count_rows(server.hostname, {**login, "PASSWORD": course.seed["password"]}, create=False)
        demand(rows == names.ROWS, f"{rows} rows instead of {names.ROWS}")
        demand(account_row(server, case.user_name) == course.account, "the account was changed")
        return f"{rows} rows by the seed's login, account as it was"

    def untouched(self, course: Course) -> str:
        """See that no server was asked anything for a refused request that was deleted.

        Args:
            course: of the request that is gone.

        Returns:
            What was found.

        Raises:
            NotProved: a server was asked, or something is gone.
        """
        for name, log in self._logs.items():
            asked = log.statements(self._servers[name].admin_user, [course.uid], self._marks[name])
            demand(not asked, f"server {name} was asked {len(asked)} times")
        demand(own_things(course) <= self.things([course.case.server]), "its database or account is gone")
        return f"no statement for its deletion; {self.refused(course)}"


def own_things(course: Course) -> set[Thing]:
    """Name the database and the account of a request with a seed.

    Args:
        course: the request's.

    Returns:
        Both.
    """
    server, seed = course.case.server, course.seed
    return {(server, "database", seed["database"]), (server, "account", f"{seed['username']}@%")}


def _count_rows(host: str, login: dict[str, str], create: bool) -> int:
    """Count a table's rows with a login; in a new database make the table first, with three rows."""
    try:
        connection = pymysql.connect(
            host=host,
            port=int(login["PORT"]),
            user=login["USERNAME"],
            password=login["PASSWORD"].encode().decode("latin-1"),  # the driver sends latin-1
            database=login["DATABASE"],
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=10,
            read_timeout=30,
        )
        with contextlib.closing(connection), connection.cursor() as cursor:
            if create:
                cursor.execute(f"CREATE TABLE IF NOT EXISTS {names.TABLE} (id INT PRIMARY KEY)")
                cursor.execute(f"INSERT IGNORE INTO {names.TABLE} VALUES (1), (2), (3)")
            cursor.execute(f"SELECT COUNT(*) FROM {names.TABLE}")
            return int(cursor.fetchone()[0])
    except pymysql.err.MySQLError as error:
        raise NotProved(f"the published login fails with error {error.args[0]}") from None
