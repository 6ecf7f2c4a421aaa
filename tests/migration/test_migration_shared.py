"""Two MariaDBConsumers of two namespaces that name one database: neither may come to drop the other's."""

import os
from typing import Any

import pytest

from dev import objects
from dev.paths import ROOT
from tests.cases.world import Cases
from tests.migration.migrating import Migration, reconcile
from tests.migration.oldobjects import KEEP_LABEL, OLD, make

Json = dict[str, Any]


def ended(report: Json, namespace: str, name: str = "mariadb") -> tuple[str, str]:
    """State and reason of an entry."""
    row = report["rows"][f"{namespace}/{name}"]
    return row["state"], row["reason"]


def label(world: Cases, namespace: str, name: str) -> None:
    """Set the label by hand."""
    patch = {"metadata": {"labels": {KEEP_LABEL: "true"}}}
    path = objects.path_of(OLD, "MariaDBConsumer", name, namespace)
    objects.call(world.api, "PATCH", path, patch, "application/merge-patch+json")


def test_one_of_two_is_migrated_and_finish_waits_for_the_other(
    world: Cases, migration: Migration, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place, second = world.place("migration"), world.namespace()
    account = world.older(place.server)
    site = make(world, place.namespace, "mariadb", account, place.scope)
    make(world, second, "mariadb", account, place.scope)
    migration.runner.secrets |= {account.password, place.server.admin_password}
    listed = tmp_path_factory.mktemp("names") / "namespaces.txt"
    listed.write_text(f"\ufeff{place.namespace}\r\n\r\n", encoding="utf-8")
    # The runs begin in the project's folder.
    options: Json = {"namespaces_file": os.path.relpath(listed, ROOT), "dbaas_migration_wait_seconds": 0}

    planned = migration.run("--check", **options)["rows"].get(f"{place.namespace}/mariadb", {})
    assert planned.get("state") == "planned", migration.output
    assert f"{second}/mariadb" in planned["message"], "a namespace that isn't listed counts, too"

    migration.run(**options)
    reconcile(world, [site.request])
    assert ended(migration.run(**options), place.namespace) == ("migrated", "DatabaseShared")
    assert site.differences()["labels"][KEEP_LABEL] == "true"

    held = migration.run(**options, finish=True)
    assert (ended(held, place.namespace), held["good"]) == (("migrated", "DatabaseShared"), False)
    assert (site.request.read() or {})["spec"]["dropDatabaseOnDelete"] is False

    label(world, second, "mariadb")
    assert ended(migration.run(**options, finish=True), place.namespace) == ("finished", "SeedAdopted")
    assert (site.request.read() or {})["spec"]["dropDatabaseOnDelete"] is True
