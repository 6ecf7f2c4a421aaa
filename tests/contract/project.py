"""The project's own files as the contract tests read them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = ROOT / "collections/ansible_collections/lagoon/dbaas"
ROLES = ("dbaas_migration", "dbaas_platform", "dbaas_provider", "dbaas_request", "seed")
TASK_FILES = sorted(ROOT.glob("roles/*/tasks/*.yml"))
PLAYBOOKS = sorted(ROOT.glob("playbooks/*.yml"))
# What the runtime runs; the other playbooks are run by people, and may fail and print.
OF_THE_RUNTIME = [
    ROOT / f"playbooks/{name}.yml" for name in ("finalize-request", "reconcile-provider", "reconcile-request")
]
BY_HAND = [*(p for p in PLAYBOOKS if p not in OF_THE_RUNTIME), *sorted(ROOT.glob("playbooks/tasks/*.yml"))]
PYTHON = sorted(COLLECTION.rglob("*.py"))
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("roles/*/README.md"), COLLECTION / "README.md"]
)
BLOCKS = ("block", "rescue", "always")
# Keywords of a task; the key that is left is its module.
KEYWORDS = {
    "name",
    "when",
    "vars",
    "register",
    "loop",
    "loop_control",
    "no_log",
    "ignore_errors",
    "failed_when",
    "changed_when",
    "check_mode",
    "timeout",
    "until",
    "retries",
    "delay",
    "module_defaults",
    "tags",
    "environment",
    "delegate_to",
    "run_once",
    "become",
    "args",
    "notify",
    "collections",
    "diff",
    *BLOCKS,
}
EXPRESSIONS = ("when", "until", "failed_when", "changed_when", "that", "var")


def load(path: str | Path) -> Any:
    """A YAML file of the project."""
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def ids(path: Path) -> str:
    """A file as a test's id."""
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Task:
    """One task or block: where it stands, how deep, and what is written there."""

    file: Path
    depth: int
    body: dict[str, Any]

    @property
    def module(self) -> str:
        """The module's name as written, empty for a block."""
        names = [key for key in self.body if key not in KEYWORDS]
        assert len(names) <= 1, f"{self}: {names} can't all be the module"
        return names[0] if names else ""

    @property
    def is_block(self) -> bool:
        return "block" in self.body

    @property
    def own(self) -> dict[str, Any]:
        """What is written at this task itself, without the tasks inside a block."""
        return {key: value for key, value in self.body.items() if key not in BLOCKS}

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}: {self.body.get('name', '(no name)')}"


def _walk(file: Path, tasks: list[dict[str, Any]], depth: int) -> Iterator[Task]:
    for body in tasks:
        yield Task(file, depth, body)
        for part in BLOCKS:
            yield from _walk(file, body.get(part) or [], depth + 1)


def tasks_of(file: Path) -> list[Task]:
    """All tasks and blocks of a tasks file or a playbook."""
    found = load(file)
    if "hosts" in found[0]:
        return [task for play in found for task in _walk(file, play.get("tasks") or [], 0)]
    return list(_walk(file, found, 0))


ALL_TASKS = [task for file in (*TASK_FILES, *OF_THE_RUNTIME, *BY_HAND) for task in tasks_of(file)]


def strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a piece of YAML, with the key it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def expressions(value: Any) -> Iterator[str]:
    """Every Jinja expression in a piece of YAML, as a template."""
    for key, text in strings(value):
        if key in EXPRESSIONS and "{{" not in text:
            yield "{{ " + text + " }}"
        elif "{{" in text or "{%" in text:
            yield text


def literals(file: Path) -> Iterator[str]:
    """Every string constant of a Python file that isn't documentation."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            documentation.add(id(body[0].value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def section(page: str, heading: str) -> str:
    """The text of a page from a heading to the next one of the same or a higher level."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    level = len(heading) - len(heading.lstrip("#"))
    start = lines.index(heading) + 1
    end = next((i for i in range(start, len(lines)) if re.match(f"#{{1,{level}}} ", lines[i])), len(lines))
    return "\n".join(lines[start:end])


def table(text: str) -> list[list[str]]:
    """The cells of the Markdown tables in a text, without their heads."""
    rows, head = [], True
    for line in text.splitlines():
        if not line.startswith("|"):
            head = True
        elif re.fullmatch(r"[|\s:-]+", line):
            head = False
        elif not head:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def schema(plural: str) -> dict[str, Any]:
    """The schema of a kind."""
    crd = load(f"config/crd/bases/crd.lagoon.sh_{plural}.yaml")
    found: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


REQUEST, PROVIDER = "databaserequests", "databasemysqlproviders"
