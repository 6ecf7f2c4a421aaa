"""Taking away what an earlier run left, whatever state it was in. The operator must not be running."""

from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from dev import objects
from dev.demo import names, older
from dev.errors import SandboxError
from dev.mariadb import MariaDB
from dev.waiting import wait_for

REQUEST = (f"{objects.GROUP}/{objects.VERSION}", "DatabaseRequest")
# Requests last: the garbage collector then has nothing to follow up.
KINDS = (
    ("discovery.k8s.io/v1", "EndpointSlice"),
    ("v1", "Service"),
    ("v1", "Secret"),
    ("v1", "Event"),
    REQUEST,
)
# A session that holds a lock on a database is said after these seconds, not waited for.
LOCK = "SET STATEMENT lock_wait_timeout=20 FOR"

# How the names begin that the operator makes up for accounts of plain requests.
DERIVED_ACCOUNT = "u-"


def _items(api: client.ApiClient, kind: tuple[str, str], namespace: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = objects.call(api, "GET", objects.path_of(*kind, namespace=namespace))["items"]
    return found


def _release(api: client.ApiClient, namespace: str) -> None:
    """Take the finalizers off the requests: what they stand for is dropped here, on the servers."""
    for request in _items(api, REQUEST, namespace):
        if not request["metadata"].get("finalizers"):
            continue
        path = objects.path_of(*REQUEST, request["metadata"]["name"], namespace)
        try:
            objects.call(api, "PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        except ApiException as error:
            if error.status != 404:
                raise


def _empty(api: client.ApiClient, namespace: str) -> None:
    _release(api, namespace)
    for kind in KINDS:
        objects.call(api, "DELETE", objects.path_of(*kind, namespace=namespace))
    wait_for(
        lambda: not any(_items(api, kind, namespace) for kind in KINDS[1:]),
        f"the objects of an earlier demo to go from namespace {namespace}",
        60,
    )


def clean_namespace(api: client.ApiClient, namespace: str) -> None:
    """Make a namespace of the demo's, or empty the one that is there.

    Args:
        api: an admin's client.
        namespace: its name.

    Raises:
        SandboxError: there is one of that name that isn't the demo's, or an old one doesn't go.
    """
    found = objects.get(api, "v1", "Namespace", namespace)
    if found is not None and names.LABEL not in (found["metadata"].get("labels") or {}):
        raise SandboxError(
            f"namespace {namespace} exists and isn't the demo's (it lacks the label {names.LABEL}); "
            "the demo empties that namespace: delete it first if nothing in it is needed"
        )
    if found is not None and found["metadata"].get("deletionTimestamp"):
        _release(api, namespace)
        wait_for(
            lambda: objects.get(api, "v1", "Namespace", namespace) is None,
            f"the old namespace {namespace} to be gone",
            90,
        )
        found = None
    if found is not None:
        _empty(api, namespace)
    objects.apply(
        api,
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "labels": {names.LABEL: "true"}},
        },
    )


def _recorded(server: MariaDB, column: str) -> list[str]:
    """What the ledger holds of the demo's requests: names that the operator made up are known there only."""
    if not server.query("SELECT 1 FROM information_schema.tables WHERE table_schema = 'dbaas_operator'"):
        return []
    rows = server.query(
        f"SELECT CONVERT({column} USING utf8mb4) AS name FROM dbaas_operator.ownership o "
        "LEFT JOIN dbaas_operator.account a USING (database_name) WHERE o.namespace = %s",
        [names.NAMESPACE],
    )
    return [row["name"] for row in rows if row["name"]]


def clean_server(server: MariaDB) -> None:
    """Drop the demo's databases and accounts, and take its rows out of the ledger.

    Args:
        server: which one.

    Raises:
        pymysql.err.MySQLError: the server refused; 1205 means that a session still uses one of the databases.
    """
    older.mend(server)
    prefix = names.PREFIX.replace("_", "\\_") + "%"
    databases = {
        row["name"]
        for row in server.query(
            "SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE %s", [prefix]
        )
    }
    recorded = _recorded(server, "o.database_name")
    accounts = {
        (row["user"], row["host"])
        for row in server.query("SELECT User AS user, Host AS host FROM mysql.user WHERE User LIKE %s", [prefix])
    } | {(user, "%") for user in _recorded(server, "a.user") if user.startswith(DERIVED_ACCOUNT)}
    for user, host in sorted(accounts):
        server.query("DROP USER IF EXISTS %s@%s", [user, host])
    derived = {database for database in recorded if database.startswith(f"{names.NAMESPACE}-")}
    for database in sorted(databases | derived):
        quoted = database.replace("`", "``")
        server.query(f"{LOCK} DROP DATABASE IF EXISTS `{quoted}`")
    for database in recorded:
        server.query("DELETE FROM dbaas_operator.account WHERE database_name = %s", [database])
        server.query("DELETE FROM dbaas_operator.ownership WHERE database_name = %s", [database])
