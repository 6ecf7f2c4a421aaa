"""The deployment's shell where no operator runs."""

from pathlib import Path

import yaml

from dev import objects
from dev.sandbox import Sandbox
from tests.cases.world import Cases
from tests.integration.deploying import SCRIPT, deploy, run
from tests.integration.e2ehelpers import API, ROWS, Request
from tests.migration import oldobjects
from tests.migration.oldobjects import KEEP_LABEL

UNKNOWN = 4  # exit status
GONE = "mariadbconsumer/not-there"
READ_ONLY = "componentstatus/scheduler"  # the API server shows it, and lets nobody write it


def test_a_deployment_that_nobody_looks_at(world: Cases, sandbox: Sandbox, tmp_path: Path) -> None:
    account = world.older(sandbox.servers["one"])
    site, request, done = deploy(world, tmp_path, account, "1s")
    assert done.returncode == 3, done.stderr
    assert "not settled within 1s, nobody looked at it: does the operator run?\n" in done.stderr
    assert request.read() is None
    assert site.differences() == {}
    assert (account.exists(), account.rows()) == ((True, True), ROWS)


def test_a_later_deployment_never_deletes_what_was_taken_over(world: Cases, tmp_path: Path) -> None:
    place = world.place()
    account = world.older(place.server)
    first = world.ask(place, account.seed())
    assert world.reconcile(first).startswith("SeedAdopted"), first.told()
    site = oldobjects.make(world, first.namespace, "shop", account, place.scope)
    manifest, old = tmp_path / "manifest.yaml", "mariadbconsumer/shop"

    def again(when: str, timeout: str, old: str) -> "tuple[int, str]":
        """Another deployment, whose request differs from the last one's where it says when."""
        spec = {**(first.read() or {})["spec"], "forcedReconcilation": when}
        document = {"apiVersion": API, "kind": "DatabaseRequest", "metadata": {"name": first.name}, "spec": spec}
        manifest.write_text(yaml.safe_dump(document), encoding="utf-8")
        done = run(SCRIPT, first.namespace, first.name, manifest, timeout, OLD=old)
        return done.returncode, done.stderr

    def is_whole(request: Request) -> None:
        found = request.read()
        assert found is not None and "deletionTimestamp" not in found["metadata"]
        assert found["spec"].get("dropDatabaseOnDelete", True) is True
        assert request.ask("SELECT COUNT(*) FROM t") == ROWS

    for name in (old, GONE):  # nobody looks at the new generation
        status, said = again("2030-01-01T00:00:00Z", "1s", name)
        assert (status, "nothing was deleted" in said) == (UNKNOWN, True), said
        is_whole(first)
    assert site.differences() == {}
    assert world.reconcile(first).startswith("SeedAdopted"), first.told()
    assert again("2030-01-01T00:00:00Z", "5s", old)[0] == 0
    assert site.differences() == {"labels": {"app": "site", KEEP_LABEL: "true"}}
    status, said = again("2030-01-01T00:00:00Z", "5s", READ_ONLY)
    assert status not in (0, 3, UNKNOWN) and "not settled" not in said, "the label can't be set, and that ends it"
    is_whole(first)
    objects.delete(world.api, oldobjects.OLD, "MariaDBConsumer", "shop", first.namespace)
    assert again("2030-01-01T00:00:00Z", "5s", old)[0] == 0
    is_whole(first)


def test_an_old_object_that_is_not_there_is_told_before_anything_is_made(
    world: Cases, sandbox: Sandbox, tmp_path: Path
) -> None:
    account = world.older(sandbox.servers["one"])
    site, request, done = deploy(world, tmp_path, account, "1s", old=GONE)
    assert done.returncode == UNKNOWN, done.stderr
    assert f"{GONE} isn't there" in done.stderr
    assert request.read() is None and site.differences() == {}
