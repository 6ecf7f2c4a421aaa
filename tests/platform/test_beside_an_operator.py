"""A person's playbooks beside a running operator: whoever comes second finds nothing left to do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.cases.running import Run, Runner
from tests.integration.e2ehelpers import ROWS, World, opened, token
from tests.invariants import holds


@pytest.fixture(scope="module")
def beside(sandbox: Sandbox, provider: str, _operator: Operator) -> Iterator[World]:
    """The sandbox with a running operator."""
    with opened(sandbox, _operator) as made:
        yield made


def by_hand(world: World, folder: Path, playbook: str, **names: str) -> Run:
    done = Runner(world.sandbox.kubeconfig, folder).run(f"{playbook}.yml", {**names, "confirm": True})
    assert done.rc == 0, done.output
    return done


@pytest.mark.e2e
def test_release_hand_over_and_check(beside: World, tmp_path: Path) -> None:
    namespace, other = beside.namespace(), beside.namespace()
    account = beside.older(beside.one)
    released = beside.seeded(namespace, f"r-{token()}", account.seed())
    source = beside.request(namespace, f"r-{token()}")
    # It waits for its seed and so owns nothing.
    target = beside.request(other, f"heir-{token()}", seed={"name": "not-there-yet", "namespace": other})
    assert released.settle() == "SeedAdopted", released.told()
    assert source.settle() == "DatabaseCreated", source.told()
    target.wait("SeedSecretMissing")
    holds(beside.sandbox, tmp_path)
    by_hand(beside, tmp_path, "release-database", namespace=namespace, request=released.name)
    released.wait_gone()
    assert account.exists() == (True, True) and account.rows() == ROWS
    moved = source.ask("SELECT DATABASE()")
    names = {"from": f"{namespace}/{source.name}", "to": f"{other}/{target.name}"}
    by_hand(beside, tmp_path, "hand-over-database", **names)
    source.wait("LedgerRowMissing")
    target.settle()
    source.delete()
    assert target.ask("SELECT DATABASE()") == moved, "the former owner's deletion took it away"
    holds(beside.sandbox, tmp_path)
