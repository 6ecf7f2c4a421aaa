"""What a migration came to: which ends are good, what the table says, what comes next."""

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration_report as report

Json = dict[str, Any]


def row(state: str, todo: str = "", **more: str) -> Json:
    names = {"namespace": "shop", "consumer": "old", "request": "new", "seed": "new-seed", "service": "svc"}
    return {**names, "state": state, "reason": "", "message": "", "todo": todo, **more}


@pytest.mark.parametrize(
    ("state", "todo", "first", "second"),
    [
        ("migrated", "", True, False),
        ("finished", "", True, True),
        ("skipped", "", True, True),
        ("missing", "make", False, False),
        ("not-tried", "", False, False),
        ("refused", "remove", False, False),
        ("needs-person", "", False, False),
        ("waiting", "", False, False),
        ("unlabelled", "label", False, False),
        ("failed", "", False, False),
    ],
)
def test_which_ends_are_good(state: str, todo: str, first: bool, second: bool) -> None:
    for step, good in (("migrate", first), ("finish", second)):
        (found,) = report.outcomes([row(state, todo)], {}, step, False)
        assert found["good"] is good
        assert report.document([found], step, False, 1)["good"] is good


@pytest.mark.parametrize("todo", ["make", "label", "finish"])
def test_a_plan_says_what_would_be_written(todo: str) -> None:
    (found,) = report.outcomes([row("missing", todo)], {}, "migrate", True)
    assert (found["state"], found["good"]) == ("planned", True)
    assert found["message"].startswith("Would ")


def test_what_is_still_missing_after_a_run_failed() -> None:
    (found,) = report.outcomes([row("missing", "make")], {"shop/new-seed": "Not written."}, "migrate", False)
    assert (found["state"], found["good"]) == ("failed", False)
    assert found["message"].endswith("Not written.")


def test_notes_belong_to_their_namespace() -> None:
    (found,) = report.outcomes([row("waiting")], {"blog/new": "No."}, "migrate", False)
    assert found["message"] == ""


def test_lines() -> None:
    rows = report.outcomes([row("migrated"), row("refused", message="Why not.")], {}, "migrate", False)
    lines = report.lines(report.document(rows, "migrate", False, 5))
    assert lines[0].split() == ["NAMESPACE", "CONSUMER", "REQUEST", "STATE", "REASON"]
    assert "shop/old: Why not." in lines
    assert "1 migrated, 1 refused (5 s)" in lines
    text = "\n".join(lines)
    assert "dbaas.lagoon.sh/secret=true" in text and "finish=true" in text and "remove_refused=true" in text


def test_lines_without_any() -> None:
    lines = report.lines(report.document([], "migrate", False, 0))
    assert lines[-1] == "no MariaDBConsumer (0 s)"
