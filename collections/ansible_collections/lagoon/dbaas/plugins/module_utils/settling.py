# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a row's database and account still need, and what a failed statement of that leads to."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import conditions, errors, facts, names, published, sql
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome
from ansible_collections.lagoon.dbaas.plugins.module_utils.probing import seed_missing

Dict = dict[str, Any]

#: Seconds by which the clocks of a server and of the cluster are taken to differ at most.
CLOCKS = 300


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
        return {"outcome": seed_missing(spec)}
    if "seed" not in spec or seed["state"] != "valid" or not names_row(seed, row):
        return {"outcome": outcome("SeedChanged"), "undo": True}
    return {}


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


def objects_counted(content: Dict) -> int:
    """How many tables, views, routines and events a database holds, by the task that counted."""
    return int(content["query_result"][0][0]["objects"])


def is_there(row: Dict) -> dict[str, bool]:
    """Whether the server has what a row names.

    Args:
        row: of :func:`locate`.
    Returns:
        ``{database, account}``.
    """
    answer, account = row["answer"], (row["username"], row["host"])
    return {
        "database": any(d["name"] == row["database"] for d in answer["databases"]),
        "account": any((u["user"], u["host"]) == account for u in answer["users"]),
    }


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
    there = is_there(row)
    present, account = there["database"], there["account"]
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
            if objects_counted(content):
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


def proof_outcome(result: Dict, row: Dict) -> Dict:
    """``{}`` where the account that is to be published logs in as itself and enters its database."""
    came_to = errors.mysql_outcome(result, sql.statements(["login", "use"], row["database"]), "seed")
    if came_to["ok"]:
        return {}
    number = f"the new account's login failed, error {came_to['number']}"
    reason = "ConnectionUnavailable" if came_to["kind"] == "unavailable" else "ProviderError"
    return outcome(reason, connection=row["connection"]["name"], number=number)


def publish_conflict(read: Dict) -> Dict:
    """``{}``, or the outcome where another's object stands under a name that the request publishes."""
    foreign = published.conflicts(read["request"], read["published"])
    return outcome("PublishConflict", kind=foreign[0]) if foreign else {}


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
