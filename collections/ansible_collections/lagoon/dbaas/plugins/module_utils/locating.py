# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a run has anything to do, and which row of which ledger is its request's."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, errors, facts, sql
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome

Dict = dict[str, Any]

#: What OwnershipUnproven says where nothing was tried.
NO_PROOF = "no password came along that could prove it to be this request's"


def begin(read: Dict, finalizing: bool, retry_seconds: int) -> Dict:
    """Whether a run has anything to do.

    Args:
        read: what request_read found. finalizing: the run is a finalizer's.
        retry_seconds: the least time between two tries of one request.
    Returns:
        ``{outcome, again, delay}``: ``outcome`` is ``{stop: True}`` where the run ends without a word (the request
        is gone, or settled); ``again`` a new try after a refusal begins; ``delay`` seconds that it is too early.
    """
    result: Dict = {"outcome": read["outcome"], "again": False, "delay": 0}
    stop: Dict = {**result, "outcome": {"stop": True}}
    if not read["found"]:
        return result if result["outcome"] else stop
    request = read["request"]
    status = request["status"]
    refused = conditions.was_refused(status)
    if finalizing:
        return stop if refused and not status.get("observedDatabaseConnectionReference") else result
    if request["deleting"] or conditions.is_refused(status, request["generation"]):
        return stop
    if result["outcome"]:
        return result
    if refused:
        since = conditions.seconds_since(conditions.find(status, "Error").get("lastTransitionTime"), conditions.now())
        if since < int(retry_seconds):
            return {**stop, "delay": int(retry_seconds) - int(since)}
        result["again"] = True
    return result


def survey_targets(read: Dict, asked: list[Dict] | None = None) -> list[Dict]:
    """The connections to ask for the request's row: the referenced one first, then all others.

    Args:
        read: what request_read found. asked: answers of a first round, if there was one.
    """
    # A connection without usable credentials isn't asked: without a login file the driver would try its own.
    usable = [c for c in read["connections"] if not c["problem"]]
    if asked is None:
        return [c for c in usable if c["referenced"]] or usable
    done = [(a["connection"]["provider"], a["connection"]["name"]) for a in asked]
    return [c for c in usable if (c["provider"], c["name"]) not in done]


def survey_answers(results: list[Dict], queries: list[str]) -> list[Dict]:
    """The registered results of the survey, one entry a connection: ``{connection, outcome, answer}``."""
    entries = []
    for item in results:
        came_to = errors.mysql_outcome(item, queries)
        answer = facts.keyed(item, "survey") if came_to["ok"] else None
        entries.append({"connection": item["__dbaas_request_target"], "outcome": came_to, "answer": answer})
    return entries


def _ledger_outcome(answer: Dict, connection: str) -> Dict:
    blind = sees_outcome(answer["server"][0], connection)
    if blind:
        return blind
    version = answer["ledger"][0]["version"] if answer["ledger"] else None
    if version is None:
        return outcome("LedgerMissing", connection=connection, number="no version")
    if int(version) > sql.LEDGER_VERSION:
        return outcome("LedgerTooNew", connection=connection)
    return {}


def sees_outcome(server: Dict, connection: str) -> Dict:
    """``{}``, or the wait for an admin that would see a part only."""
    if int(server["admin_sees"]):
        return {}
    return outcome("ProviderError", connection=connection, number="its admin account lacks SELECT on *.*")


def ledger_row(found: Dict, connection: Dict, answer: Dict) -> Dict:
    """A row of ``ownership`` with its account, its connection and what its server has.

    Args:
        found: the row as a survey reads it. connection: its server's. answer: the survey's.
    """
    accounts = [a for a in answer["accounts"] if a["database_name"] == found["database_name"]]
    owner: Dict = next((a for a in accounts if a["purpose"] == "owner"), {})
    return {
        "database": found["database_name"],
        "request_uid": found["request_uid"],
        "origin": found["origin"],
        "state": found["state"],
        "ready_seconds": found["ready_seconds"],
        "created_at": found["created_at"],
        "fence": int(found["fence"]),
        "folds": int(answer["server"][0]["folds"]) != 0,
        "username": owner.get("user"),
        "host": owner.get("host"),
        "accounts": accounts,
        "connection": connection,
        "answer": answer,
    }


def locate(read: Dict, answers: list[Dict], deleting: bool = False) -> Dict:
    """Find the request's row.

    Args:
        read: what request_read found.
        answers: of each connection asked ``{connection, outcome, answer}``, see :func:`survey_answers`.
        deleting: the request is being deleted; a server without a ledger then simply holds no row.
    Returns:
        ``{row}`` where it was found; ``{outcome}`` where that ends the run (a connection that can't be read may
        hold it, so that waits), with ``unproven``, a finished row of a former request of this namespace and name,
        where proof.py may decide otherwise; ``{search: True}`` where only the referenced connection was asked so
        far; ``{}`` where there is none.
    """
    request = read["request"]
    others: list[Dict] = []
    for entry in answers:
        if not entry["outcome"]["ok"] or not entry["answer"]["ledger"]:
            continue
        for found in entry["answer"]["rows"]:
            row = ledger_row(found, entry["connection"], entry["answer"])
            if found["request_uid"] == request["uid"]:
                problem = _ledger_outcome(entry["answer"], entry["connection"]["name"])
                return {"outcome": problem} if problem else {"row": row}
            others.append(row)
    for entry in answers:
        name = entry["connection"]["name"]
        problem = errors.wait_outcome(entry["outcome"], name) or _ledger_outcome(entry["answer"], name)
        if problem and not (deleting and problem["reason"] == "LedgerMissing"):
            return {"outcome": problem}
    if survey_targets(read, answers):
        return {"search": True}
    for connection in read["connections"]:
        if connection["problem"]:
            return {"outcome": outcome("ProviderError", connection=connection["name"], number=connection["problem"])}
    if request["status"].get("observedDatabaseConnectionReference") and not any(
        c["referenced"] for c in read["connections"]
    ):
        # Its provider is gone, or lists the connection no more: the row may be there.
        return {"outcome": outcome("ProviderMissing")}
    if others:
        unproven = unproven_row(others)
        return {
            "outcome": outcome("OwnershipUnproven", proof=NO_PROOF),
            **({"unproven": unproven} if unproven else {}),
        }
    return {}


def unproven_row(rows: list[Dict]) -> Dict:
    """The row that may be proven to be this request's: the only one, finished, with an account; else ``{}``.

    Args:
        rows: of :func:`ledger_row`, of this namespace and name and of other UIDs.
    """
    # Two connections to one server show one row twice.
    if len({(row["database"], row["request_uid"]) for row in rows}) != 1:
        return {}
    return rows[0] if rows[0]["state"] == "ready" and rows[0]["username"] else {}
