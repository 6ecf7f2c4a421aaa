"""A run that is killed at any border, and run again, ends as if nothing had happened."""

import pytest

from tests.crash.killing import compare, finish, harmed, kill, record
from tests.crash.paths import PATHS, Stage
from tests.crash.tally import TALLY
from tests.sampling import some

OF_A_PATH = 2  # borders that a sample takes of one path, so that few paths have to be recorded


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", list(PATHS))
@pytest.mark.beside
def test_k1_a_run_killed_at_any_border(stage: Stage, name: str) -> None:
    path = PATHS[name]
    reference = record(stage.world, path, path.begin(stage))
    borders = some(name, [border for border in reference.borders if not border.twin], OF_A_PATH)
    failed: list[str] = []
    for number, border in enumerate(borders, 1):
        with harmed(stage, path, border, failed, f"{name} {number}/{len(borders)}") as subject:
            kill(stage.world, path, subject, border)
            finish(stage.world, path, subject)
            compare(reference, subject, f"killed at {border}")
    TALLY.add(name, reference.borders, len(borders))
    assert not failed, f"{len(failed)} of {len(borders)} kills:\n" + "\n\n".join(failed)
