# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a migration came to, for people and for programs. No password is in it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils.migration import FINISH

Dict = dict[str, Any]

COLUMNS = ("namespace", "consumer", "request", "state", "reason")
#: States that need nobody, by step. What is only planned is good where nothing else was asked for.
GOOD = {"migrate": {"migrated", "finished", "skipped", "planned"}, "finish": {"finished", "skipped", "planned"}}


def outcomes(rows: list[Dict], notes: dict[str, str], step: str, check: bool) -> list[Dict]:
    """The entries as they stand at the end of a run.

    Args:
        rows: the last plan's entries. notes: ``NAMESPACE/NAME`` of an object -> a sentence on what became of it.
        step: ``migrate`` or ``finish``. check: nothing was to be written.
    Returns:
        The entries with ``state`` and ``message`` for what the run couldn't do, and ``good``.
    """
    result = []
    for row in rows:
        state, message = row["state"], row["message"]
        if check and row["todo"] in ("make", "label", "finish"):
            state, message = "planned", planned(row)
        elif state == "missing" and row["todo"]:
            state, message = "failed", "Its objects are not there after the run."
        names = dict.fromkeys(f"{row['namespace']}/{row[part]}" for part in ("request", "seed", "consumer"))
        message = " ".join([message, *(notes[name] for name in names if name in notes)]).strip()
        result.append({**row, "state": state, "message": message, "good": state in GOOD[step]})
    return result


def planned(row: Dict) -> str:
    """What a run without ``--check`` would write for an entry."""
    return {
        "make": f"Would make Secret {row['seed']} and DatabaseRequest {row['request']} (Service {row['service']}).",
        "label": "Would set the label on the MariaDBConsumer.",
        "finish": f"Would set dropDatabaseOnDelete of {row['request']} to true.",
    }[str(row["todo"])]


def document(rows: list[Dict], step: str, check: bool, seconds: int) -> Dict:
    """The report for programs.

    Args:
        rows: of :func:`outcomes`. step, check: likewise. seconds: how long the run took.
    Returns:
        ``{step, check, seconds, good, counts, consumers}``.
    """
    counts = Counter(row["state"] for row in rows)
    return {
        "step": step,
        "check": check,
        "seconds": seconds,
        "good": all(row["good"] for row in rows),
        "counts": dict(sorted(counts.items())),
        "consumers": rows,
    }


def lines(report: Dict) -> list[str]:
    """The report for people: a table, then a sentence for each entry that has one, then the counts."""
    rows = report["consumers"]
    cells = [[column.upper() for column in COLUMNS], *([row[c] or "-" for c in COLUMNS] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
    text = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    told = [row for row in rows if row["message"] and not (row["good"] and row["reason"] == "SeedAdopted")]
    if told:
        text += ["", *(f"{row['namespace']}/{row['consumer'] or '-'}: {row['message']}" for row in told)]
    counts = ", ".join(f"{number} {state}" for state, number in report["counts"].items()) or "no MariaDBConsumer"
    return [*text, "", f"{counts} ({report['seconds']} s)", *next_steps(report)]


def next_steps(report: Dict) -> list[str]:
    """What is to be done after the run."""
    states = set(report["counts"])
    text = []
    if "migrated" in states and report["step"] != FINISH and not report["check"]:
        text += [
            "",
            "Next, for each that is migrated, the deployment:",
            "  1. mounts the Secret with the label dbaas.lagoon.sh/secret=true instead of the old variables, which it",
            "     takes away (the keys are SERVICE_HOST, _PORT, _DATABASE, _USERNAME, _PASSWORD);",
            "  2. is rolled out, and nothing uses the Services of the MariaDBConsumer any more;",
            "  3. deletes the MariaDBConsumer: with the label that is on it, the older operator keeps the database.",
            "Then run this again with -e finish=true: deleting a DatabaseRequest drops its database from then on.",
        ]
    if states & {"refused", "not-tried", "failed", "waiting", "needs-person", "unlabelled", "missing"}:
        text += [
            "",
            "What isn't migrated goes on with its MariaDBConsumer, to which nothing was done. Mend the cause and run",
            "this again. A refused request has to go first: -e remove_refused=true removes it at a run's end.",
        ]
    return text
