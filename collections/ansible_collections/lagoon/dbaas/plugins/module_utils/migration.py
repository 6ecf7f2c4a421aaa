# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The move from MariaDBConsumer to DatabaseRequest: what the objects of a namespace say is done, and what comes next.

Everything follows from the objects as they are; nothing else is remembered, so a move that was broken off is taken
up by running it again. No password is in an entry.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    conditions,
    lacking,
    migration_checks,
    migration_fields,
    migration_names,
    migration_places,
)

Dict = dict[str, Any]

#: With it on a MariaDBConsumer, the older operator leaves the database alone when the object is deleted.
KEEP_LABEL = "dbaas.amazee.io/no-drop-database"
#: On what the migration makes; the annotation names the MariaDBConsumer, whose name can be too long for a label.
MANAGED_LABEL, MANAGER = "app.kubernetes.io/managed-by", "dbaas-migration"
CONSUMER_ANNOTATION = "dbaas.lagoon.sh/migrated-from"
MIGRATE, FINISH = "migrate", "finish"
#: Reasons of the migration's own; all others are the operator's.
REASONS = frozenset(
    {
        "ConsumerDeleted",
        "DatabaseDiffers",
        "DatabaseShared",
        "NameInvalid",
        "NoKubeconfig",
        "NotFound",
        "NotMigrated",
        "NotSeen",
        "RequestDeleted",
        "ScopeInvalid",
    }
)


def plan(found: Dict, providers: list[Dict] | None, settings: Dict) -> list[Dict]:
    """What is to be done in one namespace.

    Args:
        found: of ``migration_reading.read_namespace``: ``{namespace, consumers, requests, taken, seeds, elsewhere}``;
            ``elsewhere`` are the MariaDBConsumer objects of other namespaces.
        providers: all DatabaseMySQLProvider objects; None where they can't be read.
        settings: ``{step, scope, scopes, database_type, requests, services, delete_seed}``.
    Returns:
        An entry for each MariaDBConsumer, then for each request of the migration whose MariaDBConsumer is gone, by
        name: ``{namespace, consumer, request, service, seed, scope, database, server, state, reason, message,
        todo, shared}``. ``todo`` is ``make``, ``label``, ``finish``, ``remove`` or ""; ``shared`` is a sentence on the
        other MariaDBConsumers that name this database, "" where there are none.
    """
    entries = []
    for consumer in sorted(found["consumers"], key=lambda c: c["metadata"]["name"]):
        entry = new_entry(found["namespace"], consumer, settings)
        others = sharers(entry, consumer, found, providers)
        entry.update(judge(entry, consumer, found, providers, settings, others))
        entry["shared"] = shared_note(entry, others, is_labelled(consumer))
        entries.append(entry)
    known = {entry["consumer"] for entry in entries}
    for request in sorted(found["requests"], key=lambda r: r["metadata"]["name"]):
        origin = consumer_of(request)
        if origin and origin not in known:
            entries.append(orphan_entry(request, origin, found, providers, settings))
    return entries


def new_entry(namespace: str, consumer: Dict, settings: Dict) -> Dict:
    """The entry of a MariaDBConsumer before anything is known of its request."""
    name = consumer["metadata"]["name"]
    old = migration_fields.fields(consumer)
    request = migration_names.chosen(settings["requests"], namespace, name)
    environment = migration_fields.environment(consumer)
    return {
        "namespace": namespace,
        "consumer": name,
        "request": request,
        "service": migration_names.chosen(settings["services"], namespace, name),
        "seed": f"{request}-seed",
        "scope": settings["scope"] or str(settings["scopes"].get(environment, environment)),
        "database": old["database"],
        "server": f"{old['hostname']}:{old['port'] or 3306}" if old["hostname"] else "",
    }


def consumer_of(request: Dict) -> str:
    """The name of the MariaDBConsumer that a request of the migration was made for; "" for others."""
    metadata = request["metadata"]
    if (metadata.get("labels") or {}).get(MANAGED_LABEL) != MANAGER:
        return ""
    return str((metadata.get("annotations") or {}).get(CONSUMER_ANNOTATION, ""))


def is_labelled(consumer: Dict) -> bool:
    """Whether the older operator will leave the database alone."""
    return (consumer["metadata"].get("labels") or {}).get(KEEP_LABEL) == "true"


def verdict(state: str, reason: str = "", message: str = "", todo: str = "") -> Dict:
    """The part of an entry that says how it stands."""
    return {"state": state, "reason": reason, "message": message, "todo": todo}


def judge(
    entry: Dict, consumer: Dict, found: Dict, providers: list[Dict] | None, settings: Dict, others: list[Dict]
) -> Dict:
    """How one MariaDBConsumer stands.

    Args:
        entry: of :func:`new_entry`. consumer: the object. found, providers, settings: see :func:`plan`.
        others: of :func:`sharers`.
    Returns:
        ``{state, reason, message, todo}``.
    """
    deleting = "deletionTimestamp" in consumer["metadata"]
    request = request_of(entry, found)
    if request is None:
        if deleting:
            message = "The MariaDBConsumer is being deleted; it was left alone."
            harmless = not others or is_labelled(consumer)
            return verdict("skipped" if harmless else "failed", "ConsumerDeleted", message)
        problem = migration_checks.problem(entry, consumer, bool(settings["scope"]), found["taken"], providers)
        if problem:
            return verdict("not-tried", *problem)
        if settings["step"] == FINISH:
            return verdict("missing", "NotMigrated", "There is no DatabaseRequest yet. Run the first step.")
        return verdict("missing", "", "Seed secret and DatabaseRequest are to be made.", "make")
    ours = consumer_of(request) == entry["consumer"]
    state = stand(request, ours)
    place = migration_places.of_request(request, providers)
    same = migration_places.is_same(place, migration_places.of_consumer(consumer))
    if not ours and not (state["state"] == "ready" and same):
        message = f"The DatabaseRequest {entry['request']} isn't the migration's, nor Ready with this database."
        return verdict("not-tried", "NameConflict", message)
    if state["state"] != "ready":
        own_seed = entry["seed"] in found["seeds"]
        if ours and state["state"] == "waiting" and settings["step"] == MIGRATE:
            # A run that ended between the two, or a secret deleted since: both are applied again.
            there = own_seed or entry["seed"] in found["taken"]["secrets"] or state["reason"] == "RequestDeleted"
            return {**state, "todo": "" if there else "make"}
        return {**state, "remove_seed": own_seed}
    if not same:
        message = "The request is Ready with another server, database or account than the MariaDBConsumer names."
        if place["server"] is None:
            message = (
                "The server of the request isn't known: no DatabaseMySQLProvider that can be read has its connection."
            )
        unset = "" if is_labelled(consumer) else " The label was not set."
        return verdict("failed", "DatabaseDiffers", f"{message}{unset}")
    if not is_labelled(consumer):
        message = "The request is Ready, but the MariaDBConsumer has no label: deleting it would drop the database."
        return verdict("unlabelled", state["reason"], message, "label" if settings["step"] == MIGRATE else "")
    return ended(request, state, ours, settings, others)


def request_of(entry: Dict, found: Dict) -> Dict | None:
    """The request that has an entry's name, whoever made it."""
    return next((r for r in found["requests"] if r["metadata"]["name"] == entry["request"]), None)


def sharers(entry: Dict, consumer: Dict | None, found: Dict, providers: list[Dict] | None) -> list[Dict]:
    """The other MariaDBConsumers that name a database.

    Args:
        entry: whose. consumer: its object, None where it is gone. found, providers: see :func:`plan`.
    Returns:
        The objects, of all namespaces that could be read, by namespace and name.
    """
    request = request_of(entry, found)
    old = migration_places.of_consumer(consumer) if consumer else None
    place = migration_places.of_request(request, providers) if request else {"database": ""}
    # A request that isn't Ready, or has another database, says nothing about what the old object names.
    settled = old is None or (place["database"] != "" and migration_places.is_same(place, old))
    others = [
        other
        for other in [*found["consumers"], *found["elsewhere"]]
        if other is not consumer
        and migration_places.shares(
            place if settled or old is None else old, migration_places.of_consumer(other), settled
        )
    ]
    return sorted(others, key=lambda c: (c["metadata"]["namespace"], c["metadata"]["name"]))


def listed(consumers: list[Dict]) -> str:
    """MariaDBConsumers as a sentence names them."""
    return ", ".join(
        f"{c['metadata']['namespace']}/{c['metadata']['name']}"
        + ("" if migration_places.of_consumer(c)["server"] else " (perhaps: its server isn't known)")
        for c in consumers
    )


def shared_note(entry: Dict, others: list[Dict], labelled: bool) -> str:
    """What is to be said of an entry whose database others name, too; "" where none do."""
    if not others:
        return ""
    note = f"This database is also named by MariaDBConsumer {listed(others)}."
    if labelled or entry["todo"] in ("make", "label") or entry["state"] in ("waiting", "unlabelled"):
        return f"{note} One of them alone can be migrated."
    how = f"set the label {KEEP_LABEL}=true on this MariaDBConsumer, or correct it, before it is deleted"
    return f"{note} If that is right, {how}: else the older operator drops their database."


def stand(request: Dict, ours: bool) -> Dict:
    """How a request stands: ``ready``, ``refused``, ``needs-person`` or ``waiting``, with its own sentence."""
    metadata, status = request["metadata"], request.get("status") or {}
    ready, error = conditions.find(status, "Ready"), conditions.find(status, "Error")
    if "deletionTimestamp" in metadata:
        message = "The DatabaseRequest is being deleted. Run this again when it is gone."
        return verdict("waiting", "RequestDeleted", message)
    seen = ready.get("observedGeneration") == metadata["generation"]
    # The second step's own change makes a new generation, which says nothing about what was Ready before.
    just_finished = ready.get("status") == "True" and request["spec"].get("dropDatabaseOnDelete", True)
    if not seen and not just_finished:
        message = "The operator has not looked at this request yet. Is it running?"
        return verdict("waiting", "NotSeen", message)
    told = (ready.get("reason", ""), ready.get("message", ""))
    if ready.get("status") == "True":
        return verdict("ready", *told)
    if conditions.is_refused(status, metadata["generation"]):
        keeps = request["spec"].get("dropDatabaseOnDelete") is False
        claimed = "observedDatabaseConnectionReference" in status
        return verdict("refused", *told, todo="remove" if ours and keeps and not claimed else "")
    return verdict("needs-person" if error.get("status") == "True" else "waiting", *told)


def ended(request: Dict, state: Dict, ours: bool, settings: Dict, others: list[Dict]) -> Dict:
    """The entry of a Ready request whose MariaDBConsumer has the label or is gone.

    Args:
        request: the request. state: of :func:`stand`. ours: the migration made it. settings: see :func:`plan`.
        others: of :func:`sharers`.
    """
    created = state["reason"] == "SeedCreated"
    note = "Its database did not exist: an EMPTY one was made." if created else ""
    drops = request["spec"].get("dropDatabaseOnDelete", True)
    bare = [other for other in others if not is_labelled(other)]
    if bare:
        danger = f"Without the label, the deletion of MariaDBConsumer {listed(bare)} drops this database."
        held = "dropDatabaseOnDelete is true already." if drops else "finish=true waits for its label or correction."
        message = f"{note} {danger} {held}".strip()
        return verdict("failed" if drops else "migrated", "DatabaseShared", message)
    if drops:
        return verdict("finished", state["reason"], note)
    if not ours:
        note = f"{note} It isn't the migration's: dropDatabaseOnDelete is left to whoever made it.".strip()
    todo = "finish" if ours and settings["step"] == FINISH else ""
    return verdict("migrated", state["reason"], note, todo)


def orphan_entry(request: Dict, consumer: str, found: Dict, providers: list[Dict] | None, settings: Dict) -> Dict:
    """The entry of a request of the migration whose MariaDBConsumer is gone.

    Args:
        request: the request. consumer: the name of its MariaDBConsumer. found, providers, settings: see :func:`plan`.
    """
    metadata, status = request["metadata"], request.get("status") or {}
    entry = {
        "namespace": metadata["namespace"],
        "consumer": consumer,
        "request": metadata["name"],
        "service": request["spec"]["name"],
        "seed": (request["spec"].get("seed") or {}).get("name", ""),
        "scope": request["spec"]["scope"],
        "database": str((status.get("databaseInfo") or {}).get("databasename", "")),
        "server": "",
    }
    state = stand(request, ours=True)
    # The object may have been made again under another name: then its deletion would still drop the database.
    others = sharers(entry, None, found, providers)
    if state["state"] == "ready":
        state = ended(request, state, True, settings, others)
    return {**entry, **state, "shared": shared_note({**entry, **state}, others, labelled=True)}


def documents(entries: list[Dict], consumers: list[Dict], settings: Dict) -> list[Dict]:
    """Seed secret and DatabaseRequest of each entry that is to be made, in this order.

    Args:
        entries: of :func:`plan`. consumers: the MariaDBConsumer objects. settings: see :func:`plan`.
    """
    by_name = {(c["metadata"]["namespace"], c["metadata"]["name"]): c for c in consumers}
    made = []
    for entry in entries:
        if entry["todo"] != "make":
            continue
        namespace = entry["namespace"]
        metadata = {
            "namespace": namespace,
            "labels": {MANAGED_LABEL: MANAGER},
            "annotations": {CONSUMER_ANNOTATION: entry["consumer"]},
        }
        seed = {"name": entry["seed"], "namespace": namespace, "deleteAfterSuccess": settings["delete_seed"]}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": entry["seed"], **metadata},
                "data": migration_fields.seed_data(by_name[(namespace, entry["consumer"])]),
            }
        )
        made.append(
            {
                "apiVersion": "crd.lagoon.sh/v1alpha1",
                "kind": "DatabaseRequest",
                "metadata": {"name": entry["request"], **metadata},
                "spec": {
                    "scope": entry["scope"],
                    "type": settings["database_type"],
                    "name": entry["service"],
                    "seed": seed,
                    # Until the old object can't drop the database any more, nothing here may drop it either.
                    "dropDatabaseOnDelete": False,
                },
            }
        )
    return made


def label_patches(entries: list[Dict]) -> list[Dict]:
    """For each Ready entry the patch that sets the label; nothing else of the MariaDBConsumer is in it."""
    return [
        {
            "apiVersion": "mariadb.amazee.io/v1",
            "kind": "MariaDBConsumer",
            "metadata": {"namespace": e["namespace"], "name": e["consumer"], "labels": {KEEP_LABEL: "true"}},
        }
        for e in entries
        if e["todo"] == "label"
    ]


def finish_patches(entries: list[Dict]) -> list[Dict]:
    """For each entry that may be finished the patch that makes its request drop the database when it is deleted."""
    return [
        {
            "apiVersion": "crd.lagoon.sh/v1alpha1",
            "kind": "DatabaseRequest",
            "metadata": {"namespace": e["namespace"], "name": e["request"]},
            "spec": {"dropDatabaseOnDelete": True},
        }
        for e in entries
        if e["todo"] == "finish"
    ]


def removals(entries: list[Dict]) -> list[Dict]:
    """Request and seed secret of each refused entry, to be deleted."""
    found = []
    for entry in entries:
        if entry["todo"] == "remove":
            for api_version, kind, name in (
                ("crd.lagoon.sh/v1alpha1", "DatabaseRequest", entry["request"]),
                ("v1", "Secret", entry["seed"]),
            ):
                if kind == "Secret" and not entry.get("remove_seed"):
                    continue  # somebody else's
                metadata = {"namespace": entry["namespace"], "name": name}
                found.append({"apiVersion": api_version, "kind": kind, "metadata": metadata})
    return found


def write_notes(written: Dict, documents: list[Dict]) -> dict[str, str]:
    """Which documents of a ``kubernetes.core.k8s`` task the API refused.

    Args:
        written: the task's result. documents: what was sent.
    Returns:
        ``NAMESPACE/NAME`` -> a sentence with HTTP's word for the cause, such as ``Forbidden``.
    """
    result = written.get("result")
    if result is None and "error" not in written:  # it broke before it wrote
        return {
            f"{d['metadata']['namespace']}/{d['metadata']['name']}": f"The {d['kind']} could not be written."
            for d in documents
        }
    results = (result or {}).get("results", [written])
    notes = {}
    for document, answer in zip(documents, results, strict=True):
        if answer.get("error"):
            metadata, why = document["metadata"], answer["error"].get("reason", "no answer")
            text = f"The {document['kind']} {metadata['name']} could not be written: {why}."
            if why == "Forbidden":
                text = lacking.right(f"write the {document['kind']} {metadata['name']} in {metadata['namespace']}")
            notes[f"{metadata['namespace']}/{metadata['name']}"] = text
    return notes


def wait_notes(waited: Dict, seconds: int, gone: bool = False) -> dict[str, str]:
    """What is to be said of the requests that were waited for.

    Args:
        waited: the result of migration_wait. seconds: how long that was. gone: for their deletion.
    Returns:
        ``NAMESPACE/NAME`` -> a sentence.
    """
    late = f"It was not {'gone' if gone else 'Settled'} within {seconds} s."
    removed = dict.fromkeys(waited["done"], "Its request and seed secret were removed.") if gone else {}
    return {**removed, **dict.fromkeys(waited["left"], late)}
