"""What a migration came to: which ends are good, what the table says, what comes next."""

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration_report as report

Json = dict[str, Any]


def row(state: str, todo: str = "", **more: str) -> Json:
    names = {"namespace": "shop", "consumer": "old", "request": "new", "seed": "new-seed", "service": "svc"}
    return {**names, "state": state, "reason": "", "message": "", "todo": todo, "shared": "", **more}


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
    rows = report.outcomes([row("migrated"), row("refused", "remove", message="Why not.")], {}, "migrate", False)
    lines = report.lines(report.document(rows, "migrate", False, 5))
    assert lines[0].split() == ["NAMESPACE", "CONSUMER", "REQUEST", "STATE", "REASON"]
    assert "shop/old: Why not." in lines
    assert "1 migrated, 1 refused (5 s)" in lines
    text = "\n".join(lines)
    assert "dbaas.lagoon.sh/secret=true" in text and "finish=true" in text and "remove_refused=true" in text


def test_lines_without_any() -> None:
    lines = report.lines(report.document([], "migrate", False, 0))
    assert lines[-1] == "no MariaDBConsumer (0 s)"


HINTS = [
    # state, todo, reason, a word of its own sentence
    ("waiting", "", "NotSeen", "waiting goes on by itself"),
    ("needs-person", "", "OwnershipUnproven", "needs a person"),
    ("unlabelled", "label", "SeedAdopted", "Don't delete"),
    ("not-tried", "", "NameConflict", "wasn't tried"),
    ("refused", "remove", "SeedDatabaseMissing", "remove_refused=true"),
    ("refused", "", "SeedDatabaseMissing", "whoever"),
    ("failed", "", "DatabaseDiffers", "something failed"),
    ("failed", "", "DatabaseShared", "share a database"),
]


@pytest.mark.parametrize(("state", "todo", "reason", "word"), HINTS)
def test_the_closing_words_fit_what_happened(state: str, todo: str, reason: str, word: str) -> None:
    rows = report.outcomes([row(state, todo, reason=reason)], {}, "migrate", False)
    text = "\n".join(report.next_steps(report.document(rows, "migrate", False, 1)))
    assert word in text
    assert [other for *_, other in HINTS if other in text] == [word]


@pytest.mark.parametrize("reason", ["NoKubeconfig", "KubernetesError", "NotFound"])
def test_the_closing_words_of_a_namespace_that_was_not_read(reason: str) -> None:
    rows = report.outcomes([row("failed", reason=reason, consumer="", request="", seed="")], {}, "migrate", False)
    text = "\n".join(report.next_steps(report.document(rows, "migrate", False, 1)))
    assert "couldn't be read" in text and "refused" not in text and "MariaDBConsumer" not in text


def test_a_plan_says_what_would_be_removed() -> None:
    refused = row("refused", "remove", message="Why not.", remove_seed=True)  # type: ignore[arg-type]
    (found,) = report.outcomes([refused], {}, "migrate", True, remove=True)
    assert found["message"] == "Why not. Would remove DatabaseRequest new and Secret new-seed."
    (found,) = report.outcomes([{**refused, "remove_seed": False}], {}, "migrate", True, remove=True)
    assert found["message"] == "Why not. Would remove DatabaseRequest new."
    for check, remove in ((True, False), (False, True)):
        (found,) = report.outcomes([refused], {}, "migrate", check, remove)
        assert "Would" not in found["message"]
    (found,) = report.outcomes([refused], {}, "migrate", False, remove=True)
    assert "without -e remove_refused" in "\n".join(report.next_steps(report.document([found], "migrate", False, 1)))


@pytest.mark.parametrize("check", [True, False])
def test_others_of_one_database_are_named_whatever_the_state(check: bool) -> None:
    rows = [
        row(s, t, reason="SeedAdopted", shared="So are others.") for s, t in (("migrated", ""), ("missing", "make"))
    ]
    ended = report.outcomes(rows, {}, "migrate", check)
    assert all(found["message"].endswith("So are others.") for found in ended)
    told = report.lines(report.document(ended, "migrate", check, 1))
    assert sum(line.endswith("So are others.") for line in told) == 2


def test_what_could_not_be_finished_is_no_request_of_others() -> None:
    for todo, word in (("finish", "something failed"), ("", "isn't the migration's")):
        rows = report.outcomes([row("migrated", todo)], {}, "finish", False)
        assert word in "\n".join(report.next_steps(report.document(rows, "finish", False, 1)))


def test_finish_tells_what_is_not_migrated_yet() -> None:
    rows = report.outcomes([row("missing", reason="NotMigrated")], {}, "finish", False)
    text = "\n".join(report.next_steps(report.document(rows, "finish", False, 1)))
    assert "without -e finish=true" in text and "refused" not in text
