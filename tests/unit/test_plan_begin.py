"""Whether a run begins, and what the steps between reading and the row decide."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    claiming,
    conditions,
    judging,
    locating,
    probing,
    settling,
    sql,
    sql_arguments,
)

from tests.unit import samples
from tests.unit.samples import (
    REFERENCE,
    SEED_SPEC,
    UID,
    asked,
    bad,
    connection,
    ledger_account,
    ledger_row,
    ok,
    read,
    refused_status,
    row,
    seed,
    seeded,
)

STOP = {"stop": True}
GO: dict[str, Any] = {}
OLD = "2020-01-01T00:00:00Z"
FAILURE = {"reason": "KubernetesError", "params": {"number": 503}}


@pytest.mark.parametrize(
    ("found", "finalizing", "outcome", "again"),
    [
        pytest.param(read(), False, GO, False, id="new"),
        pytest.param(read(), True, GO, False, id="finalize-new"),
        pytest.param(read(outcome=FAILURE), False, FAILURE, False, id="O6-api-failed"),
        pytest.param(read(outcome=FAILURE, found=False), True, FAILURE, False, id="O6-api-failed-finalizing"),
        pytest.param({"found": False, "outcome": FAILURE}, False, FAILURE, False, id="O6-api-failed-at-the-request"),
        pytest.param(
            read(outcome=FAILURE, status=refused_status(1)), False, STOP, False, id="K2-refused-and-api-failed"
        ),
        pytest.param(
            read(outcome=FAILURE, request_deleting=True), False, STOP, False, id="deleting-and-api-failed"
        ),
        pytest.param({"found": False, "outcome": {}}, False, STOP, False, id="gone"),
        pytest.param({"found": False, "outcome": {}}, True, STOP, False, id="gone-finalizing"),
        pytest.param(read(request_deleting=True), False, STOP, False, id="deleting-is-the-finalizers"),
        pytest.param(read(status=refused_status(1)), False, STOP, False, id="K2-refused"),
        pytest.param(read(status=refused_status(1, OLD), request_generation=2), False, GO, True, id="K2-changed-spec"),
        pytest.param(
            read(status=refused_status(1, OLD), request_generation=2, request_deleting=True),
            False,
            STOP,
            False,
            id="K2-changed-and-deleting",
        ),
        pytest.param(read(status=refused_status()), True, STOP, False, id="D3-refused-has-nothing"),
        pytest.param(
            read(status=refused_status(observedDatabaseConnectionReference=REFERENCE)),
            True,
            GO,
            False,
            id="D3-refused-with-reference",
        ),
        pytest.param(
            read(status=refused_status(1, OLD), request_generation=2), True, STOP, False, id="D3-refused-and-changed"
        ),
        pytest.param(
            read(status={"conditions": conditions.build([], "done", "r", "m", 1, OLD)}),
            False,
            GO,
            False,
            id="ready-is-looked-after",
        ),
        pytest.param(
            read(status={"conditions": conditions.build([], "person", "r", "m", 1, OLD)}),
            False,
            GO,
            False,
            id="person-is-looked-at",
        ),
        pytest.param(
            read(status={"conditions": conditions.build([], "waits", "r", "m", 1, OLD)}),
            False,
            GO,
            False,
            id="waits-goes-on",
        ),
    ],
)
def test_begin(found: dict[str, Any], finalizing: bool, outcome: dict[str, Any], again: bool) -> None:
    assert locating.begin(found, finalizing, 10) == {"outcome": outcome, "again": again, "delay": 0}


def test_k2_a_try_comes_not_before_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(status=refused_status(1, "2026-01-01T00:00:00Z"), request_generation=2)
    for at, delay in (("2026-01-01T00:00:00Z", 10), ("2026-01-01T00:00:04Z", 6), ("2026-01-01T00:00:09Z", 1)):
        monkeypatch.setattr(conditions, "now", lambda at=at: at)
        assert locating.begin(found, False, 10) == {"outcome": STOP, "again": False, "delay": delay}
    monkeypatch.setattr(conditions, "now", lambda: "2026-01-01T00:00:10Z")
    assert locating.begin(found, False, 10) == {"outcome": GO, "again": True, "delay": 0}


def test_row_arguments() -> None:
    login = {"source": "seed", "password": "geheim"}
    got = sql_arguments.row_arguments(read(), {**row(), "connection": "not sent"}, login)
    assert got == {
        "database": "app",
        "username": "app-user",
        "host": "%",
        "origin": "created",
        "cluster": samples.CLUSTER,
        "namespace": "ns",
        "request": "req",
        "request_uid": UID,
        "fence": 1000,
        "password": "geheim",
    }


@pytest.mark.parametrize(
    ("of_row", "of_run", "fence"),
    [
        pytest.param(900, 1000, 1000, id="K4-later"),
        pytest.param(1000, 1000, 1024 + 1000, id="K4-the-same"),
        pytest.param(5000, 1000, 5 * 1024 + 1000, id="a-clock-that-runs-behind"),
        pytest.param(5000, 1001, 5 * 1024 + 1001, id="another-run-whose-clock-runs-behind"),
    ],
)
def test_the_fence_is_above_the_row_that_was_read(of_row: int, of_run: int, fence: int) -> None:
    got = sql_arguments.row_arguments(read(fence=of_run), {**row(), "fence": of_row})
    assert (got["fence"], got["password"]) == (fence, "")


def test_a_claim_has_no_fence_yet() -> None:
    assert sql_arguments.row_arguments(read(), CLAIM)["fence"] == 1000


@pytest.mark.parametrize("text", ["True", "[1, 2]", "{'a': 1}"])
def test_names_travel_in_a_dict(text: str) -> None:
    assert sql_arguments.names_arguments({"database": text, "username": text, "x": 1}) == {
        "database": text,
        "username": text,
        "escape": "\\",
    }
    assert sql_arguments.names_arguments(seed())["database"] == "app"
    assert sql_arguments.names_arguments(row())["username"] == "app-user"


def test_database_info() -> None:
    assert claiming.database_info(row()) == {"username": "app-user", "databasename": "app"}


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        pytest.param({"verdict": "adopt", "accounts": 3}, "2 more", id="several"),
        pytest.param({"verdict": "adopt", "accounts": 1}, "", id="one"),
        pytest.param({"verdict": "refuse", "accounts": 3}, "", id="refused"),
        pytest.param({"verdict": "wait"}, "", id="waits"),
    ],
)
def test_accounts_of_other_hosts_are_told(verdict: dict[str, Any], told: str) -> None:
    event = claiming.accounts_event(verdict)
    assert bool(event) is bool(told)
    assert told in event.get("message", "")


CLAIM = {"connection": connection(), "database": "app", "username": "app-user", "host": "%", "origin": "created"}
IN: dict[str, Any] = {"query_result": [[], [], [], []]}
TAKEN = samples.sent(sql.STATEMENTS["claim"][2], {"a": 1}, "(1062, \"Duplicate entry 'app' for key 'PRIMARY'\")")
MINE = asked(rows=[ledger_row(state="creating", ready=None)], accounts=[ledger_account()])


def claimed(
    found: dict[str, Any], result: dict[str, Any], answers: list[dict[str, Any]], written: bool = True
) -> dict[str, Any]:
    return claiming.claimed(found, CLAIM, written, result, answers)


def test_a_claim_that_is_in() -> None:
    got = claimed(seeded(), IN, [MINE])
    assert set(got) == {"row"}
    assert (got["row"]["database"], got["row"]["username"], got["row"]["state"]) == ("app", "app-user", "creating")


@pytest.mark.parametrize(
    ("found", "result", "answers", "written", "reason"),
    [
        pytest.param(seeded(), TAKEN, [asked()], True, "SeedDatabaseInUse", id="O4-lost-to-another"),
        pytest.param(read(), TAKEN, [asked()], True, "DatabaseExists", id="O2-lost-to-another"),
        pytest.param(seeded(), {}, [], False, "KubernetesError", id="no-reference-no-claim"),
        pytest.param(
            seeded(), samples.not_connected("(2003, 'x')"), [], True, "ConnectionUnavailable", id="server-away"
        ),
        pytest.param(
            seeded(),
            {"failed": True, "msg": "Timed out after 60 second(s)."},
            [],
            True,
            "ConnectionUnavailable",
            id="K4-timed-out",
        ),
        pytest.param(
            seeded(),
            IN,
            [asked(outcome=bad("unavailable", 2006))],
            True,
            "ConnectionUnavailable",
            id="away-behind-the-claim",
        ),
        pytest.param(seeded(), IN, [asked()], True, "Creating", id="gone-again"),
        pytest.param(
            seeded(), IN, [asked(rows=[ledger_row(samples.OTHER_UID)])], True, "Creating", id="O8-anothers-row"
        ),
    ],
)
def test_claims_that_are_not(
    found: dict[str, Any], result: dict[str, Any], answers: list[dict[str, Any]], written: bool, reason: str
) -> None:
    got = claimed(found, result, answers, written)
    assert set(got) == {"outcome"}
    assert got["outcome"]["reason"] == reason


@pytest.mark.parametrize("found", [pytest.param(seeded(), id="K1-seeded"), pytest.param(read(), id="K1-plain")])
def test_a_claim_of_an_earlier_run_of_the_same_request_is_no_refusal(found: dict[str, Any]) -> None:
    # The operator was killed, its run lived on and put the rows in behind this run's survey: 1062, by its own row.
    got = claimed(found, TAKEN, [MINE])
    assert "row" in got or got["outcome"]["reason"] == "Creating", "a refusal would leave the rows for ever"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (read(), {}),
        (seeded(), {"uid": "seed-uid", "resourceVersion": "7"}),
        (seeded(seed={"state": "missing"}), {}),
        (seeded(seed={"state": "invalid", "key": "port", "problem": "x"}), {}),
    ],
)
def test_observed_seed(found: dict[str, Any], expected: dict[str, str]) -> None:
    assert claiming.observed_seed(found) == expected


ADOPT = {"verdict": "adopt", "row": 14, "database_name": "app", "host": "%", "outcome": {}}
CREATING = {"outcome": {"reason": "Creating", "params": {}}, "give_back": True}


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        pytest.param(ADOPT, {}, id="holds"),
        pytest.param({"verdict": "wait", "outcome": FAILURE}, {"outcome": FAILURE}, id="O9-could-not-find-out"),
        pytest.param({**ADOPT, "host": "localhost"}, CREATING, id="O9-another-account"),
        pytest.param({**ADOPT, "database_name": "other"}, CREATING, id="O9-another-database"),
        pytest.param({**ADOPT, "verdict": "create"}, CREATING, id="O9-all-gone"),
        pytest.param(
            {"verdict": "refuse", "row": 9, "outcome": {"reason": "SeedDatabaseMissing"}}, CREATING, id="O9-now-refused"
        ),
    ],
)
def test_a_take_over_is_judged_again_under_the_claim(verdict: dict[str, Any], expected: dict[str, Any]) -> None:
    assert claiming.adopt_check(seeded(), row(state="creating", origin="adopted"), verdict) == expected


@pytest.mark.parametrize(
    ("spec", "status", "published", "expected"),
    [
        pytest.param(SEED_SPEC, None, {}, {"seed": True}, id="seeded"),
        pytest.param(
            None,
            {"databaseInfo": {"username": "u"}},
            {},
            {"outcome": {"reason": "LedgerRowMissing", "params": {}}},
            id="ready-and-no-row",
        ),
        pytest.param(
            SEED_SPEC,
            {"databaseInfo": {"username": "u"}},
            {},
            {"outcome": {"reason": "LedgerRowMissing", "params": {}}},
            id="ready-and-no-row-seeded",
        ),
        pytest.param(
            None,
            None,
            {"secret": samples.owned("Secret", "req", "x")},
            {"outcome": {"reason": "NameConflict", "params": {"kind": "Secret"}}},
            id="O1-secret",
        ),
        pytest.param(
            None,
            None,
            {"service": samples.owned("Service", "mariadb", "x")},
            {"outcome": {"reason": "NameConflict", "params": {"kind": "Service"}}},
            id="O1-service",
        ),
        pytest.param(
            SEED_SPEC,
            None,
            {"service": samples.owned("Service", "mariadb", "x")},
            {"seed": True},
            id="O1-the-table-says",
        ),
    ],
)
def test_judge(spec: Any, status: Any, published: dict[str, Any], expected: dict[str, Any]) -> None:
    found = read(spec, status)
    found["published"].update(published)
    assert judging.judge(found, [asked()]) == expected


def server(databases: int, read_only: int = 0) -> dict[str, Any]:
    return {"server": [{"read_only": read_only, "version": "x", "folds": 0, "databases_count": databases}]}


def placed(answers: list[dict[str, Any]], spec: dict[str, Any] | None = None) -> str:
    got = judging.place(read(spec), answers)
    return got["claim"]["connection"]["name"] if "claim" in got else got["outcome"]["reason"]


PIN = {"databaseConnectionReference": {**REFERENCE, "name": "two"}}
DISABLED, OTHER_SCOPE = connection("two", enabled=False), connection("two", in_scope=False)


@pytest.mark.parametrize(
    ("answers", "spec", "expected"),
    [
        pytest.param([asked("one", **server(5)), asked("two", **server(4))], None, "two", id="fewest"),
        pytest.param([asked("two", **server(5)), asked("one", **server(5))], None, "one", id="ties-by-name"),
        pytest.param([asked("one", **server(9)), asked("two", **server(10))], None, "one", id="numbers-not-text"),
        pytest.param([asked("one", **server(5, 1)), asked("two", **server(9))], None, "two", id="S2-not-the-read-only"),
        pytest.param([asked("one", **server(5, 1))], None, "ServerReadOnly", id="S2-all-read-only"),
        pytest.param(
            [asked("one", where=connection("one", referenced=True), **server(9)), asked("two", **server(4))],
            None,
            "one",
            id="K1-stays-where-an-earlier-run-may-be-claiming",
        ),
        pytest.param(
            [asked("one", where=connection("one", referenced=True), **server(5, 1)), asked("two", **server(9))],
            None,
            "two",
            id="S2-not-there-if-it-is-read-only",
        ),
        pytest.param([asked(where=DISABLED)], None, "ProviderMissing", id="disabled"),
        pytest.param([asked(where=OTHER_SCOPE)], None, "ProviderMissing", id="another-scope"),
        pytest.param([], None, "ProviderMissing", id="none"),
        pytest.param([asked("one", **server(1)), asked("two", **server(9))], PIN, "two", id="pinned"),
        pytest.param([asked("one")], PIN, "NoSuchConnection", id="pinned-to-none"),
        pytest.param([asked("one"), asked(where=DISABLED)], PIN, "NoSuchConnection", id="pinned-to-a-disabled"),
        pytest.param(
            [asked("one", **server(1)), asked("two", **server(9, 1))],
            PIN,
            "ServerReadOnly",
            id="S2-pinned-to-a-read-only",
        ),
    ],
)
def test_place(answers: list[dict[str, Any]], spec: dict[str, Any] | None, expected: str) -> None:
    assert placed(answers, spec) == expected


def test_place_makes_the_derived_names() -> None:
    claim = judging.place(read(), [asked()])["claim"]
    assert {key: claim[key] for key in ("database", "username", "host", "origin")} == {
        "database": samples.DERIVED_DATABASE,
        "username": samples.DERIVED_USER,
        "host": "%",
        "origin": "created",
    }


@pytest.mark.parametrize(
    ("verdict", "answers", "spec", "expected"),
    [
        pytest.param(ADOPT, [asked()], {}, ("adopted", "%"), id="adopt"),
        pytest.param({**ADOPT, "host": "10.%"}, [asked()], {}, ("adopted", "10.%"), id="adopt-the-hosts-account"),
        pytest.param({**ADOPT, "verdict": "create", "host": None}, [asked()], {}, ("created", "%"), id="create"),
        pytest.param(ADOPT, [asked(**server(1, 1))], {}, "ServerReadOnly", id="S2-adopt"),
        pytest.param(
            {**ADOPT, "verdict": "create", "host": None}, [asked(**server(1, 1))], {}, "ServerReadOnly", id="S2-create"
        ),
        pytest.param(ADOPT, [asked()], PIN, "NoSuchConnection", id="pinned-elsewhere"),
        pytest.param(
            {"verdict": "refuse", "outcome": {"reason": "SeedAccountUnfit", "params": {}}},
            [asked()],
            {},
            "SeedAccountUnfit",
            id="refused",
        ),
        pytest.param(
            {"verdict": "wait", "outcome": {"reason": "SeedSecretMissing", "params": {}}},
            [asked()],
            {},
            "SeedSecretMissing",
            id="waits",
        ),
    ],
)
def test_seed_claim(
    verdict: dict[str, Any], answers: list[dict[str, Any]], spec: dict[str, Any], expected: Any
) -> None:
    got = judging.seed_claim(read({**SEED_SPEC, **spec}, seed=seed()), verdict, answers)
    if "claim" in got:
        assert (got["claim"]["origin"], got["claim"]["host"]) == expected
        assert (got["claim"]["database"], got["claim"]["username"]) == ("app", "app-user")
    else:
        assert got["outcome"]["reason"] == expected


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        pytest.param(
            {"row": "none", "namespace": "other"},
            seeded(seed={"state": "other_namespace"}),
            id="another-namespace-unread",
        ),
        pytest.param({"row": "none", "namespace": "own"}, seeded(seed={"state": "missing"}), id="not-there-yet"),
        pytest.param(
            {"row": "none", "namespace": "own", "secret": "invalid"},
            seeded(seed={"state": "invalid", "key": "port", "problem": "x"}),
            id="P7-invalid",
        ),
        pytest.param(
            {"row": "none", "namespace": "own", "secret": "valid", "published": "free", "connection": "match"},
            seeded(),
            id="valid",
        ),
        pytest.param(
            {"row": "none", "namespace": "own", "secret": "valid", "published": "free", "connection": "none"},
            seeded(seed=seed(connection=None)),
            id="no-connection",
        ),
    ],
)
def test_seed_facts(facts: dict[str, str], found: dict[str, Any]) -> None:
    assert probing.seed_facts(found)["facts"] == facts


def test_seed_facts_of_a_foreign_object() -> None:
    found = seeded(published={"service": None, "secret": samples.owned("Secret", "req", "x"), "slice": None})
    got = probing.seed_facts(found)
    assert (got["facts"]["published"], got["params"]["kind"]) == ("foreign", "Secret")


def test_the_sentence_names_a_replica() -> None:
    got = probing.seed_facts(seeded(seed=seed(connection=None, is_replica=True)))
    assert "replica" in got["params"]["replica"]


@pytest.mark.parametrize(
    ("row_found", "server_found", "verdict", "reason", "params"),
    [
        pytest.param({"needs": "secret"}, {}, "wait", "SeedSecretMissing", {"secret": "seed"}, id="waits"),
        pytest.param(
            {"row": 2, "verdict": "refuse", "reason": "SeedSecretInvalid"},
            {},
            "refuse",
            "SeedSecretInvalid",
            {"key": None},
            id="row-2",
        ),
        pytest.param(
            {"row": 6, "verdict": "refuse", "reason": "SeedSecretInvalid"},
            {"too_long": "username"},
            "refuse",
            "SeedSecretInvalid",
            {"key": "username"},
            id="N4-names-the-key",
        ),
        pytest.param(
            {"row": 14, "verdict": "adopt", "reason": "SeedAdopted"},
            {"database_name": "app"},
            "adopt",
            None,
            {},
            id="row-14",
        ),
    ],
)
def test_seed_verdict(
    row_found: dict[str, Any], server_found: dict[str, Any], verdict: str, reason: str | None, params: dict[str, Any]
) -> None:
    got = probing.seed_verdict(seeded(), probing.seed_facts(seeded()), row_found, server_found, {})
    assert got["verdict"] == verdict
    assert got["outcome"].get("reason") == reason
    assert params.items() <= got["outcome"].get("params", {}).items()


@pytest.mark.parametrize("name", ["shop-seed", "a.b-c.1", "x" * 253])
def test_a_seed_secret_that_is_missing_is_named(name: str) -> None:
    found = seeded(seed={"state": "missing"})
    found["request"]["spec"]["seed"] = {"name": name, "namespace": "ns"}
    first = probing.seed_verdict(found, {"params": {}}, {"needs": "secret"}, {}, {})
    later = settling.seed_of_row(found, row(state="creating", database="app", origin="adopted"))
    assert first["outcome"] == later["outcome"] == {"reason": "SeedSecretMissing", "params": {"secret": name}}


@pytest.mark.parametrize("name", ["", "a b", "{{ 1 }}", "shop\n", "Shop", "a..b", "-a", "x" * 254])
def test_what_no_secret_can_be_called_is_not_told(name: str) -> None:
    found = seeded(seed={"state": "missing"})
    found["request"]["spec"]["seed"] = {"name": name, "namespace": "ns"}
    got = probing.seed_verdict(found, {"params": {}}, {"needs": "secret"}, {}, {})
    assert got["outcome"]["params"] == {"secret": "that spec.seed.name names"}


def test_no_value_of_the_seed_goes_into_a_sentence() -> None:
    found = seeded(
        seed=seed(database="hidden-db", username="hidden-user", password="hidden-pw", hostname="hidden-host")
    )
    static = probing.seed_facts(found)
    got = probing.seed_verdict(
        found,
        static,
        {"row": 12, "verdict": "refuse", "reason": "SeedCredentialsRejected"},
        {"database_name": "hidden-db"},
        {"number": 1045},
    )
    assert "hidden" not in str(got["outcome"])


SERVER = {
    "login_forms": ["login", "use"],
    "database_name": "app",
    "facts": {"database": "present"},
    "tls": False,
    "ssl_accounts": False,
}
LOGGED_IN: dict[str, Any] = {"query_result": [[{"host": "%"}], []]}
REFUSED = samples.not_connected('(1045, "Access denied")')


@pytest.mark.parametrize(
    ("checked", "result", "answer", "facts", "wait"),
    [
        pytest.param(
            {"unchanged": True, "outcome": {}},
            LOGGED_IN,
            samples.there(),
            {"login": "works", "use": "ok", "own": "yes"},
            None,
            id="row-14",
        ),
        pytest.param(
            {"unchanged": True, "outcome": {}},
            LOGGED_IN,
            {},
            {"login": "works", "use": "ok", "own": "no"},
            None,
            id="row-11-no-grant",
        ),
        pytest.param(
            {"unchanged": True, "outcome": {}},
            LOGGED_IN,
            {**samples.there(), "global_grants": [{"grantee": "'app-user'@'%'"}]},
            {"login": "works", "use": "ok", "own": "no"},
            None,
            id="row-11-elsewhere",
        ),
        pytest.param({"unchanged": True, "outcome": {}}, REFUSED, {}, {"login": "refused"}, None, id="row-12"),
        pytest.param({"unchanged": False, "outcome": {}}, {"skipped": True}, {}, None, STOP, id="K2-overtaken"),
        pytest.param(
            {"unchanged": False, "outcome": FAILURE}, {"skipped": True}, {}, None, FAILURE, id="O6-api-failed"
        ),
        pytest.param(
            {"unchanged": True, "outcome": {}},
            samples.not_connected("(1226, 'x')"),
            {},
            None,
            {"reason": "ConnectionUnavailable", "params": {"connection": "one", "number": "error 1226"}},
            id="too-many-connections",
        ),
        pytest.param(
            {"unchanged": True, "outcome": {}},
            samples.not_connected('(2026, "SSL is required but the server doesn\'t support it")'),
            {},
            None,
            {"reason": "ProviderError", "params": {"connection": "one", "number": "error 2026"}},
            id="S1-tls",
        ),
    ],
)
def test_seed_login(
    checked: dict[str, Any], result: dict[str, Any], answer: dict[str, Any], facts: Any, wait: Any
) -> None:
    got = probing.seed_login(seeded(), {**SERVER, "answer": samples.answer(**answer)}, checked, result)
    assert got.get("facts") == facts
    assert got.get("wait") == wait


def test_a_login_that_was_skipped_is_a_bug_not_a_fact() -> None:
    with pytest.raises(ValueError, match="no result"):
        probing.seed_login(
            seeded(), {**SERVER, "answer": samples.answer()}, {"unchanged": True, "outcome": {}}, {"skipped": True}
        )


def test_survey_answers_keep_the_connection() -> None:
    queries = sql.statements("survey")
    target = connection()
    good = {"query_result": [[] for _ in queries], "__dbaas_request_target": target}
    failed = {**samples.not_connected("(2003, 'x')"), "__dbaas_request_target": target}
    entries = locating.survey_answers([good, failed], queries)
    assert [(e["connection"], e["outcome"]["ok"], e["answer"] is None) for e in entries] == [
        (target, True, False),
        (target, False, True),
    ]
    assert entries[0]["outcome"] == ok()
