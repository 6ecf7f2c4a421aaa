"""How much is tried: a sample that can be drawn again, or, with DBAAS_LONG=1, all."""

import os
import random

from tests.cases.stepping.steps import Step

LONG = os.environ.get("DBAAS_LONG") == "1"
SEED = os.environ.get("DBAAS_SAMPLE_SEED") or str(random.SystemRandom().randrange(10**6))


def chosen(steps: list[Step], path: str, outage: str) -> list[Step]:
    """The steps of a path at which an outage is tried: all of them, or one of the sample.

    Args:
        steps: all that the test found.
        path: whose.
        outage: which.

    Returns:
        Those to try.
    """
    some = steps if LONG else [random.Random(f"{SEED} {path} {outage}").choice(steps)]
    print(f"{path}, {outage}: at {len(some)} of {len(steps)} steps")
    return some
