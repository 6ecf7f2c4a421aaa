"""Two operators at once, as after a mistake with the leader election: the stand-in beside the one of the sandbox."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.operator import OPERATOR_MARK, environment
from dev.paths import LOGS, ROOT
from dev.ports import answers, port_of
from dev.processes import Process, descendants, kill_all
from dev.waiting import wait_for
from tests.integration.e2ehelpers import Log, World
from tests.outage.crowd import Crowd, crowd_server
from tests.settings import SETTINGS

pytestmark = pytest.mark.e2e

SHARE = 4
EACH = 60.0  # seconds of a deadline for one request: it is worked on twice


@pytest.fixture
def second(busy: World, tmp_path: Path) -> Iterator[Process]:
    """Another operator, with its own proxy, which works on the same requests."""
    process = Process("operator-second", OPERATOR_MARK)
    port, health = port_of("second-proxy"), port_of("second-health")
    extra = {**SETTINGS, "DBAAS_STANDIN_PROXY_PORT": str(port)}
    command = [sys.executable, "-m", "dev.standin", f"--watches-file={ROOT / 'watches.yaml'}"]
    command += [f"--runner-root={tmp_path}", f"--health-probe-bind-address=127.0.0.1:{health}"]
    command += [f"--metrics-bind-address=127.0.0.1:{port_of('second-metrics')}"]
    process.start(command, LOGS / "operator-second.log", environment(busy.operator.kubeconfig, extra), ROOT)
    try:
        wait_for(lambda: answers(port) and answers(health), "the second operator to be ready", 60)
        yield process
    finally:
        pid = process.pid()
        if pid is not None:
            kill_all([pid, *descendants(pid)])
        process.pid_file.unlink(missing_ok=True)


@pytest.mark.long
def test_two_operators(busy: World, second: Process) -> None:
    """Each request once: no double create, no lost row, a Secret that logs in; and deletions that leave nothing."""
    with crowd_server(busy, "twice") as (server, scope):
        many, log = Crowd(busy, server, scope, busy.namespace()), Log(server)
        many.make(seeded=SHARE, plain=SHARE, refused=SHARE // 2)
        many.settle(120 + len(many.requests) * EACH)
        many.is_right()
        for request, reason in many.requests.values():
            if reason in ("SeedCreated", "DatabaseCreated"):
                account = request.account(server)
                sent = [s for s in log.statements(account.database) if s.startswith("CREATE DATABASE")]
                assert len(sent) == 1, f"{request.name}: {len(sent)} times CREATE DATABASE"
        many.age()
        many.delete(120 + len(many.requests) * EACH)
        many.nothing_is_left()
        assert second.running
        assert "ended" in (LOGS / "operator-second.log").read_text(encoding="utf-8"), "the second one did nothing"
