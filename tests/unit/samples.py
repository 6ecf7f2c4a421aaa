"""What the unit tests judge: small whole objects, each with only what a test wants different."""

from __future__ import annotations

import base64
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import names, published, sql

Dict = dict[str, Any]

CLUSTER = "cluster-1"
UID = "11111111-1111-4111-8111-111111111111"
OTHER_UID = "22222222-2222-4222-8222-222222222222"
CREATED = "2026-01-01T00:00:00Z"  # the request
ROW_CREATED = "2026-01-01 00:00:09"  # its row, as a server writes it
DERIVED_USER = names.derived_account(CLUSTER, UID)
DERIVED_DATABASE = names.derived_database("ns", "req", CLUSTER, UID)
REFERENCE: Dict = {"databaseObjectReference": {"kind": "DatabaseMySQLProvider", "name": "dev"}, "name": "one"}
#: Columns of mysql.db on MariaDB 10.11 that stand for what the operator grants.
OPERATOR_COLUMNS = (
    "Select",
    "Insert",
    "Update",
    "Delete",
    "Create",
    "Drop",
    "References",
    "Index",
    "Alter",
    "Create_tmp_table",
    "Lock_tables",
    "Create_view",
    "Show_view",
    "Create_routine",
    "Alter_routine",
    "Execute",
    "Event",
    "Trigger",
)
OTHER_COLUMNS = ("Grant", "Delete_history")


def encode(value: str | bytes) -> str:
    """As a Secret holds it."""
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def connection(name: str = "one", provider: str = "dev", **changes: Any) -> Dict:
    """A connection as request_read hands it over."""
    return {
        "provider": provider,
        "name": name,
        "hostname": f"{name}.db.example.com",
        "port": 3306,
        "enabled": True,
        "username": "dbaas_admin",
        "replicas": [],
        "tls": {},
        "tls_arguments": {},
        "config_file": "/proc/1/fd/9",
        "in_scope": True,
        "referenced": False,
        "problem": "",
        **changes,
    }


def condition(kind: str, status: str, generation: int = 1, since: str = "2026-01-01T00:00:00Z") -> Dict:
    """A condition of a request."""
    return {
        "type": kind,
        "status": status,
        "reason": "Some",
        "message": "some",
        "observedGeneration": generation,
        "lastTransitionTime": since,
    }


def refused_status(generation: int = 1, since: str = "2026-01-01T00:00:00Z", **fields: Any) -> Dict:
    """The status of a request that was refused for good."""
    pairs = (("Ready", "False"), ("Error", "True"), ("Settled", "True"))
    return {"conditions": [condition(kind, status, generation, since) for kind, status in pairs], **fields}


def request(spec: Dict | None = None, status: Dict | None = None, **changes: Any) -> Dict:
    """A request as request_read hands it over."""
    return {
        "name": "req",
        "namespace": "ns",
        "uid": UID,
        "created": CREATED,
        "generation": 1,
        "deleting": False,
        "spec": {"scope": "development", "type": "mysql", "name": "mariadb", **(spec or {})},
        "status": status or {},
        **changes,
    }


def seed(**changes: Any) -> Dict:
    """A valid seed as request_read hands it over."""
    return {
        "state": "valid",
        "database": "app",
        "username": "app-user",
        "password": "geheim",
        "hostname": "one.db.example.com",
        "port": 3306,
        "uid": "seed-uid",
        "resource_version": "7",
        "config_file": "/proc/1/fd/3",
        "connection": connection(),
        "is_replica": False,
        **changes,
    }


SEED_SPEC: Dict = {"seed": {"name": "seed", "namespace": "ns"}}


def read(spec: Dict | None = None, status: Dict | None = None, **changes: Any) -> Dict:
    """What request_read found; ``request_`` changes go to the request."""
    requested = {key.removeprefix("request_"): changes.pop(key) for key in list(changes) if key.startswith("request_")}
    return {
        "found": True,
        "outcome": {},
        "request": request(spec, status, **requested),
        "cluster": CLUSTER,
        "fence": 1000,
        "connections": [connection()],
        "seed": {"state": "absent"},
        "published": {"service": None, "secret": None, "slice": None},
        "stale_services": [],
        "kept": None,
        **changes,
    }


def seeded(status: Dict | None = None, **changes: Any) -> Dict:
    """What request_read found of a request with a valid seed."""
    return read(SEED_SPEC, status, **{"seed": seed(), **changes})


def grant(
    user: str, host: str = "%", pattern: str = "app", without: tuple[str, ...] = (), only: tuple[str, ...] = ()
) -> Dict:
    """A row of mysql.db: what the operator grants, but for some, or only some."""
    given = [c for c in OPERATOR_COLUMNS if (c in only if only else c not in without)]
    columns = {f"{c}_priv": "Y" if c in given else "N" for c in (*OPERATOR_COLUMNS, *OTHER_COLUMNS)}
    return {"Host": host, "Db": pattern, "User": user, **columns}


def answer(**changes: Any) -> Dict:
    """The row sets of a survey: a server with an empty ledger of this version."""
    return {
        "server": [{"read_only": 0, "version": "10.11.19-MariaDB", "folds": 0, "admin_sees": 1, "databases_count": 5}],
        "ledger": [{"version": sql.LEDGER_VERSION}],
        "rows": [],
        "accounts": [],
        "databases": [],
        "users": [],
        "grants": [],
        "other_grants": [],
        "global_grants": [],
        **changes,
    }


def ledger_row(
    uid: str = UID, database: str = "app", state: str = "ready", origin: str = "created", ready: int | None = 100
) -> Dict:
    """A row of ``ownership`` as the survey reads it."""
    return {
        "database_name": database,
        "origin": origin,
        "state": state,
        "ready_seconds": ready,
        "created_at": ROW_CREATED,
        "fence": 900,
        "namespace": "ns",
        "request": "req",
        "request_uid": uid,
    }


def ledger_account(user: str = "app-user", host: str = "%", database: str = "app", purpose: str = "owner") -> Dict:
    """A row of ``account`` as the survey reads it."""
    return {"user": user, "host": host, "database_name": database, "origin": "created", "purpose": purpose}


def ok(**changes: Any) -> Dict:
    """The outcome of a statement that worked."""
    return {"ok": True, "kind": "ok", "number": None, "phase": "", "index": None, **changes}


def bad(kind: str, number: int | None = None, index: int | None = None, phase: str = "statement") -> Dict:
    """The outcome of a statement that failed."""
    return {"ok": False, "kind": kind, "number": number, "phase": phase, "index": index}


def asked(name: str = "one", outcome: Dict | None = None, where: Dict | None = None, **sets: Any) -> Dict:
    """One connection's entry in the answers of a survey."""
    came_to = outcome or ok()
    return {
        "connection": where or connection(name),
        "outcome": came_to,
        "answer": answer(**sets) if came_to["ok"] else None,
    }


def row(
    user: str = "app-user",
    database: str = "app",
    state: str = "ready",
    origin: str = "created",
    ready: int | None = 100,
    **sets: Any,
) -> Dict:
    """A row as locating.locate finds it; the sets of its answer as keyword arguments."""
    return {
        "database": database,
        "origin": origin,
        "state": state,
        "ready_seconds": ready,
        "created_at": ROW_CREATED,
        "fence": 900,
        "folds": False,
        "username": user,
        "host": "%",
        "accounts": [ledger_account(user, database=database)],
        "connection": connection(),
        "answer": answer(**sets),
    }


def there(user: str = "app-user", database: str = "app", **grants: Any) -> Dict:
    """The sets of a server that has a row's database, account and full grant."""
    return {
        "databases": [{"name": database}],
        "users": [{"user": user, "host": "%"}],
        "grants": [grant(user, pattern=sql.escape_pattern(database), **grants)],
    }


def sent(query: str, arguments: Any, driver_error: str) -> Dict:
    """The failed result of a statement, worded as community.mysql does."""
    return {"failed": True, "msg": f"Cannot execute SQL '{query}' args [{arguments}]: {driver_error}"}


def not_connected(driver_error: str, config_file: str = "/proc/7/fd/9") -> Dict:
    """The failed result of a login, worded as community.mysql does."""
    return {
        "failed": True,
        "msg": "unable to connect to database, check login_user and login_password are correct or "
        f"{config_file} has the credentials. Exception message: {driver_error}",
    }


def owned(kind: str, name: str, uid: str = UID, **fields: Any) -> Dict:
    """An object in the request's namespace with an ownerReference of that UID."""
    return {
        "apiVersion": "discovery.k8s.io/v1" if kind == "EndpointSlice" else "v1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"{kind}-{name}-uid",
            "resourceVersion": "1",
            "ownerReferences": [
                {"apiVersion": published.API_VERSION, "kind": published.KIND, "name": "req", "uid": uid}
            ],
        },
        **fields,
    }
