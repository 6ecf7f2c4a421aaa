"""The demo from its start to the last proof."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from dev import objects
from dev.demo import cases, clean, names, older
from dev.demo.cases import CASES, Case
from dev.demo.generallog import GeneralLog
from dev.demo.proof import NotProved, Prover, own_things
from dev.demo.requests import API, KIND, Course, Requests, Say, account_row, words_of
from dev.demo.result import Result, result_of
from dev.errors import WaitTimeout
from dev.sandbox import PROVIDER, Sandbox
from dev.waiting import wait_for

#: Where both runtimes keep the runs of an object; the link ``latest`` is renewed when a run has ended.
RUNS = Path("/tmp/ansible-operator/runner")  # noqa: S108
#: Seconds for what is asked of the operator. A run takes some; two go on at a time.
VERDICTS, ONE, RESTART = 600.0, 120.0, 240.0
#: The operator's settings.
SETTINGS = {"DBAAS_ADOPTED_GRACE_SECONDS": str(names.GRACE)}
#: What a request says of its server while that is stopped.
DOWN = "ConnectionUnavailable"


def _quiet(_message: str) -> None:
    """Say nothing."""


def run(sandbox: Sandbox, say: Say = _quiet) -> list[Result]:
    """Show every kind of request on a sandbox that is up. Afterwards the operator is running.

    Whatever an earlier run left is taken away first: the demo's own namespaces, databases and accounts.

    Args:
        sandbox: the sandbox.
        say: prints a line of progress.

    Returns:
        What was seen of each request, in the order of the cases.

    Raises:
        SandboxError: the operator or a server can't be started, or what is left can't be taken away.
    """
    begin = time.monotonic()
    say("1/6 taking away what an earlier run left")
    sandbox.operator.stop()
    for namespace in (names.NAMESPACE, names.ELSEWHERE):
        clean.clean_namespace(sandbox.api(), namespace)
    for server in sandbox.servers.values():
        clean.clean_server(server)
    show = _Show(sandbox, say)
    try:
        show.prepare()
        show.verdicts()
        show.server_down()
        show.restart()
        results = show.results()
    finally:
        for server in sandbox.servers.values():
            server.start()  # an interruption may have come while it was stopped
            older.mend(server)
    say(f"done in {time.monotonic() - begin:.0f} s")
    return results


class _Show:
    """The steps of one run and what they know of each other."""

    def __init__(self, sandbox: Sandbox, say: Say) -> None:
        self._sandbox, self._say = sandbox, say
        self._servers = sandbox.servers
        self._logs = {name: GeneralLog(server) for name, server in self._servers.items()}

    def prepare(self) -> None:
        """Make what the older operator left, then start ours."""
        self._say("2/6 making what the older operator left: databases of 1,000 rows, accounts, rights")
        courses = []
        for case in CASES:
            word = older.password()
            if case.seeded and not older.prepare(self._servers[case.server], case, word):
                self._say(f"left out: {case.name} (the server has no plugin {older.POLICY_PLUGIN})")
                continue
            courses.append(self._course(case, word))
        self._requests = Requests(self._sandbox.api(), self._logs, courses, self._say)
        self._prover = Prover(self._requests, self._servers, self._logs)
        self._say(f"3/6 starting the operator ({self._sandbox.operator.runtime})")
        self._sandbox.ensure_provider()
        self._sandbox.operator.start(SETTINGS)
        wait_for(self._connections_available, f"provider {PROVIDER} to reach servers one and two", 60)

    def _course(self, case: Case, word: str) -> Course:
        server = self._servers[case.server]
        seed = {
            "database": case.database_name,
            "username": case.user_name,
            "password": word,
            "hostname": server.hostname,
            "port": str(server.port),
        }
        account = account_row(server, case.user_name) if cases.ACCOUNT in case.left else {}
        return Course(case, case.alter(seed), account)

    def _connections_available(self) -> bool:
        provider = objects.get(self._sandbox.api(), API, "DatabaseMySQLProvider", PROVIDER) or {}
        status = {entry["name"]: entry["status"] for entry in provider.get("status", {}).get("connectionStatus", [])}
        return status.get("one") == status.get("two") == "available"

    def _names(self, wanted: Callable[[Case], bool]) -> list[str]:
        return [name for name, course in self._requests.courses.items() if wanted(course.case)]

    def verdicts(self) -> None:
        """Make all requests that need nothing to happen meanwhile."""
        wanted = self._names(lambda case: not case.down and case.ending != cases.KEPT)
        self._say(f"4/6 making {len(wanted)} requests")
        self._requests.settle(wanted, VERDICTS)
        self._settle_races()

    def _settle_races(self) -> None:
        """Exactly one request of a race gets the database, no matter which; the others have to lose."""
        races: dict[str, list[Course]] = {}
        for course in self._requests.courses.values():
            if course.case.race:
                races.setdefault(course.case.race, []).append(course)
        for courses in races.values():
            _winner, *losers = sorted(courses, key=lambda course: course.state != "ready")
            for course in losers:
                course.case = dataclasses.replace(course.case, expected="SeedDatabaseInUse", ready=False)

    def server_down(self) -> None:
        """Make a request while its server is stopped; it has to go on by itself when the server is back.

        Beside it a request is made that is deleted right after it became Ready.
        """
        self._prover.remember()
        (down,) = self._names(lambda case: case.down)
        kept = self._names(lambda case: case.ending == cases.KEPT)
        course = self._requests.courses[down]
        server = self._servers[course.case.server]
        self._say(f"5/6 stopping server {server.name} and making a request for it")
        server.stop()
        try:
            self._requests.make(down)
            wait_for(lambda: words_of(self._requests.list()[down]) == ("waits", DOWN), f"{down} to say {DOWN}", ONE)
            course.waited = True
            self._requests.tell(down, f"waits, {DOWN}; starting server {server.name}")
        except WaitTimeout as error:
            course.problems.append(f"{error}")
        finally:
            server.start()
        self._requests.settle([down, *kept], ONE)
        self._requests.wait_gone(kept, ONE)

    def restart(self) -> None:
        """Stop the operator, delete some requests, start it anew; it looks at every other request again, too."""
        deleted = self._names(lambda case: case.ending in (cases.DROPPED, cases.UNTOUCHED))
        for name in self._names(lambda case: case.ending == cases.DROPPED):
            self._prove(name, self._prover.ready)
            self._wait_grace(self._requests.courses[name])
        refused = [
            name for name, course in self._requests.courses.items() if course.state == "refused" and name not in deleted
        ]
        self._say(
            f"6/6 stopping the operator, deleting {len(deleted)} requests, starting it anew; "
            f"it looks at {len(refused)} refused requests again"
        )
        self._sandbox.operator.stop()
        stopped = time.time()
        self._prover.remember()
        self._requests.delete(deleted)
        self._sandbox.operator.start(SETTINGS)
        self._requests.wait_gone(deleted, RESTART)
        try:
            wait_for(
                lambda: all(_was_run_since(name, stopped) for name in refused),
                "the operator to look at all refused requests again",
                RESTART,
            )
        except WaitTimeout as error:
            for name in refused:
                if not _was_run_since(name, stopped):
                    self._requests.courses[name].problems.append(f"{error}")

    def _wait_grace(self, course: Course) -> None:
        over = course.ready_at + names.GRACE + 1
        what = f"{course.case.name} to be Ready longer than {names.GRACE} s"
        wait_for(lambda: time.monotonic() > over, what, names.GRACE + 10)

    def results(self) -> list[Result]:
        """Prove what is left to prove.

        Returns:
            What was seen of each request.
        """
        for name, course in self._requests.courses.items():
            look = self._look_for(course)
            if look is not None:
                self._prove(name, look)
        return [result_of(course) for course in self._requests.courses.values()]

    def _look_for(self, course: Course) -> Callable[[Course], str] | None:
        """Which proof is due; none where the request or its deletion hasn't come to its end."""
        if course.state not in ("ready", "refused") or (course.case.ending != cases.STAYS) != course.gone:
            return None
        if course.case.ending == cases.STAYS:
            return self._prover.ready if course.state == "ready" else self._prover.refused
        return {
            cases.DROPPED: self._dropped,
            cases.KEPT: self._prover.kept,
            cases.UNTOUCHED: self._prover.untouched,
        }[course.case.ending]

    def _dropped(self, course: Course) -> str:
        courses = [self._requests.courses[n] for n in self._names(lambda case: case.ending == cases.DROPPED)]
        return self._prover.dropped(course, {thing for each in courses for thing in own_things(each)})

    def _prove(self, name: str, look: Callable[[Course], str]) -> None:
        course = self._requests.courses[name]
        try:
            course.proof = "; ".join(filter(None, (course.proof, look(course))))
        except NotProved as error:
            course.problems.append(f"{error}")


def _was_run_since(name: str, moment: float) -> bool:
    """Tell whether a run on a request has ended since; one on a refused request leaves no other trace."""
    latest = RUNS / objects.GROUP / objects.VERSION / KIND / names.NAMESPACE / name / "artifacts" / "latest"
    try:
        return latest.lstat().st_mtime > moment
    except FileNotFoundError:
        return False
