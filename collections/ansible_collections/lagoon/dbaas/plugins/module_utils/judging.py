# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What to do with a request that has no row: where its database goes, and what it is called."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import names, providers, published
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome
from ansible_collections.lagoon.dbaas.plugins.module_utils.planned import PUBLISHING, TAKING_OVER

Dict = dict[str, Any]


def judge(read: Dict, answers: list[Dict]) -> Dict:
    """What to do with a request that has no row.

    Returns:
        ``{outcome}``, ``{seed: True}`` (the verdict table decides), or ``{claim}`` for a plain request.
    """
    request = read["request"]
    if (request["status"] or {}).get("databaseInfo"):
        return {"outcome": outcome("LedgerRowMissing")}
    if "seed" in request["spec"]:
        return {"seed": True}
    if published.conflicts(request, read["published"]):
        return {"outcome": outcome("NameConflict", kind=published.conflicts(request, read["published"])[0])}
    return place(read, answers)


def judged_outcome(read: Dict, judged: Dict, check: bool) -> Dict:
    """The outcome of a judgement: empty where the claim follows, which a plan says instead.

    Args:
        read: what request_read found. judged: ``{outcome}`` or ``{claim}``. check: it is a plan.
    Returns:
        An outcome; of a plan ``{would: [...], done: reason}``.
    """
    if not check or "claim" not in judged:
        return judged.get("outcome", {})
    if judged["claim"]["origin"] == "adopted":
        return {"would": [TAKING_OVER, PUBLISHING], "done": "SeedAdopted"}
    reason = "SeedCreated" if "seed" in read["request"]["spec"] else "DatabaseCreated"
    return {"would": ["create_account", "create_database", "grant", PUBLISHING], "done": reason}


def place(read: Dict, answers: list[Dict]) -> Dict:
    """Choose the connection of a plain request: the enabled, writable one with the fewest databases.

    One that stands in status stays: the run that wrote it may be about to claim there, and the keys of one ledger keep
    the two apart.

    Returns:
        ``{claim: {connection, database, username, host, origin}}`` or ``{outcome}``.
    """
    request = read["request"]
    spec = request["spec"]
    pin = spec.get("databaseConnectionReference")
    enabled = [a for a in answers if a["connection"]["in_scope"] and a["connection"]["enabled"]]
    usable = [a for a in enabled if providers.is_pinned(a["connection"], pin)]
    if not usable:
        return {"outcome": outcome("NoSuchConnection") if pin else outcome("ProviderMissing")}
    writable = [a for a in usable if not int(a["answer"]["server"][0]["read_only"])]
    if not writable:
        return {"outcome": outcome("ServerReadOnly", connection=usable[0]["connection"]["name"])}
    chosen = min(
        writable,
        key=lambda a: (
            not a["connection"]["referenced"],
            int(a["answer"]["server"][0]["databases_count"]),
            a["connection"]["provider"],
            a["connection"]["name"],
        ),
    )["connection"]
    return {
        "claim": {
            "connection": chosen,
            "database": names.derived_database(request["namespace"], request["name"], read["cluster"], request["uid"]),
            "username": names.derived_account(read["cluster"], request["uid"]),
            "host": "%",
            "origin": "created",
        }
    }


def seed_claim(read: Dict, verdict: Dict, answers: list[Dict]) -> Dict:
    """The claim that a seed's verdict leads to, or the outcome that stands in its way.

    Args:
        verdict: the seed role's.
    Returns:
        ``{claim}`` or ``{outcome}``.
    """
    if verdict["verdict"] not in ("adopt", "create"):
        return {"outcome": verdict["outcome"]}
    connection = read["seed"]["connection"]
    key = (connection["provider"], connection["name"])
    answer = next(a["answer"] for a in answers if (a["connection"]["provider"], a["connection"]["name"]) == key)
    if int(answer["server"][0]["read_only"]):
        return {"outcome": outcome("ServerReadOnly", connection=connection["name"])}
    if not providers.is_pinned(connection, read["request"]["spec"].get("databaseConnectionReference")):
        return {"outcome": outcome("NoSuchConnection")}
    return {
        "claim": {
            "connection": connection,
            "database": verdict["database_name"],
            "username": read["seed"]["username"],
            "host": verdict["host"] or "%",
            "origin": "adopted" if verdict["verdict"] == "adopt" else "created",
        }
    }
