# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the deletion of a request does, and how an unfinished one is undone."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import facts
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome
from ansible_collections.lagoon.dbaas.plugins.module_utils.settling import is_there, login_of, objects_counted

Dict = dict[str, Any]


def finalize(read: Dict, found: Dict, grace_seconds: int) -> Dict:
    """What the deletion of a request does.

    Args:
        read: what request_read found. found: of :func:`locate`. grace_seconds: how long an adopted database must
        have been Ready before a deletion drops it.
    Returns:
        ``{action}``: ``none`` (nothing of it on any server), ``wait`` with ``outcome``, ``keep`` (the tenant wants
        it kept), ``leave`` with ``connection`` (the same, and its server can't be asked), ``give_back`` (adopted,
        and not Ready long enough), or ``drop``.
    """
    keep = not read["request"]["spec"].get("dropDatabaseOnDelete", True)
    if found.get("outcome", {}).get("reason") == "OwnershipUnproven":
        return {"action": "none"}
    if found.get("outcome"):
        reference = read["request"]["status"].get("observedDatabaseConnectionReference") or {}
        defaults = {"connection": reference.get("name", "one of the scope's"), "number": "it is in no provider"}
        params = {**defaults, **found["outcome"]["params"]}
        if keep:
            return {"action": "leave", "connection": params["connection"]}
        return {"action": "wait", "outcome": outcome("DropPending", **params)}
    row = found.get("row")
    if not row or not row["username"]:
        return {"action": "none"}
    # Once a drop has taken the database there is nothing to keep any more.
    if keep and (row["state"] != "deleting" or is_there(row)["database"]):
        return {"action": "keep", "row": row}
    since = row["ready_seconds"]
    if row["origin"] == "adopted" and row["state"] != "deleting" and (since is None or int(since) < grace_seconds):
        return {"action": "give_back", "row": row}
    return {"action": "drop", "row": row}


def kept_login(credentials: Dict, logins: list[Dict], row: Dict) -> Dict:
    """The login that is kept of a request that is deleted and leaves its database.

    Args:
        credentials: of account_credentials. logins: of :func:`login_outcomes`. row: of :func:`locate`.
    Returns:
        ``{login}``: the first that works; of an account that was created the generated one, with ``steps`` to set
        it; ``{}`` of an adopted one, and of one that somebody dropped.
    """
    works = [x["source"] for x in logins if x["outcome"]["ok"] or x["outcome"]["kind"] == "no_access"]
    if works:
        return {"login": login_of(credentials, works[0]), "steps": []}
    if row["origin"] == "adopted" or not is_there(row)["account"]:
        return {"login": {}, "steps": []}
    return {"login": login_of(credentials, "generated"), "steps": ["set_password"]}


def drop_steps(row: Dict, content: Dict) -> list[str]:
    """The statement forms that drop what a row says: the database, the account, the rows.

    The database first: an open session can hold its drop up, and a request that is then told to keep it has to find
    the account as it was.

    Args:
        row: of :func:`locate`. content: the task's result that counted what the database holds.
    Returns:
        The forms. An account that was taken over, or whose request was never Ready, goes only if it has no right
        elsewhere; the database of a request that was never Ready only while it is empty.
    """
    may = facts.rights(row["answer"], row["username"], row["host"], row["database"])
    ours = row["origin"] == "created" and row["ready_seconds"] is not None
    database = row["ready_seconds"] is not None or objects_counted(content) == 0
    steps = ["drop_database"] if database else []
    if ours or not may["elsewhere"]:
        steps.append("drop_account")
    return [*steps, "give_back"]


def undo_steps(row: Dict, content: Dict) -> list[str]:
    """The statement forms that undo an unfinished request: of one that only takes over, its rows alone.

    Args:
        row, content: as for :func:`drop_steps`.
    """
    return ["give_back"] if row["origin"] == "adopted" else drop_steps(row, content)
