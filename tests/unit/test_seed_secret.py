"""The seed secret's keys: what is cleaned, what is refused, and that no value is ever told."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials, seed_secret
from hypothesis import given
from hypothesis import strategies as st

from tests.passwords import parameters
from tests.unit.samples import encode

GOOD: dict[str, str | bytes] = {
    "database": "app",
    "username": "app-user",
    "password": "geheim-123",
    "hostname": "db.example.com",
    "port": "3307",
}
LABEL64 = "a" * 64


def parse(**changes: str | bytes | None) -> dict[str, Any]:
    values = {**GOOD, **changes}
    return seed_secret.parse({key: encode(value) for key, value in values.items() if value is not None})


def refused(**changes: str | bytes | None) -> seed_secret.SeedKeyError:
    with pytest.raises(seed_secret.SeedKeyError) as caught:
        parse(**changes)
    return caught.value


def test_a_good_one() -> None:
    assert parse() == {**GOOD, "port": 3307}


def test_keys_beside_the_five_are_no_harm() -> None:
    assert parse(host="other.example.com", README="x") == {**GOOD, "port": 3307}


@pytest.mark.parametrize("data", [None, {}])
def test_an_empty_one(data: dict[str, Any] | None) -> None:
    with pytest.raises(seed_secret.SeedKeyError, match=r"^database is missing$"):
        seed_secret.parse(data)


@pytest.mark.parametrize("key", ["database", "username", "password", "hostname"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(None, "is missing", id="missing"),
        pytest.param("", "is empty", id="N5-empty"),
        pytest.param("x\n", "ends with a line break", id="P3-LF"),
        pytest.param("x\r\n", "ends with a line break", id="P3-CRLF"),
        pytest.param("x\r", "ends with a line break", id="P3-CR"),
        pytest.param("\n", "ends with a line break", id="P3-only"),
        pytest.param("x\ny", "holds a line break", id="P3-inside"),
        pytest.param("x\0y", "holds a NUL character", id="P4-NUL"),
        pytest.param(b"\x80\xff\x00", "is not UTF-8 text", id="P4-80ff00"),
        pytest.param(b"\xc3\x28", "is not UTF-8 text", id="P4-c328"),
        pytest.param(b"\xed\xa0\x80", "is not UTF-8 text", id="P4-surrogate"),
    ],
)
def test_keys_that_must_be_text(key: str, value: str | bytes | None, problem: str) -> None:
    error = refused(**{key: value})
    assert (error.key, error.problem) == (key, problem)
    assert str(error) == f"{key} {problem}"


@pytest.mark.parametrize("end", [pytest.param("\n", id="P3-LF"), pytest.param("\r\n", id="P3-CRLF")])
def test_a_port_with_a_line_break(end: str) -> None:
    error = refused(port="3306" + end)
    assert (error.key, error.problem) == ("port", "ends with a line break")


@pytest.mark.parametrize(
    ("value", "port"),
    [
        pytest.param(None, 3306, id="P7-missing"),
        pytest.param(" 3306", 3306, id="P7-blank-before"),
        pytest.param("3306 ", 3306, id="P7-blank-behind"),
        pytest.param("\t3306", 3306, id="P7-tab"),
        pytest.param("1", 1, id="P7-least"),
        pytest.param("65535", 65535, id="P7-most"),
        pytest.param("03306", 3306, id="P7-zero-before"),
    ],
)
def test_ports(value: str | None, port: int) -> None:
    assert parse(port=value)["port"] == port


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="P7-empty"),
        pytest.param(" ", id="P7-blank"),
        pytest.param("abc", id="P7-abc"),
        pytest.param("0", id="P7-0"),
        pytest.param("00000", id="P7-00000"),
        pytest.param("65536", id="P7-65536"),
        pytest.param("3306.0", id="P7-3306.0"),
        pytest.param("-1", id="P7-negative"),
        pytest.param("+3306", id="P7-plus"),
        pytest.param("3_306", id="P7-underscore"),
        pytest.param("0xCEA", id="P7-hex"),
        pytest.param("3 306", id="P7-blank-inside"),
        pytest.param("٣٣٠٦", id="P7-other-digits"),
        pytest.param("９９", id="P7-wide-digits"),
        pytest.param("9" * 5000, id="P7-endless"),
        pytest.param("3306\u00a0", id="P7-no-break-space"),
    ],
)
def test_ports_that_are_none(value: str) -> None:
    error = refused(port=value)
    assert (error.key, error.problem) == ("port", "is not a number from 1 to 65535")


@pytest.mark.parametrize("value", [b"\x80", "33\x0006"])
def test_ports_that_are_no_text(value: str | bytes) -> None:
    assert refused(port=value).key == "port"


@pytest.mark.parametrize(
    ("value", "hostname"),
    [
        pytest.param("LOCALHOST.", "localhost", id="S3-upper-and-dot"),
        pytest.param("localhost", "localhost", id="S3-plain"),
        pytest.param("Db-1.Example.COM", "db-1.example.com", id="S3-upper"),
        pytest.param("192.0.2.5", "192.0.2.5", id="S4-IPv4"),
        pytest.param("FD00::5", "fd00::5", id="S4-IPv6"),
        pytest.param("fd00:0:0:0:0:0:0:5", "fd00::5", id="S4-IPv6-long"),
        pytest.param("a" * 63 + ".b", "a" * 63 + ".b", id="S3-longest-label"),
        pytest.param(".".join(["a" * 49] * 5) + ".bcd", ".".join(["a" * 49] * 5) + ".bcd", id="S3-253"),
    ],
)
def test_hostnames(value: str, hostname: str) -> None:
    assert parse(hostname=value)["hostname"] == hostname


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("db_eu.example.com", id="S3-underscore"),
        pytest.param("host:3306", id="S3-with-port"),
        pytest.param(".".join(["a" * 49] * 5) + ".bcde", id="S3-254"),
        pytest.param(f"{LABEL64}.example.com", id="S3-label-64"),
        pytest.param(".", id="S3-dot"),
        pytest.param("a..b", id="S3-two-dots"),
        pytest.param("host..", id="S3-two-dots-at-the-end"),
        pytest.param("-a.example.com", id="S3-dash-before"),
        pytest.param("a-.example.com", id="S3-dash-behind"),
        pytest.param(" host", id="S3-blank-before"),
        pytest.param("host ", id="S3-blank-behind"),
        pytest.param("[fd00::5]", id="S4-brackets"),
        pytest.param("mysql://host", id="S3-url"),
        pytest.param("höst.example.com", id="S3-not-ascii"),
        pytest.param("\u212aelvin.example.com", id="S3-not-ascii-folds-to-k"),
    ],
)
def test_hostnames_that_are_none(value: str) -> None:
    error = refused(hostname=value)
    assert (error.key, error.problem) == ("hostname", "is not a host name or an address")


@pytest.mark.parametrize("key", ["database", "username"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param("ak-test", id="N2-dash"),
        pytest.param("a:b", id="N3-colon"),
        pytest.param("a.b", id="N3-dot"),
        pytest.param("a/b", id="N3-slash"),
        pytest.param("a b", id="N3-blank"),
        pytest.param("a`b", id="N3-backtick"),
        pytest.param("a'b", id="N3-quote"),
        pytest.param("a\\b", id="N3-backslash"),
        pytest.param("pct%s", id="N3-percent"),
        pytest.param("(1049, 'x')", id="N8-1049"),
        pytest.param('(2003, "y")', id="N8-2003"),
        pytest.param("{{ 7*7 }}", id="P2-braces"),
        pytest.param("True", id="P2-bool"),
        pytest.param("[1, 2]", id="P2-list"),
        pytest.param("pässwörd€", id="N9-in-the-plane"),
    ],
)
def test_names_that_are_held(key: str, value: str) -> None:
    assert parse(**{key: value})[key] == value


@pytest.mark.parametrize("key", ["database", "username"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(" app", "begins or ends with a blank", id="N5-blank-before"),
        pytest.param("app ", "begins or ends with a blank", id="N5-blank-behind"),
        pytest.param("app\u00a0", "begins or ends with a blank", id="N5-no-break-space"),
        pytest.param("\u3000app", "begins or ends with a blank", id="N5-wide-blank"),
        pytest.param(" ", "begins or ends with a blank", id="N5-only-blank"),
        pytest.param("a\tb", "holds a control character", id="N5-tab"),
        pytest.param("a\x7fb", "holds a control character", id="N5-delete"),
        pytest.param("a\x85b", "holds a control character", id="N5-next-line"),
        pytest.param("x😀", "holds a character that the server's names can't (beyond U+FFFF)", id="N9-emoji"),
    ],
)
def test_names_that_no_server_holds(key: str, value: str, problem: str) -> None:
    error = refused(**{key: value})
    assert (error.key, error.problem) == (key, problem)


@pytest.mark.parametrize("value", ["#mysql50#app", "#MySQL50#app"])
def test_n9_the_old_prefix(value: str) -> None:
    assert refused(database=value).key == "database"
    assert parse(username=value)["username"] == value


@pytest.mark.parametrize(
    "password", parameters("app-user", "app", "\t", "{{ lookup('pipe','touch pwned') }}", "{% raw %}")
)
def test_passwords_stay_as_they_are(password: str) -> None:
    assert parse(password=password)["password"] == password


@given(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1))
def test_any_one_line_password_stays_as_it_is(password: str) -> None:
    parsed = parse(password=password)["password"]
    assert parsed == password
    credentials.option_file("app", parsed)


@given(st.sampled_from(["database", "username", "password", "hostname", "port"]), st.binary(min_size=12))
def test_no_value_is_ever_told(key: str, value: bytes) -> None:
    try:
        parse(**{key: value})
    except seed_secret.SeedKeyError as error:
        assert error.key == key
        assert error.__cause__ is None
        text = value.decode("utf-8", "ignore")
        assert not text or text not in str(error)


def test_the_first_bad_key_is_named() -> None:
    assert refused(port="0", password="", username="").key == "username"


@pytest.mark.parametrize("username", ["'x'", "''", "''@''"])
def test_n3_a_user_name_in_quotes(username: str) -> None:
    # A server takes the quotes off the name in a login: it would never be this account.
    assert refused(username=username).key == "username"
    assert parse(database=username)["database"] == username


@pytest.mark.parametrize("username", ["'x", "x'", "'", "a'b", '"x"'])
def test_n3_a_user_name_with_quotes(username: str) -> None:
    assert parse(username=username)["username"] == username
