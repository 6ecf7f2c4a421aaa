"""A run whose operator was killed lives on beside the next one: it comes too late for everything it still does.

The operator doesn't see the late run's end, so what the request is right after it is what it stays.
"""

import pytest

from tests.cases.stepping.pausing import paused
from tests.crash.borders import late_borders
from tests.crash.killing import compare, finish, harmed, record
from tests.crash.paths import PATHS, Stage
from tests.crash.tally import TALLY
from tests.sampling import some


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", list(PATHS))
@pytest.mark.beside
def test_k1_a_run_that_lives_on_beside_the_next(stage: Stage, name: str) -> None:
    path = PATHS[name]
    reference = record(stage.world, path, path.begin(stage))
    borders = some(f"{name} beside", late_borders(reference.borders), 1)
    failed: list[str] = []
    for border in borders:
        with harmed(stage, path, border, failed, f"beside {name}") as subject:
            with paused(stage.world, subject.request, border.orders(), path.playbook) as late:
                finish(stage.world, path, subject)
                late.end().check()
            compare(reference, subject, f"with a newer run beside it from {border} on")
    TALLY.note(f"{name}: {len(borders)} runs that lived on beside the next one")
    assert not failed, f"{len(failed)} of {len(borders)} late runs:\n" + "\n\n".join(failed)
