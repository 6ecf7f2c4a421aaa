"""SQL stands in one file, and the rights in the docs are those that are granted."""

import re

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from dev import mariadb
from tests.contract.project import ALL_TASKS, COLLECTION, PYTHON, ROOT, ids, literals, load, section, strings

SQL_FILE = COLLECTION / "plugins/module_utils/sql.py"
STATEMENT = re.compile(
    r"\bSELECT\b.+\bFROM\b|\bSELECT\s+(?:IF\s*\(|\*|@@|\d|[A-Z_]+\()|\bINSERT\s+(?:IGNORE\s+)?INTO\b|\bREPLACE\s+INTO\b"
    r"|\bUPDATE\s+\S+\s+SET\b|\bDELETE\s+FROM\b|\bTRUNCATE\b"
    r"|\b(?:CREATE|ALTER|DROP|RENAME)\s+(?:OR\s+REPLACE\s+)?(?:USER|DATABASE|SCHEMA|TABLE|ROLE|VIEW)\b(?!,)"
    r"|\bGRANT\s.+\s(?:ON|TO)\b|\bREVOKE\b|\bUSE\s+[`{]|\bSHOW\s+(?:GRANTS|DATABASES|VARIABLES|SESSION|GLOBAL|CREATE)\b"
    r"|\bSET\s+(?:GLOBAL|SESSION|PASSWORD)\b|\b(?:GET|RELEASE)_LOCK\b|\bFLUSH\s+\w|\bKILL\s+\w|information_schema\.\w|mysql\.(?:user|db)\b"
)


def granted(text):
    """The privileges of the one GRANT statement in a text, and whether it has the grant option."""
    (found,) = re.findall(r"GRANT\s+(.+?)\s+ON\s+(\S+)\s+TO\s+(.+?);", text, re.DOTALL)
    return [" ".join(p.split()) for p in found[0].split(",")], found[1], found[2]


@pytest.mark.parametrize("file", [f for f in PYTHON if f != SQL_FILE], ids=ids)
def test_python_holds_no_sql(file):
    assert [text for text in literals(file) if STATEMENT.search(text)] == [], (
        f"SQL belongs into {SQL_FILE.name}"
    )


def test_roles_and_playbooks_hold_no_sql():
    files = [*ROOT.glob("roles/**/*.yml"), *ROOT.glob("playbooks/*.yml")]
    assert len(files) > 20
    for file in files:
        assert [text for _, text in strings(load(file)) if STATEMENT.search(text)] == [], file


def test_the_pattern_finds_sql():
    forms = [form for forms in sql.STATEMENTS.values() for form in forms]
    assert [form for form in forms if not STATEMENT.search(form)] == []
    assert not STATEMENT.search(
        "Grant it SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER and INDEX there again."
    )


def test_every_statement_comes_from_the_filter():
    queries = [
        t.body["community.mysql.mysql_query"]["query"]
        for t in ALL_TASKS
        if "community.mysql.mysql_query" in t.body
    ]
    assert queries
    for query in queries:
        assert re.fullmatch(
            r"\{\{ (?:'\w+'|\[.+\]|.+\]) \| lagoon\.dbaas\.sql(?:\(.+\))? \}\}|\{\{ __queries \}\}", query
        ), query


def test_the_forms_that_tasks_name_are_there():
    text = " ".join(text for task in ALL_TASKS for _, text in strings(task.own))
    named = set(re.findall(r"(?<!\[)'(\w+)' \| lagoon\.dbaas\.sql", text))
    for forms in re.findall(r"[( ]\[((?:'\w+'(?:, )?)+)\](?: \+ \w+\))? \| lagoon\.dbaas\.sql", text):
        named |= set(re.findall(r"'(\w+)'", forms))
    for task in ALL_TASKS:
        steps = (task.body.get("vars") or {}).get("__dbaas_request_steps")
        named |= set(steps) if isinstance(steps, list) else set()
    assert named >= {"claim", "survey", "facts", "take", "deleting", "ready", "login"}
    assert named - set(sql.STATEMENTS) == set()


def test_docs_give_the_admin_account_the_rights_that_the_sandbox_grants():
    privileges, where, to = granted(section("docs/operations.md", "## The admin account"))
    assert privileges == [p.strip() for p in mariadb.ADMIN_RIGHTS.split(",")]
    assert where == "*.*"
    assert to.endswith("WITH GRANT OPTION")


def test_docs_list_the_rights_that_an_account_gets():
    (listed,) = re.findall(
        r"^> (.+)$", section("docs/api.md", "### The account and its rights"), re.MULTILINE
    )
    assert [p.strip(" .") for p in listed.split(",")] == list(sql.DATABASE_PRIVILEGES)


def test_the_admin_account_has_what_it_grants():
    assert set(sql.DATABASE_PRIVILEGES) <= {p.strip() for p in mariadb.ADMIN_RIGHTS.split(",")}
