"""What a real server and the real module say of a failure: the number is read right, whoever's text stands by."""

# Fixtures are imported, and named again as arguments.
# ruff: noqa: F401, F811

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, names, settling, sql

from dev.operator import ansible_settings
from dev.paths import ROOT
from tests.integration.sqlhelpers import Sql, any_mode, claim_arguments, default_server, server, worker
from tests.unit import samples

HOSTILE = [
    pytest.param("plain", id="plain"),
    pytest.param('(1049, "x")', id="N8-1049"),
    pytest.param("(1049, 'x')", id="N8-1049-quote"),
    pytest.param('(2003, "y")', id="N8-2003"),
    pytest.param("]: (1045, 'x')", id="N8-end-of-arguments"),
    pytest.param("' args [None]: (1045, 'x')", id="N8-whole-tail"),
    pytest.param("'}]: (1045, 'x')", id="N8-quote-and-brace"),
    pytest.param("'\"}]: (1045, 'x')", id="N8-both-quotes"),
    pytest.param("\\'}]: (1045, 'x')", id="N8-backslash-quote"),
    pytest.param("a\\", id="N8-backslash"),
    pytest.param("a\"b'c`d", id="N3-quotes"),
    pytest.param("100%s %d %%", id="N3-percent"),
    pytest.param("x errno: 28 y", id="N8-errno"),
    pytest.param("ü€漢", id="N9-beyond-ascii"),
]


def outcome(kind: str, number: int | None, phase: str = "statement", index: int | None = None) -> dict[str, Any]:
    return {"ok": False, "kind": kind, "number": number, "phase": phase, "index": index}


@pytest.mark.parametrize("text", HOSTILE)
def test_statements_that_fail(server: Sql, text: str) -> None:
    """1007, 1008, 1049, 1044, 1062, 1242, 1396: with tenant text in the name, in the arguments and in the message."""
    given = claim_arguments(text, text, password=text)
    server.done("claim", text, transaction=True, **given)
    server.done(["take", "create_account"], text, **given)
    assert server.send(["take", "create_account"], text, **given)["outcome"] == outcome("again", 1396, index=4)
    # Not there, and then there but not the account's to enter.
    login = server.login_file(text, text)
    assert server.send(["login", "use"], text, login, username=text)["outcome"]["kind"] == "no_access"
    assert server.send("use", text)["outcome"] == outcome("ledger", 1049, index=0)
    server.done(["take", "create_database"], text, **given)
    assert server.send(["login", "use"], text, login, username=text)["outcome"] == outcome("no_access", 1044, index=1)
    assert server.send(["take", "create_database"], text, **given)["outcome"] == outcome("again", 1007, index=4)
    lost = server.send("claim", text, transaction=True, **claim_arguments(text, "x", "uid-2"))
    assert lost["outcome"] == outcome("claimed", 1062, index=2)
    assert server.send(["take", "ready"], text, **{**given, "fence": 1})["outcome"] == outcome("stale", 1242, index=3)
    assert server.send("login", login=login, username=text + "x")["outcome"] == outcome("other_account", 1242, index=0)
    for result in (lost, server.send("use", text + "x")):
        assert "text" not in result["outcome"]


@pytest.mark.parametrize("text", HOSTILE)
def test_logins_that_fail(default_server: Sql, text: str) -> None:
    default_server.account(text, "right")
    for password in ("wrong", text, "1", "1045"):
        login = default_server.login_file(text, password)
        assert default_server.send(["login", "use"], text, login, username=text)["outcome"] == outcome(
            "refused", 1045, "connect"
        )
    queries = sql.statements("survey")
    refused = default_server.query(queries, {"database": text}, default_server.login_file(text, "wrong"))
    assert errors.mysql_outcome(refused, queries) == outcome("provider", 1045, "connect")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def refused_port() -> Iterator[int]:
    """A port on which nobody listens."""
    yield free_port()


@pytest.mark.parametrize(
    ("where", "port", "numbers"),
    [
        pytest.param("localhost", refused_port, {2003}, id="refused-port"),
        pytest.param("nobody.invalid", refused_port, {2003}, id="dns"),
    ],
)
@pytest.mark.parametrize("login", ["admin", "seed"])
def test_servers_that_are_away(
    default_server: Sql, where: str, port: Callable[[], Any], numbers: set[int], login: str
) -> None:
    with port() as number:
        result = default_server.query(
            ["SELECT 1"], None, default_server.admin, login_host=where, login_port=number, connect_timeout=1
        )
    came_to = errors.mysql_outcome(result, ["SELECT 1"], login)
    assert (came_to["kind"], came_to["phase"]) == ("unavailable", "connect")
    assert came_to["number"] in numbers


def test_a_connection_that_is_cut(default_server: Sql) -> None:
    # 2013 or 2006 or the server's own 1927/1317: whatever it is, it is a wait.
    queries = ["SELECT 1", "KILL CONNECTION_ID()", "SELECT 2"]
    came_to = errors.mysql_outcome(default_server.query(queries), queries)
    assert came_to["kind"] == "unavailable"
    assert came_to["phase"] == "statement"


@pytest.mark.parametrize("file", [pytest.param("", id="none"), pytest.param("/nowhere/login", id="not-there")])
def test_a_login_file_that_is_not_there(default_server: Sql, file: str) -> None:
    result = default_server._worker.run(
        {"config_file": file, "login_host": "localhost", "login_port": default_server.server.port, "query": "SELECT 1"}
    )
    came_to = errors.mysql_outcome(result, ["SELECT 1"])
    assert (came_to["number"] in (1045, 1698), came_to["phase"]) == (True, "connect")


def test_1146_and_1049_without_a_ledger(default_server: Sql) -> None:
    arguments: dict[str, Any] = {"cluster": "c", "request_uid": "u", "namespace": "n", "request": "r"}
    try:
        default_server.root("DROP TABLE dbaas_operator.meta")
        assert default_server.send("survey", **arguments)["outcome"] == outcome("ledger", 1146, index=1)
        default_server.root("DROP DATABASE dbaas_operator")
        assert default_server.send("survey", **arguments)["outcome"]["kind"] == "ledger"
    finally:
        default_server.done("ledger")


def test_1044_and_1142_of_an_admin_without_rights(default_server: Sql) -> None:
    login = default_server.account("poor")
    for form, numbers in (
        ("create_database", {1044}),
        ("create_account", {1227}),
        ("drop_database", {1044}),
        ("grant", {1044, 1142}),
        ("facts", {1142}),
    ):
        queries = sql.statements(form, "x_y")
        given = {**claim_arguments("x_y"), "database": "x_y", "escape": "\\"}
        came_to = errors.mysql_outcome(default_server.query(queries, given, login), queries)
        assert (came_to["kind"], came_to["number"] in numbers) == ("provider", True), (form, came_to)


@pytest.mark.parametrize("password", ["short", "nodigitsinthisone", "(1045, 'x')]: (1062, ", "1819"])
def test_p5_1819_of_a_password_policy(default_server: Sql, password: str) -> None:
    default_server.root("INSTALL SONAME 'simple_password_check'")
    try:
        given = claim_arguments("app", password=password)
        default_server.done("claim", "app", transaction=True, **given)
        steps = ["create_account", "create_database", "grant"]
        came_to = default_server.send(["take", *steps], "app", **given)["outcome"]
        assert came_to == outcome("policy", 1819, index=4)
        ending = settling.make_failed(samples.seeded(), samples.row("u", state="creating", ready=None), came_to, steps)
        assert ending["outcome"]["reason"] == "SeedPasswordPolicy"
        default_server.done(["take", *ending["undo"]], "app", **given)
        assert default_server.root("SELECT User FROM mysql.user WHERE User = 'u'") == []
        assert default_server.survey("uid-1")["rows"] == []
        default_server.done("create_account", **{**given, "password": names.generated_password()})
    finally:
        default_server.root("UNINSTALL SONAME 'simple_password_check'")


def test_1040_too_many_connections(default_server: Sql) -> None:
    before = default_server.root("SELECT @@global.max_connections AS n")[0]["n"]
    held: list[Any] = []
    default_server.root("SET GLOBAL max_connections = 10")
    try:
        default_server.account("app")
        with contextlib.suppress(Exception):
            for _ in range(12):
                held.append(default_server.server.login("app", "geheim"))
        assert default_server.send("survey")["outcome"] == outcome("unavailable", 1040, "connect")
    finally:
        for connection in held:
            connection.close()
        default_server.root(f"SET GLOBAL max_connections = {before}")


def test_1226_of_an_account_with_limits(default_server: Sql) -> None:
    login = default_server.account("app")
    default_server.root("ALTER USER app@'%' WITH MAX_QUERIES_PER_HOUR 1")
    numbers = {default_server.send("login", login=login, username="app")["outcome"]["number"] for _ in range(3)}
    assert 1226 in numbers
    assert default_server.send("login", login=login, username="app")["outcome"]["kind"] == "unavailable"


def test_4151_of_a_locked_account(default_server: Sql) -> None:
    login = default_server.account("app")
    default_server.root("ALTER USER app@'%' ACCOUNT LOCK")
    assert default_server.send("login", login=login, username="app")["outcome"] == outcome("refused", 4151, "connect")


def test_1820_of_an_expired_password(default_server: Sql) -> None:
    login = default_server.account("app")
    default_server.root("ALTER USER app@'%' PASSWORD EXPIRE")
    came_to = default_server.send("login", login=login, username="app")["outcome"]
    assert (came_to["kind"], came_to["number"]) == ("refused", 1820)


# The same through a playbook: what the worker process stands for. One run for all of them.
PLAYBOOK = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - community.mysql.mysql_query:
        config_file: "{{ case['config_file'] }}"
        login_host: localhost
        login_port: "{{ case['port'] }}"
        query: "{{ case['query'] }}"
        named_args: "{{ case['named_args'] }}"
        connect_timeout: 5
      loop: "{{ cases }}"
      loop_control: {loop_var: case, label: x}
      register: results
      ignore_errors: true
    - ansible.builtin.copy:
        content: "{{ results['results'] | to_json }}"
        dest: "{{ output }}"
        mode: "0600"
"""


def test_a_playbook_gets_the_same(default_server: Sql, tmp_path: Path) -> None:
    name = '\' args [None]: (1045, "x") \\'
    default_server.root(f"CREATE DATABASE {sql.identifier(name)}", [])
    default_server.account("app", "right")
    wrong = str(tmp_path / "wrong")
    Path(wrong).write_text('[client]\nuser="app"\npassword="wrong"\n', encoding="utf-8")
    right = str(tmp_path / "right")
    Path(right).write_text('[client]\nuser="app"\npassword="right"\n', encoding="utf-8")
    good, port = default_server.admin, default_server.server.port
    given = {**claim_arguments(name), "database": name}
    cases = [
        (wrong, port, ["login"], {"username": "app"}, outcome("refused", 1045, "connect"), "seed"),
        (right, free_port(), ["login"], {"username": "app"}, outcome("unavailable", 2003, "connect"), "seed"),
        (right, port, ["login", "use"], {"username": "app"}, outcome("no_access", 1044, index=1), "seed"),
        (right, port, ["login", "use"], {"username": "App"}, outcome("other_account", 1242, index=0), "seed"),
        (good, port, ["create_database"], given, outcome("again", 1007, index=0), "admin"),
        (good, port, ["take", "create_database"], given, outcome("stale", 1242, index=3), "admin"),
        (
            good,
            port,
            ["facts"],
            {**given, "escape": "\\"},
            {"ok": True, "kind": "ok", "number": None, "phase": "", "index": None},
            "admin",
        ),
    ]
    values = {
        "output": str(tmp_path / "results.json"),
        "cases": [
            {"config_file": c, "port": p, "query": sql.statements(f, name), "named_args": a}
            for c, p, f, a, _, _ in cases
        ],
    }
    (tmp_path / "values.json").write_text(json.dumps(values), encoding="utf-8")
    (tmp_path / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    run_playbook(tmp_path)
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    for (_, _, forms, _, expected, login), result in zip(cases, results, strict=True):
        assert errors.mysql_outcome(result, sql.statements(forms, name), login) == expected


def run_playbook(folder: Path) -> None:
    """Run ``play.yml`` of a folder with ``values.json``, with the settings that the operator gives a run."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ANSIBLE_")}
    done = subprocess.run(
        [
            str(Path(sys.executable).parent / "ansible-playbook"),
            str(folder / "play.yml"),
            "-e",
            f"@{folder / 'values.json'}",
        ],
        cwd=ROOT,
        env={**environment, **ansible_settings()},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


# The roles' own tasks: names and passwords that look like something else to a template must stay what they are.
SEEN = (
    "{{ {'facts': __seed_facts, 'answer': __seed_server['answer'], 'login': __dbaas_request_login,"
    " 'wait': __seed_wait} | to_json }}"
)
ROLE_PLAY: dict[str, Any] = {
    "hosts": "localhost",
    "connection": "local",
    "gather_facts": False,
    "module_defaults": {
        "community.mysql.mysql_query": {
            "config_file": "{{ admin }}",
            "login_host": "localhost",
            "login_port": "{{ server_port }}",
            "connect_timeout": 5,
        }
    },
    "vars": {"seed_read": "{{ given }}", "__seed_facts": {}},
    "tasks": [
        {"ansible.builtin.include_role": {"name": "seed", "tasks_from": "server.yml"}},
        {"ansible.builtin.include_role": {"name": "dbaas_request", "tasks_from": "decide.yml"}},
        {"ansible.builtin.copy": {"dest": "{{ output }}", "mode": "0600", "content": SEEN}},
    ],
}
LOOKALIKES = ("True", "[1, 2]", "{'a': 1}", "1045", "{{ 7*7 }}", "a'b\"c\\d")


@pytest.fixture(scope="module")
def role_runs(any_mode: Sql, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the roles made of each of these texts as database, user name and password: one playbook, a play each."""
    folder = tmp_path_factory.mktemp("roles")
    plays = []
    for number, text in enumerate(LOOKALIKES):
        any_mode.root(f"CREATE DATABASE {sql.identifier(text)}", [])
        any_mode.account(text, text)
        rights = ", ".join(sql.DATABASE_PRIVILEGES)
        any_mode.root(f"GRANT {rights} ON {sql.grant_pattern(text)}.* TO %s@'%%'", [text])
        read = samples.seeded(seed=samples.seed(database=text, username=text, password=text))
        logged_in = {"query_result": [[{"host": "%"}], []], "__dbaas_request_candidate": {"source": "seed"}}
        values = {
            "admin": any_mode.admin,
            "server_port": any_mode.server.port,
            "output": str(folder / f"{number}.json"),
            "given": read,
            "__dbaas_request_read": read,
            "__dbaas_request_row": samples.row(text, text, origin="adopted", **samples.there(text, text)),
            "__dbaas_request_logins": {"results": [logged_in]},
            "__dbaas_request_credentials": {"by_source": {"seed": {"password": text}}, "candidates": []},
            "__dbaas_request_fresh": False,
            "__dbaas_request_counted": None,
        }
        file = folder / f"values-{number}.yml"
        file.write_text(_unsafe(values), encoding="utf-8")
        plays.append({**ROLE_PLAY, "vars_files": [str(file)]})
    (folder / "values.json").write_text("{}", encoding="utf-8")
    (folder / "play.yml").write_text(json.dumps(plays), encoding="utf-8")
    run_playbook(folder)
    any_mode.clean()
    return {
        text: json.loads((folder / f"{number}.json").read_text(encoding="utf-8"))
        for number, text in enumerate(LOOKALIKES)
    }


@pytest.mark.parametrize("text", [pytest.param(text, id=f"P2-{text}") for text in LOOKALIKES])
def test_text_stays_text_in_the_roles(role_runs: dict[str, Any], text: str) -> None:
    got = role_runs[text]
    assert got["wait"] == {}
    assert (got["facts"]["database"], got["facts"]["account"]) == ("present", "exists")
    assert [u["user"] for u in got["answer"]["users"]] == [text]
    assert got["login"]["password"] == text


def _unsafe(value: Any) -> str:
    """YAML in which every text is marked as one that is never templated, as what the API gives is marked in a run."""

    class Text(str):
        """A text to mark."""

    class Dumper(yaml.SafeDumper):
        """Writes them with Ansible's mark."""

    Dumper.add_representer(Text, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))

    def mark(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: mark(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [mark(inner) for inner in item]
        return Text(item) if isinstance(item, str) else item

    return yaml.dump(mark(value), Dumper=Dumper, allow_unicode=True)
