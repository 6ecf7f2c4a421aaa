"""Runs of the deployment's shell, with the sandbox's environment."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from dev import sandbox
from dev.paths import ROOT
from dev.sandbox import PROVIDER
from tests.integration.e2ehelpers import API, DEADLINE, Account, Request, World
from tests.migration import oldobjects
from tests.migration.oldobjects import Site

SCRIPT = ROOT / "examples/deploy-with-seed.sh"


def run(*command: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a program as a person would who has the sandbox's environment."""
    environment = {**os.environ, **sandbox.variables(), **variables}
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE * 2,
        check=False,
    )


def deploy(
    world: World, folder: Path, account: Account, timeout: str, old: str = "mariadbconsumer/shop", **seed: Any
) -> tuple[Site, Request, "subprocess.CompletedProcess[str]"]:
    """Run the script for an old object.

    Args:
        world: where.
        folder: for the manifest.
        account: what the old object names.
        timeout: the script's.
        old: the old object as the script is told it.
        **seed: keys of the seed secret that differ.

    Returns:
        The old object, the request, and how the script ended.
    """
    namespace = world.namespace()
    site = oldobjects.make(world, namespace, "shop", account, PROVIDER)
    reference = {"name": "shop-seed", "namespace": namespace}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop-seed"},
              "stringData": account.seed(**seed)}  # fmt: skip
    spec = {"scope": PROVIDER, "type": "mariadb", "name": "mariadb", "seed": reference}
    request = {"apiVersion": API, "kind": "DatabaseRequest", "metadata": {"name": "shop"}, "spec": spec}
    manifest = folder / "manifest.yaml"
    manifest.write_text(yaml.safe_dump_all([secret, request]), encoding="utf-8")
    done = run(SCRIPT, namespace, "shop", manifest, timeout, OLD=old)
    return site, Request(world, namespace, "shop"), done
