"""No password stands anywhere but where it has to: not in an output, an artifact, an Event, a condition, or a file.

Each password of these tests holds a part that no quoting changes and that is looked for, also inside of base64.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import yaml

from dev import objects
from dev.operator import LOG, Operator
from dev.paths import ROOT, SHORT
from dev.sandbox import Sandbox
from dev.standin.inputs import RUNNER_ROOT
from dev.waiting import wait_for
from tests.cases.stepping.marks import Marks
from tests.cases.stepping.pausing import paused
from tests.cases.stepping.steps import Step, recorded, stepwise, without_operator
from tests.cases.world import DONE, REFUSED, Cases, Place
from tests.integration.e2ehelpers import Account, Json, Request, World, opened, token

LOUD = 4  # -vvvv: the top for what a task prints
AT_ONCE = 2  # runs
AWKWARD = "a'b\"c\\d %s {{ 7*7 }} €"
MEMORY = Path("/dev/shm")
VERBOSITY = {"ansible.sdk.operatorframework.io/verbosity": "2"}


@dataclass
class Scene:
    """A server with marked passwords, and all that was asked for on it.

    Attributes:
        world: where.
        place: the server.
        marks: what is looked for.
        requests: all requests, for their Events and conditions.
    """

    world: Cases
    place: Place
    marks: Marks
    requests: list[Request] = field(default_factory=list)
    _seen: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def password(self, word: str) -> str:
        """Make up a password that is looked for."""
        return AWKWARD + self.marks.add(f"{word} {token()}", f"mark-{token(10)}")

    def account(self, kind: str, **other: str) -> Account:
        """An account whose password is looked for: ``older`` is on the server, ``imagined`` isn't."""
        make: Callable[..., Account] = getattr(self.world, kind)
        with self._lock:
            return make(self.place.server, password=self.password(f"the password of an {kind} account"), **other)

    def ask(self, account: Account | None, **more: object) -> Request:
        """Create a request, with a seed if there is an account."""
        seed = None if account is None else account.seed()
        request = self.world.ask(self.place, seed, **more)  # type: ignore[arg-type]
        self.requests.append(request)
        return request

    def published(self, request: Request) -> None:
        """Look for the password that was published, too."""
        found = request.values()["PASSWORD"]
        if AWKWARD not in found:
            self.marks.add(f"the generated password {token()}", found)

    def told(self, request: Request) -> list[Json]:
        """The request, if it is there, and the Events about it."""
        events = objects.call(self.world.api, "GET", objects.path_of("v1", "Event", namespace=request.namespace))
        about = [e for e in events["items"] if e["involvedObject"]["name"] == request.name]
        found = request.read()
        return [*about, *([found] if found else [])]

    def leaks(self) -> list[str]:
        """Where a password stands: outputs, the runs' home and temporary folders, the API, memory files."""
        found = []
        for run in self.world.runner.runs[self._seen :]:
            found += self.marks.in_text(f"the output of {run.what}", run.output)
        self._seen = len(self.world.runner.runs)
        found += self.marks.in_files([self.world.runner.folder, MEMORY])
        told = [document for request in self.requests for document in self.told(request)]
        assert any(document.get("involvedObject") for document in told), "there is no Event at all"
        return found + self.marks.in_objects(told)


@pytest.fixture(scope="module")
def scene(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with without_operator(sandbox, tmp_path_factory.mktemp("secrets")) as world:
        place, marks = world.place("secrets"), Marks()
        marks.add("the admin's password", place.server.admin_password[-24:])
        yield Scene(world, place, marks)


# --- under the runtime; first, since the other runs are made without it


@pytest.fixture
def running(sandbox: Sandbox, operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, operator) as running:
        yield running
    operator.stop()


def artifacts(request: Request) -> Path:
    """The runner's folder of a request."""
    return RUNNER_ROOT / "crd.lagoon.sh/v1alpha1/DatabaseRequest" / request.namespace / request.name


def test_the_operator_shows_nothing(running: World) -> None:
    """At the highest verbosity that a tenant may ask for: output, artifacts, temporary files, Events, conditions."""
    marks, namespace, start = Marks(), running.namespace(), LOG.stat().st_size
    for server in running.sandbox.servers.values():
        marks.add(f"the admin's password on {server.name}", server.admin_password[-24:])

    def password(word: str) -> str:
        return AWKWARD + marks.add(word, f"mark-{token(10)}")

    adopted = running.older(running.one, password=password("an adopted account's"))
    created = running.imagined(running.one, password=password("a created account's"))
    refused = running.older(running.one, password=password("a refused account's"))
    seeds = {
        "adopted": adopted.seed(),
        "created": created.seed(),
        "refused": refused.seed(password=password("a wrong password")),
    }
    for name, values in seeds.items():
        running.secret(namespace, f"{name}-seed", values)
    requests = [running.request(namespace, name, VERBOSITY, seed=f"{name}-seed") for name in seeds]
    requests.append(running.request(namespace, "plain", VERBOSITY))
    reasons = ["SeedAdopted", "SeedCreated", "SeedCredentialsRejected", "DatabaseCreated"]
    assert [r.settle() for r in requests] == reasons
    marks.add("a generated password", requests[-1].values()["PASSWORD"])
    # Many runs of one: their artifacts are rotated.
    plain = requests[-1]
    for _ in range(5):
        passes = plain.passes()
        plain.touch()
        plain.wait_pass(passes)
    kept = [entry for entry in (artifacts(plain) / "artifacts").iterdir() if not entry.is_symlink()]
    most = max(int(entry["maxRunnerArtifacts"]) for entry in yaml.safe_load((ROOT / "watches.yaml").read_text()))
    assert 1 <= len(kept) <= most + 1, "the runs that are kept, and the one that is at work"
    # Told by their deletion as well.
    events = objects.call(running.api, "GET", objects.path_of("v1", "Event", namespace=namespace))["items"]
    told = [r.read() or {} for r in requests]
    assert len(events) >= len(requests)
    found = marks.in_files(artifacts(r) for r in requests)
    for request in requests:
        request.delete()
    found += marks.in_files([*(artifacts(r) for r in requests), SHORT / "operator", SHORT / "ansible", MEMORY])
    with LOG.open("rb") as log:
        log.seek(start)
        found += marks.in_text("the operator's output", log.read())
    found += marks.in_objects([*events, *told])
    events = objects.call(running.api, "GET", objects.path_of("v1", "Event", namespace=namespace))["items"]
    found += marks.in_objects(events)
    assert found == []


# --- the loudest run of each path


def adopt_and_keep(scene: Scene) -> None:
    request = scene.ask(scene.account("older"))
    assert scene.world.reconcile(request, LOUD) == f"SeedAdopted {DONE}", request.told()
    request.change(dropDatabaseOnDelete=False)
    scene.world.mark(request)
    assert scene.world.finalize(request, LOUD)
    kept = objects.get(scene.world.api, "v1", "Secret", f"{request.name}-kept", request.namespace)
    assert kept is not None


def create_and_drop(scene: Scene) -> None:
    request = scene.ask(scene.account("imagined"))
    assert scene.world.reconcile(request, LOUD) == f"SeedCreated {DONE}", request.told()
    # The password is lost, so a new one is set.
    request.change(seed=None)
    objects.delete(scene.world.api, "v1", "Secret", request.name, request.namespace)
    assert scene.world.reconcile(request, LOUD) == f"SeedCreated {DONE}", request.told()
    scene.published(request)
    scene.world.mark(request)
    assert scene.world.finalize(request, LOUD)


def plain_and_drop(scene: Scene) -> None:
    request = scene.ask(None)
    assert scene.world.reconcile(request, LOUD) == f"DatabaseCreated {DONE}", request.told()
    scene.published(request)
    scene.world.mark(request)
    assert scene.world.finalize(request, LOUD)


def look_after_the_provider(scene: Scene) -> None:
    meta = {"name": scene.place.scope, "namespace": ""}
    scene.world.runner.run("reconcile-provider.yml", {"ansible_operator_meta": meta}, LOUD).check()


PATHS = [adopt_and_keep, create_and_drop, plain_and_drop, look_after_the_provider]


def refusals(scene: Scene) -> dict[str, dict[str, str | bytes]]:
    """Seeds that are refused, by reason; every value of theirs is looked for."""
    older, wrong = scene.account("older"), scene.password("a wrong password")
    unfit = scene.account("older", grants=("SELECT ON {database}.*",))  # type: ignore[arg-type]
    raw = scene.password("a password that isn't text").encode() + b"\x80\xff"
    return {
        "SeedCredentialsRejected": older.seed(password=wrong),
        "SeedAccountUnfit": unfit.seed(),
        "SeedSecretInvalid": scene.account("imagined").seed(password=raw),
    }


def refuse(scene: Scene, reason: str, values: dict[str, str | bytes]) -> None:
    request = scene.world.ask(scene.place, values)
    scene.requests.append(request)
    assert scene.world.reconcile(request, LOUD) == f"{reason} {REFUSED}", request.told()
    told = str(scene.told(request)[:-1]) + str(request.condition("Ready"))
    shown = [key for key in ("database", "username") if str(values[key]) in told]
    assert shown == [], f"Events or conditions of {reason} show the seed's {shown}"


def test_the_loudest_runs_show_nothing(scene: Scene) -> None:
    jobs: list[Callable[[], None]] = [partial(path, scene) for path in PATHS]
    jobs += [partial(refuse, scene, *case) for case in refusals(scene).items()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()
    assert scene.leaks() == []


def test_the_search_finds_what_is_there(scene: Scene) -> None:
    """The counterpart: in a published Secret, which has it in base64, and in a login file."""
    account = scene.account("imagined")
    secret = scene.world.secret(scene.place.namespace, f"found-{token()}", account.seed())
    assert len(scene.marks.in_objects([secret])) == 1
    assert len(scene.marks.in_text("a file", f'password="{account.password}"')) == 1
    assert len(scene.marks.in_text("an output", repr(account.password.encode()))) == 1


# --- a run that fails at each task in turn


def steps_of(scene: Scene, request: Request, playbook: str = "reconcile-request.yml") -> list[Step]:
    """Run a playbook, and tell the tasks that did something."""
    record = scene.world.runner.folder / f"record-{token()}"
    run = scene.world.run(playbook, request, 0, stepwise({"record": str(record)}))
    return recorded(record, run.output)


def broken(scene: Scene, request: Request, step: Step, how: str, playbook: str = "reconcile-request.yml") -> None:
    """Let a run fail at a task, as loudly as it can."""
    orders = stepwise({"at": step.name, "time": step.time, "do": how})
    run = scene.world.runner.request(playbook, request.name, request.namespace, request.read(), LOUD, orders)
    assert "rescued=0 " not in run.output or run.rc != 0, f"the run didn't fail at {step.name}:\n{run.output[-2000:]}"
    if request.secret() is not None:
        scene.published(request)


@pytest.mark.long
def test_a_run_that_fails_at_each_task_shows_nothing(scene: Scene) -> None:
    """With the task's own result, and of every other plugin with what it says of an argument that it doesn't know."""
    steps = steps_of(scene, scene.ask(scene.account("imagined")))
    assert {"Claim | Insert the rows", "Publish | Create or change Service and Secret"} <= {s.name for s in steps}

    def fail(step: Step) -> None:
        how = "break" if step.is_plugin and step.number % 2 else "fail"
        broken(scene, scene.ask(scene.account("imagined")), step, how)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(fail, step) for step in steps]:
            done.result()
    assert scene.leaks() == []


@pytest.mark.long
def test_a_deletion_that_fails_at_each_task_shows_nothing(scene: Scene) -> None:
    """Each run fails behind the one before, so the request stays until the last."""
    request, model = scene.ask(None), scene.ask(None)
    for made in (request, model):
        scene.world.reconcile(made)
        scene.published(made)
        scene.world.mark(made)
    steps = [step for step in steps_of(scene, model, "finalize-request.yml") if step.is_plugin]
    assert {"Read", "Survey", "Change", "Remove"} <= {step.name.partition(" | ")[0] for step in steps}
    for step in steps:
        broken(scene, request, step, "break", "finalize-request.yml")
    assert scene.world.finalize(request)
    assert scene.leaks() == []


# --- a run that is killed

BORDERS = [
    "Read | See whether",
    "Login | Log in, and enter",
    "Claim | Read what",
    "Change | Send the statements",
    "Make | Log in as the account",
    "Publish | Create or change",
    "Finish | Mark the row",
]


def killed(scene: Scene, name: str, time: int = 0) -> None:
    """Kill a run right before a task."""
    request = scene.ask(scene.account("imagined"))
    orders = stepwise({"at": name, "time": time, "do": "kill"})
    playbook, found = "reconcile-request.yml", request.read()
    run = scene.world.runner.request(playbook, request.name, request.namespace, found, LOUD, orders)
    assert run.rc == -9, f"the run wasn't killed before {name!r}"


def test_a_run_that_is_killed_leaves_nothing(scene: Scene) -> None:
    """SIGKILL at the border of tasks: the process that holds all passwords is gone with its memory files."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(killed, scene, border) for border in BORDERS]:
            done.result()
    assert scene.leaks() == []


@pytest.mark.long
def test_a_run_that_is_killed_at_each_task_leaves_nothing(scene: Scene) -> None:
    """The same before every task that does something."""
    steps = steps_of(scene, scene.ask(scene.account("imagined")))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(killed, scene, step.name, step.time) for step in steps]:
            done.result()
    assert len(steps) > 30
    assert scene.leaks() == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("at", ["Login | Log in, and enter", "Change | Send the statements"])
def test_a_run_that_is_killed_within_a_task_leaves_nothing(scene: Scene, at: str) -> None:
    """Its server is frozen, so the module is in the middle of its work: with arguments, login file and connection."""
    server = scene.place.server
    request = scene.ask(scene.account("imagined"))
    with paused(scene.world, request, {"at": at}, verbosity=LOUD) as run:
        try:
            before = set(run.processes())
            server.freeze()
            run.go()
            module = wait_for(
                lambda: [pid for pid in run.processes() if pid not in before and is_module(pid)],
                "the module to be at work",
                60,
            )
            every = run.processes()
            assert set(module) <= set(every)
            assert scene.marks.in_processes(every) == []
            run.kill()
        finally:
            server.thaw()
    assert scene.world.reconcile(request) == f"SeedCreated {DONE}", request.told()
    assert scene.leaks() == []


def is_module(pid: int) -> bool:
    """Whether a process is a module with a connection to a server: a Python of its own with a socket."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        files = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return b"ansible-playbook" not in command and any(target.startswith("socket:") for target in files)
