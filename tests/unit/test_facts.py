"""Rows into words: whose database it is, and what an account may do elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, facts, sql

from tests.unit import samples
from tests.unit.samples import UID, answer, grant

OTHER = {"user": "app-user", "host": "%", "pattern": "other"}
EIGHT = ("Select", "Insert", "Update", "Delete", "Create", "Drop", "Alter", "Index")


def other(pattern: str, user: str = "app-user", host: str = "%") -> dict[str, str]:
    return {"user": user, "host": host, "pattern": pattern}


@pytest.mark.parametrize(
    ("sets", "owner", "full", "elsewhere"),
    [
        pytest.param({"grants": [grant("app-user")]}, True, True, False, id="N10-all-eighteen"),
        pytest.param({"grants": [grant("app-user", only=EIGHT)]}, True, False, False, id="N10-only-the-eight"),
        pytest.param({}, False, False, False, id="N10-nothing"),
        *[
            pytest.param({"grants": [grant("app-user", without=(one,))]}, False, False, False, id=f"N10-without-{one}")
            for one in EIGHT
        ],
        pytest.param(
            {"grants": [grant("app-user", without=("Trigger",))]}, True, False, False, id="N10-without-Trigger"
        ),
        pytest.param({"grants": [grant("app-user", only=("Select",))]}, False, False, False, id="N10-read-only"),
        pytest.param(
            {"grants": [grant("app-user", only=("Show_view",))]}, False, False, False, id="N10-show-view-alone"
        ),
        pytest.param({"other_grants": [other("app")]}, False, False, False, id="N10-column-grant-here"),
        pytest.param(
            {"grants": [grant("app-user")], "other_grants": [other("app")]},
            True,
            True,
            False,
            id="N10-table-grant-here-too",
        ),
        pytest.param(
            {"grants": [grant("app-user")], "other_grants": [OTHER]}, True, True, True, id="N10-column-grant-elsewhere"
        ),
        pytest.param(
            {"grants": [grant("app-user")], "other_grants": [other("")]}, True, True, True, id="N10-role-or-proxy"
        ),
        pytest.param(
            {"grants": [grant("app-user")], "global_grants": [{"grantee": "'app-user'@'%'"}]},
            True,
            True,
            True,
            id="N10-global-select",
        ),
        pytest.param({"global_grants": [{"grantee": "'app-user'@'%'"}]}, False, False, True, id="N10-global-alone"),
        pytest.param(
            {"grants": [grant("app-user"), grant("app-user", pattern="other")]},
            True,
            True,
            True,
            id="N10-two-databases",
        ),
        pytest.param({"grants": [grant("app-user", pattern="ap%")]}, False, False, True, id="N10-pattern-percent"),
        pytest.param({"grants": [grant("app-user", pattern="%")]}, False, False, True, id="N10-pattern-all"),
        pytest.param({"grants": [grant("app-user", pattern="a_p")]}, False, False, True, id="N10-pattern-underscore"),
        pytest.param({"grants": [grant("app-user", pattern="APP")]}, False, False, True, id="N10-another-case"),
        pytest.param({"grants": [grant("app-user", host="localhost")]}, False, False, False, id="N10-another-host"),
        pytest.param({"grants": [grant("App-user")]}, False, False, False, id="N10-another-user"),
        pytest.param(
            {
                "grants": [grant("app-user"), grant("app-user", "localhost", "other")],
                "other_grants": [other("x", host="localhost")],
                "global_grants": [{"grantee": "'app-user'@'localhost'"}],
            },
            True,
            True,
            False,
            id="N10-the-neighbours-rights",
        ),
    ],
)
def test_rights(sets: dict[str, Any], owner: bool, full: bool, elsewhere: bool) -> None:
    may = facts.rights(answer(**sets), "app-user", "%", "app")
    assert may == {"owner": owner, "full": full, "elsewhere": elsewhere}


@pytest.mark.parametrize(
    ("database", "pattern", "own"),
    [
        pytest.param("team_a", r"team\_a", True, id="N10-escaped"),
        pytest.param("team_a", "team_a", True, id="N10-older-operators-unescaped"),
        pytest.param("team_a", "team_b", False, id="N1-neighbour"),
        pytest.param("teamXa", "team_a", False, id="N1-wildcard-of-a-neighbour"),
        pytest.param("teamXa", r"team\_a", False, id="N1-escaped-neighbour"),
        pytest.param("pct%s", r"pct\%s", True, id="N3-percent"),
        pytest.param("a\\b", "a\\\\b", True, id="N3-backslash"),
        pytest.param("a-b", "a-b", True, id="N2-dash"),
    ],
)
def test_patterns_that_are_this_databases(database: str, pattern: str, own: bool) -> None:
    may = facts.rights(answer(grants=[grant("app-user", pattern=pattern)]), "app-user", "%", database)
    assert may == {"owner": own, "full": own, "elsewhere": not own}


def test_two_spellings_must_each_be_enough() -> None:
    # The server reads one of the rows only, and which one isn't ours to say.
    both = [grant("app-user", pattern="team_a", only=("Select",)), grant("app-user", pattern=r"team\_a")]
    assert facts.rights(answer(grants=both), "app-user", "%", "team_a") == {
        "owner": False,
        "full": False,
        "elsewhere": False,
    }


def test_a_newer_servers_columns_are_not_asked_for() -> None:
    newer = {**grant("app-user"), "Brand_new_priv": "N"}
    assert facts.rights(answer(grants=[newer]), "app-user", "%", "app")["full"]


def test_the_eight_are_the_rights_of_an_owner() -> None:
    assert {sql.DATABASE_PRIVILEGES[name] for name in facts.OWNER_PRIVILEGES} == {f"{name}_priv" for name in EIGHT}


def found(**changes: Any) -> dict[str, Any]:
    """The row sets of the statements ``facts``: a server that has neither name."""
    return {
        "names": [{"database_name": "app", "user_length": 128, "pattern_length": 64}],
        "tls": [{"Variable_name": "Ssl_cipher", "Value": ""}],
        "databases": [],
        "users": [],
        "claims": [],
        "grants": [],
        "other_grants": [],
        "global_grants": [],
        "exposures": [],
        **changes,
    }


def user(host: str = "%", ssl: str = "", name: str = "app-user") -> dict[str, str]:
    return {"user": name, "host": host, "ssl_type": ssl}


ME = {"cluster": samples.CLUSTER, "request_uid": UID}
NONE = {
    "names": "ordinary",
    "lengths": "fit",
    "claim": "free",
    "database": "missing",
    "account": "none",
    "exposed": "no",
}


def server(seed: dict[str, str] | None = None, admin: str = "dbaas_admin", **changes: Any) -> dict[str, Any]:
    return facts.server_facts(found(**changes), seed or {"database": "app", "username": "app-user"}, admin, ME)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({}, {}, id="NONE"),
        pytest.param({"databases": [{"name": "app"}]}, {"database": "present"}, id="HALF-database"),
        pytest.param({"users": [user()]}, {"account": "exists"}, id="HALF-account"),
        pytest.param(
            {"users": [user(""), user("%")], "databases": [{"name": "app"}]},
            {"database": "present", "account": "exists"},
            id="ALL",
        ),
        pytest.param({"users": [user(name="App-User")]}, {}, id="N5-another-case"),
        pytest.param(
            {"claims": [{"cluster": samples.CLUSTER, "request_uid": "other"}]},
            {"claim": "taken"},
            id="O4-another-request",
        ),
        pytest.param(
            {"claims": [{"cluster": "cluster-2", "request_uid": UID}]}, {"claim": "taken"}, id="O4-another-cluster"
        ),
        pytest.param({"claims": [{"cluster": samples.CLUSTER, "request_uid": UID}]}, {}, id="O9-its-own-claim"),
        pytest.param({"claims": [dict(ME), {"cluster": "x", "request_uid": "y"}]}, {"claim": "taken"}, id="O10-both"),
        pytest.param({"exposures": [{"user": "x", "host": "%"}]}, {"exposed": "yes"}, id="N1-exposed"),
        pytest.param({"admin": "app-user"}, {"names": "reserved"}, id="N5-admin"),
        pytest.param({"seed": {"database": "app", "username": "root"}}, {"names": "reserved"}, id="N5-root"),
        pytest.param(
            {"names": [{"database_name": "mysql", "user_length": 128, "pattern_length": 64}]},
            {"names": "reserved"},
            id="N5-folded-mysql",
        ),
    ],
)
def test_server_facts(changes: dict[str, Any], words: dict[str, str]) -> None:
    assert server(**changes)["facts"] == {**NONE, **words}


PRESENT = {"databases": [{"name": "x"}], "users": [user()]}


@pytest.mark.parametrize(
    ("database", "username", "limit", "there", "too_long"),
    [
        pytest.param("app", "u" * 80, 80, {}, "", id="N4-80-of-80"),
        pytest.param("app", "u" * 81, 80, {}, "username", id="N4-81-of-80"),
        pytest.param("app", "u" * 32, 32, {}, "", id="N4-32-of-32"),
        pytest.param("app", "u" * 33, 32, {}, "username", id="N4-33-of-32"),
        pytest.param("app", "u" * 128, 128, {}, "", id="N4-the-servers-own-limit"),
        pytest.param("app", "u" * 129, 128, {}, "username", id="N4-one-more"),
        pytest.param("app", "€" * 128, 128, {}, "", id="N4-characters-not-bytes"),
        pytest.param("d" * 64, "u", 128, {}, "", id="N4-database-64"),
        pytest.param("d" * 65, "u", 128, {}, "database", id="N4-database-65"),
        pytest.param("d" * 63 + "_", "u", 128, {}, "database", id="N4-NONE-64-with-underscore"),
        pytest.param("d" * 63 + "_", "u", 128, PRESENT, "", id="N4-ALL-64-with-underscore"),
        pytest.param("d" * 62 + "_", "u", 128, {}, "", id="N4-NONE-63-with-underscore"),
        pytest.param("d" * 62 + "\\_", "u", 128, {}, "database", id="N4-NONE-64-with-two-escapes"),
    ],
)
def test_n4_lengths(database: str, username: str, limit: int, there: dict[str, Any], too_long: str) -> None:
    names = [{"database_name": database, "user_length": limit, "pattern_length": 64}]
    got = server({"database": database, "username": username}, names=names, **there)
    assert got["too_long"] == too_long
    assert got["facts"]["lengths"] == ("too_long" if too_long else "fit")


def test_n9_the_servers_spelling_is_kept() -> None:
    got = server(
        {"database": "MyDB", "username": "u"},
        names=[{"database_name": "mydb", "user_length": 128, "pattern_length": 64}],
    )
    assert got["database_name"] == "mydb"


@pytest.mark.parametrize(
    ("tls", "ssl_type", "expected"),
    [
        pytest.param("TLS_AES_256_GCM_SHA384", "", (True, False), id="S1-tls"),
        pytest.param("", "ANY", (False, True), id="S1-REQUIRE-SSL"),
        pytest.param("", "X509", (False, True), id="S1-REQUIRE-X509"),
        pytest.param("", "", (False, False), id="S1-neither"),
    ],
)
def test_s1_tls(tls: str, ssl_type: str, expected: tuple[bool, bool]) -> None:
    got = server(tls=[{"Variable_name": "Ssl_cipher", "Value": tls}], users=[user(ssl=ssl_type)])
    assert (got["tls"], got["ssl_accounts"]) == expected


def test_accounts_are_counted() -> None:
    assert server(users=[user("%"), user("localhost"), user("10.%")])["accounts"] == 3


def on(database: str = "present", tls: bool = False, ssl: bool = False) -> dict[str, Any]:
    return {"facts": {"database": database}, "tls": tls, "ssl_accounts": ssl}


WORKED = {"query_result": [[{"host": "10.%"}], []]}
FAILED: dict[str, Any] = {"failed": True}


@pytest.mark.parametrize(
    ("outcome", "result", "server", "words", "host", "kind"),
    [
        pytest.param(samples.ok(), WORKED, on(), {"login": "works", "use": "ok"}, "10.%", "ok", id="row-11-or-14"),
        pytest.param(samples.ok(), WORKED, on("missing"), {"login": "works"}, "10.%", "ok", id="row-9"),
        pytest.param(
            samples.bad("other_account", 1242, 0),
            FAILED,
            on(),
            {"login": "other_account"},
            None,
            "other_account",
            id="row-8",
        ),
        pytest.param(
            samples.bad("no_access", 1044, 1),
            FAILED,
            on(),
            {"login": "works", "use": "refused"},
            None,
            "no_access",
            id="row-10-1044",
        ),
        pytest.param(
            samples.bad("no_access", 1049, 1),
            FAILED,
            on(),
            {"login": "works", "use": "refused"},
            None,
            "no_access",
            id="row-10-1049",
        ),
        pytest.param(
            samples.bad("refused", 1045, None, "connect"),
            FAILED,
            on(),
            {"login": "refused"},
            None,
            "refused",
            id="row-12",
        ),
        pytest.param(
            samples.bad("refused", 1045, None, "connect"),
            FAILED,
            on("missing"),
            {"login": "refused"},
            None,
            "refused",
            id="row-16",
        ),
        pytest.param(
            samples.bad("refused", 1045, None, "connect"),
            FAILED,
            on(ssl=True),
            {},
            None,
            "provider",
            id="S1-ssl-account-without-tls",
        ),
        pytest.param(
            samples.bad("refused", 1045, None, "connect"),
            FAILED,
            on(ssl=True, tls=True),
            {"login": "refused"},
            None,
            "refused",
            id="S1-ssl-account-with-tls",
        ),
        pytest.param(
            samples.bad("unavailable", 2003, None, "connect"), FAILED, on(), {}, None, "unavailable", id="server-away"
        ),
        pytest.param(
            samples.bad("unavailable", None, None, "unknown"), FAILED, on(), {}, None, "unavailable", id="task-timeout"
        ),
        pytest.param(
            samples.bad("provider", 2026, None, "connect"), FAILED, on(), {}, None, "provider", id="S1-wrong-ca"
        ),
        pytest.param(samples.bad("no_access", 1142, 0), FAILED, on(), {}, None, "unavailable", id="an-odd-place"),
        pytest.param(
            samples.bad("other_account", 1242, 1), FAILED, on(), {}, None, "unavailable", id="another-odd-place"
        ),
    ],
)
def test_login_facts(
    outcome: dict[str, Any],
    result: dict[str, Any],
    server: dict[str, Any],
    words: dict[str, str],
    host: str | None,
    kind: str,
) -> None:
    assert facts.login_facts(outcome, result, server) == {"facts": words, "host": host, "kind": kind}


@pytest.mark.parametrize(("name", "keys"), [("survey", sql.SURVEY), ("facts", sql.FACTS)])
def test_keyed(name: str, keys: tuple[str, ...]) -> None:
    result = {"query_result": [[{"n": n}] for n in range(len(keys))]}
    assert facts.keyed(result, name) == {key: [{"n": n}] for n, key in enumerate(keys)}
    with pytest.raises(ValueError, match="zip"):
        facts.keyed({"query_result": result["query_result"][:-1]}, name)


def test_every_refusal_of_a_login_is_a_fact() -> None:
    for number, kind in errors.SEED_ERRORS.items():
        if kind == "refused":
            outcome = samples.bad("refused", number, None, "connect")
            assert facts.login_facts(outcome, FAILED, on())["facts"] == {"login": "refused"}
