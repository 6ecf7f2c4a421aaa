"""Finding a request's row, and what its deletion does: no row, no drop; not sure, wait."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import dropping, locating, outcomes, sql

from tests.unit import samples
from tests.unit.samples import OTHER_UID, REFERENCE, asked, bad, connection, ledger_account, ledger_row, read, row

MINE: dict[str, Any] = {"rows": [ledger_row()], "accounts": [ledger_account()]}
THEIRS: dict[str, Any] = {"rows": [ledger_row(OTHER_UID)], "accounts": [ledger_account()]}
AWAY = bad("unavailable", 2003, None, "connect")
DENIED = bad("provider", 1045, None, "connect")
NO_LEDGER = bad("ledger", 1146, 1)
BOTH: dict[str, Any] = {"connections": [connection("one", referenced=True), connection("two")]}
PLACED: dict[str, Any] = {"observedDatabaseConnectionReference": REFERENCE}


def located(
    answers: list[dict[str, Any]], deleting: bool = False, status: dict[str, Any] | None = None, **changes: Any
) -> Any:
    got = locating.locate(read(status=status, **changes), answers, deleting)
    if "row" in got:
        return got["row"]["connection"]["name"]
    return got["outcome"]["reason"] if "outcome" in got else got


@pytest.mark.parametrize("deleting", [False, True])
@pytest.mark.parametrize(
    ("answers", "changes", "expected"),
    [
        pytest.param([asked(**MINE)], {}, "one", id="there"),
        pytest.param([asked()], {}, {}, id="none-anywhere"),
        pytest.param([asked("one")], BOTH, {"search": True}, id="not-where-the-reference-says"),
        pytest.param([asked("one"), asked("two", **MINE)], BOTH, "two", id="elsewhere"),
        pytest.param([asked("one"), asked("two")], BOTH, {}, id="asked-everywhere"),
        pytest.param([asked("one", **MINE), asked("two", AWAY)], BOTH, "one", id="there-though-another-is-away"),
        pytest.param(
            [asked("one"), asked("two", AWAY)], BOTH, "ConnectionUnavailable", id="may-be-where-nobody-answers"
        ),
        pytest.param([asked("one", AWAY)], {}, "ConnectionUnavailable", id="away"),
        pytest.param([asked("one", DENIED)], {}, "ProviderError", id="S5-admin-refused"),
        pytest.param([asked("one", bad("provider", 1142, 5))], {}, "ProviderError", id="S5-admin-without-select"),
        pytest.param([asked("one", **THEIRS)], {}, "OwnershipUnproven", id="O8-another-uid"),
        pytest.param([asked("one", **THEIRS), asked("two", **MINE)], BOTH, "two", id="O8-its-own-row-goes-first"),
        pytest.param([asked("one", **THEIRS)], BOTH, {"search": True}, id="O8-not-before-all-were-asked"),
        pytest.param(
            [asked("one", ledger=[{"version": sql.LEDGER_VERSION + 1}])], {}, "LedgerTooNew", id="newer-ledger"
        ),
        pytest.param(
            [asked("one", ledger=[{"version": sql.LEDGER_VERSION + 1}], **MINE)],
            {},
            "LedgerTooNew",
            id="newer-ledger-with-row",
        ),
    ],
)
def test_locate(answers: list[dict[str, Any]], changes: dict[str, Any], expected: Any, deleting: bool) -> None:
    assert located(answers, deleting, **changes) == expected


@pytest.mark.parametrize(
    "entry", [asked("one", NO_LEDGER), asked("one", ledger=[{"version": None}]), asked("one", ledger=[])]
)
def test_a_server_without_a_ledger(entry: dict[str, Any]) -> None:
    assert located([entry]) == "LedgerMissing"
    assert located([entry], deleting=True) == {}, "it can't hold the row of a request that goes"


@pytest.mark.parametrize("deleting", [False, True])
def test_a_connection_without_credentials_may_hold_the_row(deleting: bool) -> None:
    broken: dict[str, Any] = {
        "connections": [connection("one"), connection("two", problem="its password secret is missing")]
    }
    assert located([asked("one")], deleting, **broken) == "ProviderError"
    assert located([asked("one", **MINE)], deleting, **broken) == "one"


@pytest.mark.parametrize(
    "connections",
    [
        pytest.param([], id="D2-provider-gone"),
        pytest.param([connection("two")], id="D2-connection-gone"),
        pytest.param([connection("one", provider="other")], id="D2-another-provider-of-the-scope"),
    ],
)
def test_d2_the_referenced_connection_is_gone(connections: list[dict[str, Any]]) -> None:
    # Its row stands where nobody can look: neither a second database may be made, nor may the finalizer go.
    answers = [asked(where=c) for c in connections]
    found = read(status=PLACED, connections=connections)
    going = locating.locate(found, answers)
    assert "outcome" in going, "a placed request whose connection is gone must wait"
    ending = dropping.finalize(found, locating.locate(found, answers, True), 900)
    assert ending["action"] == "wait", "a deletion whose server can't be asked must wait"


def test_survey_targets() -> None:
    one, two, broken = connection("one"), connection("two"), connection("three", problem="x")
    plain = read(connections=[one, two, broken])
    assert locating.survey_targets(plain) == [one, two]
    placed = read(connections=[one, {**two, "referenced": True}, broken])
    assert [c["name"] for c in locating.survey_targets(placed)] == ["two"]
    assert [c["name"] for c in locating.survey_targets(placed, [asked("two")])] == ["one"]
    assert locating.survey_targets(placed, [asked("two"), asked("one")]) == []
    unusable = read(connections=[{**one, "referenced": True, "problem": "x"}, two])
    assert [c["name"] for c in locating.survey_targets(unusable)] == ["two"]


def test_the_row_that_is_found() -> None:
    accounts = [ledger_account("ro", purpose="read-only"), ledger_account(), ledger_account("x", database="other")]
    got = locating.locate(
        read(),
        [asked(rows=[ledger_row(OTHER_UID, "other"), ledger_row(state="creating", ready=None)], accounts=accounts)],
    )["row"]
    expected = {
        "database": "app",
        "origin": "created",
        "state": "creating",
        "ready_seconds": None,
        "username": "app-user",
        "host": "%",
        "fence": 900,
        "folds": False,
    }
    assert {key: got[key] for key in expected} == expected
    assert [a["user"] for a in got["accounts"]] == ["ro", "app-user"]


KEEP: dict[str, Any] = {"dropDatabaseOnDelete": False}
GRACE = 900


def ended(found: dict[str, Any], spec: dict[str, Any] | None = None) -> str:
    return dropping.finalize(read(spec), found, GRACE)["action"]


@pytest.mark.parametrize(
    ("origin", "state", "ready"),
    list(
        itertools.product(
            ("created", "adopted"), ("creating", "ready", "deleting"), (None, 0, GRACE - 1, GRACE, GRACE + 1)
        )
    ),
)
def test_o7_finalize_a_row(origin: str, state: str, ready: int | None) -> None:
    found = {"row": row(origin=origin, state=state, ready=ready)}
    too_young = ready is None or ready < GRACE
    # A deletion that has begun goes on; before, an adopted database must have been ready long enough.
    expected = "give_back" if origin == "adopted" and state != "deleting" and too_young else "drop"
    assert ended(found) == expected
    assert ended(found, {"dropDatabaseOnDelete": True}) == expected
    assert ended({"row": {**found["row"], "answer": row(**samples.there())["answer"]}}, KEEP) == "keep"
    # A drop that has taken the database can't be taken back; one that somebody dropped is no reason to drop more.
    assert ended(found, KEEP) == ("drop" if state == "deleting" else "keep")


@pytest.mark.parametrize(
    ("reason", "action", "keeping"),
    [
        *[
            pytest.param(reason, "wait", "leave", id=f"D2-{reason}")
            for reason in ("ConnectionUnavailable", "ProviderError", "LedgerTooNew")
        ],
        pytest.param("OwnershipUnproven", "none", "none", id="O8-not-its-own"),
    ],
)
def test_finalize_what_could_not_be_read(reason: str, action: str, keeping: str) -> None:
    found = {"outcome": {"reason": reason, "params": {"connection": "one", "number": "error 2003"}}}
    got = dropping.finalize(read(), found, GRACE)
    assert got["action"] == action
    assert ended(found, KEEP) == keeping
    if action == "wait":
        assert got["outcome"] == {"reason": "DropPending", "params": {"connection": "one", "number": "error 2003"}}


def test_finalize_without_a_row_drops_nothing() -> None:
    assert ended({}) == "none"
    assert ended({}, KEEP) == "none"


@pytest.mark.parametrize("status", [PLACED, {}])
def test_d2_the_sentence_names_the_connection(status: dict[str, Any]) -> None:
    found = {"outcome": {"reason": "ProviderMissing", "params": {}}}
    got = dropping.finalize(read(status=status), found, GRACE)
    assert set(got["outcome"]["params"]) == {"connection", "number"}
    assert (got["outcome"]["params"]["connection"] == "one") is bool(status)
    left = dropping.finalize(read(KEEP, status), found, GRACE)
    assert (left["action"], left["connection"]) == ("leave", got["outcome"]["params"]["connection"])


EMPTY, FULL = ({"query_result": [[{"objects": n}]]} for n in (0, 3))
ELSEWHERE: dict[str, Any] = {"other_grants": [{"user": "app-user", "host": "%", "pattern": "other"}]}


@pytest.mark.parametrize(
    ("given", "content", "steps"),
    [
        pytest.param(row(**samples.there()), FULL, ["drop_database", "drop_account", "give_back"], id="was-ready"),
        pytest.param(
            row(state="deleting", **samples.there()),
            FULL,
            ["drop_database", "drop_account", "give_back"],
            id="K1-goes-on",
        ),
        pytest.param(row(), EMPTY, ["drop_database", "drop_account", "give_back"], id="D1-gone-already"),
        pytest.param(
            row(state="creating", ready=None),
            EMPTY,
            ["drop_database", "drop_account", "give_back"],
            id="never-ready-empty",
        ),
        pytest.param(
            row(state="creating", ready=None, **samples.there()),
            FULL,
            ["drop_account", "give_back"],
            id="O3-never-ready-with-a-table",
        ),
        pytest.param(
            row(origin="adopted", **samples.there()),
            FULL,
            ["drop_database", "drop_account", "give_back"],
            id="O7-adopted",
        ),
        pytest.param(
            row(origin="adopted", **samples.there(), **ELSEWHERE),
            FULL,
            ["drop_database", "give_back"],
            id="adopted-account-used-elsewhere",
        ),
        pytest.param(
            row(state="creating", ready=None, **ELSEWHERE),
            EMPTY,
            ["drop_database", "give_back"],
            id="never-ready-account-used-elsewhere",
        ),
        pytest.param(
            row(**samples.there(), **ELSEWHERE),
            FULL,
            ["drop_database", "drop_account", "give_back"],
            id="created-account-is-ours-whatever-it-got",
        ),
    ],
)
def test_drop_steps(given: dict[str, Any], content: dict[str, Any], steps: list[str]) -> None:
    assert dropping.drop_steps(given, content) == steps
    assert steps[-1] == "give_back", "the rows go last"


def test_undo_steps() -> None:
    assert dropping.undo_steps(row(state="creating", origin="adopted", ready=None, **samples.there()), FULL) == [
        "give_back"
    ]
    emptied = dropping.undo_steps(row(state="creating", ready=None), EMPTY)
    assert emptied == ["drop_database", "drop_account", "give_back"]
    assert dropping.undo_steps(row(state="creating", ready=None), FULL) == ["drop_account", "give_back"]


def test_drop_outcome() -> None:
    assert outcomes.drop_outcome(samples.ok(), "one") == {}
    for failed in (AWAY, bad("locked", 1205, 4), bad("stale", 1242, 0)):
        got = outcomes.drop_outcome(failed, "one")
        assert got == {"reason": "DropPending", "params": {"connection": "one", "number": f"error {failed['number']}"}}


def test_S5_an_admin_that_does_not_see_everything_is_an_error_of_the_provider() -> None:
    blind = samples.answer(server=[{**samples.answer()["server"][0], "admin_sees": 0}])
    entry = {"connection": samples.connection(), "outcome": {"ok": True, "kind": "ok", "number": None}, "answer": blind}
    assert locating.locate(samples.read(), [entry])["outcome"]["reason"] == "ProviderError"
