"""Each row of the verdict table, prepared on a server with any names and any password."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from tests.cases.world import DONE, REFUSED, Cases, Place, execute
from tests.integration.e2ehelpers import Account, token


@dataclass
class Seed:
    """What a row needs.

    Attributes:
        place: where; row 8 has a server of its own.
        account: as the seed secret names it.
        values: what differs in the seed secret.
        spec: what differs in the request's spec.
        foreign: the kind of an object that stands in the way.
    """

    place: Place
    account: Account
    values: dict[str, str] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    foreign: str = ""


def _with(**values: str) -> Callable[[Cases, Seed], None]:
    return lambda _, seed: seed.values.update(values)


def _other_namespace(_: Cases, seed: Seed) -> None:
    seed.spec["seed"] = {"name": "somewhere", "namespace": "elsewhere"}


def _foreign(_: Cases, seed: Seed) -> None:
    seed.foreign = "Secret"


def _too_long(_: Cases, seed: Seed) -> None:
    seed.values["database"] = f"{seed.account.database[:40]}{'_' * 64}"[:64]


def _taken(_: Cases, seed: Seed) -> None:
    execute(
        seed.account.server,
        f"INSERT INTO {sql.LEDGER}.ownership (database_name, origin, state, fence, cluster, namespace, request,"
        " request_uid, created_at) VALUES (%s, 'created', 'ready', 1, 'other', 'n', 'r', %s, UTC_TIMESTAMP())",
        seed.account.database,
        token(),
    )


def _mismatch(_: Cases, seed: Seed) -> None:
    execute(seed.account.server, "CREATE OR REPLACE USER ''@'%%' IDENTIFIED BY %s", seed.account.password)


def _older(grants: tuple[str, ...] | None = None, password: str = "") -> Callable[[Cases, Seed], None]:
    def prepare(world: Cases, seed: Seed) -> None:
        account = seed.account
        world.older(account.server, account.database, account.username, password or account.password, grants)

    return prepare


def _database_missing(world: Cases, seed: Seed) -> None:
    _older()(world, seed)
    execute(seed.account.server, f"DROP DATABASE {sql.identifier(seed.account.database)}")


def _user_conflict(_: Cases, seed: Seed) -> None:
    execute(seed.account.server, "CREATE USER %s@'%%' IDENTIFIED BY %s", seed.account.username, "not the seed's")


def _exposed(_: Cases, seed: Seed) -> None:
    other = f"w_{token()}"
    execute(seed.account.server, "CREATE USER %s@'%%' IDENTIFIED BY %s", other, token())
    pattern = f"{sql.escape_pattern(seed.account.database[:-1])}%"
    execute(seed.account.server, f"GRANT SELECT ON {sql.identifier(pattern)}.* TO %s@'%%'", other)


#: Row of the table: its reason, and how it comes about.
VERDICTS: dict[int, tuple[str, Callable[[Cases, Seed], None]]] = {
    1: ("SeedNamespaceForbidden", _other_namespace),
    2: ("SeedSecretInvalid", _with(port="abc")),
    3: ("NameConflict", _foreign),
    4: ("SeedNoMatchingProvider", _with(hostname="db.example.com")),
    5: ("SeedReservedName", _with(database="mysql")),
    6: ("SeedSecretInvalid", _too_long),
    7: ("SeedDatabaseInUse", _taken),
    8: ("SeedAccountMismatch", _mismatch),
    9: ("SeedDatabaseMissing", _database_missing),
    10: ("SeedAccessDenied", _older(())),
    11: ("SeedAccountUnfit", _older(("SELECT ON {database}.*",))),
    12: ("SeedCredentialsRejected", _older(password="not the seed's")),
    13: ("SeedUserConflict", _user_conflict),
    14: ("SeedAdopted", _older()),
    15: ("SeedNameExposed", _exposed),
    16: ("SeedCreated", lambda *_: None),
}


def judge(world: Cases, row: int, database: str, username: str, password: str) -> None:
    """Prepare a row, run the request, and demand the row's verdict.

    Args:
        world: where.
        row: of the table.
        database: of the seed.
        username: of the seed.
        password: of the seed.
    """
    reason, prepare = VERDICTS[row]
    # An anonymous account answers for every name that the server doesn't know.
    place = world.place("anonymous" if row == 8 else "plain")
    with world.alone("the anonymous account") if row == 8 else nullcontext():
        seed = Seed(place, world.imagined(place.server, database, username, password))
        prepare(world, seed)
        name = f"v{row}-{token()}"
        if seed.foreign:
            world.foreign(seed.foreign, place.namespace, name)
        request = world.ask(place, seed.account.seed(**seed.values), name_of_request=name, **seed.spec)
        if reason in ("SeedAdopted", "SeedCreated"):
            assert world.reconcile(request) == f"{reason} {DONE}", request.told()
            values = request.values()
            assert (values["DATABASE"], values["USERNAME"]) == (database, username)
            assert (values["PASSWORD"] == password) is True
            assert request.ask("SELECT DATABASE()") == database
        else:
            world.refused(request, reason)
            assert request.state().endswith(REFUSED)
