"""What a run gets: extra variables, the folder that ansible-runner reads, and a kubeconfig of the proxy."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.standin.watches import Target, Watch

PROXY_HOST = "127.0.0.1"
# The real runtime's can't be moved. This one's can, so that a test runs two operators at once.
PROXY_PORT = int(os.environ.get("DBAAS_STANDIN_PROXY_PORT", "8888"))
RUNNER_ROOT = Path("/tmp/ansible-operator/runner")  # noqa: S108  (where the real runtime has it)

_KUBECONFIG = """---
apiVersion: v1
kind: Config
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: http://{user}@localhost:{port}
  name: proxy-server
contexts:
- context:
    cluster: proxy-server
    user: admin/proxy-server
  name: {namespace}/proxy-server
current-context: {namespace}/proxy-server
preferences: {{}}
users:
- name: admin/proxy-server
  user:
    username: {user}
    password: unused
"""


@dataclass(frozen=True)
class Owner:
    """The object for which a run is made, as the kubeconfig's user name carries it."""

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str

    @classmethod
    def of(cls, resource: Mapping[str, Any]) -> Owner:
        """The owner that an object of the watched kind is."""
        meta = resource["metadata"]
        return cls(
            resource["apiVersion"], resource["kind"], meta["name"], meta["uid"], meta.get("namespace") or ""
        )

    @classmethod
    def decode(cls, user: str) -> Owner:
        """Read an owner from a basic-auth user name.

        Raises:
            ValueError: if the text isn't one that ``encode`` wrote.
        """
        try:
            data = json.loads(base64.urlsafe_b64decode(user))
            return cls(data["apiVersion"], data["kind"], data["name"], data["uid"], data["Namespace"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"the user name holds no owner: {error!r}") from error

    def encode(self) -> str:
        """The owner as a user name, base64 of the JSON that the real runtime writes."""
        data = {**self.reference(), "Namespace": self.namespace}
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode()

    def reference(self) -> dict[str, str]:
        """The ownerReference that created objects get."""
        return {"apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid}


def write_kubeconfig(owner: Owner) -> Path:
    """Write a kubeconfig (mode 600) that leads to the proxy and tells it whose run it is.

    Args:
        owner: the object that is reconciled.

    Returns:
        The file; the caller removes it.
    """
    text = _KUBECONFIG.format(user=owner.encode(), port=PROXY_PORT, namespace=owner.namespace)
    handle, name = tempfile.mkstemp(prefix="kubeconfig")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)


def is_finalizer_run(watch: Watch, resource: Mapping[str, Any]) -> bool:
    """Whether the object is being deleted and still carries the watch's finalizer."""
    meta = resource["metadata"]
    finalizer = watch.finalizer
    return bool(
        finalizer and meta.get("deletionTimestamp") and finalizer.name in (meta.get("finalizers") or [])
    )


def make_parameters(watch: Watch, resource: Mapping[str, Any]) -> dict[str, Any]:
    """Make the extra variables of a run: the keys of ``spec``, the whole object, the watch's own ``vars``.

    Args:
        watch: the entry of watches.yaml.
        resource: the object.

    Returns:
        The variables; with markUnsafe each text of the object is marked, so that Ansible never templates it.
    """
    spec = resource.get("spec") if isinstance(resource.get("spec"), dict) else {}
    marked = mark_unsafe if watch.mark_unsafe else (lambda value: value)
    parameters: dict[str, Any] = {key: marked(value) for key, value in (spec or {}).items()}
    meta = resource["metadata"]
    parameters["ansible_operator_meta"] = {"namespace": meta.get("namespace") or "", "name": meta["name"]}
    key = f"_{watch.kind.group}_{watch.kind.kind.lower()}".replace(".", "_").replace("-", "_")
    parameters[key] = marked(resource)
    parameters[f"{key}_spec"] = marked(spec)
    parameters.update(watch.variables)
    if watch.finalizer and is_finalizer_run(watch, resource):
        parameters.update(watch.finalizer.variables)
    return parameters


def mark_unsafe(value: Any) -> Any:
    """Wrap each text, at any depth, as ``{"__ansible_unsafe": text}``; keys of maps stay as they are."""
    if isinstance(value, dict):
        return {key: mark_unsafe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mark_unsafe(item) for item in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def write_folder(
    root: Path, watch: Watch, resource: Mapping[str, Any], kubeconfig: Path, ansible_args: str
) -> Path:
    """Write the folder that ``ansible-runner run`` reads.

    Args:
        root: the folder above all runs' folders.
        watch: the entry of watches.yaml.
        resource: the object.
        kubeconfig: the kubeconfig of this run.
        ansible_args: further arguments of ansible-playbook, may be empty.

    Returns:
        The folder, ``<root>/<group>/<version>/<kind>/<namespace>/<name>``.

    Raises:
        OSError: if a file can't be written.
    """
    meta = resource["metadata"]
    kind = watch.kind
    folder = root / kind.group / kind.version / kind.kind / (meta.get("namespace") or "") / meta["name"]
    for name in ("env", "project", "inventory"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    access = {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}
    (folder / "env/envvars").write_text(json.dumps(access), encoding="utf-8")
    (folder / "env/extravars").write_text(json.dumps(make_parameters(watch, resource)), encoding="utf-8")
    (folder / "env/settings").write_text("{}", encoding="utf-8")
    if ansible_args:
        (folder / "env/cmdline").write_text(ansible_args.strip("'"), encoding="utf-8")
    if "ANSIBLE_INVENTORY" not in os.environ:
        environment = os.environ.get("VIRTUAL_ENV")
        python = f"{environment}/bin/python3" if environment else "{{ansible_playbook_python}}"
        hosts = f"localhost ansible_connection=local ansible_python_interpreter={python}"
        (folder / "inventory/hosts").write_text(hosts, encoding="utf-8")
    return folder


def runner_arguments(
    target: Target, folder: Path, ident: str, max_artifacts: int, verbosity: int
) -> list[str]:
    """The arguments of ``ansible-runner``, those of the real runtime.

    Args:
        target: the playbook or role.
        folder: the run's folder.
        ident: the run's number.
        max_artifacts: how many runs' artifacts are kept.
        verbosity: number of ``v``.

    Returns:
        The arguments, without the program's name.
    """
    arguments = ["run", str(folder), "--rotate-artifacts", str(max_artifacts)]
    if target.is_role:
        arguments += [
            "--role",
            target.path.name,
            "--roles-path",
            f"{target.path.parent}/",
            "--hosts",
            "localhost",
        ]
    else:
        arguments += ["-p", str(target.path)]
    arguments += ["-i", ident]
    if verbosity > 0:
        arguments.append("-" + "v" * verbosity)
    if target.is_role and os.environ.get("ANSIBLE_GATHERING") == "explicit":
        arguments.append("--role-skip-facts")
    return arguments
