"""A migration from plan to end, with the operator's work done by runs of its playbook in between.

The steps build on each other: each is a fixture that runs the playbook once, and tests look at what it came to.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from dev import objects
from tests.cases.world import Cases, Place
from tests.integration.e2ehelpers import API, ROWS, Log, Request
from tests.migration.audited import Audit, of_old_objects, told
from tests.migration.migrating import Migration, reconcile
from tests.migration.oldobjects import BROKEN, KEEP_LABEL, OLD, Site, make, make_broken

Json = dict[str, Any]

LONG = "long-" + "x" * 60  # longer than a request's name may be
CUT = f"long-{'x' * 47}-19251b8e81"  # its request
TEMPLATE = "{{ 7*7 }} [1]"  # a database's name is text, whatever it looks like
WHOLE = ("shop", "blog", LONG)
KINDS = ("no-password", "unknown-host", "foreign-service", "wrong-password", "database-missing", "read-only")
NOT_TRIED = [kind for kind in KINDS if BROKEN[kind].state == "not-tried"]
REFUSED = [kind for kind in KINDS if BROKEN[kind].state == "refused"]


@dataclass
class Scene:
    """The sites and what each step came to."""

    world: Cases
    migration: Migration
    place: Place
    sites: dict[str, Site]
    reports: dict[str, Json] = field(default_factory=dict)
    audits: dict[str, list[Json]] = field(default_factory=dict)
    written: dict[str, Json] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        return self.place.namespace

    def run(self, step: str, *arguments: str, **variables: Any) -> Json:
        """Run the playbook on the namespace, and remember what it came to and what it wrote."""
        audit = Audit.now(self.world.sandbox.audit_log, self.namespace)
        report = self.migration.run(*arguments, namespace=self.namespace, dbaas_migration_wait_seconds=0, **variables)
        assert audit.asked(), "nothing of the run is in the audit log"
        self.audits[step] = audit.writes()
        self.reports[step] = report
        return report

    def request(self, name: str) -> Request:
        """The request of this name."""
        found = objects.get(self.world.api, API, "DatabaseRequest", name, self.namespace) or {"metadata": {"uid": ""}}
        return Request(self.world, self.namespace, name, found["metadata"]["uid"])

    def state(self, step: str, name: str) -> tuple[str, str]:
        """State and reason of a site after a step."""
        row = self.reports[step]["rows"][f"{self.namespace}/{name}"]
        return row["state"], row["reason"]

    def versions(self) -> dict[str, str]:
        """The resourceVersions of all objects of the namespace that the migration could write."""
        found = {}
        for api_version, kind in (
            ("v1", "Secret"),
            ("v1", "Service"),
            (API, "DatabaseRequest"),
            (OLD, "MariaDBConsumer"),
        ):
            path = objects.path_of(api_version, kind, namespace=self.namespace)
            for item in objects.call(self.world.api, "GET", path)["items"]:
                found[f"{kind} {item['metadata']['name']}"] = item["metadata"]["resourceVersion"]
        return found


@pytest.fixture(scope="module")
def scene(world: Cases, migration: Migration) -> Iterator[Scene]:
    place = world.place("migration")
    sites = {}
    for name in WHOLE:
        account = world.older(place.server, database=TEMPLATE if name == "blog" else "")
        sites[name] = make(world, place.namespace, name, account, place.scope)
    for kind in KINDS:
        sites[kind] = make_broken(world, place.namespace, kind, place.server, place.scope)
    migration.runner.secrets |= {site.account.password for site in sites.values()} | {place.server.admin_password}
    yield Scene(world, migration, place, sites)


@pytest.fixture(scope="module")
def planned(scene: Scene) -> Scene:
    before, log = scene.versions(), Log(scene.place.server)
    scene.run("plan", "--check")
    assert scene.versions() == before, "--check wrote something"
    assert log.entries() == [], "--check asked the server"
    return scene


@pytest.fixture(scope="module")
def made(planned: Scene) -> Scene:
    planned.run("make")
    planned.written = {name: site.differences() for name, site in planned.sites.items()}
    return planned


@pytest.fixture(scope="module")
def settled(made: Scene) -> Scene:
    found = objects.call(made.world.api, "GET", objects.path_of(API, "DatabaseRequest", namespace=made.namespace))
    reconcile(made.world, [made.request(item["metadata"]["name"]) for item in found["items"]])
    made.run("migrate")
    made.written = {name: site.differences() for name, site in made.sites.items()}
    return made


@pytest.fixture(scope="module")
def removed(settled: Scene) -> Scene:
    before = settled.versions()
    settled.run("again")
    settled.run("plan-removal", "--check", remove_refused=True)
    assert settled.versions() == before, "a run without a cause wrote something"
    settled.run("remove", remove_refused=True)
    return settled


@pytest.fixture(scope="module")
def finished(removed: Scene) -> Scene:
    objects.delete(removed.world.api, OLD, "MariaDBConsumer", "blog", removed.namespace)
    path = objects.path_of(OLD, "MariaDBConsumer", LONG, removed.namespace)
    patch = {"metadata": {"labels": {KEEP_LABEL: None}}}
    objects.call(removed.world.api, "PATCH", path, patch, "application/merge-patch+json")
    removed.run("plan-finish", "--check", finish=True)
    removed.run("finish", finish=True)
    return removed


@pytest.mark.parametrize("name", WHOLE)
def test_plan_says_what_would_be_made(planned: Scene, name: str) -> None:
    assert planned.state("plan", name) == ("planned", "")
    row = planned.reports["plan"]["rows"][f"{planned.namespace}/{name}"]
    assert row["request"] in row["message"] and row["seed"] in row["message"]


@pytest.mark.parametrize("kind", NOT_TRIED)
def test_plan_says_what_would_be_refused(planned: Scene, kind: str) -> None:
    assert planned.state("plan", kind) == ("not-tried", BROKEN[kind].reason)


def test_nothing_is_made_for_what_would_be_refused(made: Scene) -> None:
    for kind in NOT_TRIED:
        assert made.sites[kind].request.read() is None
        assert made.sites[kind].seed() is None


def test_seed_and_request_are_made(made: Scene) -> None:
    site = made.sites["shop"]
    spec = (site.request.read() or {})["spec"]
    assert spec == {
        "scope": made.place.scope,
        "type": "mariadb",
        "name": "shop",
        "seed": {"name": "shop-seed", "namespace": made.namespace, "deleteAfterSuccess": False},
        "dropDatabaseOnDelete": False,
    }
    values = {k: base64.b64decode(v).decode() for k, v in (site.seed() or {})["data"].items()}
    assert (values == site.account.seed()) is True, "the seed secret isn't the MariaDBConsumer's"
    assert made.state("make", "shop") == ("waiting", "NotSeen")
    assert "not Settled within 0 s" in made.reports["make"]["rows"][f"{made.namespace}/shop"]["message"]


def test_nothing_is_labelled_before_ready(made: Scene) -> None:
    assert {name: changes for name, changes in made.written.items() if changes} == {}
    assert made.reports["make"]["good"] is False


@pytest.mark.parametrize("name", WHOLE)
def test_whole_ones_are_migrated(settled: Scene, name: str) -> None:
    assert settled.state("migrate", name) == ("migrated", "SeedAdopted")


@pytest.mark.parametrize("kind", REFUSED)
def test_broken_ones_are_refused_by_name(settled: Scene, kind: str) -> None:
    assert settled.state("migrate", kind) == ("refused", BROKEN[kind].reason)
    assert settled.reports["migrate"]["rows"][f"{settled.namespace}/{kind}"]["message"].endswith(".")


def test_the_label_is_all_that_is_written_on_the_old_object(settled: Scene) -> None:
    for name, changes in settled.written.items():
        assert changes == ({"labels": {"app": "site", KEEP_LABEL: "true"}} if name in WHOLE else {}), name


@pytest.mark.parametrize("step", ["plan", "again", "plan-removal", "plan-finish"])
def test_a_plan_and_a_run_without_a_cause_ask_for_no_write(finished: Scene, step: str) -> None:
    assert told(finished.audits[step]) == set()


def test_the_api_server_saw_nothing_written_on_an_old_object_but_the_label(finished: Scene) -> None:
    seen = {step: of_old_objects(entries) for step, entries in finished.audits.items()}
    assert {step for step, found in seen.items() if found} == {"migrate"}
    label = {"labels": {KEEP_LABEL: "true"}}
    assert sorted(seen["migrate"], key=lambda entry: entry[1]) == [
        ("patch", name, "", {"apiVersion": OLD, "kind": "MariaDBConsumer", "metadata": {
            "namespace": finished.namespace, "name": name, **label
        }})
        for name in sorted(WHOLE)
    ]  # fmt: skip


def test_the_api_server_saw_no_other_write(finished: Scene) -> None:
    names = {"shop": "shop", "blog": "blog", LONG: CUT, **{kind: kind for kind in REFUSED}}
    made = {
        f"patch {kind} {name}{end}"
        for name in names.values()
        for kind, end in (("secrets", "-seed"), ("databaserequests", ""))
    }
    wrote = {step: told([e for e in entries if not of_old_objects([e])]) for step, entries in finished.audits.items()}
    assert wrote["make"] == made
    assert wrote["migrate"] <= made, "what is there already is applied once more at most"
    gone = {line.replace("patch", "delete") for line in made if any(kind in line for kind in REFUSED)}
    assert wrote["remove"] == gone
    assert wrote["finish"] == {"patch databaserequests shop", "patch databaserequests blog"}


def test_text_stays_text(settled: Scene) -> None:
    assert settled.reports["migrate"]["rows"][f"{settled.namespace}/blog"]["database"] == TEMPLATE
    assert settled.sites["blog"].request.values()["DATABASE"] == TEMPLATE


def test_the_application_reaches_its_old_rows(settled: Scene) -> None:
    assert settled.sites["shop"].request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert settled.sites["shop"].request.values()["DATABASE"] == settled.sites["shop"].account.database


def test_refused_ones_are_removed_on_demand(removed: Scene) -> None:
    for kind in REFUSED:
        assert removed.sites[kind].request.read() is None
        assert removed.sites[kind].seed() is None
        assert removed.state("remove", kind) == ("refused", BROKEN[kind].reason)
        assert "were removed" in removed.reports["remove"]["rows"][f"{removed.namespace}/{kind}"]["message"]
        assert removed.sites[kind].differences() == {}
    assert removed.sites["shop"].seed() is not None


@pytest.mark.parametrize("name", ["shop", "blog"])
def test_finish_needs_the_label_or_the_absence(finished: Scene, name: str) -> None:
    assert finished.state("finish", name) == ("finished", "SeedAdopted")
    assert (finished.sites[name].request.read() or {})["spec"]["dropDatabaseOnDelete"] is True


def test_finish_leaves_one_without_the_label(finished: Scene) -> None:
    assert finished.state("finish", LONG) == ("unlabelled", "SeedAdopted")
    request = finished.request(CUT)
    assert (request.read() or {})["spec"]["dropDatabaseOnDelete"] is False


def test_no_password_is_told(finished: Scene) -> None:
    """Neither by what the runs printed nor by the report, which is among the files that are looked through."""
    assert finished.migration.runner.leaks() == []


def test_a_broken_site_stops_no_other_and_the_exit_status_tells(settled: Scene) -> None:
    assert settled.reports["migrate"]["good"] is False
    assert settled.reports["migrate"]["counts"] == {"migrated": 3, "not-tried": 3, "refused": 3}
