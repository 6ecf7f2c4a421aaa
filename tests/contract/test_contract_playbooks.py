"""Every playbook and tasks file parses, with every module known; watches.yaml fits them.

A parse error or an unknown module ends a run without any status, so it must be found here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible_collections.lagoon.dbaas.plugins.module_utils.finalizer import FINALIZER

from tests.contract.project import OF_THE_RUNTIME, PLAYBOOKS, ROLES, ROOT, TASK_FILES, ids, load

OPTIONS = {
    "version",
    "group",
    "kind",
    "playbook",
    "finalizer",
    "reconcilePeriod",
    "manageStatus",
    "snakeCaseParameters",
    "markUnsafe",
    "maxRunnerArtifacts",
    "watchDependentResources",
    "watchClusterScopedResources",
    "blacklist",
}
WATCHES = load("watches.yaml")


def syntax_check(playbook):
    program = Path(sys.executable).parent / "ansible-playbook"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    return subprocess.run(
        [str(program), "--syntax-check", "-i", "localhost,", str(playbook)],
        cwd=ROOT,  # ansible.cfg
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize("file", PLAYBOOKS, ids=ids)
def test_playbook_parses(file):
    done = syntax_check(file)
    assert done.returncode == 0, done.stderr


def test_every_tasks_file_parses(tmp_path):
    # include_tasks is looked at when it runs; an import of each file is parsed now.
    imports = [
        {
            "name": f"Parse {ids(file)}",
            "ansible.builtin.import_role": {"name": file.parts[-3], "tasks_from": file.name},
        }
        for file in TASK_FILES
    ]
    playbook = tmp_path / "all.yml"
    play = {"name": "Parse", "hosts": "localhost", "gather_facts": False, "tasks": imports}
    playbook.write_text(yaml.safe_dump([play]), encoding="utf-8")
    done = syntax_check(playbook)
    assert done.returncode == 0, done.stderr


def test_an_unknown_module_is_found(tmp_path):
    playbook = tmp_path / "bad.yml"
    playbook.write_text(
        "- hosts: localhost\n  tasks:\n    - lagoon.dbaas.no_such_action: {}\n", encoding="utf-8"
    )
    assert syntax_check(playbook).returncode != 0


@pytest.mark.parametrize("file", PLAYBOOKS, ids=ids)
def test_a_playbook_stays_on_this_machine(file):
    # An unreachable host counts as a good run, so a finalizer run would let the finalizer go.
    for play in load(file):
        assert (play["connection"], play["gather_facts"]) == ("local", False)


@pytest.mark.parametrize("file", OF_THE_RUNTIME, ids=ids)
def test_a_playbook_of_the_runtime_has_one_host(file):
    for play in load(file):
        assert (play["hosts"], play["connection"], play["gather_facts"]) == ("localhost", "local", False)
        assert play["collections"] == ["lagoon.dbaas"], (
            "requeue_after is found by its short name through this only"
        )


@pytest.mark.parametrize("watch", WATCHES, ids=lambda w: w["kind"])
def test_watches_say_every_option(watch):
    assert set(watch) | {"finalizer"} == OPTIONS
    assert (watch["manageStatus"], watch["snakeCaseParameters"], watch["markUnsafe"]) == (False, False, True)
    for playbook in [watch["playbook"], watch.get("finalizer", {}).get("playbook", watch["playbook"])]:
        assert ROOT / playbook in OF_THE_RUNTIME
    assert not {"vars", "role"} & (set(watch) | set(watch.get("finalizer", {}))), (
        "vars beat keys of a request's spec"
    )


def test_runs_by_hand_set_the_same_finalizer():
    assert [w["finalizer"]["name"] for w in WATCHES if "finalizer" in w] == [FINALIZER]


def test_watches_fit_the_kinds():
    for watch in WATCHES:
        crd = load(f"config/crd/bases/{watch['group']}_{watch['kind'].lower()}s.yaml")
        assert (crd["spec"]["group"], crd["spec"]["names"]["kind"]) == (watch["group"], watch["kind"])
        assert watch["version"] in [v["name"] for v in crd["spec"]["versions"]]


def test_every_playbook_of_a_watch_uses_a_role():
    playbooks = {ROOT / p for w in WATCHES for p in [w["playbook"], w.get("finalizer", {}).get("playbook")] if p}
    assert playbooks == set(OF_THE_RUNTIME)
    used = {
        task["ansible.builtin.include_role"]["name"]
        for file in OF_THE_RUNTIME
        for play in load(file)
        for task in play["tasks"]
        if "ansible.builtin.include_role" in task
    }
    assert used <= set(ROLES)
    assert used == {"dbaas_request", "dbaas_provider"}
