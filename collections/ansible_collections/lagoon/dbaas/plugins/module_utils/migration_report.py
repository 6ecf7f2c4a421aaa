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


def outcomes(rows: list[Dict], notes: dict[str, str], step: str, check: bool, remove: bool = False) -> list[Dict]:
    """The entries as they stand at the end of a run.

    Args:
        rows: the last plan's entries. notes: ``NAMESPACE/NAME`` of an object -> a sentence on what became of it.
        step: ``migrate`` or ``finish``. check: nothing was to be written. remove: what was refused was to be removed.
    Returns:
        The entries with ``state`` and ``message`` for what the run couldn't do, ``good``, and ``hint``: which of
        the sentences of :data:`HINTS` belongs to it, "" for none.
    """
    result = []
    for row in rows:
        state, message = row["state"], row["message"]
        if check and row["todo"] in ("make", "label", "finish"):
            state, message = "planned", planned(row)
        elif state == "missing" and row["todo"]:
            state, message = "failed", "Its objects are not there after the run."
        elif check and remove and row["todo"] == "remove":
            message = f"{message} {planned(row)}"
        names = dict.fromkeys(f"{row['namespace']}/{row[part]}" for part in ("request", "seed", "consumer"))
        message = " ".join([message, *(notes[name] for name in names if name in notes), row["shared"]]).strip()
        good = state in GOOD[step]
        ended = {**row, "state": state, "message": message, "good": good}
        result.append({**ended, "hint": "" if good else hint(ended, remove)})
    return result


def planned(row: Dict) -> str:
    """What a run without ``--check`` would write for an entry."""
    return {
        "make": f"Would make Secret {row['seed']} and DatabaseRequest {row['request']} (Service {row['service']}).",
        "label": "Would set the label on the MariaDBConsumer.",
        "finish": f"Would set dropDatabaseOnDelete of {row['request']} to true.",
        "remove": f"Would remove DatabaseRequest {row['request']}"
        + (f" and Secret {row['seed']}." if row.get("remove_seed") else "."),
    }[str(row["todo"])]


#: What is to be done about entries that aren't as the step wants them, each said once, in this order.
HINTS = {
    "unlabelled": "Don't delete an unlabelled MariaDBConsumer: its database would be dropped. The first step sets the\n"
    "label: run it (again).",
    "shared": "Where MariaDBConsumers share a database, see which one is right. The others get the label, or are\n"
    "corrected; then run this again.",
    "waiting": "What is waiting goes on by itself while the operator runs. Run this again later.",
    "person": "What needs a person goes on by itself once its cause is mended. Then run this again.",
    "untried": "What wasn't tried goes on with its MariaDBConsumer, to which nothing was done. Mend the cause and run\n"
    "this again.",
    "refused": "What was refused goes on with its MariaDBConsumer, to which nothing was done. Mend the cause; then\n"
    "the refused request has to go: -e remove_refused=true removes it at the end of a run of the first step.",
    "removed": "What was refused goes on with its MariaDBConsumer, to which nothing was done. Mend the cause and\n"
    "run this again without -e remove_refused=true.",
    "foreign": "A refused request that the migration didn't make, or that may drop its database, is removed by\n"
    "whoever made it. Then run this again.",
    "unread": "Namespaces that couldn't be read were left alone. Mend what the sentence says and run this again.",
    "failed": "Where something failed, the sentence says what. Mend it and run this again.",
    "unmigrated": "What isn't migrated yet needs the first step: run this without -e finish=true.",
    "not-ours": "A request that isn't the migration's is finished by whoever made it.",
}
_BY_STATE = {
    "unlabelled": "unlabelled",
    "waiting": "waiting",
    "needs-person": "person",
    "not-tried": "untried",
    "missing": "unmigrated",
    "migrated": "not-ours",
}


def hint(row: Dict, remove: bool) -> str:
    """Which of :data:`HINTS` is for an entry that isn't as the step wants it.

    Args:
        row: the entry at the run's end. remove: see :func:`outcomes`.
    """
    if row["reason"] == "DatabaseShared":
        return "shared"
    if row["state"] == "refused":
        return ("removed" if remove else "refused") if row["todo"] == "remove" else "foreign"
    if row["state"] == "failed" or row["todo"] == "finish":  # what was to be finished and wasn't
        return "failed" if row["consumer"] else "unread"
    return _BY_STATE[str(row["state"])]


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
    told = [
        row
        for row in rows
        if row["message"] and (row["shared"] or not (row["good"] and row["reason"] == "SeedAdopted"))
    ]
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
    wanted = {row["hint"] for row in report["consumers"]}
    for name, sentence in HINTS.items():
        if name in wanted:
            text += ["", *sentence.splitlines()]
    return text
