"""Kubeconfigs that aren't an admin's."""

from pathlib import Path

from dev import cluster, objects
from tests.integration.e2ehelpers import World


def of_nobody(world: World, namespace: str, path: Path) -> Path:
    """The kubeconfig of a service account without any right, made in a namespace."""
    home = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    objects.call(world.api, "POST", home, {"metadata": {"name": "someone"}})
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    given = objects.call(world.api, "POST", f"{home}/someone/token", asked)["status"]["token"]
    return _write(world, path, given)


def of_a_stranger(world: World, path: Path) -> Path:
    """A kubeconfig whose token the cluster doesn't know."""
    return _write(world, path, "of-another-cluster")


def of_nowhere(path: Path) -> Path:
    """The kubeconfig of a cluster that isn't there."""
    authority = path.with_suffix(".authority")
    authority.write_text("of nobody", encoding="utf-8")
    return cluster.write_kubeconfig(path, "https://127.0.0.1:1", authority, "nobody", "nothing")


def _write(world: World, path: Path, token: str) -> Path:
    settings = world.api.configuration
    return cluster.write_kubeconfig(path, settings.host, Path(settings.ssl_ca_cert), "someone", token)
