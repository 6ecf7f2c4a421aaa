"""Names and passwords that the operator makes up, and those that nobody may bring."""

from __future__ import annotations

import re

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import names, sql
from hypothesis import given
from hypothesis import strategies as st

DNS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
SUBDOMAIN = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?", fullmatch=True)


@given(DNS, SUBDOMAIN, st.uuids(), st.uuids())
def test_derived_names_need_no_escaping(namespace: str, name: str, cluster: object, uid: object) -> None:
    database = names.derived_database(namespace, name, str(cluster), str(uid))
    account = names.derived_account(str(cluster), str(uid))
    assert re.fullmatch(r"[A-Za-z0-9-]{13,62}", database)
    assert re.fullmatch(r"u-[0-9a-f]{24}", account)
    assert sql.escape_pattern(database) == database
    assert len(account) <= 32, "the least that a server holds"


def test_n7_long_namespaces_get_different_databases() -> None:
    one, two = ("n" * 60 + end for end in ("abc", "xyz"))
    first = names.derived_database(one, "r" * 63, "c", "uid-1")
    second = names.derived_database(two, "r" * 63, "c", "uid-2")
    assert first != second
    assert len(first) == len(second) == 62


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(("c", "uid-1"), ("c", "uid-2"), id="D5-another-uid"),
        pytest.param(("c-1", "uid"), ("c-2", "uid"), id="another-cluster"),
        pytest.param(("a/b", "c"), ("a", "b"), id="the-joint-matters"),
    ],
)
def test_names_depend_on_cluster_and_uid(left: tuple[str, str], right: tuple[str, str]) -> None:
    assert names.derived_account(*left) != names.derived_account(*right)
    assert names.derived_database("ns", "r", *left) != names.derived_database("ns", "r", *right)


def test_names_stay_put() -> None:
    assert names.derived_database("ns", "my.req", "c", "u") == names.derived_database("ns", "my.req", "c", "u")
    assert names.derived_database("ns", "my.req", "c", "u").startswith("ns-my-req-")


def test_generated_passwords() -> None:
    made = {names.generated_password() for _ in range(300)}
    assert len(made) == 300
    for password in made:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{31}", password)
        for one_of in ("[a-z]", "[A-Z]", "[0-9]", "[-_]"):
            assert re.search(one_of, password), "P5: a policy wants one of each class"


@pytest.mark.parametrize(
    ("database", "username", "reserved"),
    [
        pytest.param("app", "app-user", False, id="N5-ordinary"),
        *[pytest.param(name, "app-user", True, id=f"N5-database-{name}") for name in sorted(names.RESERVED_DATABASES)],
        *[
            pytest.param(name.upper(), "app-user", True, id=f"N5-database-{name.upper()}")
            for name in sorted(names.RESERVED_DATABASES)
        ],
        pytest.param("mysql2", "app-user", False, id="N5-database-mysql2"),
        pytest.param("app", "root", True, id="N5-root"),
        pytest.param("app", "mysql", True, id="N5-mysql"),
        pytest.param("app", "mysql.sys", True, id="N5-mysql.sys"),
        pytest.param("app", "mysql.session", True, id="N5-mysql.session"),
        pytest.param("app", "mysql.infoschema", True, id="N5-mysql.infoschema"),
        pytest.param("app", "mariadb.sys", True, id="N5-mariadb.sys"),
        pytest.param("app", "the-admin", True, id="N5-the-admin"),
        pytest.param("app", "mysqlish", False, id="N5-mysqlish"),
        pytest.param("app", "rooted", False, id="N5-rooted"),
    ],
)
def test_reserved(database: str, username: str, reserved: bool) -> None:
    assert names.is_reserved(database, username, "the-admin") is reserved


def test_the_older_operators_are_reserved() -> None:
    assert {"dbaas_operator", "dbaas_controller"} <= names.RESERVED_DATABASES


@pytest.mark.parametrize(("service", "prefix"), [("mariadb", "MARIADB"), ("my-db-2", "MY_DB_2")])
def test_key_prefix(service: str, prefix: str) -> None:
    assert names.key_prefix(service) == prefix
