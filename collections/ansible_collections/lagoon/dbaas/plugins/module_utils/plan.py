# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a run does next: pure decisions over what was read. Tasks carry them out.

A decision that ends the run is an *outcome*, ``{reason, params}``: a reason of the closed list and what its
sentence needs. An empty outcome means: go on.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    errors,
    facts,
    names,
    providers,
    published,
    sql,
)

Dict = dict[str, Any]

#: Seconds by which the clocks of a server and of the cluster are taken to differ at most.
CLOCKS = 300
#: What OwnershipUnproven says where nothing was tried.
NO_PROOF = "no password came along that could prove it to be this request's"


def outcome(reason: str, **params: Any) -> Dict:
    """An outcome of the run."""
    return {"reason": reason, "params": params}


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


def row_arguments(read: Dict, row: Dict, login: Dict | None = None) -> Dict:
    """The arguments of every statement about a row (or a claim), numbers as numbers.

    Args:
        read: what request_read found. row: ``{database, username, host, origin}``.
        login: of :func:`login_of`, where a statement sets a password.
    """
    request = read["request"]
    return {
        **{key: row[key] for key in ("database", "username", "host", "origin")},
        "cluster": read["cluster"],
        "namespace": request["namespace"],
        "request": request["name"],
        "request_uid": request["uid"],
        "fence": _above(read["fence"], row.get("fence", 0)),
        "password": (login or {}).get("password", ""),
    }


def _above(fence: int, taken: int) -> int:
    # A clock that runs behind must not keep a run out; the run's own last bits keep two such runs apart.
    return fence if fence > taken else ((taken >> 10) + 1) << 10 | (fence & 1023)


def names_arguments(names: Dict) -> Dict:
    r"""The arguments of the statements that only read or log in.

    Whole dicts are handed to tasks, never single texts of a tenant: core 2.18 reads a template whose text looks
    like a list, a dict or a bool as one.

    Args:
        names: ``{database, username}``: a seed or a row.
    Returns:
        ``{database, username, escape}``; ``escape`` is the ``\`` of LIKE, which NO_BACKSLASH_ESCAPES lacks.
    """
    return {"database": names["database"], "username": names["username"], "escape": "\\"}


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


def observed_seed(read: Dict) -> Dict:
    """The seed secret as ``status.observedSeed`` names it; empty where there is none."""
    seed = read["seed"]
    return {"uid": seed["uid"], "resourceVersion": seed["resource_version"]} if seed["state"] == "valid" else {}


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


def _sees_outcome(server: Dict, connection: str) -> Dict:
    if int(server["admin_sees"]):
        return {}
    return outcome("ProviderError", connection=connection, number="its admin account lacks SELECT on *.*")


def _ledger_outcome(answer: Dict, connection: str) -> Dict:
    blind = _sees_outcome(answer["server"][0], connection)
    if blind:
        return blind
    version = answer["ledger"][0]["version"] if answer["ledger"] else None
    if version is None:
        return outcome("LedgerMissing", connection=connection, number="no version")
    if int(version) > sql.LEDGER_VERSION:
        return outcome("LedgerTooNew", connection=connection)
    return {}


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
        return {"would": ["take database and account over", PUBLISHING], "done": "SeedAdopted"}
    reason = "SeedCreated" if "seed" in read["request"]["spec"] else "DatabaseCreated"
    return {"would": ["create_account", "create_database", "grant", PUBLISHING], "done": reason}


#: How a plan tells that Service and Secret would be written.
PUBLISHING = "write Service and Secret"


def publish_words(publish: Dict) -> list[str]:
    """How a plan tells what of Service and Secret would be written.

    Args:
        publish: ``{apply, replace, retire}`` of publish_plan.
    """
    return [PUBLISHING] if any(publish[key] for key in ("apply", "replace", "retire")) else []


def finalize_words(ending: Dict) -> list[str]:
    """How a plan tells what a deletion would do.

    Args:
        ending: of :func:`finalize`.
    """
    return {
        "keep": ["keep database, account and their credentials", "give_back"],
        "leave": ["leave all on the server as it is"],
        "give_back": ["keep database and account", "give_back"],
        "drop": ["drop_account", "drop_database", "give_back"],
    }.get(ending["action"], [])


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


def seed_of_row(read: Dict, row: Dict) -> Dict:
    """Whether the seed at hand is still the one that the row came from.

    Returns:
        ``{}`` where it is (or the request has none and the row needs none), ``{outcome}`` where the run waits,
        ``{outcome, undo: True}`` where the rows have to go.
    """
    seed, spec = read["seed"], read["request"]["spec"]
    seeded = not is_derived(read, row)
    if row["state"] == "ready":
        if "seed" in spec and (seed["state"] == "other_namespace" or not names_row(seed, row)):
            return {"outcome": outcome("SeedMismatch")}
        return {}
    if not seeded:
        return {}
    if "seed" in spec and seed["state"] == "missing":
        return {"outcome": _seed_missing(spec)}
    if "seed" not in spec or seed["state"] != "valid" or not names_row(seed, row):
        return {"outcome": outcome("SeedChanged"), "undo": True}
    return {}


def _seed_missing(spec: Dict) -> Dict:
    name = spec["seed"]["name"]
    # The schema lets no other name in; a sentence doesn't rely on that.
    return outcome("SeedSecretMissing", secret=name if names.is_object(name) else "that spec.seed.name names")


def names_row(seed: Dict, row: Dict) -> bool:
    """Whether a seed names a row's database and account; one that can't be read names nothing else."""
    if seed["state"] != "valid":
        return True  # nothing is said of another database
    same_case = seed["database"] == row["database"]
    folded = row["folds"] and seed["database"].lower() == row["database"]
    return (same_case or folded) and seed["username"] == row["username"]


def is_derived(read: Dict, row: Dict) -> bool:
    """Whether a row's names are those that the operator made up for a plain request."""
    return row["username"] == names.derived_account(read["cluster"], read["request"]["uid"])


def settle(read: Dict, row: Dict, logins: list[Dict], fresh: bool, content: Dict | None) -> Dict:
    """What a row's database and account still need.

    Args:
        read: what request_read found. row: of :func:`locate`, its ``answer`` read after the claim.
        logins: ``{source, outcome}`` of each password at hand (``published``, ``seed``), in order.
        fresh: the row was claimed by this run.
        content: the task's result that counted what the database holds, None where it wasn't asked.
    Returns:
        One of ``{outcome[, give_back: True]}``, ``{needs: content}``, or ``{steps: [...], source: ...}``: the
        statement forms to send, none where nothing is lacking, and whose password holds then.
    """
    answer, connection = row["answer"], row["connection"]["name"]
    database, username, host = row["database"], row["username"], row["host"]
    present = any(d["name"] == database for d in answer["databases"])
    account = any(u["user"] == username and u["host"] == host for u in answer["users"])
    may = facts.rights(answer, username, host, database)
    for login in logins:
        if not login["outcome"]["ok"] and login["outcome"]["kind"] in ("unavailable", "provider"):
            return {"outcome": errors.wait_outcome(login["outcome"], connection)}
    works = next((x["source"] for x in logins if x["outcome"]["ok"] or x["outcome"]["kind"] == "no_access"), None)
    derived = is_derived(read, row)
    if row["state"] == "creating":
        if fresh and (present or account):
            reason = outcome("DatabaseExists") if derived else outcome("Creating", connection=connection)
            return {"outcome": reason, "give_back": True}
        if account and (may["elsewhere"] or not (works or derived)):
            return {"outcome": outcome("DatabaseExists"), "give_back": True}
        if present and not (works and may["owner"]):
            if content is None:
                return {"needs": "content"}
            failed = errors.wait_outcome(errors.mysql_outcome(content, sql.statements("content")), connection)
            if failed:
                return {"outcome": failed}
            if _objects(content):
                return {"outcome": outcome("DatabaseExists"), "give_back": True}
    elif not present:
        return {"outcome": outcome("DatabaseMissing", connection=connection)}
    elif row["origin"] == "adopted":
        if not works:
            return {"outcome": outcome("CredentialsLost", connection=connection)}
        if not may["owner"]:
            return {"outcome": outcome("AccessLost", connection=connection)}
        return {"steps": [], "source": works}
    steps = []
    source = works or "generated"
    if not account:
        steps.append("create_account")
        source = "seed" if row["state"] == "creating" and not derived else "generated"
    elif not works:
        steps.append("set_password")
    if not present:
        steps.append("create_database")
    if not account or not may["full"]:
        steps.append("grant")
    if steps and int(answer["server"][0]["read_only"]):
        return {"outcome": outcome("ServerReadOnly", connection=connection)}
    return {"steps": steps, "source": source}


def make_failed(read: Dict, row: Dict, came_to: Dict, steps: list[str]) -> Dict:
    """What a failed statement of :func:`settle`'s steps leads to.

    Args:
        came_to: of ``mysql_outcome``. steps: the forms sent behind ``take``, one statement each.
    Returns:
        ``{}`` where nothing failed, else ``{outcome, undo: [...]}``; ``undo`` lists the forms that take away
        what was made (empty: nothing is undone, the next run goes on).
    """
    if came_to["ok"]:
        return {}
    seeded = not is_derived(read, row) and row["state"] == "creating"
    index = -1 if came_to["index"] is None else came_to["index"] - len(sql.STATEMENTS["take"])
    step = steps[index] if index >= 0 else ""
    # The row is this request's, and both were missing when it was claimed: so what is there is its own, whether
    # this run made it or one that was killed. Statements behind the refused one were never sent.
    reached = ("create_account", "set_password", "create_database", "grant").index(step) if step in steps else 0
    undo = [
        *(["drop_account"] if reached > 1 else []),
        *(["drop_database"] if reached > 2 and "create_database" in steps else []),
    ]
    if seeded and came_to["kind"] == "policy":
        return {
            "outcome": outcome("SeedPasswordPolicy", number=came_to["number"]),
            "undo": [*undo, "give_back"],
        }
    if seeded and came_to["kind"] == "name":
        key = "database" if step == "create_database" else "username"
        problem = f"is a name that the server won't hold (error {came_to['number']})"
        return {
            "outcome": outcome("SeedSecretInvalid", key=key, problem=problem),
            "undo": [*undo, "give_back"],
        }
    return {"outcome": errors.wait_outcome(came_to, row["connection"]["name"]), "undo": []}


def done_outcome(read: Dict, row: Dict) -> Dict:
    """The outcome of a request that is Ready, from the row's origin, and from whose it was when it was made."""
    inherited = came_from_another(read["request"], row)
    came = "for a former request, from which {} came to this one"
    if row["origin"] == "adopted":
        return outcome("SeedAdopted", once=f" {came.format('it')}" if inherited else "")
    made = f"were created {came.format('they')}" if inherited else ""
    # A row that was handed over has the names that were derived for its former request.
    if is_derived(read, row) or ("seed" not in read["request"]["spec"] and names.is_derived(row["username"])):
        return outcome("DatabaseCreated", made=made or "were created")
    return outcome("SeedCreated", made=made or "did not exist and were created")


def came_from_another(request: Dict, row: Dict) -> bool:
    """Whether a row was another request's first: one that was handed over, or that came back with a new UID.

    Args:
        request: the request. row: its row; one that this run inserted has no ``created_at``.
    Returns:
        True where the row is older than the request, beyond what two clocks may differ.
    """
    if not row.get("created_at"):
        return False
    stamp = row["created_at"].replace(" ", "T") + "Z"
    return conditions.seconds_since(stamp, request["created"]) > CLOCKS


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
    if keep:
        return {"action": "keep", "row": row}
    since = row["ready_seconds"]
    if row["origin"] == "adopted" and row["state"] != "deleting" and (since is None or int(since) < grace_seconds):
        return {"action": "give_back", "row": row}
    return {"action": "drop", "row": row}


def _objects(content: Dict) -> int:
    return int(content["query_result"][0][0]["objects"])


def drop_steps(row: Dict, content: Dict) -> list[str]:
    """The statement forms that drop what a row says, the rows last.

    Args:
        row: of :func:`locate`. content: the task's result that counted what the database holds.
    Returns:
        The forms. An account that was taken over, or whose request was never Ready, goes only if it has no right
        elsewhere; the database of a request that was never Ready only while it is empty.
    """
    may = facts.rights(row["answer"], row["username"], row["host"], row["database"])
    ours = row["origin"] == "created" and row["ready_seconds"] is not None
    steps = ["drop_account"] if ours or not may["elsewhere"] else []
    if row["ready_seconds"] is not None or _objects(content) == 0:
        steps.append("drop_database")
    return [*steps, "give_back"]


def undo_steps(row: Dict, content: Dict) -> list[str]:
    """The statement forms that undo an unfinished request: of one that only takes over, its rows alone.

    Args:
        row, content: as for :func:`drop_steps`.
    """
    return ["give_back"] if row["origin"] == "adopted" else drop_steps(row, content)


def drop_outcome(came_to: Dict, connection: str) -> Dict:
    """``{}``, or the wait of a deletion whose statements failed."""
    failed = errors.wait_outcome(came_to, connection)
    return {**failed, "reason": "DropPending"} if failed else {}


def login_outcomes(results: list[Dict], database: str) -> list[Dict]:
    """The logins that were tried: ``{source, outcome}`` each.

    Args:
        results: of the looped task. database: the one that was entered.
    """
    queries = sql.statements(["login", "use"], database)
    return [
        {
            "source": item["__dbaas_request_candidate"]["source"],
            "outcome": errors.mysql_outcome(item, queries, "seed"),
        }
        for item in results
    ]


def login_of(credentials: Dict, source: str) -> Dict:
    """The login of a source, ``{source, password, config_file}``; ``{}`` where there is none.

    Args:
        credentials: of account_credentials. source: ``published``, ``seed`` or ``generated``.
    """
    return credentials["by_source"].get(source, {})


def seed_login_of(read: Dict) -> Dict:
    """The login that a take-over publishes: the seed's, as it was probed."""
    return {
        "source": "seed",
        "password": read["seed"]["password"],
        "config_file": read["seed"]["config_file"],
    }


def kept_login(credentials: Dict, logins: list[Dict], row: Dict) -> Dict:
    """The login that is kept of a request that is deleted and leaves its database.

    Args:
        credentials: of account_credentials. logins: of :func:`login_outcomes`. row: of :func:`locate`.
    Returns:
        ``{login}``: the first that works; of an account that was created the generated one, with ``steps`` to set
        it; ``{}`` of an adopted one.
    """
    works = [x["source"] for x in logins if x["outcome"]["ok"] or x["outcome"]["kind"] == "no_access"]
    if works:
        return {"login": login_of(credentials, works[0]), "steps": []}
    if row["origin"] == "adopted":
        return {"login": {}, "steps": []}
    return {"login": login_of(credentials, "generated"), "steps": ["set_password"]}


def proof_outcome(result: Dict, row: Dict) -> Dict:
    """``{}`` where the account that is to be published logs in as itself and enters its database."""
    came_to = errors.mysql_outcome(result, sql.statements(["login", "use"], row["database"]), "seed")
    if came_to["ok"]:
        return {}
    number = f"the new account's login failed, error {came_to['number']}"
    reason = "ConnectionUnavailable" if came_to["kind"] == "unavailable" else "ProviderError"
    return outcome(reason, connection=row["connection"]["name"], number=number)


def kubernetes_outcome(result: Dict, accepted: list[int] | None = None) -> Dict:
    """``{}``, or the wait that a failed ``kubernetes.core.k8s`` leads to.

    Args:
        result: the task's, looped or not, skipped as one that didn't fail. accepted: HTTP statuses that are fine.
    Returns:
        With the number, ``conflict``: another run, or somebody, was at the same object at the same moment.
    """
    for item in result.get("results") or [result]:
        if item.get("failed"):
            # The module hands on the HTTP status as its phrase; all else of its message may be a tenant's text.
            status = next((s.value for s in HTTPStatus if s.phrase == item.get("reason")), None)
            if status not in (accepted or []):
                # A patch that names another UID than the object has by now is refused as if it were to change it.
                conflict = status == 409 or (status == 422 and "metadata.uid" in str(item.get("msg")))
                return outcome("KubernetesError", number=status or "no number", conflict=conflict)
    return {}


def publish_conflict(read: Dict) -> Dict:
    """``{}``, or the outcome where another's object stands under a name that the request publishes."""
    foreign = published.conflicts(read["request"], read["published"])
    return outcome("PublishConflict", kind=foreign[0]) if foreign else {}


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


def seed_facts(read: Dict) -> Dict:
    """The facts of rows 0 to 4 of the verdict table: what needs no server.

    Args:
        read: what request_read found; the request has a seed and no row (or the row is being checked).
    Returns:
        ``{facts: {fact: word}, params: {...}}``; facts stop at the first that can't be told. A seed secret that
        isn't there yet leaves ``secret`` out, which is a wait.
    """
    seed = read["seed"]
    found = {"row": "none", "namespace": "other" if seed["state"] == "other_namespace" else "own"}
    params = {
        "key": seed.get("key"),
        "problem": seed.get("problem"),
        "service": read["request"]["spec"]["name"],
    }
    if seed["state"] in ("valid", "invalid"):
        found["secret"] = seed["state"]
    if seed["state"] == "valid":
        foreign = published.conflicts(read["request"], read["published"])
        found["published"] = "foreign" if foreign else "free"
        found["connection"] = "match" if seed["connection"] else "none"
        params["kind"] = foreign[0] if foreign else None
        params["replica"] = " (the seed names a replica)" if seed["is_replica"] else ""
    return {"facts": found, "params": params}


def seed_verdict(read: Dict, static: Dict, row: Dict, server: Dict, login: Dict) -> Dict:
    """A row of the verdict table as the seed role returns it.

    Args:
        static: of :func:`seed_facts`. row: of ``first_match``. server, login: of facts.py, empty if not asked.
    Returns:
        ``{verdict: adopt|create|refuse|wait, row, database_name, host, outcome, accounts}``; ``outcome`` is what a
        refusal or a wait ends the run with.
    """
    if row.get("needs") == "secret":
        return {"verdict": "wait", "outcome": _seed_missing(read["request"]["spec"])}
    number = login.get("number")
    params = {**static["params"], "number": number, "why": errors.LOGIN_WORDS.get(number or 0, errors.LOGIN_GUESS)}
    if server.get("too_long"):
        params.update({"key": server["too_long"], "problem": "is longer than the server's names can be"})
    return {
        "verdict": row["verdict"],
        "row": row["row"],
        "database_name": server.get("database_name"),
        "host": login.get("host"),
        "accounts": server.get("accounts", 0),
        "outcome": outcome(row["reason"], **params) if row["verdict"] == "refuse" else {},
    }


def seed_server(read: Dict, result: Dict) -> Dict:
    """The facts of the table's rows 5 to 7 from the admin's answer.

    Args:
        read: what request_read found. result: the task of the statements ``facts``.
    Returns:
        What :func:`facts.server_facts` returns with ``login_forms`` (the statements of the login to come) and
        ``answer``; or ``{wait: outcome}``.
    """
    connection = read["seed"]["connection"]
    came_to = errors.mysql_outcome(result, sql.statements("facts"))
    if not came_to["ok"]:
        return {"wait": errors.wait_outcome(came_to, connection["name"])}
    answer = facts.keyed(result, "facts")
    blind = _sees_outcome(answer["names"][0], connection["name"])
    if blind:
        return {"wait": blind}
    me = {"cluster": read["cluster"], "request_uid": read["request"]["uid"]}
    found = facts.server_facts(answer, read["seed"], connection["username"], me)
    forms = ["login", "use"] if found["facts"]["database"] == "present" else ["login"]
    return {**found, "login_forms": forms, "answer": answer}


def seed_login(read: Dict, server: Dict, checked: Dict, result: Dict) -> Dict:
    """The facts of the table's rows 8 to 16 from the login as the seed's account.

    Args:
        read: what request_read found. server: of :func:`seed_server`. checked: of request_unchanged.
        result: the login's task.
    Returns:
        ``{facts, host, number}``; or ``{wait: outcome}``, where ``{stop: True}`` ends a run that was overtaken.
    """
    if checked["outcome"]:
        return {"wait": checked["outcome"]}
    if not checked["unchanged"]:
        return {"wait": {"stop": True}}
    came_to = errors.mysql_outcome(result, sql.statements(server["login_forms"], server["database_name"]), "seed")
    found = facts.login_facts(came_to, result, server)
    if not found["facts"]:
        return {"wait": errors.wait_outcome({**came_to, "kind": found["kind"]}, read["seed"]["connection"]["name"])}
    if found["facts"].get("use") == "ok":
        may = facts.rights(server["answer"], read["seed"]["username"], found["host"], server["database_name"])
        found["facts"]["own"] = "yes" if may["owner"] and not may["elsewhere"] else "no"
    return {**found, "number": came_to["number"]}
