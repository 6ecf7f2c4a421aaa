# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a seed is: the facts for the verdict table, asked for row by row."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import errors, facts, names, published, sql
from ansible_collections.lagoon.dbaas.plugins.module_utils.locating import sees_outcome
from ansible_collections.lagoon.dbaas.plugins.module_utils.outcomes import outcome

Dict = dict[str, Any]


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
    blind = sees_outcome(answer["names"][0], connection["name"])
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


def seed_verdict(read: Dict, static: Dict, row: Dict, server: Dict, login: Dict) -> Dict:
    """A row of the verdict table as the seed role returns it.

    Args:
        static: of :func:`seed_facts`. row: of ``first_match``. server, login: of facts.py, empty if not asked.
    Returns:
        ``{verdict: adopt|create|refuse|wait, row, database_name, host, outcome, accounts}``; ``outcome`` is what a
        refusal or a wait ends the run with.
    """
    if row.get("needs") == "secret":
        return {"verdict": "wait", "outcome": seed_missing(read["request"]["spec"])}
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


def seed_missing(spec: Dict) -> Dict:
    """The wait for the seed secret of a spec."""
    name = spec["seed"]["name"]
    # The schema lets no other name in; a sentence doesn't rely on that.
    return outcome("SeedSecretMissing", secret=name if names.is_object(name) else "that spec.seed.name names")


def seed_login_of(read: Dict) -> Dict:
    """The login that a take-over publishes: the seed's, as it was probed."""
    return {
        "source": "seed",
        "password": read["seed"]["password"],
        "config_file": read["seed"]["config_file"],
    }
