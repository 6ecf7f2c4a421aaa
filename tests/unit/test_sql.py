"""Quoting and statement forms, as text; what a server makes of them is in tests/integration/test_sql_*.py."""

from __future__ import annotations

import re

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=70)


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        pytest.param("app", "`app`", id="plain"),
        pytest.param("ak-test", "`ak-test`", id="N2-dash"),
        pytest.param("a:b", "`a:b`", id="N3-colon"),
        pytest.param("a.b", "`a.b`", id="N3-dot"),
        pytest.param("a`b", "`a``b`", id="N3-backtick"),
        pytest.param("a'b", "`a'b`", id="N3-quote"),
        pytest.param("a\\b", "`a\\b`", id="N3-backslash"),
        pytest.param("pct%s", "`pct%%s`", id="N3-percent"),
        pytest.param("%(database)s", "`%%(database)s`", id="N3-argument"),
        pytest.param("``", "``````", id="only-backticks"),
        pytest.param("ü€", "`ü€`", id="P1-beyond-ascii"),
    ],
)
def test_identifier(name: str, quoted: str) -> None:
    assert sql.identifier(name) == quoted


def test_identifier_refuses_nul() -> None:
    with pytest.raises(ValueError, match="NUL"):
        sql.identifier("a\0b")


@given(NAMES)
def test_identifier_can_be_read_back(name: str) -> None:
    quoted = sql.identifier(name) % {}
    assert quoted[0] == quoted[-1] == "`"
    assert not re.sub("``", "", quoted[1:-1]).count("`"), "a single backtick inside would end the name"
    assert quoted[1:-1].replace("``", "`") == name


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        pytest.param("team_a", r"team\_a", id="N1-underscore"),
        pytest.param("pct%s", r"pct\%s", id="N3-percent"),
        pytest.param("a\\b", r"a\\b", id="N3-backslash"),
        pytest.param(r"a\_b", r"a\\\_b", id="N3-escaped-already"),
        pytest.param("ak-test", "ak-test", id="N2-dash"),
    ],
)
def test_pattern(name: str, pattern: str) -> None:
    assert sql.escape_pattern(name) == pattern
    assert sql.unescape_pattern(pattern) == name
    assert sql.grant_pattern(name) % {} == f"`{pattern}`"


@given(NAMES)
def test_pattern_can_be_read_back(name: str) -> None:
    assert sql.unescape_pattern(sql.escape_pattern(name)) == name
    assert not re.search(r"(?<!\\)(?:\\\\)*[_%]", sql.escape_pattern(name)), "a wildcard was left"


@given(NAMES)
def test_pattern_of_an_unescaped_grant_is_the_name_itself(name: str) -> None:
    # The older operator granted names unescaped; where the name holds no backslash both readings agree.
    if "\\" not in name:
        assert sql.unescape_pattern(name) == name


def test_statements_in_order() -> None:
    texts = sql.statements(["take", "create_account", "create_database", "grant"], "a_b")
    assert texts[: len(sql.STATEMENTS["take"])] == list(sql.STATEMENTS["take"])
    assert texts[-3:] == [
        "CREATE USER %(username)s@%(host)s IDENTIFIED BY %(password)s",
        "CREATE DATABASE `a_b` CHARACTER SET utf8mb4",
        f"GRANT {', '.join(sql.DATABASE_PRIVILEGES)} ON `a\\_b`.* TO %(username)s@%(host)s",
    ]


@pytest.mark.parametrize(
    "form", sorted(n for n, f in sql.STATEMENTS.items() if "{database}" in "".join(f) or "{pattern}" in "".join(f))
)
@pytest.mark.parametrize("database", [None, ""])
def test_statements_need_a_database(form: str, database: str | None) -> None:
    with pytest.raises(ValueError, match="needs a database"):
        sql.statements(form, database)


def test_statements_of_an_unknown_form() -> None:
    with pytest.raises(KeyError):
        sql.statements("drop_everything", "app")


@pytest.mark.parametrize("form", sorted(sql.STATEMENTS))
@pytest.mark.parametrize(
    "database",
    [
        pytest.param("{pattern}", id="N3-mark-pattern"),
        pytest.param("{privileges}", id="N3-mark-privileges"),
        pytest.param("{database}", id="N3-mark-database"),
        pytest.param("a{pattern}; x", id="N3-mark-inside"),
        pytest.param("pct%s", id="N3-percent"),
    ],
)
def test_a_name_that_looks_like_a_mark_stays_a_name(form: str, database: str) -> None:
    ours = sql.statements(form, "PLACE")
    expected = [text.replace("`PLACE`", sql.identifier(database)) for text in ours]
    if form == "grant":
        expected = [text.replace("`PLACE`", sql.grant_pattern(database)) for text in ours]
    assert sql.statements(form, database) == expected


@pytest.mark.parametrize("form", sorted(sql.STATEMENTS))
def test_statements_survive_the_driver(form: str) -> None:
    arguments = dict.fromkeys(
        (
            "database",
            "username",
            "host",
            "password",
            "origin",
            "fence",
            "cluster",
            "namespace",
            "request",
            "request_uid",
            "escape",
            "heir_namespace",
            "heir_request",
            "heir_uid",
        ),
        "'x'",
    )
    for text in sql.statements(form, "100%s"):
        filled = text % arguments if form != "ledger" else text
        assert "%(" not in filled
        assert "{" not in filled
        assert ";" not in filled, "one statement each"


def test_keys_fit_the_statements() -> None:
    assert len(sql.SURVEY) == len(sql.STATEMENTS["survey"])
    assert len(sql.FACTS) == len(sql.STATEMENTS["facts"])
    assert len(sql.INVENTORY) == len(sql.STATEMENTS["inventory"])
    assert len(set(sql.SURVEY)) == len(sql.SURVEY)
    assert len(set(sql.FACTS)) == len(sql.FACTS)


def test_privileges_are_the_eighteen_by_name() -> None:
    assert len(set(sql.DATABASE_PRIVILEGES)) == 18
    assert not {"ALL", "ALL PRIVILEGES", "GRANT OPTION", "USAGE"} & set(sql.DATABASE_PRIVILEGES)


@pytest.mark.parametrize("form", ["ready", "deleting", "give_back", "hand_over"])
def test_changes_of_a_row_name_the_request(form: str) -> None:
    # Whatever a caller hands over, only a row of this cluster and this UID can change.
    for text in sql.statements(form, "app"):
        assert "cluster = %(cluster)s" in text
        assert "request_uid = %(request_uid)s" in text
        assert "database_name = %(database)s" in text


@pytest.mark.parametrize("form", ["claim", "take"])
def test_a_change_begins_with_lock_and_writable(form: str) -> None:
    lock, writable, *_ = sql.STATEMENTS[form]
    assert "GET_LOCK" in lock
    assert "read_only" in writable
