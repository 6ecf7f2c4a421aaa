"""watches.yaml: which playbook or role runs for which kind, and how."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dev.standin.durations import parse_duration

DEFAULT_ARTIFACTS = 20
DEFAULT_PERIOD = 36000.0
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([*#$@!?\-0-9]|[A-Za-z_]\w*))", re.ASCII)


class WatchesError(Exception):
    """watches.yaml can't be used; the message says where and why."""


@dataclass(frozen=True)
class Kind:
    """Group, version and kind of an API object; the core group is the empty text."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The ``apiVersion`` that objects of this kind carry."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


@dataclass(frozen=True)
class Target:
    """What is run: the absolute path of a playbook's file or of a role's folder."""

    path: Path
    is_role: bool


@dataclass(frozen=True)
class Finalizer:
    """The finalizer of a kind; without a target the kind's own one runs, with the finalizer's variables."""

    name: str
    target: Target | None
    variables: Mapping[str, Any]


@dataclass(frozen=True)
class Watch:
    """One entry of watches.yaml, with the defaults of the real runtime filled in."""

    kind: Kind
    target: Target
    variables: Mapping[str, Any] = field(default_factory=dict)
    finalizer: Finalizer | None = None
    period: float = DEFAULT_PERIOD
    max_artifacts: int = DEFAULT_ARTIFACTS
    mark_unsafe: bool = False
    watch_dependents: bool = True
    watch_annotations: bool = False
    blacklist: frozenset[Kind] = frozenset()
    workers: int = 1
    verbosity: int = 2


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace ``${NAME}`` and ``$NAME`` by the environment's values; unknown ones stay, as ``${NAME}``.

    Args:
        text: the text of watches.yaml.
        environment: the variables.

    Returns:
        The text with the values.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] if match[1] is not None else match[2]
        return environment.get(name, "${" + name + "}")

    return _VARIABLE.sub(value, text)


def load_watches(
    path: Path, default_workers: int, default_verbosity: int, default_period: float
) -> list[Watch]:
    """Read watches.yaml; relative paths of playbooks and roles count from the working directory.

    Args:
        path: the file.
        default_workers: runs at once per kind where the environment sets no other number.
        default_verbosity: ansible-runner's verbosity where the environment sets no other.
        default_period: seconds between runs where an entry has no ``reconcilePeriod``.

    Returns:
        The entries, in the file's order.

    Raises:
        WatchesError: if the file can't be read, is not as expected, or asks for what the stand-in can't do.
    """
    try:
        entries = yaml.safe_load(expand_variables(path.read_text(encoding="utf-8"), os.environ))
    except (OSError, yaml.YAMLError) as error:
        raise WatchesError(f"{path} can't be read: {error}") from error
    if not isinstance(entries, list):
        raise WatchesError(f"{path} must hold a list of watches, it holds {type(entries).__name__}")
    watches: list[Watch] = []
    for number, entry in enumerate(entries, start=1):
        try:
            watch = _watch(entry, default_workers, default_verbosity, default_period)
        except (WatchesError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WatchesError(f"{path}, entry {number}: {error}") from error
        if any(other.kind == watch.kind for other in watches):
            raise WatchesError(f"{path}, entry {number}: duplicate of {watch.kind}; one entry per kind")
        watches.append(watch)
    return watches


def _watch(entry: Mapping[str, Any], workers: int, verbosity: int, default_period: float) -> Watch:
    kind = _kind(entry)
    _refuse_unsupported(entry)
    period = parse_duration(str(entry.get("reconcilePeriod") or "0")) or default_period
    return Watch(
        kind=kind,
        target=_required_target(entry),
        variables=entry.get("vars") or {},
        finalizer=_finalizer(entry.get("finalizer")),
        period=period,
        max_artifacts=_artifacts(entry),
        mark_unsafe=bool(entry.get("markUnsafe", False)),
        watch_dependents=bool(entry.get("watchDependentResources", True)),
        watch_annotations=bool(entry.get("watchAnnotationsChanges", False)),
        blacklist=frozenset(_kind(item) for item in entry.get("blacklist") or []),
        workers=_number_from_environment("MAX_CONCURRENT_RECONCILES", kind, workers, lambda value: value > 0),
        verbosity=_number_from_environment(
            "ANSIBLE_VERBOSITY", kind, verbosity, lambda value: 0 <= value <= 7
        ),
    )


def _kind(entry: Mapping[str, Any]) -> Kind:
    kind = Kind(str(entry.get("group") or ""), str(entry.get("version") or ""), str(entry.get("kind") or ""))
    if not kind.version or not kind.kind:
        raise WatchesError("version and kind must not be empty")
    return kind


def _refuse_unsupported(entry: Mapping[str, Any]) -> None:
    """What the real runtime can do and the stand-in can't is an error, not a silent difference."""
    for option in ("manageStatus", "snakeCaseParameters"):
        if entry.get(option, True) is not False:
            raise WatchesError(f"{option} must be false: the development stand-in has no other way")
    if entry.get("selector") or entry.get("watchClusterScopedResources"):
        raise WatchesError("the development stand-in knows no selector and no watchClusterScopedResources")


def _artifacts(entry: Mapping[str, Any]) -> int:
    number = int(entry.get("maxRunnerArtifacts") or DEFAULT_ARTIFACTS)
    # The runtime's link `latest` counts as a folder; ansible-runner then tries to remove the link, and ends.
    if number in (1, 2):
        raise WatchesError(
            f"maxRunnerArtifacts: {number} makes each run of an object after its first fail, with the real "
            "runtime as well: write 3 or more"
        )
    return number


def _required_target(entry: Mapping[str, Any]) -> Target:
    target = _target(entry)
    if target is None:
        raise WatchesError("a watch must name a playbook or a role")
    return target


def _target(entry: Mapping[str, Any]) -> Target | None:
    if playbook := entry.get("playbook"):
        path = Path.cwd() / str(playbook)
        if not path.exists():
            raise WatchesError(f"the playbook {path} was not found")
        return Target(path, is_role=False)
    if role := entry.get("role"):
        return Target(_role_path(str(role)), is_role=True)
    return None


def _role_path(role: str) -> Path:
    """Look for a role where the real runtime looks: collections for a.b.c, ANSIBLE_ROLES_PATH, ./roles."""
    candidates: list[Path] = []
    if Path(role).is_absolute():
        candidates.append(Path(role))
    else:
        parts = role.split(".")
        if len(parts) == 3:
            default = f"/usr/share/ansible/collections:{Path.home()}/.ansible/collections"
            folders = (os.environ.get("ANSIBLE_COLLECTIONS_PATH") or default).split(":")
            candidates += [
                Path(f, "ansible_collections", parts[0], parts[1], "roles", parts[2]) for f in folders
            ]
        for folder in filter(None, os.environ.get("ANSIBLE_ROLES_PATH", "").split(":")):
            candidates += [Path(folder, role), Path(folder, "roles", role)]
        candidates.append(Path.cwd() / "roles" / role)
    for candidate in candidates:
        if candidate.exists():
            return candidate
    raise WatchesError(f"the role {role} was not found; looked at {', '.join(map(str, candidates))}")


def _finalizer(entry: Mapping[str, Any] | None) -> Finalizer | None:
    if entry is None:
        return None
    if not entry.get("name"):
        raise WatchesError("the finalizer must have a name")
    target = _target(entry)
    variables = entry.get("vars") or {}
    if target is None and not variables:
        raise WatchesError("the finalizer must name a playbook or a role, or have vars")
    return Finalizer(str(entry["name"]), target, variables)


def _number_from_environment(prefix: str, kind: Kind, default: int, allowed: Callable[[int], bool]) -> int:
    """``<PREFIX>_<KIND>_<GROUP>`` in upper case, dots as underscores; a senseless value is ignored."""
    text = os.environ.get(f"{prefix}_{kind.kind}_{kind.group}".replace(".", "_").upper(), "")
    try:
        number = int(text)
    except ValueError:
        return default
    return number if allowed(number) else default
