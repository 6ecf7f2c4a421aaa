"""A hundred MariaDBConsumer objects in ten namespaces, twenty of them broken, migrated through the operator.

Long: ``make test-migration`` runs it, ``make test`` doesn't.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dev.operator import Operator
from dev.sandbox import PROVIDER, Sandbox
from tests.cases.running import Runner
from tests.integration.e2ehelpers import ROWS, Request, World, opened
from tests.migration import oldobjects
from tests.migration.migrating import Migration
from tests.migration.oldobjects import BROKEN, KEEP_LABEL, Site

pytestmark = [pytest.mark.long, pytest.mark.e2e]

NAMESPACES = 10
WHOLE = 80
WAIT = 3600  # seconds; a machine that does other things too is slow


@dataclass
class Hundred:
    """The sites and what the runs came to."""

    whole: list[Site]
    broken: dict[str, Site]
    first: dict[str, Any]
    plan: dict[str, Any]
    report: dict[str, Any]
    migration: Migration
    options: dict[str, Any]


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    oldobjects.install(sandbox.api())
    with opened(sandbox, _operator) as world:
        world.closing = WAIT
        yield world


@pytest.fixture(scope="module")
def hundred(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Hundred:
    folder = tmp_path_factory.mktemp("hundred")
    namespaces = [world.namespace() for _ in range(NAMESPACES)]
    servers = (world.one, world.two)
    whole = [
        oldobjects.make(world, namespaces[n % NAMESPACES], f"site-{n}", world.older(servers[n % 2]), PROVIDER)
        for n in range(WHOLE)
    ]
    broken = {
        kind: oldobjects.make_broken(world, namespaces[n % NAMESPACES], kind, servers[n % 2], PROVIDER)
        for n, kind in enumerate(BROKEN)
    }
    migration = Migration(Runner(sandbox.kubeconfig, folder / "runs", deadline=2 * WAIT))
    (folder / "runs").mkdir()
    migration.runner.secrets |= {site.account.password for site in (*whole, *broken.values())}
    listed = folder / "namespaces.txt"
    listed.write_text("# all of them\n" + "\n".join(namespaces) + "\n", encoding="utf-8")
    options = {"namespaces_file": str(listed), "dbaas_migration_batch": 4}
    plan = migration.run("--check", **options)
    # Broken off on purpose: a run that doesn't wait leaves requests that the next one takes up.
    first = migration.run(**options, dbaas_migration_wait_seconds=0)
    started = time.monotonic()
    report = migration.run(**options, dbaas_migration_wait_seconds=WAIT)
    seconds = time.monotonic() - started
    print(f"\n{len(report['consumers'])} MariaDBConsumer objects: {report['counts']} in {seconds:.0f} s")
    return Hundred(whole, broken, first, plan, report, migration, options)


def row(report: dict[str, Any], site: Site) -> dict[str, Any]:
    """A site's entry."""
    found: dict[str, Any] = report["rows"][f"{site.namespace}/{site.name}"]
    return found


def test_there_are_a_hundred_of_which_twenty_are_broken(hundred: Hundred) -> None:
    assert (len(hundred.whole), len(hundred.broken), len(hundred.report["consumers"])) == (80, 20, 100)
    counts = Counter(kind.state for kind in BROKEN.values())
    assert hundred.plan["counts"] == {"not-tried": counts["not-tried"], "planned": 100 - counts["not-tried"]}
    assert hundred.report["counts"] == {"migrated": 80, **counts}


def test_a_run_that_was_broken_off_left_them_waiting(hundred: Hundred) -> None:
    assert hundred.first["counts"]["waiting"] > 0


@pytest.mark.parametrize("kind", BROKEN)
def test_each_broken_one_is_named(hundred: Hundred, kind: str) -> None:
    site = hundred.broken[kind]
    found = row(hundred.report, site)
    assert (found["state"], found["reason"]) == (BROKEN[kind].state, BROKEN[kind].reason)
    assert found["message"].endswith(".")
    assert site.differences() == {}


def test_each_whole_one_is_migrated(hundred: Hundred) -> None:
    for site in hundred.whole:
        assert row(hundred.report, site)["state"] == "migrated"
        assert site.differences() == {"labels": {"app": "site", KEEP_LABEL: "true"}}
        request: Request = site.request
        assert request.ask("SELECT COUNT(*) FROM t") == ROWS


def test_what_comes_after(hundred: Hundred) -> None:
    """What was refused goes on demand; the second step lets deletions drop what is migrated."""
    removed = hundred.migration.run(**hundred.options, remove_refused=True)
    assert removed["counts"] == hundred.report["counts"]
    assert [kind for kind, site in hundred.broken.items() if site.request.read() or site.seed()] == []
    finished = hundred.migration.run(**hundred.options, finish=True)
    assert finished["counts"]["finished"] == 80
    drops = [(site.request.read() or {})["spec"]["dropDatabaseOnDelete"] for site in hundred.whole]
    assert drops == [True] * 80


def test_no_password_is_told(hundred: Hundred, tmp_path: Path) -> None:
    assert hundred.migration.runner.leaks() == []
