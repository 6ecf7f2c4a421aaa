"""Numbers out of community.mysql's messages: from the one right place, and from nowhere else.

The wording is checked against the real module in tests/integration/test_sql_errors.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, sql
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.samples import not_connected, sent

ACCESS = """(1045, "Access denied for user 'x'@'localhost' (using password: YES)")"""
UNAVAILABLE = (1040, 1129, 1130, 1203, 1226, 1053, 1047, 1836, 2002, 2003, 2005, 2006, 2013, 2026, 4150, 3955)
# What each number means, as two independent tables: the admin's and the seed's.
ADMIN = {
    **dict.fromkeys(UNAVAILABLE, "unavailable"),
    **dict.fromkeys((1045, 1698, 1044, 1290, 3159, 1524, 2059, 1820, 1862, 3118, 4151), "provider"),
    **dict.fromkeys((1142, 1143, 1227, 1410, 1133), "provider"),
    **dict.fromkeys((1049, 1146), "ledger"),
    **dict.fromkeys((1819, 3638), "policy"),
    **dict.fromkeys((1059, 1102, 1300, 1366, 1406, 1470, 13, 1006), "name"),
    **dict.fromkeys((1007, 1396), "again"),
    **dict.fromkeys((1008, 1141), "gone"),
    **dict.fromkeys((1205, 1213), "locked"),
    1062: "claimed",
    1242: "stale",
    1064: "unavailable",
    99999: "unavailable",
}
SEED_LOGIN = {
    **dict.fromkeys((*UNAVAILABLE, 1205, 1213, 1290, 1044, 1049, 1064, 99999), "unavailable"),
    **dict.fromkeys((1045, 1698, 1524, 2059, 1820, 1862, 3118, 4151), "refused"),
    3159: "provider",
}
SEED_USE = {
    **dict.fromkeys((*UNAVAILABLE, 1205, 1213, 1290, 1064, 99999), "unavailable"),
    **dict.fromkeys((1044, 1049, 1142, 1227), "no_access"),
    **dict.fromkeys((1820, 1862, 3118, 4151), "refused"),
    1242: "other_account",
}
QUERIES = ["SELECT 1", "USE `app`"]


@pytest.mark.parametrize(("number", "kind"), sorted(ADMIN.items()))
@pytest.mark.parametrize("phase", ["connect", "statement"])
def test_numbers_of_the_admin(number: int, kind: str, phase: str) -> None:
    driver = f"({number}, 'some text')"
    result = not_connected(driver) if phase == "connect" else sent(QUERIES[1], {"a": 1}, driver)
    index = None if phase == "connect" else 1
    assert errors.mysql_outcome(result, QUERIES) == {
        "ok": False,
        "kind": kind,
        "number": number,
        "phase": phase,
        "index": index,
    }


@pytest.mark.parametrize(("number", "kind"), sorted(SEED_LOGIN.items()))
def test_numbers_of_a_seed_login(number: int, kind: str) -> None:
    came_to = errors.mysql_outcome(not_connected(f"({number}, 'text')"), QUERIES, "seed")
    assert (came_to["kind"], came_to["number"], came_to["phase"]) == (kind, number, "connect")


@pytest.mark.parametrize(("number", "kind"), sorted(SEED_USE.items()))
def test_numbers_of_a_seed_use(number: int, kind: str) -> None:
    came_to = errors.mysql_outcome(sent(QUERIES[1], None, f"({number}, 'text')"), QUERIES, "seed")
    assert (came_to["kind"], came_to["number"], came_to["index"]) == (kind, number, 1)


@pytest.mark.parametrize("form", ["claim", "take"])
def test_the_guard_that_stopped_a_change_is_told(form: str) -> None:
    """All guards stop with one number; what the run waits for differs."""
    queries = sql.statements(form)
    kinds = [errors.mysql_outcome(sent(q, {"a": 1}, "(1242, 'x')"), queries)["kind"] for q in queries]
    assert kinds[:2] == ["stale", "read_only"]
    assert "read_only" not in kinds[2:]
    wait = errors.wait_outcome(errors.mysql_outcome(sent(queries[1], None, "(1242, 'x')"), queries), "one")
    assert wait == {"reason": "ServerReadOnly", "params": {"connection": "one", "number": "it is read-only"}}


def test_what_worked() -> None:
    assert errors.mysql_outcome({"query_result": [[]]}, QUERIES) == {
        "ok": True,
        "kind": "ok",
        "number": None,
        "phase": "",
        "index": None,
    }


@pytest.mark.parametrize("result", [{"skipped": True}, {}, {"changed": False, "skipped": True, "skip_reason": "x"}])
def test_no_answer_is_never_a_fact(result: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no result"):
        errors.mysql_outcome(result, QUERIES)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("Timed out after 20 second(s).", id="task-timeout"),
        pytest.param("MODULE FAILURE: No start of json char found", id="crash"),
        pytest.param("", id="empty"),
        pytest.param("The task includes an option (1045, 'x')", id="N8-elsewhere"),
        pytest.param("(1045, 'x')", id="N8-without-prefix"),
        pytest.param("see: Cannot execute SQL 'SELECT 1' args [None]: (1045, 'x')", id="N8-not-at-the-start"),
        pytest.param("Cannot execute SQL 'SELECT 2' args [None]: (1045, 'x')", id="N8-another-query"),
        pytest.param("Cannot fetch rows from cursor: (1045, 'x')", id="N8-fetch"),
    ],
)
@pytest.mark.parametrize("login", ["admin", "seed"])
def test_what_was_never_said_by_the_driver_waits(message: str, login: str) -> None:
    came_to = errors.mysql_outcome({"failed": True, "msg": message}, QUERIES, login)
    assert came_to == {"ok": False, "kind": "unavailable", "number": None, "phase": "unknown", "index": None}


def test_failed_without_a_message() -> None:
    assert errors.mysql_outcome({"failed": True}, QUERIES)["kind"] == "unavailable"


HOSTILE = [
    pytest.param('(1049, "x")', id="N8-1049"),
    pytest.param("(1049, 'x')", id="N8-1049-quote"),
    pytest.param('(2003, "y")', id="N8-2003"),
    pytest.param("]: (1045, ", id="N8-end-of-arguments"),
    pytest.param("' args [None]: (1045, 'x')", id="N8-whole-tail"),
    pytest.param("' args [{'a': 1}]: (1045, 'x')", id="N8-whole-tail-with-arguments"),
    pytest.param("}]: (1045, 'x')", id="N8-closing-brace"),
    pytest.param("'}]: (1045, 'x')", id="N8-quote-and-brace"),
    pytest.param("\"}]: (1045, 'x')", id="N8-double-quote-and-brace"),
    pytest.param("'\"}]: (1045, 'x')", id="N8-both-quotes"),
    pytest.param("\\'}]: (1045, 'x')", id="N8-backslash-quote"),
    pytest.param("\\\\", id="N8-backslashes"),
    pytest.param("100%s %d %%", id="N3-percent"),
    pytest.param("a\nb\r\n", id="P3-line-breaks"),
    pytest.param("Exception message: (1045, 'x')", id="N8-the-other-prefix"),
    pytest.param("{{ 7*7 }}", id="P2-braces"),
    pytest.param("x errno: 28 y", id="N8-errno"),
    pytest.param("SSL certificate", id="N8-tls"),
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("number", [1044, 1062, 1007, 1006])
def test_text_of_tenants_is_never_read(text: str, number: int) -> None:
    queries = [*sql.statements(["take", "create_database", "use"], text)]
    arguments = {"database": text, "password": text, "fence": 7, "none": None}
    for index, query in enumerate(queries):
        result = sent(query, arguments, f"({number}, \"some '{text}' (errno: 13)\")")
        came_to = errors.mysql_outcome(result, queries)
        assert (came_to["number"], came_to["index"], came_to["kind"]) == (number, index, ADMIN[number])


@given(st.text(), st.text(), st.integers(1, 9999), st.integers(0, 5), st.sampled_from(["admin", "seed"]))
def test_any_text_of_tenants_is_never_read(database: str, value: str, number: int, index: int, login: str) -> None:
    name = database.replace("\0", "") or "x"
    if "{" in name:  # how a name with braces gets into a statement is test_sql.py's
        name = name.replace("{", "(")
    queries = sql.statements(["take", "create_database", "use"], name)
    result = sent(queries[index], {"database": name, "password": value, "n": None}, f"({number}, {value!r})")
    came_to = errors.mysql_outcome(result, queries, login)
    assert (came_to["number"], came_to["phase"], came_to["index"]) == (number, "statement", index)


@pytest.mark.parametrize("file", ["/proc/7/fd/9", "", "/root/.my.cnf"])
def test_login_files_of_any_name(file: str) -> None:
    assert errors.mysql_outcome(not_connected(ACCESS, file), QUERIES)["number"] == 1045


@pytest.mark.parametrize("login", ["admin", "seed"])
@pytest.mark.parametrize(
    ("driver", "kind"),
    [
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'db' ([Errno 111] Connection refused)\")",
            "unavailable",
            id="refused-port",
        ),
        pytest.param("(2003, \"Can't connect to MySQL server on 'db' (timed out)\")", "unavailable", id="timeout"),
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'db' ([Errno -2] Name or service not known)\")",
            "unavailable",
            id="dns",
        ),
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'mysql-ssl.example.com' (timed out)\")",
            "unavailable",
            id="S1-host-called-ssl",
        ),
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'certificate.example.com' ([Errno 111] Connection refused)\")",
            "unavailable",
            id="S1-host-called-certificate",
        ),
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'db' ([SSL: CERTIFICATE_VERIFY_FAILED] x (_ssl.c:992))\")",
            "provider",
            id="S1-wrong-ca",
        ),
        pytest.param(
            "(2003, \"Can't connect to MySQL server on 'db' (Hostname mismatch, certificate is not valid)\")",
            "provider",
            id="S1-wrong-name",
        ),
        pytest.param('(2026, "SSL is required but the server doesn\'t support it")', "provider", id="S1-none-offered"),
        pytest.param(
            "'cryptography' package is required for sha256_password or caching_sha2_password auth methods",
            "provider",
            id="library-missing",
        ),
    ],
)
def test_tls_is_the_providers_and_a_port_is_not(driver: str, kind: str, login: str) -> None:
    assert errors.mysql_outcome(not_connected(driver), QUERIES, login)["kind"] == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("Can't create database 'app' (errno: 13 \"Permission denied\")", "name", id="N9-not-held"),
        pytest.param(
            "Can't create database 'app' (errno: 28 \"No space left on device\")", "unavailable", id="disk-full"
        ),
        pytest.param(
            "Can't create database 'errno: 28' (errno: 13 \"Permission denied\")", "name", id="N8-name-says-disk-full"
        ),
    ],
)
def test_a_full_disk_is_not_the_names_fault(text: str, kind: str) -> None:
    result = sent("CREATE DATABASE `app`", None, f"(1006, {text!r})")
    assert errors.mysql_outcome(result, ["CREATE DATABASE `app`"])["kind"] == kind


@pytest.mark.parametrize("kind", sorted({*errors.ADMIN_ERRORS.values(), "unavailable"}))
def test_every_failure_of_an_admin_is_a_wait(kind: str) -> None:
    assert kind in errors.WAIT_REASONS
    failed = {"ok": False, "kind": kind, "number": 1234, "phase": "statement", "index": 0}
    waits = errors.wait_outcome(failed, "one")
    assert waits == {"reason": errors.WAIT_REASONS[kind], "params": {"connection": "one", "number": "error 1234"}}


def test_a_wait_without_a_number() -> None:
    failed = {"ok": False, "kind": "unavailable", "number": None, "phase": "unknown", "index": None}
    assert errors.wait_outcome(failed, "one")["params"]["number"] == "no number"
    assert errors.wait_outcome({"ok": True}, "one") == {}


def test_the_drivers_text_goes_no_further() -> None:
    came_to = errors.mysql_outcome(not_connected(ACCESS), QUERIES)
    assert "Access denied" not in str(came_to)
    assert "text" not in came_to
