"""Passwords, secrets and templates: every byte arrives, nothing is evaluated, no verdict reads a password."""
# names of tests hold the ids of cases

import contextlib
from pathlib import Path
from typing import Any

import pymysql
import pytest
from kubernetes.client.exceptions import ApiException

from dev import objects
from dev.paths import ROOT
from tests.cases.verdicts import VERDICTS, judge
from tests.cases.world import DONE, Cases, Place, execute
from tests.integration.e2ehelpers import API, MERGE, ROWS, Account, Log, Request, token
from tests.passwords import PASSWORDS


def check(request: Request, account: Account) -> None:
    """The published Secret has the seed's bytes and logs in with them."""
    values = request.values()
    assert (values["DATABASE"], values["USERNAME"]) == (account.database, account.username)
    assert (values["PASSWORD"] == account.password) is True
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    assert request.ask("SELECT DATABASE()") == account.database


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", PASSWORDS)
def test_P1_admin_and_seed(world: Cases, kind: str) -> None:
    """The admin and the seed have this password; every other seed is of an account that doesn't exist."""
    password = PASSWORDS[kind]
    place = world.place()
    admin = {"user-name": "same-as-user", "part-of-user": "adm-part-of-user"}.get(kind, f"adm-{token()}")
    world.admin(place.server, admin, "ALL PRIVILEGES", password)
    database = {"database-name": password, "part-of-database": "part-of-database"}.get(kind, f"db_{token()}")
    username = {"user-name": f"{password}-s", "part-of-user": "part-of-user"}.get(kind, f"u_{token()}")
    if kind == "user-name":
        password = username
    exists = list(PASSWORDS).index(kind) % 2 == 0
    make = world.older if exists else world.imagined
    account = make(place.server, database, username, password)
    request = world.ask(world.another(place, admin, PASSWORDS[kind]), account.seed())
    assert world.reconcile(request) == f"{'SeedAdopted' if exists else 'SeedCreated'} {DONE}", request.told()
    check(request, account)


# The rows before the login are the same whatever the password is: one kind is enough for them.
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("row", "kind"),
    [*((row, "1") for row in VERDICTS), *((row, "user-name") for row in VERDICTS if row >= 8)],
)
def test_P1_verdicts_are_those_of_plain_passwords(world: Cases, row: int, kind: str) -> None:
    username = f"v{row}_{token()}"
    judge(world, row, f"v{row}_{token()}", username, username if kind == "user-name" else "1")


MARK = "%PLACE%"
JINJA = {
    "expression": "{{ 7*7 }}",
    "pipe": "{{ lookup('pipe', 'touch %PLACE%') }}",
    "block": "{% raw %}",
    "set": "{% set x = lookup('pipe', 'touch %PLACE%') %}",
    "comment": "{# x #}",
    "mark": "{message}{database}",
}


def pwned(world: Cases) -> Path:
    """A file that exists only if somebody ran a template."""
    return world.runner.folder / "pwned"


def nothing_ran(world: Cases) -> bool:
    """Whether no template was run, wherever it would have left its file."""
    return not any(place.exists() for place in (pwned(world), ROOT / "pwned", ROOT / "playbooks/pwned"))


def filled(world: Cases, text: str) -> str:
    return text.replace(MARK, str(pwned(world)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", JINJA)
def test_P2_templates_in_names_password_and_annotations(world: Cases, kind: str) -> None:
    """Every other one is of a database that exists."""
    place, exists = world.place(), list(JINJA).index(kind) % 2 == 0
    text = filled(world, JINJA[kind])
    name = f"{JINJA[kind].replace(MARK, 'pwned')[:40]}{token(2)}"
    account = (world.older if exists else world.imagined)(place.server, name, name, text + token())
    request = world.ask(place, account.seed(), annotations={"example.com/note": text})
    assert world.reconcile(request) == f"{'SeedAdopted' if exists else 'SeedCreated'} {DONE}", request.told()
    check(request, account)
    assert nothing_ran(world)


@pytest.mark.sample(1)
@pytest.mark.parametrize("key", ["hostname", "port", "other"])
def test_P2_templates_in_the_other_seed_keys(world: Cases, key: str) -> None:
    place = world.place()
    account = world.older(place.server)
    request = world.ask(place, account.seed(**{key: filled(world, JINJA["pipe"])}))
    if key == "other":
        assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    else:
        world.refused(request, "SeedSecretInvalid", f"the key {key} ")
    assert nothing_ran(world)


ADMINS = ["{{ 7*7 }}", "{{ lookup('pipe', 'touch pwned') }}", "{% raw %}", "True", "[1, 2]", "a'; DROP USER x; -- "]


@pytest.mark.sample(1)
@pytest.mark.parametrize("username", ADMINS)
def test_P2_texts_as_the_admins_username(world: Cases, username: str) -> None:
    """The one field of a provider that takes any text; the other fields' schemas let names and hosts in only."""
    place = world.place()
    another = world.another(place, *world.admin(place.server, username, "ALL PRIVILEGES", f"{username} {token()}"))
    assert world.provider_run(another.scope) == "available"
    request = world.ask(another)
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    assert request.ask("SELECT CURRENT_USER()") == f"{request.values()['USERNAME']}@%"
    assert nothing_ran(world)


TEXTS_OF_SPEC = [
    ("scope",), ("type",), ("name",), ("seed", "name"), ("seed", "namespace"), ("forcedReconcilation",),
    ("databaseConnectionReference", "name"), ("databaseConnectionReference", "databaseObjectReference", "name"),
    ("databaseConnectionReference", "databaseObjectReference", "kind"),
]  # fmt: skip


def with_text(document: dict[str, Any], path: tuple[str, ...], text: str) -> dict[str, Any]:
    """The spec with a text in one of its fields."""
    head, *rest = path
    return {**document, head: with_text(document.get(head, {}), tuple(rest), text) if rest else text}


def test_P2_templates_in_spec(world: Cases) -> None:
    """The schema lets none of them in; a run that is handed them all the same takes them as text."""
    place = world.place()
    text = filled(world, JINJA["pipe"])
    pin = {"name": "it", "databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": place.scope}}
    spec = {"seed": {"name": "missing", "namespace": place.namespace}, "databaseConnectionReference": pin}
    hostile: dict[str, Any] = {"scope": place.scope, "type": "mariadb", "name": "mariadb", **spec}
    good, home = dict(hostile), objects.path_of(API, "DatabaseRequest", namespace=place.namespace)
    for path in TEXTS_OF_SPEC:
        wanted = {"metadata": {"name": f"r-{token()}"}, "spec": with_text(good, path, text)}
        with pytest.raises(ApiException) as refused:
            objects.call(world.api, "POST", home, {"apiVersion": API, "kind": "DatabaseRequest", **wanted})
        assert refused.value.status == 422, path
        hostile = with_text(hostile, path, text)

    request = world.ask(place)
    handed = {**(request.read() or {}), "spec": hostile}
    world.runner.request("reconcile-request.yml", request.name, request.namespace, handed).check()
    assert request.state() == f"DatabaseCreated {DONE}", request.told()
    assert nothing_ran(world)


def test_P2_templates_in_status(world: Cases) -> None:
    """Whoever may write status can put anything there: the next runs take it as text."""
    place = world.place()
    text = filled(world, JINJA["pipe"])
    request = world.ask(place)
    status = {
        "conditions": [
            {"type": kind, "status": "False", "reason": "Creating", "message": text, "observedGeneration": 1,
             "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Ready", "Error", "Settled", "Other")
        ],
        "observedDatabaseConnectionReference": {
            "name": "it", "databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": place.scope},
        },
    }  # fmt: skip
    path = objects.path_of(API, "DatabaseRequest", request.name, request.namespace)
    objects.call(world.api, "PATCH", f"{path}/status", {"status": status}, MERGE)
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    world.steady(request)
    world.delete(request)
    assert nothing_ran(world)


def refused_unread(world: Cases, values: dict[str, str | bytes], account: Account, key: str, says: str = "") -> None:
    """The seed is refused by name of a key, without a login, without its value in the sentence."""
    log = Log(account.server)
    place = world.place()
    request = world.ask(place, values)
    world.refused(request, "SeedSecretInvalid", f"the key {key} ", says)
    message = request.condition("Ready")["message"]
    assert all(v not in message for v in values.values() if isinstance(v, str) and len(v) > 4)
    assert log.logins(account.username) == 0
    assert "\ufffd" not in message


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("key", "ending"),
    [
        *((key, "\n") for key in ("database", "username", "password", "hostname", "port")),
        *((key, "\r\n") for key in ("password", "port")),
    ],
)
def test_P3_line_break_at_the_end(world: Cases, key: str, ending: str) -> None:
    account = world.older(world.place().server)
    values = account.seed()
    refused_unread(world, {**values, key: f"{values[key]!s}{ending}"}, account, key, "ends with a line break")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("key", "value"),
    [("password", b"\x80\xff\x00"), ("username", b"\xc3\x28"), ("port", b"33\xff06"), ("password", b"a\x00b")],
    ids=["password", "username", "port", "password-NUL"],
)  # fmt: skip
def test_P4_bytes_that_are_no_text(world: Cases, key: str, value: bytes) -> None:
    account = world.imagined(world.place().server)
    refused_unread(world, {**account.seed(), key: value}, account, key)
    assert account.exists() == (False, False)
    seen = account.server.query("SELECT COUNT(*) AS n FROM mysql.user WHERE HEX(User) LIKE '%EFBFBD%'")
    assert seen == [{"n": 0}]


def strict(world: Cases) -> Place:
    """A server with a password policy."""
    place = world.place("policy")
    with world.alone("policy"), contextlib.suppress(pymysql.err.MySQLError):  # it is there already
        place.server.query("INSTALL SONAME 'simple_password_check'")
    return place


def test_P5_policy_refuses_the_seeds_password(world: Cases) -> None:
    place = strict(world)
    account = world.imagined(place.server, password="geheimnis")
    request = world.ask(place, account.seed())
    world.refused(request, "SeedPasswordPolicy", "1819")
    assert account.exists() == (False, False)
    assert request.rows_in_ledger(place.server) == []
    world.delete(request)


def test_P5_policy_takes_a_generated_password(world: Cases) -> None:
    request = world.ask(strict(world))
    assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    assert request.ask("SELECT 1") == 1


def test_P5_policy_is_not_asked_by_a_take_over(world: Cases) -> None:
    place = strict(world)
    account = world.older(place.server, password="Geheim-123")
    execute(place.server, "SET GLOBAL simple_password_check_minimal_length = 12")
    request = world.ask(place, account.seed())
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


def test_P6_adopted_account_is_untouched(world: Cases) -> None:
    place = world.place()
    account = world.older(place.server)
    before, log = account.hashes(), Log(place.server)
    request = world.ask(place, account.seed(), name_of_request="p6")
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()
    world.steady(request)
    check(request, account)
    assert account.hashes() == before
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert log.changes(account.database, account.username) == []
    seed = objects.get(world.api, "v1", "Secret", "p6-seed", place.namespace)
    assert seed is not None
    assert seed["metadata"].get("ownerReferences") is None


@pytest.mark.sample(1)
@pytest.mark.parametrize("port", ["", "abc", "0", "65536", "3306.0", "3_306", "٣٣٠٦"])
def test_P7_port_that_is_none(world: Cases, port: str) -> None:
    account = world.older(world.place().server)
    refused_unread(world, {**account.seed(), "port": port}, account, "port", "is not a number from 1 to 65535")


def test_P7_blanks_around_a_port(world: Cases) -> None:
    place = world.place()
    account = world.older(place.server)
    request = world.ask(place, account.seed(port=f" {place.server.port} "))
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


def test_P7_missing_port_means_3306(world: Cases) -> None:
    """Nothing of ours listens there, so the seed matches no connection; it isn't refused for its key."""
    place = world.place()
    assert place.server.port != 3306
    request = world.ask(place, world.older(place.server).seed(port=None))
    world.refused(request, "SeedNoMatchingProvider")


VERBOSE = 4


@pytest.mark.parametrize("kind", ["adopted", "created", "plain", "refused"])
def test_most_talkative_runs(world: Cases, kind: str) -> None:
    """What these print goes into the last test's search."""
    place = world.place()
    if kind == "plain":
        request, reason = world.ask(place), "DatabaseCreated"
    elif kind == "refused":
        request, reason = world.ask(place, world.older(place.server, grants=()).seed()), "SeedAccessDenied"
    else:
        make = world.older if kind == "adopted" else world.imagined
        request, reason = world.ask(place, make(place.server).seed()), f"Seed{kind.title()}"
    assert world.reconcile(request, VERBOSE).startswith(f"{reason} "), request.told()
    world.mark(request)
    assert world.finalize(request, VERBOSE)


def test_no_password_anywhere(finished: Cases) -> None:
    """After all of this module: what the runs printed, and what they left in their folders."""
    assert finished.runner.leaks() == []


def test_only_known_statements(finished: Cases) -> None:
    """After all of this module: what the admin accounts sent to its servers."""
    assert finished.unknown_statements() == set()
