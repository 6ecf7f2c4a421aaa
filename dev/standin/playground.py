"""A tiny operator of its own, on which the rules of the Ansible runtime in use are tried.

Three kinds in a group of their own: ``Probe`` runs the tasks of the case that its spec names, ``FinalProbe``
has a finalizer too, the playbook of ``BrokenProbe`` can't be parsed. Each run adds a line to a file, so that
runs can be counted from outside.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from dev.waiting import wait_for

GROUP, VERSION = "runtime-rules.example.com", "v1"
PLURALS = {"Probe": "probes", "FinalProbe": "finalprobes", "BrokenProbe": "brokenprobes"}
FINALIZER = f"{GROUP}/final"
PERIOD_ANNOTATION = "ansible.sdk.operatorframework.io/reconcile-period"
# One worker for each kind: what is due later runs later, so that a run can be proved absent.
ENVIRONMENT = {f"MAX_CONCURRENT_RECONCILES_{kind}_{GROUP}".replace(".", "_").upper(): "1" for kind in PLURALS}

_WATCHES = """---
- group: {group}
  version: {version}
  kind: Probe
  playbook: {folder}/probe.yml
  vars: &vars
    playground: {folder}
    phase: run
  reconcilePeriod: 1h
  manageStatus: false
  snakeCaseParameters: false
  markUnsafe: true
  maxRunnerArtifacts: 3
- group: {group}
  version: {version}
  kind: FinalProbe
  playbook: {folder}/probe.yml
  vars: *vars
  finalizer:
    name: {finalizer}
    vars:
      phase: final
  reconcilePeriod: 1h
  manageStatus: false
  snakeCaseParameters: false
  markUnsafe: true
  maxRunnerArtifacts: 3
- group: {group}
  version: {version}
  kind: BrokenProbe
  playbook: {folder}/broken.yml
  reconcilePeriod: 1h
  manageStatus: false
  snakeCaseParameters: false
"""

_PLAYBOOK = """---
- name: Probe
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Note the run
      ansible.builtin.set_fact:
        noted: "{{ lookup('ansible.builtin.pipe', 'echo ' ~ phase ~ ' >> ' ~ runs | quote) }}"
      vars:
        runs: "{{ playground }}/{{ ansible_operator_meta['name'] }}.runs"
    - name: Do what the case says
      ansible.builtin.include_tasks:
        file: "cases/{{ final | default('ends_well') if phase == 'final' else case }}.yml"
"""

_BROKEN = """---
- name: Broken
  hosts: localhost
  gather_facts: false
  tasks:
    - name: A task of a module that there isn't
      no_such_namespace.no_such_collection.no_such_module:
"""

_SERVICE = """
    state: present
    definition:
      apiVersion: v1
      kind: Service
      metadata:
        name: "{{ ansible_operator_meta['name'] }}"
        namespace: "{{ ansible_operator_meta['namespace'] }}"
      spec:
        type: ExternalName
        externalName: db.example.com
"""

_CASES = {
    "ends_well": """
- name: End well
  ansible.builtin.debug:
    msg: fine
""",
    "fails": """
- name: Fail
  ansible.builtin.fail:
    msg: on purpose
""",
    "rescued": """
- name: Fail and be rescued
  block:
    - name: Fail
      ansible.builtin.fail:
        msg: on purpose
  rescue:
    - name: End the play
      ansible.builtin.meta: end_play
""",
    "ignored": """
- name: Fail and be ignored
  ansible.builtin.fail:
    msg: on purpose
  ignore_errors: true
""",
    "failed_when_false": """
- name: Fail, which doesn't count
  ansible.builtin.command: "false"
  changed_when: false
  failed_when: false
""",
    "end_play": """
- name: End the play
  ansible.builtin.meta: end_play
- name: Not reached
  ansible.builtin.fail:
    msg: the play went on
""",
    "unreachable": """
- name: A host that can't be reached
  ansible.builtin.ping:
  vars:
    ansible_remote_tmp: /dev/null/none
""",
    "waits": """
- name: Ask for another run
  requeue_after:
    period: "{{ period }}"
""",
    "waits_after_rescue": """
- name: Fail and be rescued
  block:
    - name: Fail
      ansible.builtin.fail:
        msg: on purpose
  rescue:
    - name: Ask for another run
      requeue_after:
        period: "{{ period }}"
""",
    "waits_in_secret": """
- name: Ask for another run, censored
  requeue_after:
    period: "{{ period }}"
  no_log: true
""",
    "text": """
- name: Write what the spec says
  ansible.builtin.copy:
    content: "{{ text }} {{ _runtime_rules_example_com_probe['spec']['text'] }}"
    dest: "{{ playground }}/{{ ansible_operator_meta['name'] }}.text"
    mode: "0600"
""",
    "creates": f"""
- name: Create a Service
  kubernetes.core.k8s:{_SERVICE}
""",
    "applies": f"""
- name: Apply a Service on the server's side
  kubernetes.core.k8s:
    apply: true
    server_side_apply:
      field_manager: probe{_SERVICE}
""",
    "lingers": """
- name: Go on when told
  ansible.builtin.wait_for:
    path: "{{ playground }}/{{ ansible_operator_meta['name'] }}.go"
    timeout: 60
    sleep: 1
""",
}

_REQUEUE_AFTER = '''"""Asks the runtime for another run after a period."""

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        return {"changed": False, "period": self._task.args["period"]}
'''


def write_playbooks(folder: Path) -> Path:
    """Write watches file, playbooks and cases.

    Args:
        folder: an empty folder.

    Returns:
        The watches file.
    """
    for name in ("cases", "action_plugins"):
        (folder / name).mkdir()
    (folder / "probe.yml").write_text(_PLAYBOOK, encoding="utf-8")
    (folder / "broken.yml").write_text(_BROKEN, encoding="utf-8")
    (folder / "action_plugins/requeue_after.py").write_text(_REQUEUE_AFTER, encoding="utf-8")
    for name, tasks in _CASES.items():
        (folder / "cases" / f"{name}.yml").write_text(f"---{tasks}", encoding="utf-8")
    watches = folder / "watches.yaml"
    text = _WATCHES.format(group=GROUP, version=VERSION, folder=folder, finalizer=FINALIZER)
    watches.write_text(text, encoding="utf-8")
    return watches


class Playground:
    """The kinds' definitions, a namespace, and the folder with playbooks and counted runs."""

    def __init__(self, api: client.ApiClient, folder: Path) -> None:
        """Install the kinds and write the playbooks.

        Args:
            api: the API server, with the rights of an admin.
            folder: an empty folder.
        """
        self.folder = folder
        self.watches = write_playbooks(folder)
        self.objects = client.CustomObjectsApi(api)
        self.core = client.CoreV1Api(api)
        self._definitions = client.ApiextensionsV1Api(api)
        for kind in PLURALS:
            self._install(kind)
        self.namespace = f"runtime-rules-{secrets.token_hex(3)}"
        self.core.create_namespace({"metadata": {"name": self.namespace}})

    def clear(self) -> None:
        """Delete all objects, also those whose finalizer no run takes away."""
        for kind, plural in PLURALS.items():
            listed = self.objects.list_namespaced_custom_object(GROUP, VERSION, self.namespace, plural)
            for item in listed["items"]:
                self._ignoring_absence(
                    self.patch, kind, item["metadata"]["name"], {"metadata": {"finalizers": None}}
                )
                self._ignoring_absence(self.delete, kind, item["metadata"]["name"])

    def close(self) -> None:
        """Take everything away again; to be called when no runtime runs any more."""
        self.clear()
        self.core.delete_namespace(self.namespace)
        for plural in PLURALS.values():
            self._definitions.delete_custom_resource_definition(f"{plural}.{GROUP}")

    def create(self, kind: str, spec: dict[str, Any], annotations: dict[str, str] | None = None) -> str:
        """Create an object.

        Args:
            kind: one of the kinds.
            spec: its spec; ``case`` names the tasks to run, ``final`` those of the finalizer's run.
            annotations: its annotations.

        Returns:
            Its name.
        """
        name = f"{str(spec.get('case', 'none')).replace('_', '-')}-{secrets.token_hex(3)}"
        meta = {"name": name, "annotations": annotations or {}}
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": meta, "spec": spec}
        self.objects.create_namespaced_custom_object(GROUP, VERSION, self.namespace, PLURALS[kind], body)
        return name

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """Read an object; None if it is gone."""
        try:
            found: dict[str, Any] = self.objects.get_namespaced_custom_object(
                GROUP, VERSION, self.namespace, PLURALS[kind], name
            )
        except ApiException as error:
            if error.status == 404:
                return None
            raise
        return found

    def patch(self, kind: str, name: str, change: dict[str, Any]) -> None:
        """Change an object by a merge patch."""
        self.objects.patch_namespaced_custom_object(
            GROUP, VERSION, self.namespace, PLURALS[kind], name, change
        )

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        self.objects.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, PLURALS[kind], name)

    def runs(self, name: str) -> list[str]:
        """The runs of an object so far, each as its phase: ``run`` or ``final``."""
        try:
            return (self.folder / f"{name}.runs").read_text(encoding="utf-8").split()
        except FileNotFoundError:
            return []

    def wait_runs(self, name: str, number: int, deadline: float = 60.0) -> None:
        """Wait until an object has been run at least so many times."""
        wait_for(lambda: len(self.runs(name)) >= number, f"run {number} of {name}", deadline)

    def settle(self, kind: str) -> None:
        """Wait until every run of a kind that is due by now has begun.

        A second object is created only when a first one runs: a retry (5 ms after its run's end) then stands
        in the queue before the second object.
        """
        for _ in range(2):
            marker = self.create(kind, {"case": "ends_well"})
            self.wait_runs(marker, 1)

    def _install(self, kind: str) -> None:
        plural = PLURALS[kind]
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": VERSION, "served": True, "storage": True, "subresources": {"status": {}}}
        body = {
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "scope": "Namespaced",
                "names": {
                    "kind": kind,
                    "plural": plural,
                    "singular": kind.lower(),
                    "listKind": f"{kind}List",
                },
                "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
            },
        }
        wait_for(lambda: self._create_definition(body), f"the older definition of {kind} to be gone")
        wait_for(lambda: self._is_served(plural), f"{kind} to be served")

    def _create_definition(self, body: dict[str, Any]) -> bool:
        """Create a definition; one that an interrupted run left is taken away first."""
        try:
            self._definitions.create_custom_resource_definition(body)
        except ApiException as error:
            if error.status != 409:
                raise
            self._remove_left_over(body)
            return False
        return True

    @staticmethod
    def _ignoring_absence(call: Callable[..., Any], *arguments: Any) -> None:
        try:
            call(*arguments)
        except ApiException as error:
            if error.status != 404:
                raise

    def _remove_left_over(self, body: dict[str, Any]) -> None:
        plural = body["spec"]["names"]["plural"]
        for item in self.objects.list_cluster_custom_object(GROUP, VERSION, plural)["items"]:
            meta, place = item["metadata"], (GROUP, VERSION, item["metadata"]["namespace"], plural)
            no_finalizers = {"metadata": {"finalizers": None}}
            self.objects.patch_namespaced_custom_object(*place, meta["name"], no_finalizers)
        self._ignoring_absence(self._definitions.delete_custom_resource_definition, body["metadata"]["name"])

    def _is_served(self, plural: str) -> bool:
        try:
            self.objects.list_cluster_custom_object(GROUP, VERSION, plural)
        except ApiException as error:
            if error.status == 404:
                return False
            raise
        return True
