"""Release and hand over: which row a person means, and what keeps it from being done."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import finalizer, handing

from tests.unit import samples
from tests.unit.samples import CLUSTER, OTHER_UID, UID, bad, ok
from tests.unit.test_inventory import server

HEIR_UID = "33333333-3333-4333-8333-333333333333"
SPEC = {"scope": "development", "name": "mariadb"}


def living(name: str = "req", uid: str = UID, **changes: Any) -> dict[str, Any]:
    """A request as platform_read finds it."""
    return {"namespace": "ns", "name": name, "uid": uid, "deleting": False, "spec": SPEC, "status": {}, **changes}


def found(*requests: dict[str, Any]) -> dict[str, Any]:
    """What platform_read found."""
    return {"cluster": CLUSTER, "fence": 1000, "requests": list(requests), "servers": [server()]}


def entry(*rows: dict[str, Any], problem: str = "", **changes: Any) -> dict[str, Any]:
    """A server's answer to the survey."""
    accounts = [samples.ledger_account(database=row["database_name"]) for row in rows]
    answer = None if problem else samples.answer(rows=list(rows), accounts=accounts)
    where = server(**changes)
    return {"server": where, "connection": where["connection"], "answer": answer, "problem": problem}


ROW, FORMER = samples.ledger_row(), samples.ledger_row(OTHER_UID)


@pytest.mark.parametrize(
    ("requests", "entries", "action", "words"),
    [
        ([living()], [entry(ROW)], "request", "r"),
        ([], [entry(FORMER)], "rows", ""),
        ([living()], [entry(FORMER)], "rows", ""),
        ([living()], [entry(ROW, FORMER)], "request", ""),
        ([], [entry()], "none", "No ledger has a row"),
        ([], [entry(), entry(problem="it is away")], "none", "it is away"),
        ([], [entry(ROW, samples.ledger_row(OTHER_UID, "other"))], "none", "choose one"),
        ([living(spec={**SPEC, "scope": "other"})], [entry(ROW)], "none", "no connection"),
    ],
)
def test_release(requests: list[Any], entries: list[Any], action: str, words: str) -> None:
    got = handing.release_plan(found(*requests), entries, "ns/req")
    assert got["action"] == action
    assert words in got["report"]["summary"] or action != "none"
    assert got["report"]["failed"] is (action == "none")
    if action != "none":
        assert got["was"]["uid"] == (UID if action == "request" else OTHER_UID)


def test_one_of_several_rows_is_chosen_by_its_database() -> None:
    entries = [entry(ROW, samples.ledger_row(OTHER_UID, "other"))]
    got = handing.release_plan(found(), entries, "ns/req", "other")
    assert (got["action"], got["row"]["database"], got["was"]["uid"]) == ("rows", "other", OTHER_UID)


@pytest.mark.parametrize("text", ["", "ns", "ns/", "/req", "ns/a/b", "NS/req", "<class>/req", "ns/{{ 1 }}"])
def test_what_names_no_request(text: str) -> None:
    got = handing.release_plan(found(), [entry(ROW)], text)
    assert (got["action"], "NAMESPACE/REQUEST" in got["report"]["summary"]) == ("none", True)


HEIR = living("heir", HEIR_UID)


@pytest.mark.parametrize(
    ("requests", "entries", "target", "words"),
    [
        ([living(), HEIR], [entry(ROW)], "ns/heir", ""),
        ([HEIR], [entry(FORMER)], "ns/heir", ""),
        ([living()], [entry(FORMER)], "ns/req", ""),
        ([living()], [entry(ROW)], "ns/req", "has one already"),
        ([living(), HEIR], [entry(ROW, samples.ledger_row(HEIR_UID, "other"))], "ns/heir", "has one already"),
        ([living()], [entry(ROW)], "ns/heir", "isn't there"),
        ([living(), {**HEIR, "deleting": True}], [entry(ROW)], "ns/heir", "being deleted"),
        ([living(), HEIR], [entry(samples.ledger_row(state="creating", ready=None))], "ns/heir", "state creating"),
        ([living(), HEIR], [entry(samples.ledger_row(state="deleting"))], "ns/heir", "state deleting"),
        ([living(), {**HEIR, "spec": {**SPEC, "scope": "other"}}], [entry(ROW)], "ns/heir", "no connection"),
        ([living(), HEIR], [entry(ROW), entry(problem="away", name="two")], "ns/heir", "can't be read"),
        ([living(), HEIR], [entry()], "ns/heir", "No ledger has a row"),
    ],
)
def test_hand_over(requests: list[Any], entries: list[Any], target: str, words: str) -> None:
    got = handing.hand_over_plan(found(*requests), entries, "ns/req", target)
    assert (got["action"], words in got["report"]["summary"]) == ("none" if words else "hand_over", True)
    if not words:
        arguments = handing.row_arguments(got, found(*requests))
        assert arguments["request_uid"] == got["was"]["uid"] != arguments["heir_uid"]
        assert arguments["fence"] == 1000
        assert (arguments["heir_namespace"], arguments["heir_request"]) == ("ns", target.partition("/")[2])


def test_what_the_statements_came_to() -> None:
    planned = handing.hand_over_plan(found(living(), HEIR), [entry(ROW)], "ns/req", "ns/heir")
    assert handing.carried_out(planned, ok())["data"]["done"] is True
    for kind, number, words in (("stale", 1242, "at work"), ("claimed", 1062, "another one"), ("locked", 1205, "1205")):
        got = handing.carried_out(planned, bad(kind, number, 2))
        assert got["failed"] and words in got["summary"]


def test_what_a_release_came_to() -> None:
    planned = handing.release_plan(found(living()), [entry(ROW)], "ns/req")
    assert handing.released(planned, [entry()], "")["failed"] is False
    assert handing.released(planned, [entry(), entry(problem="away", name="two")], "")["failed"] is False
    assert "still there" in handing.released(planned, [entry(ROW)], "")["summary"]
    assert "DropPending" in handing.released(planned, [entry(ROW)], "DropPending")["summary"]
    assert "can't be read" in handing.released(planned, [entry(problem="away")], "")["summary"]


def document(finalizers: list[str], deleting: bool = False, **spec: Any) -> dict[str, Any]:
    """A request as the API has it."""
    metadata: dict[str, Any] = {"finalizers": finalizers, **({"deletionTimestamp": "now"} if deleting else {})}
    return {"metadata": metadata, "spec": spec}


OURS = finalizer.FINALIZER


@pytest.mark.parametrize(
    ("found_", "change", "patch"),
    [
        (document([]), "let_go", {"spec": {"dropDatabaseOnDelete": False}, "metadata": {"finalizers": [OURS]}}),
        (document(["x", OURS]), "let_go", {"spec": {"dropDatabaseOnDelete": False}}),
        (document([OURS], dropDatabaseOnDelete=False), "let_go", {}),
        (document(["x"], True), "let_go", {"spec": {"dropDatabaseOnDelete": False}}),
        (document(["x", OURS]), "free", {"metadata": {"finalizers": ["x"]}}),
        (document(["x"]), "free", {}),
        (document([]), "try_again", {"spec": {"forcedReconcilation": "AT"}}),
    ],
)
def test_changes_of_a_request(found_: dict[str, Any], change: str, patch: dict[str, Any]) -> None:
    assert handing.request_patch(found_, change, "AT") == patch
