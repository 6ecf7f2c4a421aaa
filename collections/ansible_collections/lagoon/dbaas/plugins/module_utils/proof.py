# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the row of a former request of this namespace and name is this request's, too: a password proves it.

A request that came back from a backup has a new UID, and so has one that a stranger made in a namespace of the same
name. A name has one UID at a time, so the former request is gone; who brings a password that opens the row's account
is its successor. It is asked once for each change of the request, and not faster than a refused seed, so that it tells
a tenant nothing that a seed wouldn't.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    errors,
    locating,
    outcomes,
    published,
    settling,
    sql,
    sql_arguments,
)

Dict = dict[str, Any]

#: What the condition says where a try was made; without one it says ``locating.NO_PROOF``.
WRONG = "the password that came along doesn't open it"


def passwords(read: Dict, row: Dict) -> list[tuple[str, str]]:
    """The passwords that may prove a row, as ``(source, password)``: at most two.

    Args:
        read: what request_read found. row: of ``locating.unproven_row``.
    """
    seed, found = read["seed"], []
    restored = published.restored_password(read)
    if restored and not any(c in restored for c in "\r\n\0"):
        found.append(("restored", restored))
    if seed["state"] == "valid" and settling.names_row(seed, row) and seed["password"] != restored:
        found.append(("seed", seed["password"]))
    return found


def due(read: Dict, row: Dict, retry_seconds: int) -> Dict:
    """Whether a login may be tried now.

    Args:
        read: what request_read found. row: of ``locating.unproven_row``.
        retry_seconds: the least time between two tries.
    Returns:
        ``{due, outcome, delay}``: ``outcome`` ends the run where it isn't due; ``delay`` seconds that it is too
        early.
    """
    if not passwords(read, row):
        return {"due": False, "outcome": outcomes.outcome("OwnershipUnproven", proof=locating.NO_PROOF), "delay": 0}
    last = conditions.find(read["request"]["status"], "Error")
    if last.get("reason") != "OwnershipUnproven" or WRONG not in last.get("message", ""):
        return {"due": True, "outcome": {}, "delay": 0}
    if last.get("observedGeneration") == read["request"]["generation"]:
        return {"due": False, "outcome": outcomes.outcome("OwnershipUnproven", proof=WRONG), "delay": 0}
    since = conditions.seconds_since(last.get("lastTransitionTime"), conditions.now())
    if since < int(retry_seconds):
        return {"due": False, "outcome": {"stop": True}, "delay": int(retry_seconds) - int(since)}
    return {"due": True, "outcome": {}, "delay": 0}


def judge(read: Dict, row: Dict, checked: Dict, results: list[Dict]) -> Dict:
    """What the logins prove.

    Args:
        read: what request_read found. row: of ``locating.unproven_row``. checked: of request_unchanged. results: of the
        looped login.
    Returns:
        ``{proven, outcome, objects}``: ``outcome`` ends the run in any case; ``objects`` are patches by which what
        the former request published becomes this one's.
    """
    no: Dict = {"proven": False, "objects": []}
    if checked["outcome"]:
        return {**no, "outcome": checked["outcome"]}
    if not checked["unchanged"]:
        return {**no, "outcome": {"stop": True}}
    queries = sql.statements(["login", "use"], row["database"])
    for item in results:
        came_to = errors.mysql_outcome(item, queries, "seed")
        # An account of the same name and another host is another's.
        if came_to["ok"] and item["query_result"][0][0]["host"].lower() == row["host"].lower():
            return {"proven": True, "outcome": outcomes.outcome("Creating"), "objects": published.former(read)}
        if came_to["kind"] in ("unavailable", "provider"):
            return {**no, "outcome": errors.wait_outcome(came_to, row["connection"]["name"])}
    return {**no, "outcome": outcomes.outcome("OwnershipUnproven", proof=WRONG)}


def arguments(read: Dict, row: Dict) -> Dict:
    """The arguments of the statement by which this request gets a proven row, which is still the former one's.

    Args:
        read: what request_read found. row: of ``locating.unproven_row``.
    """
    request = read["request"]
    return {
        **sql_arguments.row_arguments(read, row),
        "request_uid": row["request_uid"],
        "heir_namespace": request["namespace"],
        "heir_request": request["name"],
        "heir_uid": request["uid"],
    }
