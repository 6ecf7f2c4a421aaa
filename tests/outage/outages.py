"""Outages of a database server and of the Kubernetes API, each for as long as a body lasts."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pymysql
from kubernetes.client import ApiClient

from dev import cluster, objects
from dev.mariadb import MariaDB
from dev.ports import is_free, port_of
from dev.waiting import wait_for
from tests.integration.e2ehelpers import MERGE, Json

FEWEST = 10  # connections; MariaDB takes no smaller number
TOO_MANY = 1040
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/dbaas-operator"
OPERATOR = "system:serviceaccount:dbaas-operator-system:dbaas-operator"
ServerOutage = Callable[[MariaDB], AbstractContextManager[None]]


@contextmanager
def stopped(server: MariaDB) -> Iterator[None]:
    """No process: connections are refused."""
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextmanager
def frozen(server: MariaDB) -> Iterator[None]:
    """SIGSTOP: connections are taken by the kernel, and nothing ever answers."""
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextmanager
def full(server: MariaDB) -> Iterator[None]:
    """All connections are held: error 1040 for everybody but root, who has one more."""
    with contextlib.ExitStack() as held:
        [before] = server.query("SELECT @@global.max_connections AS n")
        server.query(f"SET GLOBAL max_connections = {FEWEST}")
        held.callback(lambda: server.query(f"SET GLOBAL max_connections = {before['n']}"))
        while True:
            try:
                held.enter_context(contextlib.closing(server.login(server.admin_user, server.admin_password)))
            except pymysql.err.OperationalError as error:
                if error.args[0] == TOO_MANY:
                    break
                raise
        yield


@contextmanager
def read_only(server: MariaDB) -> Iterator[None]:
    """A replica: reads go on, writes don't."""
    server.query("SET GLOBAL read_only = 1")
    try:
        yield
    finally:
        server.query("SET GLOBAL read_only = 0")


@contextmanager
def restarted(server: MariaDB) -> Iterator[None]:
    """Stopped and started again before the body."""
    server.restart()
    yield


#: name -> (the outage, the reasons with which a request may wait during it)
SERVER_OUTAGES: dict[str, tuple[ServerOutage, set[str]]] = {
    "stopped": (stopped, {"ConnectionUnavailable", "DropPending"}),
    "frozen": (frozen, {"ConnectionUnavailable", "DropPending"}),
    "full": (full, {"ConnectionUnavailable", "DropPending"}),
    "read_only": (read_only, {"ServerReadOnly", "DropPending"}),
    "restarted": (restarted, set()),
}


@contextmanager
def api_stopped(_api: ApiClient) -> Iterator[None]:
    """The API server's process killed; started again on the same port."""
    cluster.APISERVER.kill()
    try:
        yield
    finally:
        # The process is gone a moment before its sockets are; the sandbox would look for another port.
        wait_for(lambda: is_free(port_of("kube-apiserver")), "the killed API server's port to be free")
        cluster.start()


@contextmanager
def api_frozen(_api: ApiClient) -> Iterator[None]:
    """SIGSTOP: the API server takes connections and never answers."""
    cluster.APISERVER.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cluster.APISERVER.signal(signal.SIGCONT)


@contextmanager
def _ruled(api: ApiClient, change: Callable[[list[Json]], list[Json]], verb: str, resource: str) -> Iterator[None]:
    """Other rules for the operator; they hold when it may no more do what the verb and the resource say."""
    role: Json = objects.call(api, "GET", ROLE)
    objects.call(api, "PATCH", ROLE, {"rules": change(role["rules"])}, MERGE)
    try:
        wait_for(lambda: not may(api, verb, resource), "the operator's rights to be taken away")
        yield
    finally:
        objects.call(api, "PATCH", ROLE, {"rules": role["rules"]}, MERGE)
        wait_for(lambda: may(api, verb, resource), "the operator's rights to be given back")


def forbidden(api: ApiClient) -> AbstractContextManager[None]:
    """The operator may do nothing but read requests and write their status: 403 for all else."""

    def change(rules: list[Json]) -> list[Json]:
        return [rule for rule in rules if any(r.startswith("databaserequests") for r in rule["resources"])]

    return _ruled(api, change, "get", "secrets")


def without(api: ApiClient, verb: str, resource: str) -> AbstractContextManager[None]:
    """The operator lacks one right.

    Args:
        api: the admin's.
        verb: the right.
        resource: to what of the core group.

    Returns:
        The outage.
    """

    def change(rules: list[Json]) -> list[Json]:
        return [
            {**rule, "verbs": [v for v in rule["verbs"] if v != verb or resource not in rule["resources"]]}
            for rule in rules
        ]

    return _ruled(api, change, verb, resource)


def may(api: ApiClient, verb: str, resource: str) -> bool:
    """Whether the operator may do something to objects of the core group.

    Args:
        api: the admin's.
        verb: what.
        resource: the objects' plural.

    Returns:
        What the API server says.
    """
    spec = {"user": OPERATOR, "resourceAttributes": {"verb": verb, "resource": resource, "namespace": "default"}}
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer: Any = objects.call(api, "POST", path, body)
    return bool(answer["status"]["allowed"])


@contextmanager
def uncollected() -> Iterator[None]:
    """The garbage collector stands still: objects outlive their owners."""
    cluster.MANAGER.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        cluster.MANAGER.signal(signal.SIGCONT)


ApiOutage = Callable[[ApiClient], AbstractContextManager[None]]
API_OUTAGES: dict[str, ApiOutage] = {"api_stopped": api_stopped, "api_frozen": api_frozen, "forbidden": forbidden}
