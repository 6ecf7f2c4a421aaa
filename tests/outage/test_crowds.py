"""Load: many requests at once, many deletions at once; and the same while operator and server are killed at random."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.mariadb import MariaDB
from tests.integration.e2ehelpers import World
from tests.invariants import holds
from tests.outage.crowd import Chaos, Crowd, Sampler, crowd_server
from tests.sampling import SEED

pytestmark = pytest.mark.e2e

MOST_CONNECTIONS = 20
MOST_MEMORY = 2048  # MiB, the limit of the Deployment in config/manager
EACH = 30.0  # seconds that one request may take of a deadline, two at a time, on a busy machine
EMPTY = 300.0


@pytest.fixture(scope="module")
def served(busy: World) -> Iterator[tuple[MariaDB, str]]:
    with crowd_server(busy, "crowd") as served:
        yield served


def crowd(world: World, served: tuple[MariaDB, str]) -> Crowd:
    return Crowd(world, *served, world.namespace())


@pytest.mark.load
@pytest.mark.long
def test_200_at_once(busy: World, served: tuple[MariaDB, str], tmp_path: Path) -> None:
    """100 with a seed, 60 plain, 40 refused, then all of them deleted: all end right, and nothing is left."""
    many, started = crowd(busy, served), time.monotonic()
    many.server.query("FLUSH STATUS")
    with Sampler(busy, many.server) as seen:
        many.make(seeded=100, plain=60, refused=40)
        many.settle(200 * EACH)
        settled = time.monotonic()
        many.is_right()
        holds(busy.sandbox, tmp_path, many.server.address)
        many.age()
        deleting = time.monotonic()
        many.delete(200 * EACH)
    print(f"200 settled in {settled - started:.0f} s, gone in {time.monotonic() - deleting:.0f} s; {seen.told()}")
    many.nothing_is_left()
    assert seen.samples > 10
    assert seen.connections < MOST_CONNECTIONS
    assert 0 < seen.tree < MOST_MEMORY


def through_chaos(
    world: World, served: tuple[MariaDB, str], folder: Path, seconds: float, share: int
) -> None:
    """Requests of all kinds, half of them made and half deleted while the chaos goes on; then all has to be right.

    Args:
        world: where.
        served: the server and its scope.
        folder: of the test's own.
        seconds: how long the chaos lasts.
        share: how many of each kind.
    """
    print(f"chaos in the order of DBAAS_SEED={SEED}")
    many, gone = crowd(world, served), crowd(world, served)
    gone.make(seeded=share, plain=share, refused=share // 2)
    gone.settle(EMPTY + 2.5 * share * EACH)
    gone.is_right()
    gone.age()
    chaos = Chaos(world, many.server, SEED)
    with Sampler(world, many.server) as seen:
        many.make(seeded=share, plain=share, refused=share)
        for request, _ in gone.requests.values():
            request.delete(wait=False)
        chaos.run(seconds)
        ended = time.monotonic()
        gone.delete(EMPTY + 6 * share * EACH)
        many.settle(EMPTY + 6 * share * EACH)
    print(f"{len(chaos.deeds)} deeds, all right {time.monotonic() - ended:.0f} s after the last; {seen.told()}")
    print("; ".join(chaos.deeds))
    many.is_right()
    holds(world.sandbox, folder, many.server.address)
    assert 0 < seen.tree < MOST_MEMORY
    many.age()
    many.delete(EMPTY + 3 * share * EACH)
    # Both share the server, so what is left on it is asked once for both.
    many.accounts |= {f"gone-{name}": account for name, account in gone.accounts.items()}
    many.requests |= {f"gone-{name}": entry for name, entry in gone.requests.items()}
    many.nothing_is_left()
    assert world.operator.orphans() == []


def test_chaos_for_a_while(busy: World, served: tuple[MariaDB, str], tmp_path: Path) -> None:
    through_chaos(busy, served, tmp_path, seconds=30, share=2)


@pytest.mark.chaos
@pytest.mark.long
def test_chaos_for_ten_minutes(busy: World, served: tuple[MariaDB, str], tmp_path: Path) -> None:
    through_chaos(busy, served, tmp_path, seconds=600, share=20)
