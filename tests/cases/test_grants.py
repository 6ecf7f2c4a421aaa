"""The operator's account on a server: exactly the rights of the manual, and not one that it could do without.

Each right in turn is left out of an otherwise equal account, which then goes through the life of a database in the
operator's own statements; some statement of it has to be refused.
"""

import re
from collections.abc import Iterator

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from dev.mariadb import ADMIN_RIGHTS
from dev.paths import ROOT
from tests.integration.sqlhelpers import CLUSTER, Dict, Sql, any_mode, claim_arguments, default_server, worker

__all__ = ["any_mode", "default_server", "worker"]  # fixtures

GRANT_OPTION = "GRANT OPTION"
#: All that the account has, each granted on everything.
RIGHTS = [*ADMIN_RIGHTS.split(", "), GRANT_OPTION]
#: Not one of these is missed by a statement: a server lets whoever may write the tables of ``mysql`` make, change and
#: drop accounts, and the rights to write everything are needed to hand them on. It is asked for all the same: the
#: manuals name it as the right for accounts, and a server may take the other way (a partial revoke on ``mysql``, say).
IMPLIED = ["CREATE USER"]
#: What a server answers an account that lacks a right: 1044, 1045 (GRANT without the option), 1142, 1227, 1370, 1410.
REFUSED = (1044, 1045, 1142, 1143, 1227, 1370, 1410)
DATABASE, USERNAME = "team_a", "team-user"
OWNER: Dict = claim_arguments(DATABASE, USERNAME)

#: The life of a database: what is sent on one connection each time, in order.
LIFE: dict[str, list[str]] = {
    "health": ["health"],
    "ledger": ["ledger"],
    "survey": ["survey"],
    "facts": ["facts"],
    "claim": ["claim"],
    "make": ["take", "create_account", "create_database", "grant"],
    "ready": ["take", "ready"],
    "password": ["take", "set_password"],
    "content": ["content"],
    "deleting": ["take", "deleting"],
    "drop": ["take", "drop_database", "drop_account", "give_back"],
}
READING: Dict = {"escape": "\\", "username": USERNAME}
SURVEY: Dict = {"cluster": CLUSTER, "request_uid": "uid-1", "namespace": "ns", "request": "req"}
ARGUMENTS: dict[str, Dict] = {
    "health": READING, "ledger": {}, "facts": READING, "content": READING, "survey": SURVEY
}  # fmt: skip


def live(server: Sql, login: str) -> dict[str, Dict]:
    """Send a database's whole life as one account, up to the first statement that isn't taken.

    Args:
        server: where; it has neither ledger nor database.
        login: the account's login file.

    Returns:
        The outcomes by name of :data:`LIFE`; the last one is the only one that may not be good.
    """
    came_to: dict[str, Dict] = {}
    for step, forms in LIFE.items():
        given = ARGUMENTS.get(step, OWNER)
        came_to[step] = server.send(forms, DATABASE, login, transaction=step == "claim", **given)["outcome"]
        if not came_to[step]["ok"]:
            break
    return came_to


@pytest.fixture
def bare(default_server: Sql) -> Iterator[Sql]:
    """The server without a ledger; the account under test makes it."""
    default_server.root(f"DROP DATABASE {sql.LEDGER}")
    yield default_server
    default_server.query(sql.statements("ledger"))


def admin_with(server: Sql, rights: list[str]) -> str:
    """Make an account with these rights on everything, and return its login file."""
    login = server.account("other_admin")
    option = " WITH GRANT OPTION" if GRANT_OPTION in rights else ""
    named = ", ".join(right for right in rights if right != GRANT_OPTION)
    server.root(f"GRANT {named} ON *.* TO 'other_admin'@'%'{option}")
    return login


def test_the_account_has_exactly_these_rights(any_mode: Sql) -> None:
    user = any_mode.server.admin_user
    [row] = any_mode.root("SHOW GRANTS FOR %s@'%%'", [user])
    [grant] = row.values()
    to = rf"`{user}`@`%` IDENTIFIED BY PASSWORD '\*\w+'"
    found = re.fullmatch(rf"GRANT (.+) ON \*\.\* TO {to} WITH GRANT OPTION", grant)
    assert found, "the account has other grants than one on everything with the grant option"
    assert sorted(found[1].split(", ")) == sorted(right for right in RIGHTS if right != GRANT_OPTION)
    assert set(sql.DATABASE_PRIVILEGES) == set(RIGHTS) - {"CREATE USER", GRANT_OPTION}


def test_the_manual_names_them() -> None:
    text = " ".join((ROOT / "docs/operations.md").read_text(encoding="utf-8").split())
    [named] = re.findall(r"GRANT ((?:[A-Z]+(?: [A-Z]+)*, ){5,}[A-Z ]+?) ON \*\.\*", text)
    assert sorted(named.split(", ")) == sorted(ADMIN_RIGHTS.split(", "))


def test_all_of_them_are_enough(bare: Sql) -> None:
    came_to = live(bare, admin_with(bare, RIGHTS))
    assert list(came_to) == list(LIFE)
    assert [step for step, outcome in came_to.items() if not outcome["ok"]] == []
    assert bare.root("SELECT 1 FROM mysql.user WHERE User = %s", [USERNAME]) == []
    assert bare.root("SHOW DATABASES LIKE 'team\\_a'") == []


@pytest.mark.parametrize("right", IMPLIED)
def test_what_others_imply(bare: Sql, right: str) -> None:
    """A server on which this fails needs the right: then it is no exception any more."""
    came_to = live(bare, admin_with(bare, [other for other in RIGHTS if other != right]))
    assert [step for step, outcome in came_to.items() if not outcome["ok"]] == []


@pytest.mark.parametrize("right", [right for right in RIGHTS if right not in IMPLIED])
def test_without_one_of_them_a_statement_is_refused(bare: Sql, right: str) -> None:
    came_to = live(bare, admin_with(bare, [other for other in RIGHTS if other != right]))
    step, outcome = list(came_to.items())[-1]
    assert not outcome["ok"], f"nothing needs {right}"
    assert outcome["number"] in REFUSED, f"without {right}, {step} ended with {outcome['number']}"


@pytest.mark.parametrize("right", [right for right in RIGHTS if right not in IMPLIED])
def test_a_refused_statement_is_the_providers_error(bare: Sql, right: str) -> None:
    """A lacking right is never a verdict on a request, and a read that shows too little is no answer.

    Sent as the admin's, which ``send`` takes for a seed's where it has a login of its own.
    """
    login = admin_with(bare, [other for other in RIGHTS if other != right])
    admin, bare.admin = bare.admin, login
    try:
        kinds = [outcome["kind"] for outcome in live(bare, "").values() if not outcome["ok"]]
    finally:
        bare.admin = admin
    assert kinds == ["provider"]
