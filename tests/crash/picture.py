"""All that a request leaves outside the operator, as one value in which two runs of one path don't differ."""

import base64
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

import pymysql
from ansible_collections.lagoon.dbaas.plugins.module_utils import names, sql

from dev import objects
from dev.mariadb import MariaDB
from tests.integration.e2ehelpers import Request

Json = dict[str, Any]
KINDS = (("v1", "Service"), ("v1", "Secret"), ("discovery.k8s.io/v1", "EndpointSlice"))
TIMES = ("lastTransitionTime", "created_at", "updated_at", "fence")


@dataclass(repr=False)
class Subject:
    """A request with what is its own on the server.

    Attributes:
        request: the request.
        server: where its database is, or is to be.
        database: the database's name.
        username: the account's name.
        words: what a picture shows in place of a text of this subject alone, and why that text is expected.
        before: the account as the server had it when the path began.
    """

    request: Request
    server: MariaDB
    database: str
    username: str
    words: dict[str, str] = field(default_factory=dict)
    before: list[Json] = field(default_factory=list)

    def __repr__(self) -> str:
        """No password in the message of a test that fails."""
        return f"{self.request.namespace}/{self.request.name}"

    def remember(self) -> None:
        """The path begins: keep the account as it is now."""
        self.before = self.accounts()

    def accounts(self) -> list[Json]:
        """What the server has of the account."""
        return self.server.query("SELECT * FROM mysql.global_priv WHERE User = %s ORDER BY Host", [self.username])


def derived(request: Request, server: MariaDB) -> Subject:
    """The subject of a request without a seed; its names follow from its own.

    Args:
        request: the request.
        server: the server of its scope.

    Returns:
        The subject.
    """
    kube_system = objects.get(request.world.api, "v1", "Namespace", "kube-system") or {}
    cluster = kube_system["metadata"]["uid"]
    database = names.derived_database(request.namespace, request.name, cluster, request.uid)
    return Subject(request, server, database, names.derived_account(cluster, request.uid))


def picture(subject: Subject) -> Json:
    """Look at server, ledger and cluster.

    Args:
        subject: the request and its names.

    Returns:
        Plain values, without times, fences and passwords, and with a word for each name of this subject alone.
    """
    taken = {
        "server": _server(subject),
        "ledger": _ledger(subject),
        "objects": _objects(subject),
        "request": _request(subject),
        "login": _login(subject),
    }
    request = subject.request
    words = {
        request.uid: "<uid>",
        subject.database: "<database>",
        subject.username: "<username>",
        **subject.words,
        request.name: "<request>",
        request.namespace: "<namespace>",
    }
    text = json.dumps(taken, sort_keys=True, default=repr)
    for own, word in words.items():
        text = text.replace(own, word)
        text = text.replace(own.upper().replace("-", "_"), word.upper()) if word == "<request>" else text
        text = text.replace(sql.escape_pattern(own).replace("\\", "\\\\"), word)
    return dict(json.loads(text))


def _server(subject: Subject) -> Json:
    server, database = subject.server, subject.database
    schemas = server.query(
        "SELECT default_character_set_name AS characters FROM information_schema.schemata WHERE schema_name = %s",
        [database],
    )
    tables = server.query(
        "SELECT table_name AS name, engine FROM information_schema.tables WHERE table_schema = %s ORDER BY 1",
        [database],
    )
    name = sql.identifier(database)
    sums = [server.query(f"CHECKSUM TABLE {name}.{sql.identifier(table['name'])}")[0]["Checksum"] for table in tables]
    return {
        "databases": schemas,
        "tables": tables,
        "content": sums,
        "accounts": [_account(subject, account) for account in subject.accounts()],
        "grants": server.query("SELECT * FROM mysql.db WHERE User = %s OR Db = %s", [subject.username, database]),
    }


def _account(subject: Subject, account: Json) -> Json:
    stored = json.loads(account["Priv"])
    secret = {k: bool(stored.pop(k, None)) for k in ("authentication_string", "password_last_changed")}
    return {"host": account["Host"], **stored, **secret, "untouched": account in subject.before}


def _ledger(subject: Subject) -> list[Json]:
    request = subject.request
    rows = subject.server.query(
        "SELECT o.*, a.user, a.host, a.origin AS account_origin, a.purpose, a.database_name AS account_database"
        " FROM dbaas_operator.ownership o LEFT JOIN dbaas_operator.account a ON a.database_name = o.database_name"
        " WHERE o.request_uid = %s OR o.database_name = %s OR (o.namespace = %s AND o.request = %s)",
        [request.uid, subject.database, request.namespace, request.name],
    )
    # An account's row whose other row is gone.
    rows += subject.server.query(
        "SELECT * FROM dbaas_operator.account WHERE (user = %s OR database_name = %s) AND database_name NOT IN"
        " (SELECT database_name FROM dbaas_operator.ownership)",
        [subject.username, subject.database],
    )
    shown = []
    for row in rows:
        texts = {k: v.decode() if isinstance(v, bytes) else v for k, v in row.items() if k not in (*TIMES, "cluster")}
        shown.append({**texts, "ready_at": row.get("ready_at") is not None})
    return shown


def _objects(subject: Subject) -> list[Json]:
    request, found = subject.request, []
    for version, kind in KINDS:
        path = objects.path_of(version, kind, namespace=request.namespace)
        for item in objects.call(request.world.api, "GET", path)["items"]:
            if item["metadata"]["name"].startswith(request.name):
                found.append(_object(subject, kind, item))
    return found


def _object(subject: Subject, kind: str, item: Json) -> Json:
    metadata = item["metadata"]
    kept = {k: metadata.get(k) for k in ("name", "labels", "annotations", "ownerReferences", "finalizers")}
    rest = {k: v for k, v in item.items() if k not in ("metadata", "status", "kind", "apiVersion")}
    if "data" in rest:
        rest["data"] = {k: _value(k, base64.b64decode(v).decode(), subject) for k, v in (rest["data"] or {}).items()}
    return {"kind": kind, **kept, **rest}


def _value(key: str, value: str, subject: Subject) -> str:
    if not key.lower().endswith("password"):
        return value
    return "<the seed's>" if subject.words.get(value) == "<password>" else f"<made up, {len(value)} characters>"


def _request(subject: Subject) -> Json | None:
    found = subject.request.read()
    if found is None:
        return None
    status = found.get("status") or {}
    status["conditions"] = [
        {k: v for k, v in condition.items() if k not in TIMES} for condition in status.get("conditions", [])
    ]
    # The finalizer is the runtime's, not a run's.
    return {"spec": found["spec"], "status": status, "ends": "deletionTimestamp" in found["metadata"]}


def _login(subject: Subject) -> str:
    """Whether what is published is a working login, at the published host and database."""
    request = subject.request
    if not (request.read() and request.secret() and request.service()):
        return "nothing published"
    try:
        with contextlib.closing(request.login()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT CURRENT_USER(), DATABASE()")
            return repr(cursor.fetchone())
    except (pymysql.err.MySQLError, KeyError) as error:
        return f"refused: {type(error).__name__} {error.args[:1]}"
