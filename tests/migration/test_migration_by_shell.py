"""The deployment's shell where no operator runs."""

from pathlib import Path

from dev.sandbox import Sandbox
from tests.cases.world import Cases
from tests.integration.deploying import deploy
from tests.integration.e2ehelpers import ROWS


def test_a_deployment_that_nobody_looks_at(world: Cases, sandbox: Sandbox, tmp_path: Path) -> None:
    account = world.older(sandbox.servers["one"])
    site, request, done = deploy(world, tmp_path, account, "1s")
    assert done.returncode == 3, done.stderr
    assert "not settled within 1s, nobody looked at it: does the operator run?\n" in done.stderr
    assert request.read() is None
    assert site.differences() == {}
    assert (account.exists(), account.rows()) == ((True, True), ROWS)
