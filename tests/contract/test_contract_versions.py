"""What is pinned is what is installed."""

import re
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from tests.contract.project import COLLECTION, ROOT, load

SITE = Path(sysconfig.get_path("purelib")) / "ansible_collections"
PINS = {
    name: version
    for file in ("requirements.txt", "requirements-dev.txt")
    for name, version in re.findall(
        r"^([\w-]+)==(\S+)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE
    )
}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def fits(version, ranges):
    compare = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b}
    return all(
        compare[op](numbers(version), numbers(bound)) for op, bound in re.findall(r"(>=|<)([\d.]+)", ranges)
    )


@pytest.mark.parametrize("entry", load("requirements.yml")["collections"], ids=lambda e: e["name"])
def test_collections_of_the_image_are_those_that_are_tested(entry):
    manifest = SITE / entry["name"].replace(".", "/") / "MANIFEST.json"
    installed = load(manifest)["collection_info"]["version"]
    assert str(entry["version"]) == installed
    assert fits(installed, load(COLLECTION / "galaxy.yml")["dependencies"][entry["name"]])


def test_both_lists_name_the_same_collections():
    pinned = {entry["name"] for entry in load("requirements.yml")["collections"]}
    assert pinned == set(load(COLLECTION / "galaxy.yml")["dependencies"])


def test_collections_that_tasks_use_are_pinned():
    pinned = {entry["name"] for entry in load("requirements.yml")["collections"]} | {
        "lagoon.dbaas",
        "ansible.builtin",
    }
    for file in [*ROOT.glob("roles/**/*.yml"), *ROOT.glob("playbooks/*.yml")]:
        used = re.findall(
            r"^\s*(?:- )?([a-z_]+\.[a-z_]+)\.[a-z0-9_]+:", file.read_text(encoding="utf-8"), re.MULTILINE
        )
        assert set(used) <= pinned, file


@pytest.mark.parametrize("name", PINS)
def test_python_packages_are_those_that_are_pinned(name):
    assert metadata.version(name) == PINS[name]


def test_the_collection_fits_the_installed_ansible():
    assert fits(metadata.version("ansible-core"), load(COLLECTION / "meta/runtime.yml")["requires_ansible"])
