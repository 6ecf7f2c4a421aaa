# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a claim and a take-over came to."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, sql
from ansible_collections.lagoon.dbaas.plugins.module_utils.locating import ledger_row
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome

Dict = dict[str, Any]


def claimed(read: Dict, claim: Dict, written: bool, result: Dict, answers: list[Dict]) -> Dict:
    """What the claim came to.

    Args:
        read: what request_read found. claim: of :func:`place` or :func:`seed_claim`. written: the reference went
        into status. result: the claim's task. answers: the survey of its connection after the claim.
    Returns:
        ``{row}`` where the rows are in, else ``{outcome}``.
    """
    if not written:
        return {"outcome": outcome("KubernetesError", number="status not written")}
    connection = claim["connection"]["name"]
    came_to = errors.mysql_outcome(result, sql.statements("claim"))
    for entry in answers if came_to["kind"] in ("ok", "claimed") else []:
        problem = errors.wait_outcome(entry["outcome"], connection)
        if problem:
            return {"outcome": problem}
        for found in entry["answer"]["rows"]:
            if found["request_uid"] == read["request"]["uid"]:
                # Where the claim was lost to an earlier run of this very request, the next run goes on with its row.
                row = ledger_row(found, entry["connection"], entry["answer"])
                return {"row": row} if came_to["ok"] else {"outcome": outcome("Creating")}
    if came_to["kind"] == "claimed":
        return {"outcome": outcome("SeedDatabaseInUse" if "seed" in read["request"]["spec"] else "DatabaseExists")}
    return {"outcome": errors.wait_outcome(came_to, connection) or outcome("Creating")}


def adopt_check(read: Dict, row: Dict, verdict: Dict) -> Dict:
    """Whether a take-over still holds, judged once more under the claim.

    Args:
        read: what request_read found. row: the claimed one. verdict: the seed role's, its own claim set aside.
    Returns:
        ``{}`` where it holds; ``{outcome}`` where the run waits; ``{outcome, give_back: True}`` where the facts
        have changed: the rows go back and the next run judges anew.
    """
    if verdict["verdict"] == "wait":
        return {"outcome": verdict["outcome"]}
    if int(row["answer"]["server"][0]["read_only"]):
        return {"outcome": outcome("ServerReadOnly", connection=row["connection"]["name"])}
    account = (verdict.get("database_name"), read["seed"].get("username"), verdict.get("host"))
    if verdict["verdict"] == "adopt" and account == (row["database"], row["username"], row["host"]):
        return {}
    return {"outcome": outcome("Creating"), "give_back": True}


def accounts_event(verdict: Dict) -> Dict:
    """The Event of a take-over where the server has several accounts of the seed's name; ``{}`` where it has one.

    Args:
        verdict: the seed role's.
    """
    others = verdict.get("accounts", 0) - 1
    if others < 1 or verdict["verdict"] != "adopt":
        return {}
    text = f"The account that the login led to was taken over; {others} more of its name, of other hosts, left alone."
    return {"reason": "OtherAccounts", "message": text}


def database_info(row: Dict) -> Dict:
    """A row's names as ``status.databaseInfo`` shows them."""
    return {"username": row["username"], "databasename": row["database"]}


def observed_seed(read: Dict) -> Dict:
    """The seed secret as ``status.observedSeed`` names it; empty where there is none."""
    seed = read["seed"]
    return {"uid": seed["uid"], "resourceVersion": seed["resource_version"]} if seed["state"] == "valid" else {}


def used_seed(read: Dict) -> list[Dict]:
    """The seed secret to delete as the very last step: only the one that was taken over, and only if asked for.

    Args:
        read: what request_read found; its status names the seed that was observed.
    Returns:
        One document with UID and resourceVersion as preconditions, or none.
    """
    seed, reference = read["seed"], read["request"]["spec"].get("seed") or {}
    observed = read["request"]["status"].get("observedSeed") or observed_seed(read)
    if not reference.get("deleteAfterSuccess") or seed["state"] != "valid" or observed != observed_seed(read):
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "name": reference["name"],
            "namespace": read["request"]["namespace"],
            **observed,
        }
    ]
