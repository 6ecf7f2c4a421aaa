"""The demo's requests as data: what the older operator left, the seed, and what has to come of it."""

from collections.abc import Callable
from dataclasses import dataclass

from dev.demo import names

Seed = dict[str, str]

# What is on the server beforehand.
DATABASE = "database"  # with its table of 1,000 rows
ACCOUNT = "account"  # with the seed's password
RIGHTS = "rights"  # of the account on the database, as the older operator granted them
READING = "reading"  # SELECT on the database and nothing else
ANONYMOUS = "anonymous"  # ''@'%' with the seed's password
NEIGHBOUR = "neighbour"  # another account whose grant fits the database's name
POLICY = "policy"  # the plugin simple_password_check
FOREIGN_SERVICE = "foreign service"  # not on the server: a Service of the wanted name that isn't the request's
WHOLE = frozenset({DATABASE, ACCOUNT, RIGHTS})
NOTHING: frozenset[str] = frozenset()

# What becomes of a request at its end.
STAYS = "stays"
DROPPED = "dropped"  # deleted, and its database and account with it
KEPT = "kept"  # deleted before the grace time was over: database and account stay
UNTOUCHED = "nothing asked"  # a refused request deleted: no server is asked for anything


def unchanged(seed: Seed) -> Seed:
    """Leave a seed as it is."""
    return seed


def wrong_password(seed: Seed) -> Seed:
    """Give a seed another password than the account's."""
    return {**seed, "password": f"not-{seed['password']}"}


def line_break(seed: Seed) -> Seed:
    """Let the password end with a line break, as a file written by an editor does."""
    return {**seed, "password": f"{seed['password']}\n"}


def weak_password(seed: Seed) -> Seed:
    """Give a seed a password that the server's policy refuses."""
    return {**seed, "password": "weak"}


@dataclass(frozen=True)
class Case:
    """One request.

    Attributes:
        name: of the request and its Service.
        expected: the reason that its conditions have to give.
        left: what is there beforehand.
        row: the row of the verdict table, or None.
        ready: whether it has to become Ready; else it has to be refused for good.
        server: where the seed's database is, or would be.
        seeded: whether it has a seed.
        alter: turns the seed that fits into the one that is written.
        database: the database's name, by default made from the request's.
        username: the account's name, by default made from the request's.
        after: name of the case that has to be settled before.
        race: it is made together with the others of this race, and exactly one of them gets the database.
        down: its server is stopped while it is made.
        ending: what becomes of it.
    """

    name: str
    expected: str
    left: frozenset[str] = NOTHING
    row: int | None = None
    ready: bool = False
    server: str = "one"
    seeded: bool = True
    alter: Callable[[Seed], Seed] = unchanged
    database: str = ""
    username: str = ""
    seed_namespace: str = names.NAMESPACE
    after: str = ""
    race: str = ""
    down: bool = False
    ending: str = STAYS

    @property
    def _short(self) -> str:
        return names.PREFIX + self.name.removeprefix(f"row-{self.row or 0:02}-").replace("-", "_")

    @property
    def database_name(self) -> str:
        """The database that the seed names."""
        return self.database or self._short

    @property
    def user_name(self) -> str:
        """The account that the seed names."""
        return self.username or self._short

    @property
    def adopts(self) -> bool:
        """Whether it takes an existing database over."""
        return self.expected == "SeedAdopted"


def _refused(row: int, name: str, reason: str, left: frozenset[str] = WHOLE, **more: object) -> Case:
    return Case(f"row-{row:02}-{name}", reason, left, row, **more)  # type: ignore[arg-type]


def _ready(row: int | None, name: str, reason: str, left: frozenset[str] = NOTHING, **more: object) -> Case:
    full = name if row is None else f"row-{row:02}-{name}"
    return Case(full, reason, left, row, ready=True, **more)  # type: ignore[arg-type]


ADOPTED = _ready(14, "adopted", "SeedAdopted", WHOLE, ending=DROPPED)

#: In the order of the verdict table; then what it has no row for.
CASES: tuple[Case, ...] = (
    _refused(1, "other-namespace", "SeedNamespaceForbidden", seed_namespace=names.ELSEWHERE),
    _refused(2, "line-break", "SeedSecretInvalid", alter=line_break),
    _refused(3, "name-conflict", "NameConflict", WHOLE | {FOREIGN_SERVICE}),
    # Its one connection there is disabled.
    _refused(4, "no-connection", "SeedNoMatchingProvider", server="retired"),
    _refused(5, "reserved-name", "SeedReservedName", NOTHING, database="mysql"),
    _refused(6, "long-name", "SeedSecretInvalid", NOTHING, username=names.PREFIX.ljust(129, "x")),
    # An account of its own, so that it can be seen that nobody tries it.
    _refused(7, "in-use", "SeedDatabaseInUse", database=ADOPTED.database_name, after=ADOPTED.name),
    _refused(8, "account-mismatch", "SeedAccountMismatch", frozenset({DATABASE, ANONYMOUS}), server="two"),
    _refused(9, "database-missing", "SeedDatabaseMissing", frozenset({ACCOUNT})),
    _refused(10, "access-denied", "SeedAccessDenied", frozenset({DATABASE, ACCOUNT})),
    _refused(11, "account-unfit", "SeedAccountUnfit", frozenset({DATABASE, ACCOUNT, READING})),
    _refused(12, "wrong-password", "SeedCredentialsRejected", alter=wrong_password, ending=UNTOUCHED),
    _refused(13, "user-conflict", "SeedUserConflict", frozenset({ACCOUNT}), alter=wrong_password),
    ADOPTED,
    _refused(15, "name-exposed", "SeedNameExposed", frozenset({NEIGHBOUR})),
    _ready(16, "created", "SeedCreated", server="two", ending=DROPPED),
    # Two requests seed one database at the same moment, each with an account of its own.
    _ready(None, "race-a", "SeedAdopted", WHOLE, race="race", database="demo_race"),
    _ready(None, "race-b", "SeedAdopted", WHOLE, race="race", database="demo_race"),
    Case("weak-password", "SeedPasswordPolicy", frozenset({POLICY}), alter=weak_password),
    _ready(None, "plain-a", "DatabaseCreated", seeded=False),
    _ready(None, "plain-b", "DatabaseCreated", seeded=False),
    _ready(None, "server-down", "SeedAdopted", WHOLE, server="two", down=True),
    _ready(None, "deleted-early", "SeedAdopted", WHOLE, ending=KEPT),
)
