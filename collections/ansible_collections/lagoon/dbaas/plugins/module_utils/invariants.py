# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What has to be true of a live platform at any moment, and where it isn't: ledger = server = status = Secret.

The cluster is read before and after the servers. A request that changed in between is in motion, and nothing is said
of it: an operator may be at work beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    errors,
    facts,
    inventory,
    names,
    providers,
    published,
    sql,
    tables,
)

Dict = dict[str, Any]

#: Each kind of finding: what isn't true, and what a person does.
FINDINGS: dict[str, tuple[str, str]] = {
    "ServerUnreadable": (
        "nothing on this server could be checked: {detail}",
        "bring it back or mend its connection, and check again",
    ),
    "LedgerRowMissing": (
        "the request is Ready, or was, and no ledger that was read has a row of it",
        "find out who changed the ledger, or DBAAS_CLUSTER_ID; put the row back",
    ),
    "ConnectionUnlisted": (
        "no provider lists the connection that the request's status names, so its row can't be looked for",
        "apply that provider again, with the same names; or look who wrote the status",
    ),
    "TwoRows": ("the request has rows on several servers: {detail}", "release the one that its status doesn't name"),
    "StatusDiffers": (
        "status.databaseInfo doesn't name the row's database and account",
        "change the request (spec.forcedReconcilation) so that its next pass writes it",
    ),
    "ReferenceDiffers": (
        "the reference in status doesn't lead to the row's server",
        "list that server in a provider again, or look who wrote the status",
    ),
    "SecretMissing": ("the request is Ready, and its Secret isn't there", "its next pass writes it: force one"),
    "SecretDiffers": ("the published Secret's {detail} isn't the row's", "its next pass writes it: force one"),
    "ServiceDiffers": (
        "the published Service is missing or leads elsewhere",
        "its next pass writes it: force one",
    ),
    "LoginFailed": (
        "the published Secret doesn't open the database ({detail})",
        "force a pass; if it stays so, the condition says what is lost",
    ),
    "DatabaseMissing": ("the ledger's row has no database on the server", "restore it, or delete the request"),
    "AccountMissing": (
        "the ledger's row has no account on the server",
        "force a pass; an adopted account has to be made again by hand",
    ),
    "AccountRowWithoutRow": ("the ledger has an account of a database that has no row", "delete it in the ledger"),
    "RowWithoutRequest": (
        "no request has this row's UID",
        "hand the database over to a request, or release it (docs/operations.md)",
    ),
    "RowDiffers": (
        "the row names another namespace or request than the one that has its UID",
        "correct both in the ledger: a restored backup finds its row by them",
    ),
    "RowStuck": ("the row is {detail}, and no request is at work on it", "force a pass of the request"),
    "ReachesElsewhere": ("the account has rights that aren't its own database's", "take them away from it"),
    "ReachesAnother": ("the account's grant opens another request's database, {detail}", "escape the grant's pattern"),
    "DatabaseWithoutRow": ("no ledger row has this database", "see the orphan report"),
    "AccountWithoutRow": ("no ledger row has this account", "see the orphan report"),
}


def is_true(request: Dict, kind: str) -> bool:
    """Whether a condition is True for the present generation of a request."""
    found = conditions.find(request["status"], kind)
    return found.get("status") == "True" and found.get("observedGeneration") == request["generation"]


def steady(before: Dict, after: Dict) -> dict[str, Dict]:
    """The requests that nobody changed between the two reads and that aren't being deleted, by UID."""
    versions = {request["uid"]: request["version"] for request in before["requests"]}
    return {r["uid"]: r for r in after["requests"] if versions.get(r["uid"]) == r["version"] and not r["deleting"]}


def login_accounts(read: Dict, entries: list[Dict]) -> list[Dict]:
    """The logins to try: of each Ready request whose Secret names its row's database and account.

    A Secret is a tenant's to edit: one that names something else is a finding, and is logged in with nowhere.

    Args:
        read: the first read. entries: of :func:`inventory.asked`.
    Returns:
        ``{uid, connection, database, username, password}`` each.
    """
    ready = {r["uid"]: r for r in read["requests"] if is_true(r, "Ready")}
    found = []
    for entry, row in inventory.rows(entries, read["cluster"]):
        request, owner = ready.get(row["request_uid"]), inventory.owner_of(entry, row["database_name"])
        values = _values(read, request) if request else {}
        if (values.get("DATABASE"), values.get("USERNAME")) != (row["database_name"], owner.get("user")):
            continue
        found.append(
            {
                "uid": row["request_uid"],
                "connection": {key: entry["connection"][key] for key in ("hostname", "port", "tls_arguments")},
                "database": row["database_name"],
                "username": owner["user"],
                "password": values.get("PASSWORD", ""),
            }
        )
    return found


def login_results(results: list[Dict]) -> dict[str, Dict]:
    """What the logins came to, by the request's UID: an outcome of ``errors.mysql_outcome``.

    Args:
        results: of the looped tasks.
    """
    found = {}
    for item in results:
        account = item["__dbaas_platform_account"]
        queries = sql.statements(["login", "use"], account["database"])
        found[account["uid"]] = errors.mysql_outcome(item, queries, "seed")
    return found


def _values(read: Dict, request: Dict) -> dict[str, str]:
    """The published Secret's values by what follows the prefix of their keys."""
    secret = read["secrets"].get(request["uid"])
    if not secret or secret["name"] != request["name"]:
        return {}
    prefix = names.key_prefix(request["spec"]["name"]) + "_"
    return {key.removeprefix(prefix): value for key, value in secret["values"].items() if key.startswith(prefix)}


def compare(before: Dict, after: Dict, entries: list[Dict], logins: dict[str, Dict], strict: bool) -> list[Dict]:
    """Everything that isn't as it has to be.

    Args:
        before, after: what platform_read found before and after the servers were read. entries: of
        :func:`inventory.asked`. logins: of :func:`login_results`. strict: databases and accounts without a row are
        findings, too.
    Returns:
        ``{finding, server, namespace, request, database, username, what, do}`` each, in a stable order.
    """
    found = [
        *_unread(after, entries),
        *_requests(before, after, entries, logins),
        *_ledgers(before, after, entries),
        *_accounts(entries),
        *(_unowned(entries) if strict else []),
    ]
    return sorted(found, key=lambda f: (f["server"], f["namespace"], f["request"], f["database"], f["finding"]))


def _finding(
    kind: str, entry: Dict | None = None, row: Dict | None = None, request: Dict | None = None, **fields: str
) -> Dict:
    what, cure = FINDINGS[kind]
    row = row or {}
    return {
        "finding": kind,
        "server": entry["server"]["name"] if entry else "",
        "namespace": request["namespace"] if request else row.get("namespace", ""),
        "request": request["name"] if request else row.get("request", ""),
        "database": fields.get("database", row.get("database_name", "")),
        "username": fields.get("username", ""),
        "what": what.format(detail=fields.get("detail", "")),
        "do": cure,
    }


def _unread(read: Dict, entries: list[Dict]) -> Iterator[Dict]:
    references = {providers.placed_on(request) for request in read["requests"]}
    for entry in entries:
        named = {(c["provider"], c["name"]) for c in entry["server"]["connections"]}
        # Nobody looks at a disabled connection that no request was placed on.
        if entry["problem"] and (entry["server"]["enabled"] or named & references):
            yield _finding("ServerUnreadable", entry, detail=entry["problem"])


def _requests(before: Dict, after: Dict, entries: list[Dict], logins: dict[str, Dict]) -> Iterator[Dict]:
    by_uid: dict[str, list[tuple[Dict, Dict]]] = {}
    for entry, row in inventory.rows(entries, after["cluster"]):
        by_uid.setdefault(row["request_uid"], []).append((entry, row))
    for uid, request in steady(before, after).items():
        mine = by_uid.get(uid, [])
        # Two ways to one server show one row twice.
        places = {(row["database_name"], row["fence"]): entry["server"]["name"] for entry, row in mine}
        if len(places) > 1:
            yield _finding("TwoRows", request=request, detail=", ".join(sorted(places.values())))
        ready = is_true(request, "Ready")
        if not mine and (ready or request["status"].get("databaseInfo")):
            yield from _no_row(request, entries)
        elif ready:
            yield from _ready_request(before, after, request, mine, logins)


def _no_row(request: Dict, entries: list[Dict]) -> Iterator[Dict]:
    """What it means that no ledger has a row of a request; nothing, where its server told nothing."""
    reference = providers.placed_on(request)
    named = [e for e in entries if reference in [(c["provider"], c["name"]) for c in e["server"]["connections"]]]
    if not named and all(reference):
        yield _finding("ConnectionUnlisted", request=request)
    elif not any(entry["problem"] for entry in named or entries):
        yield _finding("LedgerRowMissing", request=request)


def _ready_request(
    before: Dict, after: Dict, request: Dict, mine: list[tuple[Dict, Dict]], logins: dict[str, Dict]
) -> Iterator[Dict]:
    reference = providers.placed_on(request)
    leads = [
        (entry, row, c)
        for entry, row in mine
        for c in entry["server"]["connections"]
        if (c["provider"], c["name"]) == reference
    ]
    if not leads:
        yield _finding("ReferenceDiffers", *mine[0], request)
        return
    entry, row, connection = leads[0]
    database, user = row["database_name"], inventory.owner_of(entry, row["database_name"]).get("user")
    told = request["status"].get("databaseInfo") or {}
    if (told.get("databasename"), told.get("username")) != (database, user):
        yield _finding("StatusDiffers", entry, row, request)
    uid = request["uid"]
    secrets = [read["secrets"].get(uid) for read in (before, after)]
    if secrets[0] != secrets[1]:
        return  # somebody wrote it in between: what was logged in with is no longer published
    values = _values(after, request)
    if not values:
        yield _finding("SecretMissing", entry, row, request)
    else:
        wanted = published.secret_values(request, connection, {"database": database, "username": user}, "")
        for key in sorted(key.removeprefix(names.key_prefix(request["spec"]["name"]) + "_") for key in wanted):
            if key != "PASSWORD" and values.get(key) != wanted[f"{names.key_prefix(request['spec']['name'])}_{key}"]:
                yield _finding("SecretDiffers", entry, row, request, detail=key)
    service = after["services"].get(uid) or {}
    expected = None if published.address_family(connection["hostname"]) else connection["hostname"]
    if service.get("name") != request["spec"]["name"] or service.get("hostname") != expected:
        yield _finding("ServiceDiffers", entry, row, request)
    if uid in logins and not logins[uid]["ok"]:
        detail = errors.number_words(logins[uid]["number"])
        yield _finding("LoginFailed", entry, row, request, username=user or "", detail=detail)


def _ledgers(before: Dict, after: Dict, entries: list[Dict]) -> Iterator[Dict]:
    still = steady(before, after)
    known = {request["uid"] for read in (before, after) for request in read["requests"]}
    for entry, row in inventory.rows(entries, after["cluster"]):
        request = still.get(row["request_uid"])
        if row["request_uid"] not in known:
            yield _finding("RowWithoutRequest", entry, row)
        elif request and row["state"] == "creating" and is_true(request, "Settled"):
            yield _finding("RowStuck", entry, row, request, detail="creating")
        elif request and row["state"] == "deleting":
            yield _finding("RowStuck", entry, row, request, detail="deleting")
        if request and (row["namespace"], row["request"]) != (request["namespace"], request["name"]):
            yield _finding("RowDiffers", entry, row, request)
        if request and row["state"] == "ready":
            answer, owner = entry["answer"], inventory.owner_of(entry, row["database_name"])
            if row["database_name"] not in [d["name"] for d in answer["databases"]]:
                yield _finding("DatabaseMissing", entry, row, request)
            account = (owner.get("user"), owner.get("host"))
            if account not in [(u["user"], u["host"]) for u in answer["users"]]:
                yield _finding("AccountMissing", entry, row, request, username=owner.get("user", ""))


def _accounts(entries: list[Dict]) -> Iterator[Dict]:
    for entry in entries:
        answer = entry["answer"]
        if answer is None:
            continue
        by_name = {row["database_name"]: row for row in answer["rows"]}
        for account in answer["accounts"]:
            database, user, host = account["database_name"], account["user"], account["host"]
            row = by_name.get(database)
            if row is None:
                yield _finding("AccountRowWithoutRow", entry, database=database, username=user)
                continue
            if row["state"] != "ready":
                continue  # what isn't Ready yet was never handed out
            mine = inventory.of_account(answer, user, host)
            if facts.rights(mine, user, host, database)["elsewhere"]:
                yield _finding("ReachesElsewhere", entry, row, username=user)
            for grant in mine["grants"]:
                for other in by_name if inventory.has_wildcard(grant["Db"]) else ():
                    if other != database and inventory.pattern_fits(grant["Db"], other):
                        detail = tables.printable(other)
                        yield _finding("ReachesAnother", entry, row, username=user, detail=detail)


def _unowned(entries: list[Dict]) -> Iterator[Dict]:
    for entry in entries:
        if entry["answer"] is not None:
            for database in inventory.unowned_databases(entry):
                yield _finding("DatabaseWithoutRow", entry, database=database)
            for account in inventory.unowned_accounts(entry):
                yield _finding("AccountWithoutRow", entry, username=account["user"])


def report(before: Dict, after: Dict, entries: list[Dict], logins: dict[str, Dict], strict: bool) -> Dict:
    """The findings as platform_report shows and writes them; arguments as for :func:`compare`."""
    found = compare(before, after, entries, logins, strict)
    columns = ("FINDING", "SERVER", "REQUEST", "DATABASE", "ACCOUNT", "WHAT", "DO")
    shown = [
        (
            f["finding"],
            f["server"],
            f"{f['namespace']}/{f['request']}" if f["request"] else "",
            f["database"],
            f["username"],
            f["what"],
            f["do"],
        )
        for f in found
    ]
    counts = {
        "servers": sum(not entry["problem"] for entry in entries),
        "requests": len(after["requests"]),
        "ready": sum(is_true(request, "Ready") for request in after["requests"]),
        "in_motion": len(after["requests"]) - len(steady(before, after)),
        "rows": sum(1 for _ in inventory.rows(entries, after["cluster"])),
        "logins": len(logins),
    }
    summary = (
        f"{counts['servers']} servers read, {counts['rows']} rows of this cluster, {counts['requests']} requests"
        f" ({counts['ready']} Ready, {counts['in_motion']} in motion), {counts['logins']} logins:"
        f" {len(found)} finding{'' if len(found) == 1 else 's'}."
    )
    data = {"cluster": after["cluster"], "at": conditions.now(), "counts": counts, "findings": found}
    return {"lines": tables.table(columns, shown), "summary": summary, "failed": bool(found), "data": data}
