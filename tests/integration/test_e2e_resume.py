"""A run that was killed is resumed by its row: what it made is its own only while nobody else can have used it."""

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import names

from dev import objects
from dev.mariadb import MariaDB
from dev.operator import Operator
from tests.settings import SETTINGS

API = "crd.lagoon.sh/v1alpha1"


@pytest.mark.parametrize(("table", "reason"), [(False, "DatabaseCreated"), (True, "DatabaseExists")], ids=["K1", "O3"])
def test_a_database_without_an_account_is_resumed_while_empty(
    operator: Operator,
    admin_api: Any,
    namespace: str,
    server_one: MariaDB,
    wait_for: Callable[..., Any],
    table: bool,
    reason: str,
) -> None:
    """Killed after CREATE DATABASE: rows in state creating, a database, and an account that isn't there."""
    tables = "SELECT COUNT(*) AS n FROM information_schema.tables WHERE table_schema = 'dbaas_operator'"
    wait_for(lambda: server_one.query(tables)[0]["n"] == 3, "the ledger to be made", 60)
    operator.stop()
    spec = {"scope": "development", "type": "mariadb", "name": "resumed"}
    body = {"apiVersion": API, "kind": "DatabaseRequest", "metadata": {"name": "resumed", "namespace": namespace}}
    objects.apply(admin_api, {**body, "spec": spec})

    def found() -> Any:
        return objects.get(admin_api, API, "DatabaseRequest", "resumed", namespace)

    uid = found()["metadata"]["uid"]
    cluster = (objects.get(admin_api, "v1", "Namespace", "kube-system") or {})["metadata"]["uid"]
    database = names.derived_database(namespace, "resumed", cluster, uid)
    server_one.query(
        "INSERT INTO dbaas_operator.ownership (database_name, origin, state, fence, cluster, namespace, request,"
        " request_uid, created_at) VALUES (%s, 'created', 'creating', 1, %s, %s, 'resumed', %s, UTC_TIMESTAMP())",
        [database, cluster, namespace, uid],
    )
    server_one.query(
        "INSERT INTO dbaas_operator.account (user, host, database_name, origin, purpose, created_at)"
        " VALUES (%s, %s, %s, 'created', 'owner', UTC_TIMESTAMP())",
        [names.derived_account(cluster, uid), "%", database],
    )
    server_one.query(f"CREATE DATABASE `{database}`")
    if table:
        server_one.query("CREATE TABLE t (i INT)", database=database)
    operator.start(SETTINGS)

    def settled() -> str | None:
        conditions = (found().get("status") or {}).get("conditions", [])
        return next((c["reason"] for c in conditions if c["type"] == "Settled" and c["status"] == "True"), None)

    assert wait_for(settled, "the resumed request to settle", 90) == reason
    rows = server_one.query("SELECT 1 FROM dbaas_operator.ownership WHERE request_uid = %s", [uid])
    assert len(rows) == (0 if table else 1)
    if table:
        assert server_one.query("SHOW TABLES", database=database)
        server_one.query(f"DROP DATABASE `{database}`")
