# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a run by hand needs beside the roles: a look at what is missing, the finalizer, and lines for people."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    finalizer,
    lacking,
    names,
    settling,
)
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube, provider_path
from ansible_collections.lagoon.dbaas.plugins.module_utils.planned import AT_THE_END

Dict = dict[str, Any]

_OURS = "crd.lagoon.sh"
#: What a run does, as (verb, API group, resource, in the request's namespace).
RIGHTS = (
    ("list", _OURS, "databaserequests", True),
    ("patch", _OURS, "databaserequests", True),
    ("patch", _OURS, "databaserequests/status", True),
    ("list", _OURS, "databasemysqlproviders", False),
    ("get", "", "secrets", False),
    ("create", "", "secrets", True),
    ("patch", "", "secrets", True),
    ("delete", "", "secrets", True),
    ("list", "", "services", True),
    ("create", "", "services", True),
    ("patch", "", "services", True),
    ("delete", "", "services", True),
    ("create", "discovery.k8s.io", "endpointslices", True),
    ("create", "", "events", True),
    ("get", "", "namespaces", False),
)


def missing_rights(kube: Kube, namespace: str) -> list[str]:
    """Sentences about what is missing in the cluster: the namespace, the CRDs, rights.

    Args:
        kube: the API. namespace: the one to work in.
    Raises:
        KubeError: the API didn't answer.
    """
    # It becomes a part of the API's paths: `..` or an empty one would lead to other namespaces.
    if not names.LABEL.fullmatch(namespace):
        return ["Say which namespace, by its name alone: -e namespace=NAME"]
    refused = [right for right in RIGHTS if not _may(kube, namespace, right)]
    if refused:
        return [
            lacking.right(f"{verb} {resource}{f' in {namespace}' if namespaced else ''}")
            for verb, _, resource, namespaced in refused
        ]
    if kube.get(f"/api/v1/namespaces/{namespace}") is None:
        return [f"There is no namespace {namespace}."]
    if kube.get(provider_path("")) is None or kube.get(GROUP) is None:
        return ["The cluster doesn't know DatabaseRequest: kubectl apply -k config/crd"]
    return []


def _may(kube: Kube, namespace: str, right: tuple[str, str, str, bool]) -> bool:
    verb, group, resource, namespaced = right
    kind, _, subresource = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": kind, "subresource": subresource}
    review = kube.create(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {**asked, "namespace": namespace if namespaced else ""}},
        },
    )
    return bool(review["status"]["allowed"])


def requests(kube: Kube, namespace: str) -> list[Dict]:
    """A namespace's requests as ``{name, deleting, finalizing}``, by name. Raises KubeError."""
    found = kube.items(f"{GROUP}/namespaces/{namespace}/databaserequests")
    return [
        {
            "name": item["metadata"]["name"],
            "deleting": "deletionTimestamp" in item["metadata"],
            "finalizing": finalizer.FINALIZER in item["metadata"].get("finalizers", []),
        }
        for item in sorted(found, key=lambda item: item["metadata"]["name"])
    ]


def finalizer_patch(found: Dict | None, state: str) -> Dict | None:
    """The merge patch that sets or removes the finalizer; None where nothing is to be done.

    Args:
        found: the request, None where it is gone. state: ``present`` or ``absent``.
    Returns:
        A patch with the resourceVersion as precondition: finalizers are a list, and a list is replaced.
    """
    wanted = finalizer.changed(found, state == "present") if found else None
    if found is None or wanted is None:
        return None
    return {"metadata": {"finalizers": wanted, "resourceVersion": found["metadata"]["resourceVersion"]}}


def result_of(read: Dict, outcome: Dict, reasons: Dict, finalizing: bool, row: Dict, planned: list[str]) -> Dict:
    """What a run came to.

    Args:
        read: what request_read found. outcome: the run's. reasons: the closed list. finalizing: the run is a
        finalizer's. row: of the ledger, of a request that is Ready now. planned: the steps so far, for a plan.
    Returns:
        ``{state, reason, message, planned}``; state is a reason's (``done``, ``refused``, ``person``, ``waits``) or
        ``deleted``, ``gone``, ``undecided``.
    """
    reason = outcome.get("reason", "")
    if reason:
        message = reasons[reason]["message"].format_map(outcome.get("params") or {})
        so_far = [step for step in planned if step not in AT_THE_END]
        return {"state": reasons[reason]["state"], "reason": reason, "message": message, "planned": so_far}
    if outcome.get("would"):
        done = outcome["done"]
        return {"state": "done", "reason": done, "message": "", "planned": outcome["would"]}
    if outcome.get("undecided"):
        return {"state": "undecided", "reason": "-", "message": outcome["undecided"], "planned": planned}
    if not read.get("found"):
        return {"state": "gone", "reason": "-", "message": "The request is gone.", "planned": []}
    if finalizing:
        return {"state": "deleted", "reason": "-", "message": "", "planned": planned}
    if outcome.get("stop"):
        known = conditions.find(read["request"]["status"], "Ready")
        reason = known.get("reason") or "Creating"
        reason = reason if reason in reasons else "Creating"
        return {
            "state": reasons[reason]["state"],
            "reason": reason,
            "message": known.get("message", ""),
            "planned": [],
        }
    done = settling.done_outcome(read, row)
    message = reasons[done["reason"]]["message"].format_map(done["params"])
    return {"state": "done", "reason": done["reason"], "message": message, "planned": planned}


#: How a state is told; the last column is whether a person has to look.
WORDS = {
    "done": "ready",
    "refused": "refused",
    "person": "needs a person",
    "waits": "waits",
    "deleted": "deleted",
    "gone": "gone",
    "undecided": "undecided",
}
GOOD = ("done", "deleted", "gone")
STEPS = {
    "create_account": "create the account",
    "set_password": "set a new password",
    "create_database": "create the database",
    "grant": "grant the account its rights",
    "give_back": "give the ledger's rows back",
    "drop_account": "drop the account",
    "drop_database": "drop the database",
    "hand_over": "write this request into the row",
    "deleting": "mark the row",
    "ready": "mark the row ready",
}


def line_of(name: str, result: Dict, seconds: float, check: bool) -> str:
    """One line about one request: name, verdict, reason, seconds, and what to know.

    Args:
        name: the request's. result: of :func:`result_of`. seconds: that it took. check: nothing was written.
    """
    verdict = ("would be " if check and result["state"] in GOOD[:2] else "") + WORDS[result["state"]]
    text = f"{name:<30} {verdict:<16} {result['reason']:<24} {seconds:5.1f} s"
    if result["planned"]:
        text += ("  would " if check else "  did: ") + ", ".join(STEPS.get(step, step) for step in result["planned"])
    if result["state"] not in GOOD and result["message"]:
        text += f"\n{'':<30} {result['message']}"
    return text


def summary_of(results: list[Dict], check: bool) -> Dict:
    """The last line, and whether all is well.

    Args:
        results: of :func:`result_of`, one a request. check: nothing was written.
    Returns:
        ``{line, good}``.
    """
    counts: dict[str, int] = {}
    for result in results:
        word = ("would be " if check and result["state"] in GOOD[:2] else "") + WORDS[result["state"]]
        counts[word] = counts.get(word, 0) + 1
    told = ", ".join(f"{number} {word}" for word, number in counts.items()) or "nothing to do"
    line = f"{len(results)} request{'' if len(results) == 1 else 's'}: {told}."
    if check:
        line += " Nothing was written."
    return {"line": line, "good": all(result["state"] in GOOD for result in results)}
