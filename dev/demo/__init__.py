"""The demo: every kind of request, shown on the sandbox and proved outside the operator.

``python -m dev.demo`` (what ``make demo`` runs) shows it all and prints a table; ``run`` is for tests.
"""

from dev.demo.result import Result
from dev.demo.show import run

__all__ = ["Result", "run"]
