"""The pages: links lead somewhere, commands and files that they name are there, manifests fit."""

import re

import pytest
import yaml

from tests.contract.project import PAGES, PROVIDER, REQUEST, ROOT, ids, schema

TARGETS = set(
    re.findall(r"^([a-z0-9-]+):.*?## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)
FOLDERS = "roles|playbooks|collections|config|docs|dev|tests|molecule|tasks|vars|plugins"


def anchors(text):
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_files_that_a_page_names_are_there(page):
    for name in re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or (page.parent / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_commands_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    assert (
        set(re.findall(r"\bmake (?:-s )?([a-z][a-z0-9-]+)(?=[`\s)\"']|$)", "\n".join(code(text)))) <= TARGETS
    )
    for module in re.findall(r"python -m (dev[\w.]*)", text):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or path.is_dir(), module


def code(text):
    yield from re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    yield from re.findall(r"`([^`\n]+)`", text)


def test_every_make_target_that_a_person_needs_is_told():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for target in ("demo", "test", "lint", "run", "sandbox-up", "sandbox-down", "sandbox-env"):
        assert re.search(rf"make (?:-s )?{target}\b", text), target


def fits(value, kind, path):
    """Whether a value has only fields that the schema knows, and the required ones."""
    if kind.get("type") == "object" and "properties" in kind:
        assert set(value) <= set(kind["properties"]), path
        assert set(kind.get("required", [])) <= set(value), path
        for key, inner in value.items():
            fits(inner, kind["properties"][key], f"{path}.{key}")
    elif kind.get("type") == "array":
        for inner in value:
            fits(inner, kind["items"], f"{path}[]")
    elif "enum" in kind:
        assert value in kind["enum"], path


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_manifests_in_pages_fit_the_schemas(page):
    kinds = {"DatabaseRequest": REQUEST, "DatabaseMySQLProvider": PROVIDER}
    for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for document in yaml.safe_load_all(block):
            if isinstance(document, dict) and document.get("kind") in kinds:
                assert document["apiVersion"] == "crd.lagoon.sh/v1alpha1"
                fits(document["spec"], schema(kinds[document["kind"]])["properties"]["spec"], "spec")


def test_readme_shows_one_request_and_one_seed():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    documents = [d for block in blocks for d in yaml.safe_load_all(block)]
    secrets = [d for d in documents if d["kind"] == "Secret"]
    requests = [d for d in documents if d["kind"] == "DatabaseRequest"]
    assert [set(s["stringData"]) for s in secrets] == [
        {"database", "username", "password", "hostname", "port"}
    ]
    assert sorted("seed" in r["spec"] for r in requests) == [False, True]
    seed = next(r["spec"]["seed"] for r in requests if "seed" in r["spec"])
    assert seed["name"] == secrets[0]["metadata"]["name"]


def test_readme_warns_of_the_older_operator():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    # An opening pair of stars stands before a word; else the text between two bold ones would count.
    (bold,) = re.findall(r"(?<!\S)\*\*(?=\S)([^*]*MariaDBConsumer[^*]*)\*\*", text)
    assert "drops the database" in bold
    assert 'dbaas.amazee.io/no-drop-database: "true"' in bold


def test_the_page_on_the_migration_warns_too():
    text = (ROOT / "docs/migration.md").read_text(encoding="utf-8")
    bold = [" ".join(part.replace(">", "").split()) for part in re.findall(r"\*\*([^*]+)\*\*", text)]
    assert any("drops the database" in part and "no-drop-database" in part for part in bold)


def test_api_page_tells_every_field():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")

    def fields(node, path):
        for name, inner in node.get("properties", {}).items():
            yield name
            yield from fields(inner, path)
            yield from fields(inner.get("items", {}), path)

    for kind in (REQUEST, PROVIDER):
        properties = schema(kind)["properties"]
        for part in ("spec", "status"):
            for name in fields(properties[part], part):
                assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", text), f"{part}: {name}"


def test_readme_shows_the_lines_of_the_example():
    example = (ROOT / "examples/deploy-with-seed.sh").read_text(encoding="utf-8")
    lines = example.split("# begin\n")[1].split("# end\n")[0]
    assert f"```sh\n{lines}```" in (ROOT / "README.md").read_text(encoding="utf-8")
