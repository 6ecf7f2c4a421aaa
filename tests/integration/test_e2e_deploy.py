"""A deployment's lines of shell, and what kubectl tells a person, through the operator."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev import objects
from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.integration.deploying import deploy, run
from tests.integration.e2ehelpers import API, ROWS, World, opened
from tests.migration import oldobjects
from tests.migration.oldobjects import KEEP_LABEL

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    oldobjects.install(sandbox.api())
    with opened(sandbox, _operator) as world:
        yield world


def kubectl(*arguments: str) -> str:
    """What kubectl prints."""
    done = run("kubectl", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_deployment_whose_database_is_taken_over(world: World, tmp_path: Path) -> None:
    site, request, done = deploy(world, tmp_path, world.older(world.one), "3m")
    assert done.returncode == 0, done.stderr
    assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert site.differences() == {"labels": {"app": "site", KEEP_LABEL: "true"}}
    head, row = kubectl("-n", request.namespace, "get", "dbr", "shop").splitlines()
    assert head.split() == ["NAME", "READY", "REASON", "DATABASE", "SERVER", "SINCE", "AGE"]
    assert row.split()[:5] == ["shop", "True", "SeedAdopted", site.account.database, "one"]
    assert re.fullmatch(r"(\d+[ms])+", row.split()[5]), "since when"


def test_a_deployment_that_is_refused(world: World, tmp_path: Path) -> None:
    account = world.older(world.one)
    site, request, done = deploy(world, tmp_path, account, "3m", password="not-this-one")
    assert done.returncode == 3, done.stderr
    assert "SeedCredentialsRejected" in done.stderr and account.password not in done.stderr + done.stdout
    assert request.read() is None
    assert site.differences() == {}
    assert (account.exists(), account.rows()) == ((True, True), ROWS)


def test_a_deployment_whose_time_runs_out(world: World, tmp_path: Path) -> None:
    """The server is frozen, so the request can't settle; nothing is dropped when it comes back."""
    account = world.older(world.two)
    world.two.freeze()
    try:
        site, request, done = deploy(world, tmp_path, account, "5s")
    finally:
        world.two.thaw()
    assert done.returncode == 3, done.stderr
    assert "not settled within 5s" in done.stderr
    assert request.read() is None
    assert site.differences() == {}
    assert (account.exists(), account.rows()) == ((True, True), ROWS)


def test_kubectl_tells_what_to_do(world: World) -> None:
    """Reason, one sentence, what to do: without reading a log."""
    namespace = world.namespace()
    request = world.seeded(namespace, "told", world.older(world.one).seed(password="not-this-one"))
    request.settle()
    head, row = kubectl("-n", namespace, "get", "dbr", "told", "-o", "wide").splitlines()
    assert head.split()[-1] == "MESSAGE"
    sentence = row[head.index("MESSAGE") :]
    assert sentence == request.condition("Ready")["message"]
    described = kubectl("-n", namespace, "describe", "dbr", "told")
    events = described.partition("Events:")[2]
    for part in ("SeedCredentialsRejected", sentence):
        assert part in described.partition("Events:")[0] and part in events
    assert objects.get(world.api, API, "DatabaseRequest", "told", namespace) is not None
