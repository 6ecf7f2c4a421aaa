"""The closed list of reasons: one list for code, tasks, schema and docs."""

import ast
import re
import string

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, errors, invariants, migration

from tests.contract.project import (
    ALL_TASKS,
    PYTHON,
    REQUEST,
    ROOT,
    ids,
    literals,
    load,
    schema,
    section,
    strings,
    table,
)

REASONS = load("roles/dbaas_request/vars/main.yml")["dbaas_request_reasons"]
VERDICTS = load("roles/seed/vars/main.yml")["seed_verdict_table"]
# A state as the schema's description and the headings of docs/operations.md call it.
STATES = {
    "done": ("Done", "### Done"),
    "refused": ("Refused for good", "### Refused for good"),
    "person": ("Needs a person", "### Needs a person"),
    "waits": ("Waits and goes on by itself", "### Waits, goes on by itself"),
}
# Words in the code that look like a reason and are something else.
EVENTS = {"DatabaseKept", "DatabaseLeft", "OtherAccounts"}
OF_PROVIDERS = {"ConnectionsAvailable", "ConnectionsUnavailable", "LedgerExposed", "LedgerProtected"}
OF_MIGRATIONS = migration.REASONS
WORDS = {
    "MariaDBConsumer",
    "DatabaseRequest",
    "DatabaseMySQLProvider",
    "ActionModule",
    "FilterModule",
    "BearerToken",
    "ExternalName",
    "ClusterIP",
    "EndpointSlice",
    "RoleBinding",
    "CallbackModule",
    "SelfSubjectAccessReview",
    "KiB",
    "MiB",
    "GiB",
    "TiB",
}
CAMEL = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]*)+")


def by_state(state):
    return {reason for reason, entry in REASONS.items() if entry["state"] == state}


def placeholders(message):
    return {field for _, field, _, _ in string.Formatter().parse(message) if field}


def calls(name):
    """Calls ``name("Reason", key=...)`` in the collection: file, reasons, names of the keywords."""
    for file in PYTHON:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", getattr(node.func, "attr", "")) == name
                and node.args
            ):
                found = {
                    c.value
                    for c in ast.walk(node.args[0])
                    if isinstance(c, ast.Constant) and CAMEL.fullmatch(str(c.value))
                }
                keywords = {k.arg for k in node.keywords}
                yield (
                    file,
                    found or {c.value for c in [node.args[0]] if isinstance(c, ast.Constant)},
                    keywords,
                )


IN_PYTHON = {text for file in PYTHON for text in literals(file)}
IN_TASKS = {
    text if "{{" not in text else word
    for task in ALL_TASKS
    for key, text in strings(task.own)
    if key == "reason"
    for word in ([text] if "{{" not in text else re.findall(r"'([A-Z]\w+)'", text))
}


@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_has_a_state_and_a_sentence(reason):
    entry = REASONS[reason]
    assert set(entry) == {"state", "message"}
    assert entry["state"] in conditions.STATES
    assert re.fullmatch(r"([A-Z]|databaseConnectionReference ).{15,398}\.", entry["message"]), (
        "whole sentences"
    )
    known = {"key", "problem", "kind", "replica", "number", "why", "connection", "proof", "secret", "made", "once"}
    assert placeholders(entry["message"]) <= known


def test_states_are_those_of_the_code():
    assert set(conditions.STATES) == set(STATES)
    assert all(by_state(state) for state in STATES)


@pytest.mark.parametrize("state", STATES)
def test_schema_tells_the_same_reasons(state):
    status = schema(REQUEST)["properties"]["status"]["properties"]
    text = status["conditions"]["items"]["properties"]["reason"]["description"]
    found = re.search(re.escape(STATES[state][0]) + r": ([\w, ]+)\.", text)
    assert found, f"the description of conditions[].reason has no part {STATES[state][0]!r}"
    assert sorted(found.group(1).split(", ")) == sorted(by_state(state))


@pytest.mark.parametrize("state", STATES)
def test_docs_tell_the_same_reasons(state):
    rows = table(section("docs/operations.md", STATES[state][1]))
    named = [reason for row in rows for reason in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(by_state(state))
    assert all(all(cell for cell in row) for row in rows), "each reason needs a cause and a cure"


def test_docs_name_no_other_reason():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    like = {
        word for word in re.findall(r"`([A-Z]\w+)`", text) if re.search(r"^(Seed|Ledger|Database[A-Z])", word)
    }
    kinds = {"DatabaseRequest", "DatabaseMySQLProvider"}
    assert like - set(REASONS) - EVENTS - OF_PROVIDERS - OF_MIGRATIONS - set(invariants.FINDINGS) - kinds == set()


def test_docs_tell_the_reasons_of_a_migration():
    rows = table(section("docs/migration.md", "## What the report says"))
    named = {reason for row in rows for reason in re.findall(r"`([A-Z]\w+)`", row[0])}
    assert named == OF_MIGRATIONS


def test_docs_tell_each_finding_of_the_check():
    rows = table(section("docs/operations.md", "### Checking a live platform"))
    assert sorted(f for row in rows for f in re.findall(r"`(\w+)`", row[0])) == sorted(invariants.FINDINGS)
    assert all(len(row) == 3 and row[1] and row[2] for row in rows)


def test_rows_of_the_verdict_table_name_listed_reasons():
    for row in VERDICTS:
        state = {"refuse": "refused", "adopt": "done", "create": "done"}.get(row["verdict"])
        assert state is None or REASONS[row["reason"]]["state"] == state, row


@pytest.mark.parametrize("file", PYTHON, ids=ids)
def test_python_names_listed_reasons_only(file):
    known = {*REASONS, *EVENTS, *OF_PROVIDERS, *OF_MIGRATIONS, *WORDS, *invariants.FINDINGS}
    assert {text for text in literals(file) if CAMEL.fullmatch(text)} - known == set()
    for where, reasons, _ in calls("outcome"):
        assert reasons <= set(REASONS), where


def test_tasks_name_listed_reasons_only():
    assert IN_TASKS - set(REASONS) - EVENTS == set()


@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_is_used(reason):
    used = IN_PYTHON | IN_TASKS | {row["reason"] for row in VERDICTS}
    assert reason in used, "nothing ends with it: take it off the list, the schema and the docs"


def test_each_outcome_brings_what_its_sentence_needs():
    found = 0
    for file, reasons, keywords in calls("outcome"):
        for reason in reasons:
            found += 1
            if None not in keywords:  # **params: checked by the two tests below
                assert placeholders(REASONS[reason]["message"]) <= keywords, f"{file.name}: {reason}"
    assert found > 15


def test_waits_bring_what_their_sentence_needs():
    for reason in {*errors.WAIT_REASONS.values(), "DropPending"}:
        assert placeholders(REASONS[reason]["message"]) <= {"connection", "number"}, reason


def test_verdicts_bring_what_their_sentence_needs():
    for row in VERDICTS:
        if row["verdict"] == "refuse":
            needed = placeholders(REASONS[row["reason"]]["message"])
            assert needed <= {"key", "problem", "kind", "replica", "number", "why"}, row


def test_no_sentence_holds_text_of_a_tenant_or_of_the_server():
    # What fills the placeholders is named in one set, above; these words would be a tenant's or the server's.
    for reason, entry in REASONS.items():
        assert not placeholders(entry["message"]) & {
            "database",
            "username",
            "password",
            "host",
            "name",
            "text",
            "msg",
        }, reason
