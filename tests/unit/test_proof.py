"""O8: what proves that a former request's row is this one's, and how often it may be tried."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    locating,
    outcomes,
    proof,
    published,
    sql,
)

from tests.unit import samples
from tests.unit.samples import OTHER_UID, UID, encode, read, row, seed, seeded

FORMER = {**row(), "request_uid": OTHER_UID}
LABELS = {published.INSTANCE_LABEL: "req", **published.MANAGED_BY}


def secret(owner: str | None = None, password: str = "restored", **metadata: Any) -> dict[str, Any]:
    """A Secret of the request's name."""
    references = [{"kind": "DatabaseRequest", "name": "req", "uid": owner}] if owner else []
    known = {"name": "req", "namespace": "ns", "uid": "s", "labels": LABELS, "ownerReferences": references}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {**known, **metadata},
        "data": {"MARIADB_PASSWORD": encode(password)},
    }


def having(document: dict[str, Any] | None, **changes: Any) -> dict[str, Any]:
    return read(published={"service": None, "secret": document, "slice": None}, **changes)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(read(), [], id="nothing"),
        pytest.param(having(secret()), [("restored", "restored")], id="its-secret-without-owner"),
        pytest.param(having(secret(OTHER_UID)), [("restored", "restored")], id="its-secret-of-the-former"),
        pytest.param(having(secret(UID)), [], id="one-that-this-request-published"),
        pytest.param(having(secret(password="a\nb")), [], id="a-line-break"),
        pytest.param(seeded(), [("seed", "geheim")], id="its-seed"),
        pytest.param(seeded(seed=seed(database="other")), [], id="a-seed-of-another-database"),
        pytest.param(seeded(seed=seed(username="other")), [], id="a-seed-of-another-account"),
        pytest.param(seeded(seed={"state": "missing"}), [], id="a-seed-that-is-not-there"),
        pytest.param(seeded(seed={"state": "invalid", "key": "port", "problem": "x"}), [], id="a-broken-seed"),
        pytest.param(having(secret(password="geheim"), seed=seed()), [("restored", "geheim")], id="both-the-same"),
    ],
)
def test_which_passwords_may_prove(found: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert proof.passwords(found, FORMER) == expected
    assert proof.due(found, FORMER, 10)["due"] is bool(expected)


def told(message: str, generation: int = 1, since: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    """The status of a request whose row is unproven."""
    fields = {"reason": "OwnershipUnproven", "message": f"A request …, and {message}."}
    return {"conditions": [{**samples.condition("Error", "True", generation, since), **fields}]}


@pytest.mark.parametrize(
    ("status", "generation", "due", "outcome"),
    [
        pytest.param({}, 1, True, {}, id="never-tried"),
        pytest.param(told(locating.NO_PROOF), 1, True, {}, id="there-was-nothing-to-try"),
        pytest.param(told(proof.WRONG), 1, False, "OwnershipUnproven", id="once-a-generation"),
        pytest.param(told(proof.WRONG), 2, True, {}, id="the-request-changed"),
        pytest.param(told(proof.WRONG, since="2999-01-01T00:00:00Z"), 2, False, {"stop": True}, id="too-fast"),
    ],
)
def test_how_often_it_is_tried(status: dict[str, Any], generation: int, due: bool, outcome: Any) -> None:
    got = proof.due(seeded(status, request_generation=generation), FORMER, 10)
    assert got["due"] is due
    assert outcome in (got["outcome"], got["outcome"].get("reason"))
    assert got["delay"] == (10 if outcome == {"stop": True} else 0)


GOES_ON = {"outcome": {}, "unchanged": True}
LOGIN = {"__dbaas_request_candidate": {"source": "seed"}}
WORKS = {**LOGIN, "query_result": [[{"host": "%"}], []]}
ELSEWHERE = {**LOGIN, "query_result": [[{"host": "localhost"}], []]}
REFUSED = {**LOGIN, **samples.not_connected("(1045, 'denied')")}
AWAY = {**LOGIN, **samples.not_connected("(2003, 'x')")}
OTHER = {**LOGIN, **samples.sent(sql.STATEMENTS["login"][0], {"a": 1}, "(1242, 'x')")}
NO_ENTRY = {**LOGIN, **samples.sent("USE `app`", {"a": 1}, "(1044, 'x')")}


@pytest.mark.parametrize(
    ("checked", "results", "reason", "proven"),
    [
        pytest.param(GOES_ON, [WORKS], "Creating", True, id="right"),
        pytest.param(GOES_ON, [REFUSED, WORKS], "Creating", True, id="the-second"),
        pytest.param(GOES_ON, [REFUSED], "OwnershipUnproven", False, id="wrong"),
        pytest.param(GOES_ON, [], "OwnershipUnproven", False, id="none"),
        pytest.param(GOES_ON, [ELSEWHERE], "OwnershipUnproven", False, id="an-account-of-another-host"),
        pytest.param(GOES_ON, [OTHER], "OwnershipUnproven", False, id="an-anonymous-account"),
        pytest.param(GOES_ON, [NO_ENTRY], "OwnershipUnproven", False, id="no-way-into-the-database"),
        pytest.param(GOES_ON, [AWAY], "ConnectionUnavailable", False, id="away"),
        pytest.param({"outcome": {}, "unchanged": False}, [WORKS], None, False, id="changed-meanwhile"),
        pytest.param(
            {"outcome": outcomes.outcome("KubernetesError"), "unchanged": False}, [], "KubernetesError", False, id="api"
        ),
    ],
)
def test_what_a_login_proves(checked: Any, results: Any, reason: str | None, proven: bool) -> None:
    got = proof.judge(read(), FORMER, checked, results)
    assert (got["proven"], got["outcome"].get("reason")) == (proven, reason)


def test_the_statement_changes_the_former_ones_row_only() -> None:
    got = proof.arguments(read(), FORMER)
    assert (got["request_uid"], got["heir_uid"], got["heir_namespace"], got["heir_request"]) == (
        OTHER_UID,
        UID,
        "ns",
        "req",
    )


@pytest.mark.parametrize(
    ("document", "taken"),
    [
        pytest.param(None, False, id="none"),
        pytest.param(secret(), True, id="without-an-owner"),
        pytest.param(secret(OTHER_UID), True, id="of-the-former"),
        pytest.param(secret(UID), False, id="its-own"),
        pytest.param(secret(labels={}), False, id="somebody-elses"),
        pytest.param(secret(labels={**LABELS, published.INSTANCE_LABEL: "x"}), False, id="another-requests"),
        pytest.param(
            secret(ownerReferences=[{"kind": "Deployment", "name": "req", "uid": "d"}]), False, id="of-a-controller"
        ),
    ],
)
def test_o1_what_becomes_this_requests_with_the_row(document: Any, taken: bool) -> None:
    got = published.former(having(document))
    assert bool(got) is taken
    for patch in got:
        assert patch["metadata"]["ownerReferences"] == [published.owner_reference(read()["request"])]
        assert "data" not in patch and patch["metadata"]["uid"] == "s"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([FORMER], True),
        ([FORMER, FORMER], True),
        ([FORMER, {**FORMER, "database": "other"}], False),
        ([{**FORMER, "state": "creating"}], False),
        ([{**FORMER, "state": "deleting"}], False),
        ([{**FORMER, "username": None}], False),
    ],
)
def test_which_row_may_be_proven(rows: list[Any], found: bool) -> None:
    assert bool(locating.unproven_row(rows)) is found


def test_the_sentence_tells_a_try_from_none() -> None:
    assert proof.WRONG not in locating.NO_PROOF
    assert conditions.STATES["person"]["Error"] == "True", "the time of the last try is that condition's"
