"""The paths that a request can take, each from a state of rest to the run that is killed."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import sql

from dev import objects
from tests.cases.world import Cases, Place, execute
from tests.crash.picture import Subject, derived
from tests.integration.e2ehelpers import CREATE_TABLE, MERGE, Account, token

RECONCILE, FINALIZE = "reconcile-request.yml", "finalize-request.yml"
LONG_READY = 24 * 3600  # seconds; longer than any grace time


@dataclass(repr=False)
class Stage:
    """Where the paths begin, and what is left of them there: a request that is Ready begins another path.

    Attributes:
        world: the sandbox.
        place: the server and the namespace.
        bring: brings a request to Ready, by a run or by an operator.
    """

    world: Cases
    place: Place
    bring: Callable[[Subject], None]
    _ready: dict[str, list[Subject]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, path: str, subject: Subject) -> None:
        """Keep a request that a path made Ready and that was compared.

        Args:
            path: what made it.
            subject: the request.
        """
        with self._lock:
            self._ready.setdefault(path, []).append(subject)

    def ready(self, path: str) -> Subject:
        """A request that is Ready, with a table in its database.

        Args:
            path: what made it: ``adopt``, ``create`` or ``plain``.

        Returns:
            The request, to be had once.
        """
        with self._lock:
            kept = self._ready.get(path)
            if kept:
                return kept.pop()
        subject = PATHS[path].begin(self)
        self.bring(subject)
        self.filled(subject)
        return subject

    def filled(self, subject: Subject) -> None:
        """Make sure that the database holds a table, as one that is in use does."""
        tables = "SELECT 1 FROM information_schema.tables WHERE table_schema = %s"
        if not subject.server.query(tables, [subject.database]):
            subject.server.query(CREATE_TABLE, database=subject.database)

    def seeded(self, account: Account, **seed: Any) -> Subject:
        """A request with a seed."""
        name = f"r-{token()}"
        namespace = self.place.namespace
        given = {"name": f"{name}-seed", "namespace": namespace, **seed}
        request = self.world.ask(self.place, account.seed(), name_of_request=name, seed=given)
        secret = objects.get(self.world.api, "v1", "Secret", f"{name}-seed", namespace) or {}
        metadata = secret["metadata"]
        words = {
            account.password: "<password>",
            metadata["uid"]: "<uid of the seed>",
            f'"{metadata["resourceVersion"]}"': '"<version of the seed>"',
        }
        return Subject(request, self.place.server, account.database, account.username, words)


@dataclass(frozen=True)
class Path:
    """A path.

    Attributes:
        name: what it is called.
        playbook: whose run is killed.
        begin: brings a request to where the path begins.
        reason: with which it is Ready at its end; none where it goes.
        stays: where it goes, whether database and account stay.
        makes: a request of this path is Ready at its end, and can begin another one.
        rotates: the only copy of the password can be lost with a killed run; the account then has a new one.
    """

    name: str
    playbook: str
    begin: Callable[[Stage], Subject]
    reason: str = ""
    stays: bool = False
    makes: str = ""
    rotates: bool = False


PATHS: dict[str, Path] = {}


def path(
    playbook: str, reason: str = "", stays: bool = False, makes: str = "", rotates: bool = False
) -> Callable[[Callable[[Stage], Subject]], Callable[[Stage], Subject]]:
    """Add a path, named after the function that begins it."""

    def add(begin: Callable[[Stage], Subject]) -> Callable[[Stage], Subject]:
        def remembering(stage: Stage) -> Subject:
            subject = begin(stage)
            subject.remember()
            return subject

        name = begin.__name__.lstrip("_").replace("_", "-")
        PATHS[name] = Path(name, playbook, remembering, reason, stays, makes, rotates)
        return begin

    return add


@path(RECONCILE, "SeedAdopted", makes="adopt")
def _adopt(stage: Stage) -> Subject:
    """A take-over, with the seed secret deleted at its end."""
    return stage.seeded(stage.world.older(stage.place.server), deleteAfterSuccess=True)


@path(RECONCILE, "SeedCreated", makes="create")
def _create(stage: Stage) -> Subject:
    """A seed of which neither database nor account exists."""
    return stage.seeded(stage.world.imagined(stage.place.server))


@path(RECONCILE, "DatabaseCreated", makes="plain")
def _plain(stage: Stage) -> Subject:
    """A request without a seed."""
    return derived(stage.world.ask(stage.place), stage.place.server)


@path(RECONCILE, "DatabaseCreated", makes="plain")
def _lost_password(stage: Stage) -> Subject:
    """The Secret was deleted, and with it the only copy of the password."""
    subject = stage.ready("plain")
    request = subject.request
    objects.delete(stage.world.api, "v1", "Secret", request.name, request.namespace)
    return subject


@path(RECONCILE, "DatabaseCreated", makes="plain")
def _lost_grant(stage: Stage) -> Subject:
    """Somebody revoked the account's rights."""
    subject = stage.ready("plain")
    pattern = sql.grant_pattern(subject.database)
    execute(subject.server, f"REVOKE ALL PRIVILEGES ON {pattern}.* FROM %s@'%%'", subject.username)
    return subject


@path(RECONCILE, "DatabaseCreated")
def _rename(stage: Stage) -> Subject:
    """``spec.name`` was changed."""
    subject = stage.ready("plain")
    subject.request.change(name=f"{subject.request.name}-other")
    return subject


@path(RECONCILE, "DatabaseCreated", rotates=True)
def _replace(stage: Stage) -> Subject:
    """Somebody edited the Secret, made it immutable and deleted the Service: both are made anew."""
    subject = stage.ready("plain")
    request = subject.request
    where = objects.path_of("v1", "Secret", request.name, request.namespace)
    service = request.service() or {}
    edited = {next(key for key in (request.secret() or {})["data"] if key.endswith("_PORT")): "1"}
    objects.call(stage.world.api, "PATCH", where, {"immutable": True, "stringData": edited}, MERGE)
    objects.delete(stage.world.api, "v1", "Service", service["metadata"]["name"], request.namespace)
    return subject


def _deleted(stage: Stage, subject: Subject) -> Subject:
    stage.world.mark(subject.request)
    return subject


@path(FINALIZE)
def _drop_created(stage: Stage) -> Subject:
    """Database and account that a seed described and the operator made go with their request."""
    return _deleted(stage, stage.ready("create"))


@path(FINALIZE)
def _drop_adopted(stage: Stage) -> Subject:
    """So do those that it took over, once they were Ready for a while."""
    subject = stage.ready("adopt")
    subject.request.age_by(subject.server, LONG_READY)
    return _deleted(stage, subject)


@path(FINALIZE, stays=True)
def _give_back(stage: Stage) -> Subject:
    """Before that they are given back: nothing is dropped."""
    subject = stage.ready("adopt")
    subject.request.age_by(subject.server, -LONG_READY)  # it may have waited here for long
    return _deleted(stage, subject)


@path(FINALIZE, stays=True)
def _keep(stage: Stage) -> Subject:
    """``dropDatabaseOnDelete: false``: what is published becomes a Secret in the keys of a seed."""
    subject = stage.ready("plain")
    subject.request.change(dropDatabaseOnDelete=False)
    return _deleted(stage, subject)


@path(FINALIZE, stays=True)
def _keep_with_a_new_password(stage: Stage) -> Subject:
    """The same where the password is lost."""
    subject = stage.ready("plain")
    subject.request.change(dropDatabaseOnDelete=False)
    objects.delete(stage.world.api, "v1", "Secret", subject.request.name, subject.request.namespace)
    return _deleted(stage, subject)
