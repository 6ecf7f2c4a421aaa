"""The four ways of a request, each with its beginning, its runs, and what has to be true at its end."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.cases import running
from tests.cases.running import Run
from tests.cases.stepping.steps import Step, recorded, stepwise
from tests.cases.world import DONE, Cases, Place
from tests.integration.e2ehelpers import ROWS, Account, Json, Request, token

RECONCILE, FINALIZE = "reconcile-request.yml", "finalize-request.yml"


def handed_over(request: Request, more: Json | None = None) -> Json:
    """The variables that the runtime hands to a run.

    Args:
        request: whose run.
        more: further variables.

    Returns:
        The variables.
    """
    found = request.read() or {"spec": {}}
    return {**running.handed_over(request.name, request.namespace, found), **(more or {})}


@dataclass
class Way:
    """One request on its way.

    Attributes:
        world: where.
        place: on which server.
        request: the request.
        account: what is on the server, or will be.
        hashes: the account before the first run.
        playbook: that brings it to its end.
        reason: with which it ends; none where it goes.
    """

    world: Cases
    place: Place
    request: Request
    account: Account | None
    hashes: list[str]
    playbook: str = RECONCILE
    reason: str = ""

    def run(self, more: Json | None = None) -> Run:
        """Run its playbook once, which has to end well.

        Args:
            more: further variables.

        Returns:
            The run.
        """
        return self.world.runner.run(self.playbook, handed_over(self.request, more)).check()

    def recorded(self) -> list[Step]:
        """Run its playbook once.

        Returns:
            The tasks that did something.
        """
        record = self.world.runner.folder / f"record-{token()}"
        variables = handed_over(self.request)
        run = self.world.runner.run(self.playbook, variables, 0, stepwise({"record": str(record)})).check()
        if self.playbook == FINALIZE:
            self.released(run)
        self.is_done()
        return recorded(record, run.output)

    def released(self, run: Run) -> None:
        """What the runtime does after a good run of a deletion: the finalizer goes, unless it asked for another."""
        if self.playbook == FINALIZE and not run.again:
            self.world.release(self.request)

    def finish(self, most: int = 4) -> int:
        """Run until nothing asks for another run.

        Args:
            most: how many runs may be needed.

        Returns:
            How many were.
        """
        for number in range(1, most + 1):
            run = self.run()
            self.released(run)
            if not run.again:
                return number
        raise AssertionError(f"{most} runs weren't enough; {self.request.told()}")

    def is_done(self) -> None:
        """Demand the end that a run without any trouble comes to."""
        server, request = self.place.server, self.request
        if self.playbook == FINALIZE:
            assert self.account is not None
            assert request.read() is None
            assert self.account.exists() == (False, False)
            assert request.rows_in_ledger(server) == []
            assert request.service() is None
            assert request.secret() is None
            return
        assert request.state() == f"{self.reason} {DONE}", request.told()
        account = self.account or request.account(server)
        assert request.ask("SELECT DATABASE()") == account.database
        assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
        [row] = request.rows_in_ledger(server)
        adopted = self.reason == "SeedAdopted"
        assert (row["origin"], row["state"]) == ("adopted" if adopted else "created", "ready")
        if self.account:
            assert (request.values()["PASSWORD"] == self.account.password) is True
        if adopted:
            assert account.hashes() == self.hashes
            assert account.rows() == ROWS

    def is_not_condemned(self) -> None:
        """Demand that nothing was decided against it."""
        words = [self.request.condition(kind).get("status") for kind in ("Error", "Settled")]
        assert "True" not in (words[0], words[1] if self.request.condition("Ready").get("status") == "False" else None)


def adopt(world: Cases, place: Place) -> Way:
    """A seed whose database is there."""
    account = world.older(place.server)
    request = world.ask(place, account.seed())
    return Way(world, place, request, account, account.hashes(), reason="SeedAdopted")


def create(world: Cases, place: Place) -> Way:
    """A seed of which nothing is there."""
    account = world.imagined(place.server)
    return Way(world, place, world.ask(place, account.seed()), account, [], reason="SeedCreated")


def plain(world: Cases, place: Place) -> Way:
    """No seed."""
    return Way(world, place, world.ask(place), None, [], reason="DatabaseCreated")


def delete(world: Cases, place: Place) -> Way:
    """A request that is Ready, and is deleted."""
    way = plain(world, place)
    assert not way.run().again
    account = way.request.account(place.server)
    world.mark(way.request)
    return Way(world, place, way.request, account, [], FINALIZE)


PATHS: dict[str, Callable[[Cases, Place], Way]] = {
    "adopt": adopt,
    "create": create,
    "plain": plain,
    "delete": delete,
}
