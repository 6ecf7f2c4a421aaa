"""What a row still needs, as a truth table; what a refused statement undoes; what is published and deleted then."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    claiming,
    locating,
    outcomes,
    probing,
    settling,
    sql,
)

from dev.paths import ROOT
from tests.unit import samples
from tests.unit.samples import DERIVED_DATABASE, DERIVED_USER, SEED_SPEC, bad, grant, ok, read, row, seed, seeded, there

REASONS = yaml.safe_load((ROOT / "roles/dbaas_request/vars/main.yml").read_text(encoding="utf-8"))[
    "dbaas_request_reasons"
]
GRANT: dict[str, Any] = {"grants": [grant("app-user")]}
DATABASE: dict[str, Any] = {"databases": [{"name": "app"}]}
ACCOUNT: dict[str, Any] = {"users": [{"user": "app-user", "host": "%"}]}
ELSEWHERE: dict[str, Any] = {"global_grants": [{"grantee": "'app-user'@'%'"}]}
READ_ONLY: dict[str, Any] = {"server": [{"read_only": 1, "version": "x", "databases_count": 1}]}
WORKS = [{"source": "seed", "outcome": ok()}]
ENTERS_NOT = [{"source": "seed", "outcome": bad("no_access", 1044, 1)}]
REFUSED = [{"source": "seed", "outcome": bad("refused", 1045, None, "connect")}]
OTHER = [{"source": "seed", "outcome": bad("other_account", 1242, 0)}]
SECOND = [
    {"source": "published", "outcome": bad("refused", 1045, None, "connect")},
    {"source": "seed", "outcome": ok()},
]
AWAY = [{"source": "seed", "outcome": bad("unavailable", 2003, None, "connect")}]
ALL = ["create_account", "create_database", "grant"]
EXISTS: dict[str, Any] = {"outcome": {"reason": "DatabaseExists", "params": {}}, "give_back": True}


def wait(reason: str, **params: Any) -> dict[str, Any]:
    return {"outcome": {"reason": reason, "params": {"connection": "one", **params}}}


def counted(objects: int | None) -> dict[str, Any] | None:
    """The task's result that counted what the database holds."""
    return None if objects is None else {"query_result": [[{"objects": objects}]]}


def settled(
    given: dict[str, Any], logins: list[dict[str, Any]], fresh: bool = False, objects: int | None = None
) -> dict[str, Any]:
    return settling.settle(seeded(), given, logins, fresh, counted(objects))


def creating(**sets: Any) -> dict[str, Any]:
    return row(state="creating", ready=None, **sets)


@pytest.mark.parametrize(
    ("given", "logins", "fresh", "objects", "expected"),
    [
        pytest.param(creating(), [], True, None, {"steps": ALL, "source": "seed"}, id="NONE-fresh"),
        pytest.param(
            creating(**DATABASE), [], True, None, {**wait("Creating"), "give_back": True}, id="O9-database-came-up"
        ),
        pytest.param(
            creating(**ACCOUNT), [], True, None, {**wait("Creating"), "give_back": True}, id="O9-account-came-up"
        ),
        pytest.param(creating(), [], False, None, {"steps": ALL, "source": "seed"}, id="K1-rows"),
        pytest.param(
            creating(**ACCOUNT),
            ENTERS_NOT,
            False,
            None,
            {"steps": ["create_database", "grant"], "source": "seed"},
            id="K1-CREATE-USER",
        ),
        pytest.param(
            creating(**ACCOUNT, **DATABASE), ENTERS_NOT, False, None, {"needs": "content"}, id="K1-CREATE-DATABASE-asks"
        ),
        pytest.param(
            creating(**ACCOUNT, **DATABASE),
            ENTERS_NOT,
            False,
            0,
            {"steps": ["grant"], "source": "seed"},
            id="K1-CREATE-DATABASE-empty",
        ),
        pytest.param(creating(**ACCOUNT, **DATABASE), ENTERS_NOT, False, 1, EXISTS, id="O3-CREATE-DATABASE-not-empty"),
        pytest.param(
            creating(**ACCOUNT, **DATABASE, **GRANT), WORKS, False, None, {"steps": [], "source": "seed"}, id="K1-GRANT"
        ),
        pytest.param(
            creating(**ACCOUNT, **GRANT),
            ENTERS_NOT,
            False,
            None,
            {"steps": ["create_database"], "source": "seed"},
            id="K1-grant-without-database",
        ),
        pytest.param(creating(**ACCOUNT), REFUSED, False, None, EXISTS, id="O3-anothers-account"),
        pytest.param(creating(**ACCOUNT), OTHER, False, None, EXISTS, id="O3-shadowed-account"),
        pytest.param(
            creating(**ACCOUNT, **ELSEWHERE), ENTERS_NOT, False, None, EXISTS, id="O3-account-with-rights-elsewhere"
        ),
        pytest.param(creating(**DATABASE), [], False, None, {"needs": "content"}, id="O3-database-alone-asks"),
        pytest.param(creating(**DATABASE), [], False, 2, EXISTS, id="O3-database-alone-not-empty"),
        pytest.param(
            creating(**DATABASE),
            [],
            False,
            0,
            {"steps": ["create_account", "grant"], "source": "seed"},
            id="database-alone-empty",
        ),
        pytest.param(
            creating(**ACCOUNT, **DATABASE, **GRANT),
            AWAY,
            False,
            None,
            wait("ConnectionUnavailable", number="error 2003"),
            id="could-not-find-out",
        ),
        pytest.param(creating(**READ_ONLY), [], True, None, wait("ServerReadOnly"), id="S2-create"),
    ],
)
def test_a_seed_that_is_made(
    given: dict[str, Any], logins: list[dict[str, Any]], fresh: bool, objects: int | None, expected: dict[str, Any]
) -> None:
    assert settled(given, logins, fresh, objects) == expected


PLAIN_ACCOUNT: dict[str, Any] = {"users": [{"user": DERIVED_USER, "host": "%"}]}
PLAIN_DATABASE: dict[str, Any] = {"databases": [{"name": DERIVED_DATABASE}]}
PLAIN_GRANT: dict[str, Any] = {"grants": [grant(DERIVED_USER, pattern=DERIVED_DATABASE)]}
PUBLISHED = [{"source": "published", "outcome": ok()}]
NOT_PUBLISHED = [{"source": "published", "outcome": bad("refused", 1045, None, "connect")}]


def plain(state: str = "creating", **sets: Any) -> dict[str, Any]:
    return row(DERIVED_USER, DERIVED_DATABASE, state, "created", None if state == "creating" else 100, **sets)


@pytest.mark.parametrize(
    ("given", "logins", "fresh", "objects", "expected"),
    [
        pytest.param(plain(), [], True, None, {"steps": ALL, "source": "generated"}, id="new"),
        pytest.param(plain(**PLAIN_DATABASE), [], True, None, EXISTS, id="O2-database-there"),
        pytest.param(plain(**PLAIN_ACCOUNT), [], True, None, EXISTS, id="O2-account-there"),
        pytest.param(plain(), [], False, None, {"steps": ALL, "source": "generated"}, id="K1-rows"),
        pytest.param(
            plain(**PLAIN_ACCOUNT),
            [],
            False,
            None,
            {"steps": ["set_password", "create_database", "grant"], "source": "generated"},
            id="K1-CREATE-USER",
        ),
        pytest.param(
            plain(**PLAIN_ACCOUNT, **PLAIN_DATABASE),
            [],
            False,
            None,
            {"needs": "content"},
            id="K1-CREATE-DATABASE-asks",
        ),
        pytest.param(
            plain(**PLAIN_ACCOUNT, **PLAIN_DATABASE),
            [],
            False,
            0,
            {"steps": ["set_password", "grant"], "source": "generated"},
            id="K1-CREATE-DATABASE-empty",
        ),
        pytest.param(plain(**PLAIN_ACCOUNT, **PLAIN_DATABASE), [], False, 1, EXISTS, id="O2-not-empty"),
        pytest.param(
            plain(**PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT),
            PUBLISHED,
            False,
            None,
            {"steps": [], "source": "published"},
            id="K1-half-published",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT),
            PUBLISHED,
            False,
            None,
            {"steps": [], "source": "published"},
            id="steady-pass-writes-nothing",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT),
            [],
            False,
            None,
            {"steps": ["set_password"], "source": "generated"},
            id="secret-deleted",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT),
            NOT_PUBLISHED,
            False,
            None,
            {"steps": ["set_password"], "source": "generated"},
            id="O5-secret-edited",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE),
            PUBLISHED,
            False,
            None,
            {"steps": ["grant"], "source": "published"},
            id="grant-lost",
        ),
        pytest.param(
            plain("ready", **PLAIN_DATABASE),
            NOT_PUBLISHED,
            False,
            None,
            {"steps": ["create_account", "grant"], "source": "generated"},
            id="account-lost",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_GRANT),
            PUBLISHED,
            False,
            None,
            wait("DatabaseMissing"),
            id="database-lost-is-never-made-again",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT, **READ_ONLY),
            PUBLISHED,
            False,
            None,
            {"steps": [], "source": "published"},
            id="S2-steady-on-a-read-only-server",
        ),
        pytest.param(
            plain("ready", **PLAIN_ACCOUNT, **PLAIN_DATABASE, **PLAIN_GRANT, **READ_ONLY),
            [],
            False,
            None,
            wait("ServerReadOnly"),
            id="S2-repair-waits",
        ),
    ],
)
def test_a_plain_request(
    given: dict[str, Any], logins: list[dict[str, Any]], fresh: bool, objects: int | None, expected: dict[str, Any]
) -> None:
    assert settling.settle(read(), given, logins, fresh, counted(objects)) == expected


@pytest.mark.parametrize(
    ("given", "logins", "expected"),
    [
        pytest.param(row(origin="adopted", **there()), WORKS, {"steps": [], "source": "seed"}, id="steady"),
        pytest.param(
            row(origin="adopted", **there()), SECOND, {"steps": [], "source": "seed"}, id="secret-edited-seed-logs-in"
        ),
        pytest.param(row(origin="adopted", **there()), REFUSED, wait("CredentialsLost"), id="password-lost"),
        pytest.param(row(origin="adopted", **there()), [], wait("CredentialsLost"), id="no-password-at-hand"),
        pytest.param(row(origin="adopted", **there()), OTHER, wait("CredentialsLost"), id="shadowed"),
        pytest.param(row(origin="adopted", **DATABASE), REFUSED, wait("CredentialsLost"), id="account-gone"),
        pytest.param(row(origin="adopted", **DATABASE, **ACCOUNT), ENTERS_NOT, wait("AccessLost"), id="grant-gone"),
        pytest.param(row(origin="adopted", **there(without=("Drop",))), WORKS, wait("AccessLost"), id="grant-narrowed"),
        pytest.param(
            row(origin="adopted", **there(without=("Event",))),
            WORKS,
            {"steps": [], "source": "seed"},
            id="an-owners-rights-are-enough",
        ),
        pytest.param(row(origin="adopted", **ACCOUNT, **GRANT), WORKS, wait("DatabaseMissing"), id="database-gone"),
        pytest.param(
            row(origin="adopted", **there(), **READ_ONLY),
            WORKS,
            {"steps": [], "source": "seed"},
            id="S2-nothing-to-write",
        ),
        pytest.param(
            row(origin="adopted", **there()),
            AWAY,
            wait("ConnectionUnavailable", number="error 2003"),
            id="could-not-find-out",
        ),
    ],
)
def test_an_adopted_account_is_never_altered(
    given: dict[str, Any], logins: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert settled(given, logins) == expected


@pytest.mark.parametrize("name", ["APP", "App", "app ", "xapp"])
def test_another_database_is_not_this_one(name: str) -> None:
    given = row(origin="adopted", **{**there(), "databases": [{"name": name}]})
    assert settled(given, WORKS)["outcome"]["reason"] == "DatabaseMissing"


@pytest.mark.parametrize("account", [{"user": "app-user", "host": "localhost"}, {"user": "App-User", "host": "%"}])
def test_another_account_is_not_this_one(account: dict[str, str]) -> None:
    assert settled(creating(users=[account]), [], True)["steps"] == ALL


FOLDED = seed(database="MyDB", username="app-user")


@pytest.mark.parametrize(
    ("state", "found", "database", "expected"),
    [
        pytest.param("ready", seeded(), "app", None, id="ready-same"),
        pytest.param("ready", read(seed={"state": "absent"}), "app", None, id="ready-seed-taken-away"),
        pytest.param("ready", seeded(seed={"state": "missing"}), "app", None, id="ready-seed-secret-gone"),
        pytest.param(
            "ready",
            seeded(seed={"state": "invalid", "key": "port", "problem": "x"}),
            "app",
            None,
            id="ready-seed-broken",
        ),
        pytest.param(
            "ready", seeded(seed=seed(database="other")), "app", ("SeedMismatch", False), id="O5-ready-another-database"
        ),
        pytest.param(
            "ready", seeded(seed=seed(username="other")), "app", ("SeedMismatch", False), id="O5-ready-another-account"
        ),
        pytest.param(
            "ready", seeded(seed=seed(database="APP")), "app", ("SeedMismatch", False), id="O5-ready-another-case"
        ),
        pytest.param("ready", seeded(seed=seed(password="new")), "app", None, id="ready-another-password"),
        pytest.param(
            "ready",
            seeded(seed={"state": "other_namespace"}),
            "app",
            ("SeedMismatch", False),
            id="ready-another-namespace",
        ),
        pytest.param("creating", seeded(), "app", None, id="creating-same"),
        pytest.param(
            "creating",
            seeded(seed={"state": "missing"}),
            "app",
            ("SeedSecretMissing", False),
            id="creating-seed-secret-gone",
        ),
        pytest.param(
            "creating", read(seed={"state": "absent"}), "app", ("SeedChanged", True), id="creating-seed-taken-away"
        ),
        pytest.param(
            "creating",
            seeded(seed=seed(database="other")),
            "app",
            ("SeedChanged", True),
            id="O12-creating-another-database",
        ),
        pytest.param(
            "creating",
            seeded(seed=seed(username="other")),
            "app",
            ("SeedChanged", True),
            id="O12-creating-another-account",
        ),
        pytest.param(
            "creating",
            seeded(seed={"state": "invalid", "key": "port", "problem": "x"}),
            "app",
            ("SeedChanged", True),
            id="creating-seed-broken",
        ),
        pytest.param(
            "creating",
            seeded(seed={"state": "other_namespace"}),
            "app",
            ("SeedChanged", True),
            id="creating-another-namespace",
        ),
    ],
)
def test_the_seed_against_its_row(
    state: str, found: dict[str, Any], database: str, expected: tuple[str, bool] | None
) -> None:
    got = settling.seed_of_row(found, row(state=state, database=database, origin="adopted"))
    assert (got and (got["outcome"]["reason"], got.get("undo", False))) == (expected or {})


@pytest.mark.parametrize("state", [pytest.param("creating", id="N9-creating"), pytest.param("ready", id="N9-ready")])
def test_a_server_that_folds_names_keeps_its_spelling(state: str) -> None:
    # Through locate, as a run does it: whatever tells that the server folds has to come from there.
    survey = samples.asked(
        rows=[samples.ledger_row(database="mydb", state=state, origin="adopted")],
        accounts=[samples.ledger_account(database="mydb")],
        server=[{"read_only": 0, "version": "x", "databases_count": 1, "folds": 1, "admin_sees": 1}],
    )
    found = seeded(seed=FOLDED)
    assert settling.seed_of_row(found, locating.locate(found, [survey])["row"]) == {}


def test_a_plain_requests_row_needs_no_seed() -> None:
    assert settling.seed_of_row(read(), plain()) == {}
    assert settling.seed_of_row(read(), plain("ready")) == {}


TAKE = len(sql.STATEMENTS["take"])
BACK, DROP = "give_back", "drop_account"


@pytest.mark.parametrize(
    ("step", "number", "kind", "reason", "undo"),
    [
        pytest.param(0, 1819, "policy", "SeedPasswordPolicy", [BACK], id="P5-1819"),
        pytest.param(0, 3638, "policy", "SeedPasswordPolicy", [BACK], id="P5-3638"),
        pytest.param(0, 1470, "name", "SeedSecretInvalid", [BACK], id="N4-user-too-long"),
        pytest.param(1, 13, "name", "SeedSecretInvalid", [DROP, BACK], id="N9-61-euros"),
        pytest.param(2, 1059, "name", "SeedSecretInvalid", [DROP, "drop_database", BACK], id="N4-grant-too-long"),
        pytest.param(0, 1396, "again", "Creating", [], id="O9-account-came-up"),
        pytest.param(1, 1007, "again", "Creating", [], id="O9-database-came-up"),
        pytest.param(2, 1044, "provider", "ProviderError", [], id="a-right-is-missing"),
        pytest.param(1, 1006, "unavailable", "ConnectionUnavailable", [], id="disk-full"),
        pytest.param(1, 2013, "unavailable", "ConnectionUnavailable", [], id="K4-server-away"),
    ],
)
def test_what_a_refused_statement_undoes(step: int, number: int, kind: str, reason: str, undo: list[str]) -> None:
    got = settling.make_failed(seeded(), creating(), bad(kind, number, TAKE + step), ALL)
    assert got["outcome"]["reason"] == reason
    assert got["undo"] == undo


@pytest.mark.parametrize(
    ("step", "key"), [pytest.param(0, "username", id="N9-username"), pytest.param(1, "database", id="N9-database")]
)
def test_n9_the_key_is_named(step: int, key: str) -> None:
    params = settling.make_failed(seeded(), creating(), bad("name", 13, TAKE + step), ALL)["outcome"]["params"]
    assert params["key"] == key
    assert "13" in params["problem"]


def test_what_an_earlier_run_made_is_undone_too() -> None:
    # Killed behind CREATE USER; this run's first statement is refused: the account is still this request's.
    got = settling.make_failed(seeded(), creating(**ACCOUNT), bad("name", 13, TAKE), ["create_database", "grant"])
    assert got["undo"] == [DROP, BACK]


@pytest.mark.parametrize("index", range(TAKE))
def test_a_guard_undoes_nothing(index: int) -> None:
    got = settling.make_failed(seeded(), creating(), bad("stale", 1242, index), ALL)
    assert (got["outcome"]["reason"], got["undo"]) == ("Creating", [])


def test_p5_a_generated_password_is_the_providers_trouble() -> None:
    got = settling.make_failed(read(), plain(), bad("policy", 1819, TAKE), ALL)
    assert (got["outcome"]["reason"], got["undo"]) == ("PasswordPolicy", [])
    repaired = settling.make_failed(seeded(), row(**there()), bad("policy", 1819, TAKE), ["set_password"])
    assert repaired["outcome"]["reason"] == "PasswordPolicy"


def test_nothing_failed() -> None:
    assert settling.make_failed(seeded(), creating(), ok(), ALL) == {}


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param(samples.not_connected("(2003, 'x')"), "ConnectionUnavailable", id="stopped"),
        pytest.param(samples.not_connected("(1040, 'x')"), "ConnectionUnavailable", id="full"),
        pytest.param({"failed": True, "msg": "Timed out after 20 second(s)."}, "ConnectionUnavailable", id="frozen"),
        pytest.param(samples.not_connected("(1045, 'x')"), "ProviderError", id="admin-locked-out"),
    ],
)
def test_a_count_that_failed_is_a_wait(result: dict[str, Any], reason: str) -> None:
    got = settling.settle(seeded(), creating(**DATABASE), [], False, result)
    assert got["outcome"]["reason"] == reason
    assert "give_back" not in got


@pytest.mark.parametrize(
    ("given", "reason"),
    [(row(origin="adopted"), "SeedAdopted"), (row(), "SeedCreated"), (plain("ready"), "DatabaseCreated")],
)
def test_the_outcome_of_a_request_that_is_ready(given: dict[str, Any], reason: str) -> None:
    assert settling.done_outcome(read(), given)["reason"] == reason


@pytest.mark.parametrize(
    ("given", "own", "inherited"),
    [
        (row(origin="adopted"), "was taken over;", "was taken over for a former request, from which it came"),
        (row(), "did not exist and were created", "were created for a former request, from which they came"),
        (plain("ready"), "were created.", "were created for a former request, from which they came"),
    ],
)
@pytest.mark.parametrize(
    ("made", "former"),
    [
        pytest.param("2026-01-01 00:00:09", False, id="after-the-request"),
        pytest.param("2025-12-31 23:58:00", False, id="clocks-differ"),
        pytest.param(None, False, id="by-this-run"),
        pytest.param("2025-12-31 12:00:00", True, id="before-it"),
    ],
)
def test_what_came_from_another_request_is_not_said_to_be_made_for_this_one(
    given: dict[str, Any], own: str, inherited: str, made: str | None, former: bool
) -> None:
    found = settling.done_outcome(read(), {**given, "created_at": made})
    sentence = REASONS[found["reason"]]["message"].format_map(found["params"])
    assert (own in sentence, inherited in sentence) == (not former, former), sentence


QUERIES = sql.statements(["login", "use"], "app")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param({"query_result": [[], []]}, None, id="proved"),
        pytest.param(samples.not_connected("(2003, 'x')"), "ConnectionUnavailable", id="away"),
        pytest.param(samples.not_connected("(1045, 'x')"), "ProviderError", id="shadowed-by-an-anonymous-account"),
        pytest.param(
            samples.sent(QUERIES[0], {"username": "x"}, "(1242, 'x')"), "ProviderError", id="as-another-account"
        ),
        pytest.param(samples.sent(QUERIES[1], {"username": "x"}, "(1044, 'x')"), "ProviderError", id="no-access"),
    ],
)
def test_proof_of_the_new_account(result: dict[str, Any], reason: str | None) -> None:
    assert settling.proof_outcome(result, row()).get("reason") == reason


def test_login_outcomes_keep_their_source() -> None:
    results = [
        {"__dbaas_request_candidate": {"source": "published"}, **samples.not_connected("(1045, 'x')")},
        {"__dbaas_request_candidate": {"source": "seed"}, "query_result": [[{"host": "%"}], []]},
    ]
    assert [(x["source"], x["outcome"]["kind"]) for x in settling.login_outcomes(results, "app")] == [
        ("published", "refused"),
        ("seed", "ok"),
    ]


def test_logins_by_source() -> None:
    credentials = {"by_source": {"seed": {"password": "geheim", "config_file": "/proc/1/fd/5"}}}
    assert settling.login_of(credentials, "seed") == {"password": "geheim", "config_file": "/proc/1/fd/5"}
    assert settling.login_of(credentials, "published") == {}
    login = probing.seed_login_of(seeded())
    assert (login["password"], login["config_file"]) == ("geheim", "/proc/1/fd/3")


UNFIT = {"failed": True, "reason": "Unprocessable Entity"}


@pytest.mark.parametrize(
    ("result", "accepted", "number", "conflict"),
    [
        pytest.param({"changed": True}, None, None, False, id="worked"),
        pytest.param({"skipped": True}, None, None, False, id="skipped"),
        pytest.param({"results": []}, None, None, False, id="nothing-to-do"),
        pytest.param({**UNFIT, "msg": "spec.externalName: Invalid value"}, None, 422, False, id="K3-refused"),
        pytest.param({**UNFIT, "msg": '"field":"metadata.uid"'}, None, 422, True, id="K1-another-object-by-now"),
        pytest.param({"failed": True, "reason": "Conflict"}, None, 409, True, id="K3-conflict"),
        pytest.param({"failed": True, "reason": "x", "msg": "Conflict"}, None, "no number", False, id="no-number"),
        pytest.param({"failed": True, "reason": "Forbidden"}, [403, 409], None, False, id="D4-accepted"),
        pytest.param(
            {"results": [{"changed": True}, {"failed": True, "reason": "Internal Server Error"}]},
            None,
            500,
            False,
            id="one-of-several",
        ),
    ],
)
def test_kubernetes_outcome(
    result: dict[str, Any], accepted: list[int] | None, number: Any, conflict: bool
) -> None:
    got = outcomes.kubernetes_outcome(result, accepted)
    params = {"number": number, "conflict": conflict}
    assert got == ({} if number is None else {"reason": "KubernetesError", "params": params})


OBSERVED: dict[str, Any] = {"uid": "seed-uid", "resourceVersion": "7"}
DELETE: dict[str, Any] = {"seed": {**SEED_SPEC["seed"], "deleteAfterSuccess": True}}


@pytest.mark.parametrize(
    ("spec", "status", "found", "deleted"),
    [
        pytest.param(DELETE, {"observedSeed": OBSERVED}, seed(), True, id="O12-the-very-one"),
        pytest.param(DELETE, {}, seed(), True, id="claimed-in-this-run"),
        pytest.param(DELETE, {"observedSeed": {**OBSERVED, "uid": "other"}}, seed(), False, id="O12-another-secret"),
        pytest.param(DELETE, {"observedSeed": {**OBSERVED, "resourceVersion": "8"}}, seed(), False, id="O12-edited"),
        pytest.param(SEED_SPEC, {"observedSeed": OBSERVED}, seed(), False, id="P6-kept-by-default"),
        pytest.param(
            {"seed": {**SEED_SPEC["seed"], "deleteAfterSuccess": False}},
            {"observedSeed": OBSERVED},
            seed(),
            False,
            id="P6-kept",
        ),
        pytest.param(DELETE, {"observedSeed": OBSERVED}, {"state": "missing"}, False, id="gone-already"),
        pytest.param({}, {"observedSeed": OBSERVED}, {"state": "absent"}, False, id="no-seed"),
    ],
)
def test_used_seed(spec: dict[str, Any], status: dict[str, Any], found: dict[str, Any], deleted: bool) -> None:
    got = claiming.used_seed(read(spec, status, seed=found))
    expected = {"apiVersion": "v1", "kind": "Secret", "name": "seed", "namespace": "ns", **OBSERVED}
    assert got == ([expected] if deleted else [])
