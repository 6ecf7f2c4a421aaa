"""Making the demo's requests and waiting for what the operator says of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubernetes import client

from dev import objects
from dev.demo import names
from dev.demo.cases import FOREIGN_SERVICE, KEPT, Case, Seed
from dev.demo.generallog import GeneralLog
from dev.errors import WaitTimeout
from dev.mariadb import MariaDB
from dev.sandbox import PROVIDER
from dev.waiting import wait_for

Document = dict[str, Any]
Say = Callable[[str], None]
API = f"{objects.GROUP}/{objects.VERSION}"
KIND = "DatabaseRequest"
READY = {"Ready": "True", "Error": "False", "Settled": "True"}
REFUSED = {"Ready": "False", "Error": "True", "Settled": "True"}


def words_of(request: Document) -> tuple[str, str]:
    """Say in words what the conditions of a request say.

    Args:
        request: the request.

    Returns:
        State and reason. The state is ``no verdict`` where the conditions aren't of this generation.
    """
    conditions = {c["type"]: c for c in request.get("status", {}).get("conditions", [])}
    generation = request["metadata"]["generation"]
    if not conditions or any(c.get("observedGeneration") != generation for c in conditions.values()):
        return "no verdict", ""
    statuses = {kind: condition["status"] for kind, condition in conditions.items()}
    reason = conditions["Ready"]["reason"] if "Ready" in conditions else ""
    if statuses == READY:
        return "ready", reason
    if statuses == REFUSED:
        return "refused", reason
    return ("waits" if statuses.get("Error") == "False" else "needs a person"), reason


@dataclass
class Course:
    """What happened to one request so far.

    Attributes:
        case: its case.
        seed: the seed that was written.
        account: the account's row in mysql.user beforehand, if it was there.
        made_at: when it was made, on the monotonic clock.
        seconds: from then until it was settled.
        ready_at: when it was seen Ready, on the monotonic clock.
        state: what its conditions say in words.
        reason: the reason that they give.
        uid: its UID.
        mark: where its server's general log stood when it was made.
        logins: how often its seed's account had been tried when it was settled.
        waited: whether it was seen waiting while its server was stopped.
        gone: whether it was deleted and went.
        proof: what was proved of its deletion.
        problems: what was found wrong on the way.
    """

    case: Case
    seed: Seed
    account: Document = field(default_factory=dict)
    made_at: float = 0.0
    seconds: float = 0.0
    ready_at: float = 0.0
    state: str = "not made"
    reason: str = ""
    uid: str = ""
    mark: int = 0
    logins: int = 0
    waited: bool = False
    gone: bool = False
    proof: str = ""
    problems: list[str] = field(default_factory=list)


class Requests:
    """The demo's requests in the cluster.

    Attributes:
        api: an admin's client.
        courses: what happened to each, by name.
    """

    def __init__(
        self,
        api: client.ApiClient,
        logs: dict[str, GeneralLog],
        courses: Sequence[Course],
        say: Say,
    ) -> None:
        """Take the cases; none is made yet.

        Args:
            api: an admin's client.
            logs: the servers' general logs.
            courses: what is to happen.
            say: prints a line of progress.
        """
        self.api = api
        self.courses = {course.case.name: course for course in courses}
        self._logs, self._say = logs, say
        self._deleted_at: dict[str, float] = {}

    def tell(self, name: str, message: str) -> None:
        """Say something about one request: which one, and how far that is.

        Args:
            name: the request's.
            message: what to say.
        """
        number = list(self.courses).index(name) + 1
        self._say(f"[{number:2}/{len(self.courses)}] {name}: {message}")

    def make(self, name: str) -> None:
        """Write a request, its seed secret first.

        Args:
            name: the request's.
        """
        course = self.courses[name]
        case = course.case
        if FOREIGN_SERVICE in case.left:
            objects.apply(self.api, _foreign_service(name))
        if case.seeded:
            objects.apply(self.api, _seed_secret(case, course.seed))
        course.mark = self._logs[case.server].mark()
        course.made_at = time.monotonic()
        course.uid = objects.apply(self.api, _request(case))["metadata"]["uid"]
        self.tell(name, f"waiting for {case.expected}")

    def list(self) -> dict[str, Document]:
        """Read the requests that are there.

        Returns:
            Request by name.
        """
        items = objects.call(self.api, "GET", objects.path_of(API, KIND, namespace=names.NAMESPACE))["items"]
        return {item["metadata"]["name"]: item for item in items}

    def settle(self, wanted: Sequence[str], deadline: float) -> None:
        """Make requests and wait until each of them is Ready or refused for good.

        Args:
            wanted: their names. One that comes after another is made when that is settled, one that was made
                already isn't made again.
            deadline: seconds for all of them; what isn't settled by then has a problem, and the demo goes on.
        """
        held = {name for name in wanted if self.courses[name].case.after in wanted}
        pending = set(wanted) - held
        for name in wanted:
            if name in pending and not self.courses[name].made_at:
                self.make(name)

        def step() -> bool:
            there = self.list()
            for name in [name for name in wanted if name in pending and name in there]:
                if self._look(name, there[name]):
                    pending.discard(name)
                    for follower in [h for h in held if self.courses[h].case.after == name]:
                        held.discard(follower)
                        pending.add(follower)
                        self.make(follower)
            return not pending and not held

        try:
            wait_for(step, "all requests to be settled", deadline)
        except WaitTimeout as error:
            for name in sorted(pending | held):
                course = self.courses[name]
                course.seconds = time.monotonic() - course.made_at if course.made_at else 0.0
                course.problems.append(f"{error}")
                self.tell(name, f"not settled: {course.state} {course.reason}")

    def _look(self, name: str, request: Document) -> bool:
        """Take in what a request says; tell whether it is settled."""
        course = self.courses[name]
        course.state, course.reason = words_of(request)
        if course.state not in ("ready", "refused"):
            return False
        now = time.monotonic()
        course.seconds, course.ready_at = now - course.made_at, now
        course.logins = self._logs[course.case.server].logins(course.seed["username"])
        self.tell(name, f"{course.state}, {course.reason}, after {course.seconds:.1f} s")
        if course.case.ending == KEPT:
            self.delete([name])  # at once, before the grace time is over
        return True

    def delete(self, wanted: Sequence[str]) -> None:
        """Delete requests.

        Args:
            wanted: their names.
        """
        for name in wanted:
            self._deleted_at[name] = time.monotonic()
            objects.delete(self.api, API, KIND, name, names.NAMESPACE)
            self.tell(name, "deleted, waiting for it to be gone")

    def wait_gone(self, wanted: Sequence[str], deadline: float) -> None:
        """Wait until deleted requests are gone.

        Args:
            wanted: their names; those that weren't deleted are left out.
            deadline: seconds for all of them; what isn't gone by then has a problem, and the demo goes on.
        """
        pending = set(wanted) & set(self._deleted_at)

        def step() -> bool:
            there = self.list()
            for name in sorted(pending - set(there)):
                pending.discard(name)
                self.courses[name].gone = True
                seconds = time.monotonic() - self._deleted_at[name]
                self.courses[name].seconds += seconds
                self.tell(name, f"gone after {seconds:.1f} s")
            return not pending

        try:
            wait_for(step, "the deleted requests to be gone", deadline)
        except WaitTimeout as error:
            for name in sorted(pending):
                self.courses[name].problems.append(f"{error}")
                self.tell(name, f"not gone: {error}")


def account_row(server: MariaDB, username: str) -> Document:
    """Read what a server holds of an account: its password's hash among it.

    Args:
        server: which one.
        username: the account's name.

    Returns:
        Plugin, hash and rights; empty if there is no such account.
    """
    rows = server.query(
        "SELECT plugin, authentication_string AS hash FROM mysql.user WHERE User = %s AND Host = '%%'",
        [username],
    )
    if not rows:
        return {}
    grants = server.query("SELECT * FROM mysql.db WHERE User = %s ORDER BY Db", [username])
    return {**rows[0], "grants": [sorted((key, str(value)) for key, value in row.items()) for row in grants]}


def _request(case: Case) -> Document:
    spec: Document = {"scope": PROVIDER, "type": "mariadb", "name": case.name}
    if case.seeded:
        spec["seed"] = {"name": f"{case.name}-seed", "namespace": case.seed_namespace}
    return {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {"name": case.name, "namespace": names.NAMESPACE},
        "spec": spec,
    }


def _seed_secret(case: Case, seed: Seed) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{case.name}-seed", "namespace": case.seed_namespace},
        "stringData": seed,
    }


def _foreign_service(name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": names.NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "another.example.com"},
    }
