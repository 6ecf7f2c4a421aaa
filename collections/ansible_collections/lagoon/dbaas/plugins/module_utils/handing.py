# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Giving a database out of the operator's care, or to another request: what a person asks for, planned.

Both work on one row of the ledger. It is changed behind the lock on the database's name and its fence, like every
write, so an operator that is at work on the row stops or is waited for.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    errors,
    finalizer,
    locating,
    providers,
    sql_arguments,
    tables,
)

Dict = dict[str, Any]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def parse(text: str) -> Dict:
    """``NAMESPACE/REQUEST`` taken apart: ``{namespace, name}``, both empty where it isn't that."""
    namespace, _, name = text.partition("/")
    if _NAME.fullmatch(namespace) and _NAME.fullmatch(name):
        return {"namespace": namespace, "name": name}
    return {"namespace": "", "name": ""}


def _living(read: Dict, wanted: Dict) -> Dict:
    """The request of that namespace and name as platform_read found it; ``{}`` where there is none."""
    return next(
        (r for r in read["requests"] if (r["namespace"], r["name"]) == (wanted["namespace"], wanted["name"])), {}
    )


def survey_arguments(read: Dict, row_of: str, also: str = "") -> Dict:
    """The arguments of the statements ``survey``, for the rows of one request, and of another by its UID.

    Args:
        read: what platform_read found. row_of: ``NAMESPACE/REQUEST`` whose rows are looked for, alive or not.
        also: ``NAMESPACE/REQUEST`` of a living one whose own row is looked for, too; else the first one's.
    """
    wanted = parse(row_of)
    uid = _living(read, parse(also or row_of)).get("uid", "")
    return {
        "cluster": read["cluster"],
        "request_uid": uid,
        "namespace": wanted["namespace"],
        "request": wanted["name"],
    }


def _rows(entries: list[Dict]) -> list[tuple[Dict, Dict, Dict]]:
    """Every surveyed row: as the survey read it, as a run knows it, and its server."""
    return [
        (found, locating.ledger_row(found, entry["connection"], entry["answer"]), entry["server"])
        for entry in entries
        if entry["answer"] is not None
        for found in entry["answer"]["rows"]
    ]


def _reached(request: Dict, server: Dict) -> bool:
    """Whether a request finds a row on that server: by its scope, or by the reference in its status."""
    named = providers.placed_on(request)
    scope = request["spec"]["scope"]
    return any(c["scope"] == scope or (c["provider"], c["name"]) == named for c in server["connections"])


def _choose(read: Dict, entries: list[Dict], wanted: Dict, database: str) -> tuple[tuple[Dict, Dict, Dict] | None, str]:
    """The one row that a person means by a request's namespace and name, or why there isn't one."""
    if not wanted["namespace"]:
        return None, "A request is named as NAMESPACE/REQUEST."
    living = _living(read, wanted)
    found = [r for r in _rows(entries) if (r[0]["namespace"], r[0]["request"]) == (wanted["namespace"], wanted["name"])]
    own = [r for r in found if r[0]["request_uid"] == living.get("uid")]
    alive = {request["uid"] for request in read["requests"]}
    found = own or [r for r in found if r[0]["request_uid"] not in alive]
    found = [r for r in found if database in ("", r[1]["database"])]
    places = {(r[1]["database"], r[0]["request_uid"]) for r in found}
    if len(places) > 1:
        names = ", ".join(sorted(tables.printable(place[0]) for place in places))
        return None, f"There are several rows; choose one with -e database=…: {names}."
    if not found:
        unread = [f"{entry['server']['name']}: {entry['problem']}" for entry in entries if entry["problem"]]
        told = "No ledger has a row of this request" + (
            f" and database {tables.printable(database)}" if database else ""
        )
        return None, f"{told}{'; not read: ' + '; '.join(unread) if unread else ''}."
    if not found[0][1]["username"]:
        return None, "The ledger's row has no account: look at the tables ownership and account by hand."
    return found[0], ""


def _described(row: Dict, found: Dict, server: Dict) -> list[str]:
    return [
        f"database   {tables.printable(row['database'])}",
        f"account    {tables.printable(row['username'])}@{tables.printable(row['host'])}",
        f"server     {server['name']}",
        f"row of     {found['namespace']}/{found['request']}, UID {found['request_uid']}",
        f"origin     {row['origin']}, state {row['state']}",
    ]


def _nothing(problem: str) -> Dict:
    report = {"lines": [], "summary": f"Nothing was done. {problem}", "failed": True, "data": {"problem": problem}}
    return {"action": "none", "report": report}


def _plan(action: str, chosen: tuple[Dict, Dict, Dict], lines: list[str], **more: Any) -> Dict:
    found, row, server = chosen
    shown = [*_described(row, found, server), "", *lines]
    names = {key: row[key] for key in ("database", "username", "host", "origin", "state")}
    data = {"action": action, "server": server["name"], **names, "request_uid": found["request_uid"]}
    was = {"namespace": found["namespace"], "name": found["request"], "uid": found["request_uid"]}
    report = {"lines": shown, "summary": "That is the plan.", "failed": False, "data": data}
    return {"action": action, "row": row, "was": was, "report": report, **more}


def release_plan(read: Dict, entries: list[Dict], request: str, database: str = "") -> Dict:
    """How a database goes out of the operator's care.

    Args:
        read: what platform_read found. entries: of ``inventory.asked`` with the statements ``survey``.
        request: ``NAMESPACE/REQUEST``. database: where several rows are left of requests of that name.
    Returns:
        ``{action, report}``, and unless the action is ``none``: ``row``, ``was`` (whose it is), ``request``. The
        action is ``request`` (it lives: it goes by its own finalizer, which drops nothing) or ``rows`` (no request
        has the row: the rows go, and that is all).
    """
    wanted = parse(request)
    chosen, problem = _choose(read, entries, wanted, database)
    if chosen is None:
        return _nothing(problem)
    found, _row, server = chosen
    living = _living(read, wanted)
    if living.get("uid") != found["request_uid"]:
        lines = [
            "No request has this row. The ledger's rows go; database, data and account stay as they are.",
            "Nobody drops them any more, and nobody looks after them.",
        ]
        return _plan("rows", chosen, lines, request={})
    if not _reached(living, server):
        return _nothing(f"The request's scope has no connection to {server['name']}: list the server there first.")
    lines = [
        "The request gets dropDatabaseOnDelete: false and is deleted. The ledger's rows go; database, data and",
        f"account stay. The credentials are kept in the Secret {living['name']}-kept, in the keys of a seed; the",
        "request's Service and Secret go: give the application those credentials before its pods start again.",
    ]
    return _plan("request", chosen, lines, request=living)


def hand_over_plan(read: Dict, entries: list[Dict], source: str, target: str, database: str = "") -> Dict:
    """How a database becomes another request's.

    Args:
        read, entries, database: as for :func:`release_plan`. source, target: ``NAMESPACE/REQUEST``; the same twice
        where a request came back with a new UID.
    Returns:
        ``{action, report}``, and unless the action is ``none``: ``row``, ``was``, ``heir``, and ``request``, the
        former owner as far as it lives.
    """
    wanted, heirs = parse(source), parse(target)
    heir = _living(read, heirs)
    if not heirs["namespace"] or not heir or heir["deleting"]:
        return _nothing("The request that is to get the database isn't there, or is being deleted.")
    holders = [r for r in _rows(entries) if r[0]["request_uid"] == heir["uid"]]
    if holders:
        return _nothing("The request that is to get the database has one already. One database, one request.")
    chosen, problem = _choose(read, entries, wanted, database)
    if chosen is None:
        return _nothing(problem)
    unread = [entry["server"]["name"] for entry in entries if entry["problem"] and _reached(heir, entry["server"])]
    if unread:
        return _nothing(f"The request that is to get it may have a row on a server that can't be read: {unread[0]}.")
    found, row, server = chosen
    if row["state"] != "ready":
        return _nothing(f"The row is in state {row['state']}: only a finished database can be handed over.")
    if not _reached(heir, server):
        return _nothing(f"The scope of the request that is to get it has no connection to {server['name']}.")
    owner: Dict = next((r for r in read["requests"] if r["uid"] == found["request_uid"]), {})
    lines = [f"It becomes the database of {heir['namespace']}/{heir['name']}, UID {heir['uid']}."]
    if row["origin"] == "adopted":
        lines += [
            "Its account was taken over, so nobody sets its password: the request needs a seed with the right one.",
            "" if "seed" in heir["spec"] else "It names no seed now, and will say CredentialsLost until it does.",
        ]
    else:
        lines += ["If no seed of it has the right password, its next pass sets a new one and publishes that."]
    if "seed" in heir["spec"] and heir["uid"] != found["request_uid"]:
        lines += ["Its seed has to name this database and account: else it says SeedMismatch until that is removed."]
    if owner:
        lines += [
            f"If the password changes, the application of {owner['namespace']}/{owner['name']} is cut off then.",
            f"{owner['namespace']}/{owner['name']} owns nothing then and says LedgerRowMissing; delete it, which drops",
            "nothing. Its Service and Secret go with it.",
        ]
    return _plan("hand_over", chosen, [line for line in lines if line], request=owner, heir=heir)


def row_arguments(planned: Dict, read: Dict) -> Dict:
    """The arguments of the statements that carry a plan out: of the row as its present owner's, and the heir.

    Args:
        planned: of :func:`release_plan` or :func:`hand_over_plan`. read: what platform_read found.
    """
    heir = planned.get("heir") or {"namespace": "", "name": "", "uid": ""}
    return {
        **sql_arguments.row_arguments(
            {"request": planned["was"], "cluster": read["cluster"], "fence": read["fence"]}, planned["row"]
        ),
        "heir_namespace": heir["namespace"],
        "heir_request": heir["name"],
        "heir_uid": heir["uid"],
    }


def carried_out(planned: Dict, came_to: Dict) -> Dict:
    """The report of the statements that carry a plan out.

    Args:
        planned: the plan. came_to: of ``errors.mysql_outcome``.
    """
    data = {**planned["report"]["data"], "done": came_to["ok"]}
    if came_to["ok"]:
        heir = planned.get("heir") or {}
        told = f"It is {heir['namespace']}/{heir['name']}'s now." if heir else "The rows are gone; all else is there."
        return {"lines": [], "summary": f"Done. {told}", "failed": False, "data": data}
    words = {
        "stale": "somebody is at work on this database, or the server is read-only; try again",
        "claimed": "the request that is to get it has got another one in the meantime",
    }
    number = errors.number_words(came_to["number"])
    why = words.get(came_to["kind"], f"the server refused or can't be reached ({number})")
    return {"lines": [], "summary": f"Nothing was done: {why}.", "failed": True, "data": data}


def released(planned: Dict, entries: list[Dict], reason: str) -> Dict:
    """The report after a living request was let go.

    Args:
        planned: of :func:`release_plan`. entries: the survey, made once more. reason: what its last run waits for,
        "" where it waits for nothing.
    """
    left = [r for r in _rows(entries) if r[0]["request_uid"] == planned["was"]["uid"]]
    where = planned["report"]["data"]["server"]
    unread = [where for entry in entries if entry["problem"] and entry["server"]["name"] == where]
    data = {**planned["report"]["data"], "done": not (left or reason or unread)}
    if data["done"]:
        told = "The rows are gone; database, data and account are there."
        return {"lines": [], "summary": f"Done. {told}", "failed": False, "data": data}
    why = f"it waits ({reason})" if reason else "the rows are still there" if left else f"{unread[0]} can't be read"
    told = f"Not done yet: {why}. Nothing will be dropped; run this again, or leave it to the operator."
    return {"lines": [], "summary": told, "failed": True, "data": data}


def request_patch(found: Dict, change: str, at: str) -> Dict:
    """The patch of a change, ``{}`` where nothing differs; see the action request_change.

    Args:
        found: the request. change: ``let_go``, ``free`` or ``try_again``. at: the present time.
    """
    if change == "try_again":
        return {"spec": {"forcedReconcilation": at}}
    # Without it the request would be gone at once, and its rows would stay.
    wanted = finalizer.changed(found, present=change == "let_go")
    patch: Dict = {"metadata": {"finalizers": wanted}} if wanted is not None else {}
    if change == "let_go" and found["spec"].get("dropDatabaseOnDelete", True):
        patch["spec"] = {"dropDatabaseOnDelete": False}
    return patch
