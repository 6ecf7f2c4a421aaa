"""Picking the row: the first that fits, and nothing asked that no row above needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.lagoon.dbaas.plugins.module_utils.verdict import first_match

TABLE: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).resolve().parents[2] / "roles/seed/vars/main.yml").read_text(encoding="utf-8")
)["seed_verdict_table"]
STATIC = {"row": "none", "namespace": "own", "secret": "valid", "published": "free", "connection": "match"}
SERVER = {
    "names": "ordinary",
    "lengths": "fit",
    "claim": "free",
    "database": "present",
    "account": "exists",
    "exposed": "no",
}


@pytest.mark.parametrize(
    ("facts", "needs"),
    [
        pytest.param({}, "row", id="nothing-yet"),
        pytest.param({"row": "none"}, "namespace", id="row"),
        pytest.param({"row": "none", "namespace": "own"}, "secret", id="secret-not-there"),
        pytest.param(STATIC, "names", id="ask-the-server"),
        pytest.param({**STATIC, **SERVER}, "login", id="log-in"),
    ],
)
def test_what_is_asked_next(facts: dict[str, str], needs: str) -> None:
    assert first_match(facts, TABLE) == {"needs": needs}


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        pytest.param({"row": "mine"}, 0, id="resumed-unread"),
        pytest.param({"row": "none", "namespace": "other"}, 1, id="unread"),
        pytest.param({"row": "none", "namespace": "own", "secret": "invalid"}, 2, id="P7-without-a-login"),
        pytest.param({**STATIC, "published": "foreign"}, 3, id="O1"),
        pytest.param({**STATIC, "connection": "none"}, 4, id="no-connection"),
        pytest.param({**STATIC, **SERVER, "names": "reserved"}, 5, id="N5"),
        pytest.param({**STATIC, **SERVER, "lengths": "too_long"}, 6, id="N4"),
        pytest.param({**STATIC, **SERVER, "claim": "taken"}, 7, id="O4-before-any-login"),
        pytest.param({**STATIC, **SERVER, "login": "other_account"}, 8, id="anonymous"),
        pytest.param({**STATIC, **SERVER, "database": "missing", "login": "works"}, 9, id="HALF-account"),
        pytest.param({**STATIC, **SERVER, "login": "works", "use": "refused"}, 10, id="no-access"),
        pytest.param({**STATIC, **SERVER, "login": "works", "use": "ok", "own": "no"}, 11, id="N10"),
        pytest.param({**STATIC, **SERVER, "login": "refused"}, 12, id="wrong-password"),
        pytest.param({**STATIC, **SERVER, "login": "refused", "database": "missing"}, 13, id="user-conflict"),
        pytest.param({**STATIC, **SERVER, "login": "works", "use": "ok", "own": "yes"}, 14, id="ALL"),
        pytest.param(
            {**STATIC, **SERVER, "login": "refused", "database": "missing", "account": "none", "exposed": "yes"},
            15,
            id="N1",
        ),
        pytest.param({**STATIC, **SERVER, "login": "refused", "database": "missing", "account": "none"}, 16, id="NONE"),
    ],
)
def test_rows(facts: dict[str, str], row: int) -> None:
    assert first_match(facts, TABLE)["row"] == row


def test_the_first_row_wins() -> None:
    table = [{"row": 1, "when": {"a": "x"}}, {"row": 2, "when": {}}]
    assert first_match({"a": "x"}, table)["row"] == 1
    assert first_match({"a": "y"}, table)["row"] == 2
    assert first_match({}, table) == {"needs": "a"}


def test_a_fact_that_rules_a_row_out_saves_the_question() -> None:
    table = [{"row": 1, "when": {"asked": "x", "costly": "y"}}, {"row": 2, "when": {"asked": "z"}}]
    assert first_match({"asked": "z"}, table)["row"] == 2


def test_a_hole_in_the_table_is_loud() -> None:
    with pytest.raises(ValueError, match="no row of the verdict table fits these facts: a, b"):
        first_match({"b": "secret-value", "a": "x"}, [{"row": 1, "when": {"a": "y"}}])
