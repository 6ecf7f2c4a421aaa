"""Rules of the tasks: secrets stay out of logs, text of a request out of expressions, files short."""

import re

import pytest
from jinja2 import Environment, nodes

from tests.contract.project import (
    ALL_TASKS,
    BY_HAND,
    OF_THE_RUNTIME,
    PLAYBOOKS,
    PROVIDER,
    REQUEST,
    ROLES,
    ROOT,
    TASK_FILES,
    expressions,
    ids,
    load,
    schema,
    strings,
    tasks_of,
)

MAX_LINES, MAX_TASKS, MAX_DEPTH = 100, 20, 2
# These results or arguments hold a password, whatever the task does.
SECRET_MODULES = re.compile(
    r"community\.mysql\..+|kubernetes\.core\..+"
    r"|lagoon\.dbaas\.(request_read|account_credentials|provider_read|request_status|migration_read|platform_read|platform_logins)"
)
# A fact made from one of these may hold a password.
SECRET_WORDS = re.compile(
    r"__dbaas_request_read|__dbaas_provider_read\b(?!\['(found|failed_read)'\])|credentials|password|seed_read|__dbaas_platform_read"
)
INCLUDES = {"ansible.builtin.include_tasks", "ansible.builtin.include_role"}
SPEC_KEYS = {key for kind in (REQUEST, PROVIDER) for key in schema(kind)["properties"]["spec"]["properties"]}
JINJA = Environment(autoescape=False)  # nothing is rendered
HANDED_OVER = "_crd_lagoon_sh_databaserequest"


def touches_a_secret(task):
    if task.is_block or task.module in INCLUDES:
        return False  # the tasks inside are looked at themselves
    if SECRET_MODULES.fullmatch(task.module):
        return True
    written = " ".join(text for _, text in strings(task.own))
    return task.module == "ansible.builtin.set_fact" and bool(SECRET_WORDS.search(written))


def names_in(template):
    return {node.name for node in JINJA.parse(template).find_all(nodes.Name)}


@pytest.mark.parametrize("task", [t for t in ALL_TASKS if touches_a_secret(t)], ids=str)
def test_a_task_that_touches_a_secret_is_not_logged(task):
    assert task.body.get("no_log") is True, "write `no_log: true`, as a literal"


def test_the_rule_on_secrets_finds_tasks():
    found = [t for t in ALL_TASKS if touches_a_secret(t)]
    assert {t.module for t in found} >= {
        "community.mysql.mysql_query",
        "kubernetes.core.k8s",
        "lagoon.dbaas.request_read",
        "lagoon.dbaas.account_credentials",
        "lagoon.dbaas.provider_read",
        "lagoon.dbaas.request_status",
        "ansible.builtin.set_fact",
    }


@pytest.mark.parametrize("task", ALL_TASKS, ids=str)
def test_no_log_is_a_literal_and_never_on_requeue_after(task):
    assert task.body.get("no_log", True) is True, "a variable can be set by a request; false is the default"
    if task.module.endswith("requeue_after"):
        assert "no_log" not in task.body, "the runtime panics on a requeue_after with no_log"
        assert task.module == "requeue_after", "the runtime knows it by this name only"
        assert task is [t for t in ALL_TASKS if t.file == task.file][-1], "it must be the last task"


@pytest.mark.parametrize("file", OF_THE_RUNTIME, ids=ids)
def test_a_playbook_ends_with_requeue_after(file):
    assert tasks_of(file)[-1].module == "requeue_after"


@pytest.mark.parametrize("task", [t for t in ALL_TASKS if t.file not in BY_HAND], ids=str)
def test_no_task_fails_a_run_on_purpose(task):
    # Any failed task, rescued or not, makes the runtime run the object again at once.
    assert task.module not in ("ansible.builtin.fail", "ansible.builtin.assert")
    assert "ignore_errors" not in task.body or not task.is_block
    assert task.module != "ansible.builtin.debug"


# A person who runs a playbook sees that it hangs, and ends it.
WRITES = [t for t in ALL_TASKS if t.module.startswith("kubernetes.core.") and t.file.parts[-3] != "dbaas_migration"]


@pytest.mark.parametrize("task", WRITES, ids=str)
def test_a_write_to_the_api_ends_in_time_and_never_fails_the_run(task):
    assert "timeout" in task.body, "a frozen API server holds the run for ever"
    assert task.body.get("ignore_errors") is True


@pytest.mark.parametrize("task", [t for t in ALL_TASKS if t.module.startswith("community.mysql.")], ids=str)
def test_a_statement_ends_in_time_and_never_fails_the_run(task):
    assert task.module == "community.mysql.mysql_query"
    assert "timeout" in task.body, "a frozen server holds the run for ever"
    assert "login_password" not in task.body[task.module]
    if not task.body.get("ignore_errors"):
        # `content` where a failure is no case of its own ends as InternalError.
        assert task.body[task.module]["query"] == "{{ 'content' | lagoon.dbaas.sql }}"


@pytest.mark.parametrize("task", ALL_TASKS, ids=str)
def test_no_expression_uses_a_bare_field_of_a_request(task):
    for template in expressions(task.own):
        bare = names_in(template) & SPEC_KEYS
        assert not bare, f"{bare} would be the tenant's text: extra vars beat everything; in {template}"


@pytest.mark.parametrize("file", [*TASK_FILES, *PLAYBOOKS, *sorted(ROOT.glob("roles/*/*/main.yml"))], ids=ids)
def test_the_object_that_the_runtime_hands_over_has_one_alias(file):
    text = file.read_text(encoding="utf-8")
    if file.name != "reconcile-request.yml":
        assert "_crd_lagoon_sh_" not in text
        return
    assert text.count("_crd_lagoon_sh_") == 1
    (play,) = load(file)
    assert play["vars"] == {"__handed_over": "{{ " + HANDED_OVER + " | default({}) }}"}


@pytest.mark.parametrize("file", [*TASK_FILES, *PLAYBOOKS], ids=ids)
def test_a_file_is_short_and_flat(file):
    found = tasks_of(file)
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MAX_LINES
    assert len([t for t in found if not t.is_block]) <= MAX_TASKS
    assert max(t.depth for t in found) <= MAX_DEPTH


@pytest.mark.parametrize("file", [f for f in TASK_FILES if f.name == "main.yml"], ids=ids)
def test_a_main_file_only_says_what_comes_when(file):
    allowed = {*INCLUDES, "ansible.builtin.set_fact", "lagoon.dbaas.provider_read"}
    if "dbaas_request" in file.parts:
        allowed = INCLUDES
    assert {t.module for t in tasks_of(file) if not t.is_block} <= allowed


@pytest.mark.parametrize("file", TASK_FILES, ids=ids)
def test_names_of_tasks_begin_with_their_file(file):
    if file.name == "main.yml":
        assert not [t for t in tasks_of(file) if " | " in t.body["name"]]
        return
    begin = file.stem.replace("_", " ").capitalize() + " | "
    for task in tasks_of(file):
        if not (task.is_block and "name" not in task.body):
            assert re.match(re.escape(begin) + "[A-Z]", task.body["name"]), f"begin the name with {begin!r}"
            assert "{{" not in task.body["name"], "text of a request could be in it"


@pytest.mark.parametrize("task", ALL_TASKS, ids=str)
def test_names_of_facts_and_loops_have_the_role_in_front(task):
    role = task.file.parts[-3]
    if role not in ROLES:
        return
    made = set(task.body.get("ansible.builtin.set_fact", {})) - {"cacheable"}
    made |= {task.body["register"]} if "register" in task.body else set()
    made |= {task.body.get("loop_control", {}).get("loop_var", "")} - {""}
    assert all(re.match(f"(__)?{role}_", name) for name in made), made
    assert "loop" not in task.body or task.body["loop_control"].get("loop_var"), (
        "item is a name of everybody's"
    )
    assert "loop" not in task.body or task.body["loop_control"].get("label"), "else the whole item is printed"


def test_included_files_are_there():
    for task in ALL_TASKS:
        wanted = task.body.get("ansible.builtin.include_tasks")
        if isinstance(wanted, str) and "{{" not in wanted:
            assert (task.file.parent / wanted).is_file(), task
    used = {
        str(t.body["ansible.builtin.include_tasks"])
        for t in ALL_TASKS
        if "ansible.builtin.include_tasks" in t.body
    }
    used |= {t.body.get("ansible.builtin.include_role", {}).get("tasks_from") for t in ALL_TASKS}
    for file in TASK_FILES:
        dynamic = file.name.startswith("finalize_") or file.name in ("finalize.yml", "reconcile.yml", "migrate.yml")
        assert file.name == "main.yml" or file.name in used or dynamic, f"{file}: nothing includes it"


# A template that is nothing but one text makes Ansible look at the text: `True` becomes a bool, `[1]` a list.
ALONE = re.compile(
    r"\{\{[^|]*\['(?:database|username|password|host|name|namespace)'\]\s*\}\}|\{\{.*\|\s*lagoon\.dbaas\.password_of.*\}\}"
)
# Names and UIDs of Kubernetes objects can't look like anything but text, nor may the admin's cluster id.
PLAIN = re.compile(r"\{\{ __dbaas_request_read\['(?:cluster'|request'\]\['(?:uid|namespace|name)')\] \}\}")


@pytest.mark.parametrize("task", [t for t in ALL_TASKS if "community.mysql.mysql_query" in t.body], ids=str)
def test_arguments_of_statements_keep_their_text(task):
    arguments = task.body["community.mysql.mysql_query"].get("named_args", {})
    if isinstance(arguments, str):
        assert "lagoon.dbaas." in arguments, "the whole dict comes from one filter"
        return
    templates = [value for value in arguments.values() if "{{" in value and not PLAIN.fullmatch(value)]
    assert not templates, "build the whole dict in one filter"


@pytest.mark.parametrize("task", [t for t in ALL_TASKS if "ansible.builtin.set_fact" in t.body], ids=str)
def test_facts_keep_their_text(task):
    texts = [
        text
        for part in ("ansible.builtin.set_fact", "vars")
        for _, text in strings(task.body.get(part) or {})
    ]
    assert not [text for text in texts if ALONE.fullmatch(text.strip())], (
        "keep it inside a dict that a filter returns"
    )
