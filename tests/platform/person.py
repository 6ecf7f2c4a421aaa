"""What a person of the platform does and leaves in these tests."""

import base64
import json
from typing import Any

from dev import objects
from tests.cases.running import Run, Runner
from tests.cases.world import Cases, Place
from tests.integration.e2ehelpers import API, MERGE, Request, token

Json = dict[str, Any]


def name_of(place: Place) -> str:
    """A place's server as the reports name it."""
    return place.server.address


def run(world: Cases, playbook: str, variables: Json, check: bool = False) -> tuple[Run, Json]:
    """Run one of the playbooks as an admin.

    Args:
        world: where.
        playbook: its name without ``.yml``.
        variables: extra variables.
        check: with ``--check``.

    Returns:
        The run and its report.
    """
    folder = world.runner.folder / f"person-{token()}"
    folder.mkdir()
    output = folder / "report.json"
    runner = Runner(world.sandbox.kubeconfig, folder)
    done = runner.run(f"{playbook}.yml", {"output": str(output), **variables}, 0, None, ["--check"] if check else [])
    world.runner.runs.append(done)
    report: Json = {}
    if output.exists():
        assert output.stat().st_mode & 0o777 == 0o600, "others may read the report"
        report = json.loads(output.read_text(encoding="utf-8"))
    return done, report


def ready(world: Cases, place: Place, seeded: bool = False, **spec: Any) -> Request:
    """A request that is Ready: with a database of its own, or one that was taken over."""
    account = world.older(place.server) if seeded else None
    request = world.ask(place, account.seed() if account else None, **spec)
    reason = "SeedAdopted" if seeded else "DatabaseCreated"
    assert world.reconcile(request).startswith(reason), request.told()
    return request


def lose(world: Cases, request: Request) -> Json:
    """Delete a request as a restore of a whole cluster does: the object goes, and nothing on the server.

    Returns:
        The object as it was.
    """
    found = request.read()
    assert found is not None
    path = objects.path_of(API, "DatabaseRequest", request.name, request.namespace)
    objects.call(world.api, "PATCH", path, {"metadata": {"finalizers": None}}, MERGE)
    request.delete()
    return found


def restore(world: Cases, found: Json) -> Request:
    """Create a request again as a backup holds it: without its status, and it gets a new UID."""
    metadata = {"name": found["metadata"]["name"], "namespace": found["metadata"]["namespace"]}
    document = {"apiVersion": API, "kind": "DatabaseRequest", "metadata": metadata, "spec": found["spec"]}
    made = world.apply(document)
    return Request(world, metadata["namespace"], metadata["name"], made["metadata"]["uid"])


def row(place: Place, database: str) -> Json:
    """A row of the ledger; empty where there is none."""
    found = place.server.query("SELECT * FROM dbaas_operator.ownership WHERE database_name = %s", [database])
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in found[0].items()} if found else {}


def age(place: Place, database: str) -> None:
    """Let a database have been made an hour earlier, as those are that are handed over or restored."""
    earlier = "UPDATE dbaas_operator.ownership SET created_at = created_at - INTERVAL 1 HOUR"
    place.server.query(f"{earlier} WHERE database_name = %s", [database])


def patch(world: Cases, kind: str, namespace: str, name: str, body: Json, status: bool = False) -> None:
    """Merge a change into an object, as a tenant or an accident does."""
    path = objects.path_of(API if kind == "DatabaseRequest" else "v1", kind, name, namespace)
    objects.call(world.api, "PATCH", path + ("/status" if status else ""), body, MERGE)


def encoded(values: dict[str, str]) -> Json:
    """The data of a Secret."""
    return {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
