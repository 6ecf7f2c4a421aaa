"""The verdict table: complete, equal to the rules as they are told, and the same in README and docs."""

import itertools
import re

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils.verdict import first_match

from dev import tables
from tests.contract.project import ROOT, load, section, table

VARS = "roles/seed/vars/main.yml"
ROWS = load(VARS)["seed_verdict_table"]
# Every fact and its values, in the order in which they are gathered.
FACTS = {
    "row": ("mine", "none"),
    "namespace": ("own", "other"),
    "secret": ("valid", "invalid"),
    "published": ("free", "foreign"),
    "connection": ("match", "none"),
    "names": ("ordinary", "reserved"),
    "lengths": ("fit", "too_long"),
    "claim": ("free", "taken"),
    "login": ("works", "other_account", "refused"),
    "database": ("present", "missing"),
    "use": ("ok", "refused"),
    "own": ("yes", "no"),
    "account": ("exists", "none"),
    "exposed": ("yes", "no"),
}
PRODUCT = [dict(zip(FACTS, values, strict=True)) for values in itertools.product(*FACTS.values())]
GOOD = {
    "row": "none",
    "namespace": "own",
    "secret": "valid",
    "published": "free",
    "connection": "match",
    "names": "ordinary",
    "lengths": "fit",
    "claim": "free",
}


def told(facts: dict[str, str]) -> tuple[str, str]:
    """The rules on a seed, stated without the table: verdict and reason."""
    if facts["row"] == "mine":
        return "resume", ""
    # What rules a seed out before anybody logs in with it, the first one counts.
    for fact, value, reason in (
        ("namespace", "other", "SeedNamespaceForbidden"),
        ("secret", "invalid", "SeedSecretInvalid"),
        ("published", "foreign", "NameConflict"),
        ("connection", "none", "SeedNoMatchingProvider"),
        ("names", "reserved", "SeedReservedName"),
        ("lengths", "too_long", "SeedSecretInvalid"),
        ("claim", "taken", "SeedDatabaseInUse"),
    ):
        if facts[fact] == value:
            return "refuse", reason
    if facts["login"] == "other_account":
        return "refuse", "SeedAccountMismatch"
    exists = facts["database"] == "present"
    if facts["login"] == "works":
        if not exists:
            return "refuse", "SeedDatabaseMissing"
        if facts["use"] == "refused":
            return "refuse", "SeedAccessDenied"
        return ("adopt", "SeedAdopted") if facts["own"] == "yes" else ("refuse", "SeedAccountUnfit")
    if exists:
        return "refuse", "SeedCredentialsRejected"
    if facts["account"] == "exists":
        return "refuse", "SeedUserConflict"
    return ("refuse", "SeedNameExposed") if facts["exposed"] == "yes" else ("create", "SeedCreated")


def test_every_combination_of_facts_has_the_verdict_that_the_rules_tell():
    wrong = []
    for facts in PRODUCT:
        row = first_match(facts, ROWS)
        if (row.get("verdict"), row.get("reason")) != told(facts):
            wrong.append((facts, row, told(facts)))
    assert not wrong, f"{len(wrong)} of {len(PRODUCT)} combinations, the first: {wrong[0]}"


def test_only_the_one_combination_takes_over_and_only_the_one_creates():
    # `account` and `exposed` don't matter once the login works; `use` and `own` don't where it doesn't.
    adopted = [f for f in PRODUCT if first_match(f, ROWS)["verdict"] == "adopt"]
    assert {tuple(f[k] for k in ("login", "database", "use", "own")) for f in adopted} == {
        ("works", "present", "ok", "yes")
    }
    created = [f for f in PRODUCT if first_match(f, ROWS)["verdict"] == "create"]
    assert {tuple(f[k] for k in ("login", "database", "account", "exposed")) for f in created} == {
        ("refused", "missing", "none", "no")
    }
    assert all(GOOD.items() <= f.items() for f in adopted + created)


def test_every_row_is_reached():
    assert {first_match(facts, ROWS)["row"] for facts in PRODUCT} == set(range(17))
    assert [row["row"] for row in ROWS] == list(range(17))


def test_rows_use_known_facts_and_values_only():
    unknown = [
        (row["row"], fact, value)
        for row in ROWS
        for fact, value in row["when"].items()
        if value not in FACTS.get(fact, ())
    ]
    assert not unknown, "YAML reads a bare yes or no as true or false; quote it"


def test_facts_are_asked_in_their_order_and_no_further_than_needed():
    order = list(FACTS)
    for row in ROWS:
        # A seed for which this row's facts hold, and nothing above applies.
        facts = next(f for f in PRODUCT if first_match(f, ROWS) == row)
        known: dict[str, str] = {}
        while "needs" in (found := first_match(known, ROWS)):
            assert found["needs"] not in known
            known[found["needs"]] = facts[found["needs"]]
        assert found == row
        if row["row"] <= 7:
            assert "login" not in known, f"row {row['row']} must be known before any login"
            assert order[: len(known)] == list(known)
        if row["row"] <= 4:
            assert not {"names", "lengths", "claim", "database"} & set(known), "no server may be asked"


def test_the_comment_over_the_table_names_the_same_facts():
    text = (ROOT / VARS).read_text(encoding="utf-8")
    lines = re.findall(r"^#   (\w+) +(\w+(?:, \w+)+)  ", text, re.MULTILINE)
    assert {fact: tuple(values.split(", ")) for fact, values in lines} == FACTS


def test_docs_list_the_same_facts():
    rows = table(section("docs/seed.md", "## The facts"))
    listed = {fact.strip("`"): {v.strip(" `") for v in values.split(",")} for fact, values, *_ in rows}
    assert listed == {fact: set(values) for fact, values in FACTS.items()}


@pytest.mark.parametrize("page", tables.PAGES)
def test_pages_show_the_table(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- verdicts:begin -->\n" + tables.verdicts(ROOT) + "<!-- verdicts:end -->" in text, (
        "out of date; write it with: python -m dev.tables"
    )
    assert page not in tables.outdated(ROOT)


def test_tables_are_written_again_where_they_differ():
    page = "a\n<!-- verdicts:begin -->\nold\n<!-- verdicts:end -->\nb\n"
    assert tables.regenerated(page, ROOT) == (
        "a\n<!-- verdicts:begin -->\n" + tables.verdicts(ROOT) + "<!-- verdicts:end -->\nb\n"
    )
    with pytest.raises(ValueError, match="no marks"):
        tables.regenerated("nothing", ROOT)
    with pytest.raises(ValueError, match="behind it"):
        tables.regenerated("<!-- verdicts:begin -->\nold", ROOT)
