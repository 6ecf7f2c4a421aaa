# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The verdict on a seed: the first row of the table whose facts hold. The table itself is data of the role."""

from __future__ import annotations

from typing import Any


def first_match(facts: dict[str, str], table: list[dict[str, Any]]) -> dict[str, Any]:
    """Pick the verdict.

    Args:
        facts: fact -> value, those that were gathered so far.
        table: rows ``{row, when: {fact: value}, verdict, reason}`` in the order of judging.
    Returns:
        The first row of which every fact holds; or, where a row can't be judged yet since a fact of it
        wasn't gathered (and those gathered don't rule it out), ``{needs: fact}``.
    Raises:
        ValueError: no row fits. The table is complete by test, so this is a bug.
    """
    for row in table:
        wanted = row["when"]
        if any(fact in facts and facts[fact] != value for fact, value in wanted.items()):
            continue
        missing = [fact for fact in wanted if fact not in facts]
        if missing:
            return {"needs": missing[0]}
        return row
    raise ValueError("no row of the verdict table fits these facts: " + ", ".join(sorted(facts)))
