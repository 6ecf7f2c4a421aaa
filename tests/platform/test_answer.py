"""The question before a database changes hands: nothing but a typed yes goes on."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cases.running import Run, Runner
from tests.cases.world import Cases
from tests.integration.e2ehelpers import ROWS, Log, token
from tests.platform.person import ready, row
from tests.platform.terminal import CTRL_C, CTRL_D, ENTER, Answer, Terminal, at_a_terminal, keys, without_stdin

NO = "Nothing was done: the answer wasn't yes."
INTERRUPTED = "Nothing was done: it was interrupted at the question."
NOBODY = "Nothing was done: there is no terminal to ask at. -e confirm=true says yes beforehand."
ANSWERS: dict[str, tuple[Answer, str]] = {
    "no": (keys(b"no", ENTER), NO),
    "empty": (keys(ENTER), NO),
    "nearly": (keys(b"yes, please", ENTER), NO),
    "end-of-input": (keys(CTRL_D), NO),
    "interrupt": (keys(b"yes", CTRL_C), INTERRUPTED),
}
PLAYBOOKS = ("release-database.yml", "hand-over-database.yml")


class Asked:
    """Two requests, one with a database, and runs that would take it away."""

    def __init__(self, world: Cases) -> None:
        self.world, self.place = world, world.place()
        self.source = ready(world, self.place, seeded=True)
        self.heir = world.ask(self.place, namespace=world.namespace(), seed="not-there-yet")
        self.account = self.source.account(self.place.server)
        self.log, self.before = Log(self.place.server), self.versions()

    def versions(self) -> list[list[str]]:
        return [self.source.versions(), self.heir.versions()]

    def names(self, playbook: str) -> dict[str, str]:
        names = {"namespace": self.source.namespace, "request": self.source.name}
        both = {"from": f"{self.source.namespace}/{self.source.name}", "to": f"{self.heir.namespace}/{self.heir.name}"}
        return names if playbook.startswith("release") else both

    def runner(self) -> Runner:
        """An admin's."""
        folder = self.world.runner.folder / f"person-{token()}"
        folder.mkdir()
        return Runner(self.world.sandbox.kubeconfig, folder)

    def answer(self, playbook: str, answer: Answer) -> Run:
        run = at_a_terminal(self.runner(), playbook, self.names(playbook), answer)
        self.world.runner.runs.append(run)
        return run

    def nothing_was_done(self) -> None:
        assert self.log.writes(self.account.database, self.account.username, self.source.uid) == []
        assert self.versions() == self.before
        assert row(self.place, self.account.database)["state"] == "ready"


@pytest.fixture(scope="module")
def asked(world: Cases) -> Asked:
    return Asked(world)


@pytest.fixture(scope="module")
def answered(asked: Asked) -> dict[tuple[str, str], Run]:
    """A run for each answer, two at once: none of them writes."""
    pairs = [(playbook, name) for name in ANSWERS for playbook in PLAYBOOKS]
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda pair: asked.answer(pair[0], ANSWERS[pair[1]][0]), pairs)
        return dict(zip(pairs, runs, strict=True))


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_any_other_answer_ends_it(answered: dict[tuple[str, str], Run], playbook: str, name: str) -> None:
    run = answered[playbook, name]
    assert run.rc == 2 and ANSWERS[name][1] in run.output, run.output


def test_a_terminal_that_is_lost_ends_it(asked: Asked) -> None:
    run = asked.answer("release-database.yml", Terminal.hang_up)
    assert run.rc != 0
    asked.nothing_was_done()


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_without_a_terminal_it_is_refused(asked: Asked, playbook: str) -> None:
    empty = asked.runner().run(playbook, asked.names(playbook))
    closed = without_stdin(asked.runner(), playbook, asked.names(playbook))
    for run in (empty, closed):
        assert run.rc == 2 and NOBODY in run.output, run.output
    asked.nothing_was_done()


def test_nothing_was_done_so_far(asked: Asked, answered: dict[tuple[str, str], Run]) -> None:
    assert len(answered) == len(ANSWERS) * len(PLAYBOOKS)
    asked.nothing_was_done()


def test_yes_goes_on(asked: Asked) -> None:
    # After the tests above. A key that was wrong can be taken back.
    handed = asked.answer("hand-over-database.yml", keys(b"yet\x7fs", ENTER))
    assert handed.rc == 0 and f"It is {asked.heir.namespace}/{asked.heir.name}'s now." in handed.output, handed.output
    assert row(asked.place, asked.account.database)["request_uid"] == asked.heir.uid
    asked.source, asked.heir = asked.heir, asked.source
    released = asked.answer("release-database.yml", keys(b"yes", ENTER))
    assert released.rc == 0 and "Done. The rows are gone" in released.output, released.output
    assert row(asked.place, asked.account.database) == {}
    assert asked.account.exists() == (True, True) and asked.account.rows() == ROWS
