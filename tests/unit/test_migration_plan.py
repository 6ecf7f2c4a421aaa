"""What the objects of a namespace say about a migration: each way in which a MariaDBConsumer can stand."""

import base64
import copy
from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration, migration_fields, migration_names

Json = dict[str, Any]

SETTINGS: Json = {
    "step": "migrate",
    "scope": "",
    "scopes": {"live": "production"},
    "database_type": "mariadb",
    "requests": {},
    "services": {},
    "delete_seed": False,
}
PROVIDER: Json = {
    "metadata": {"name": "p"},
    "spec": {
        "scope": "production",
        "connections": [
            {
                "name": "c",
                "hostname": "db.example.com",
                "port": 3306,
                "username": "dbaas",
                "passwordSecretRef": {"name": "s", "namespace": "n"},
                "replicaHostnames": ["replica.example.com"],
            }
        ],
    },
}


def consumer(labels: Json | None = None, deleting: bool = False, **changes: Json) -> Json:
    spec: Json = {
        "environment": "live",
        "provider": {"hostname": "db.example.com", "port": "3306"},
        "consumer": {"database": "Shop", "username": "shop", "password": "a b"},
    }
    for part, fields in changes.items():
        spec[part] = {**spec[part], **fields} if isinstance(fields, dict) else fields
    metadata: Json = {"name": "mariadb", "namespace": "shop", "labels": labels or {}}
    metadata |= {"deletionTimestamp": "now"} if deleting else {}
    return {"metadata": metadata, "spec": spec}


def request(state: str = "", reason: str = "SeedAdopted", ours: bool = True, **more: Any) -> Json:
    """A request in one of the states that conditions tell: done, refused, person, waits, or none yet."""
    words = {"done": "TFT", "refused": "FTT", "person": "FTF", "waits": "FFF"}.get(state, "")
    conditions = [
        {
            "type": kind,
            "status": {"T": "True", "F": "False"}[word],
            "reason": reason,
            "message": "Told.",
            "observedGeneration": 1,
        }
        for kind, word in zip(("Ready", "Error", "Settled"), words, strict=False)
    ]
    status = {
        "conditions": conditions,
        "databaseInfo": {"databasename": more.pop("database", "shop"), "username": more.pop("username", "shop")},
    }
    if state == "done":
        provider = {"kind": "DatabaseMySQLProvider", "name": "p"}
        status["observedDatabaseConnectionReference"] = {"databaseObjectReference": provider, "name": "c"}
    marks: Json = {
        "labels": {"app.kubernetes.io/managed-by": "dbaas-migration"},
        "annotations": {"dbaas.lagoon.sh/migrated-from": more.pop("origin", "mariadb")},
    }
    metadata = {
        "name": "mariadb",
        "namespace": "shop",
        "generation": more.pop("generation", 1),
        **(marks if ours else {}),
    }
    spec = {"name": "mariadb", "scope": "production", "dropDatabaseOnDelete": more.pop("drop", False)}
    assert not more
    return {"metadata": metadata, "spec": spec, "status": status}


def plan(consumers: list[Json], requests: list[Json], **more: Any) -> list[Json]:
    settings = {**SETTINGS, **{k: v for k, v in more.items() if k in SETTINGS}}
    found = {
        "namespace": "shop",
        "consumers": consumers,
        "requests": requests,
        "elsewhere": more.get("elsewhere", []),
        "taken": {"services": more.get("services_taken", []), "secrets": more.get("secrets_taken", [])},
        "seeds": more.get("seeds", ["mariadb-seed"] if requests else []),
    }
    return migration.plan(found, more.get("providers", [PROVIDER]), settings)


def one(*args: Any, **more: Any) -> tuple[str, str, str]:
    (entry,) = plan(*args, **more)
    return entry["state"], entry["reason"], entry["todo"]


LABELLED = {migration.KEEP_LABEL: "true"}

CASES: dict[str, tuple[Json, Json | None, tuple[str, str, str], tuple[str, str, str]]] = {
    # consumer, request, outcome of the first step, outcome of the second
    "new": (consumer(), None, ("missing", "", "make"), ("missing", "NotMigrated", "")),
    "deleting": (consumer(deleting=True), None, ("skipped", "ConsumerDeleted", ""), ("skipped", "ConsumerDeleted", "")),
    "not-seen": (consumer(), request(), ("waiting", "NotSeen", ""), ("waiting", "NotSeen", "")),
    "waits": (consumer(), request("waits", "Creating"), ("waiting", "Creating", ""), ("waiting", "Creating", "")),
    "person": (
        consumer(),
        request("person", "OwnershipUnproven"),
        ("needs-person", "OwnershipUnproven", ""),
        ("needs-person", "OwnershipUnproven", ""),
    ),
    "refused": (
        consumer(),
        request("refused", "SeedDatabaseMissing"),
        ("refused", "SeedDatabaseMissing", "remove"),
        ("refused", "SeedDatabaseMissing", "remove"),
    ),
    "refused-may-drop": (
        consumer(),
        request("refused", "SeedDatabaseMissing", drop=True),
        ("refused", "SeedDatabaseMissing", ""),
        ("refused", "SeedDatabaseMissing", ""),
    ),
    "ready": (consumer(), request("done"), ("unlabelled", "SeedAdopted", "label"), ("unlabelled", "SeedAdopted", "")),
    "ready-deleting": (
        consumer(deleting=True),
        request("done"),
        ("unlabelled", "SeedAdopted", "label"),
        ("unlabelled", "SeedAdopted", ""),
    ),
    "label-false": (
        consumer({migration.KEEP_LABEL: "false"}),
        request("done"),
        ("unlabelled", "SeedAdopted", "label"),
        ("unlabelled", "SeedAdopted", ""),
    ),
    "labelled": (
        consumer(LABELLED),
        request("done"),
        ("migrated", "SeedAdopted", ""),
        ("migrated", "SeedAdopted", "finish"),
    ),
    "finished": (
        consumer(LABELLED),
        request("done", drop=True, generation=2),
        ("finished", "SeedAdopted", ""),
        ("finished", "SeedAdopted", ""),
    ),
    "changed-since": (
        consumer(LABELLED),
        request("done", generation=2),
        ("waiting", "NotSeen", ""),
        ("waiting", "NotSeen", ""),
    ),
    "other-database": (
        consumer(),
        request("done", database="blog"),
        ("failed", "DatabaseDiffers", ""),
        ("failed", "DatabaseDiffers", ""),
    ),
    "foreign-ready": (
        consumer(),
        request("done", ours=False),
        ("unlabelled", "SeedAdopted", "label"),
        ("unlabelled", "SeedAdopted", ""),
    ),
    "foreign-labelled": (
        consumer(LABELLED),
        request("done", ours=False),
        ("migrated", "SeedAdopted", ""),
        ("migrated", "SeedAdopted", ""),
    ),
    "foreign-other": (
        consumer(),
        request("done", ours=False, database="blog"),
        ("not-tried", "NameConflict", ""),
        ("not-tried", "NameConflict", ""),
    ),
    "foreign-waits": (
        consumer(),
        request("waits", "Creating", ours=False),
        ("not-tried", "NameConflict", ""),
        ("not-tried", "NameConflict", ""),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_how_one_stands(name: str) -> None:
    old, new, first, second = CASES[name]
    requests = [new] if new else []
    assert one([old], requests) == first
    assert one([old], requests, step="finish") == second


def test_a_lost_seed_is_made_again_until_ready() -> None:
    waits = request("waits", "SeedSecretMissing")
    assert one([consumer()], [waits], seeds=[]) == ("waiting", "SeedSecretMissing", "make")
    assert one([consumer()], [waits], seeds=[], secrets_taken=["mariadb-seed"])[2] == ""
    assert one([consumer()], [request("done")], seeds=[])[2] == "label"


@pytest.mark.parametrize(
    ("old", "more", "reason"),
    [
        (consumer(consumer={"database": ""}), {}, "SeedSecretInvalid"),
        (consumer(consumer={"password": None}), {}, "SeedSecretInvalid"),
        (consumer(consumer={"username": "shop\n"}), {}, "SeedSecretInvalid"),
        (consumer(provider={"hostname": ""}), {}, "SeedSecretInvalid"),
        (consumer(provider={"port": "0"}), {}, "SeedSecretInvalid"),
        ({**consumer(), "spec": {}}, {}, "SeedSecretInvalid"),
        (consumer(environment=""), {}, "ScopeInvalid"),  # type: ignore[arg-type]
        (consumer(environment="Not A Scope"), {}, "ScopeInvalid"),  # type: ignore[arg-type]
        (consumer(environment="staging"), {}, "ProviderMissing"),  # type: ignore[arg-type]
        (consumer(provider={"hostname": "other.example.com"}), {}, "SeedNoMatchingProvider"),
        (consumer(provider={"hostname": "replica.example.com"}), {}, "SeedNoMatchingProvider"),
        (consumer(provider={"port": "3307"}), {}, "SeedNoMatchingProvider"),
        (consumer(consumer={"username": "dbaas"}), {}, "SeedReservedName"),
        (consumer(consumer={"database": "SYS"}), {}, "SeedReservedName"),
        (consumer(), {"services_taken": ["mariadb"]}, "NameConflict"),
        (consumer(), {"secrets_taken": ["mariadb"]}, "NameConflict"),
        (consumer(), {"secrets_taken": ["mariadb-seed"]}, "NameConflict"),
        (consumer(), {"services": {"*": "Not_A_Name"}}, "NameInvalid"),
    ],
)
def test_what_would_be_refused_is_not_tried(old: Json, more: Json, reason: str) -> None:
    (entry,) = plan([old], [], **more)
    assert (entry["state"], entry["reason"], entry["todo"]) == ("not-tried", reason, "")
    assert "a b" not in entry["message"]


def test_without_a_right_to_read_providers_the_operator_tells() -> None:
    assert one([consumer()], [], providers=None) == ("missing", "", "make")


@pytest.mark.parametrize(("port", "sent"), [("", None), (None, None), ("3306", "3306"), (" 3306", " 3306")])
def test_a_missing_port_is_left_out(port: str | None, sent: str | None) -> None:
    data = migration_fields.seed_data(consumer(provider={"port": port}))
    assert data.get("port") == (base64.b64encode(sent.encode()).decode() if sent else None)


def test_request_whose_consumer_is_gone() -> None:
    done = request("done")
    assert one([], [done]) == ("migrated", "SeedAdopted", "")
    assert one([], [done], step="finish") == ("migrated", "SeedAdopted", "finish")
    assert plan([], [request("done", ours=False)]) == []
    # The same database under another name, without the label: its deletion would still drop it.
    other = copy.deepcopy(consumer())
    other["metadata"]["name"] = "again"
    states = {e["consumer"]: (e["state"], e["reason"], e["todo"]) for e in plan([other], [done], step="finish")}
    assert states["mariadb"] == ("migrated", "DatabaseShared", "")


SHAPES: list[Any] = [5, 3306, 1.5, True, False, 0, [], ["shop"], {}, {"a": "b"}, None, ""]
PLACES = ("spec", "consumer", "provider", "environment", "database", "username", "password", "hostname", "port")


def shaped(place: str, value: Any) -> Json:
    """A MariaDBConsumer that has a value of whatever shape at one place."""
    old: Json = consumer()
    spec: Json = old["spec"]
    data, provider = spec["consumer"], spec["provider"]
    parts: dict[str, Json] = {"spec": old, "consumer": spec, "provider": spec, "environment": spec}
    parts |= {"database": data, "username": data, "password": data, "hostname": provider, "port": provider}
    parts[place][place] = value
    return old


@pytest.mark.parametrize("value", SHAPES, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_shape_a_field_has_it_is_not_tried_and_stops_nothing(place: str, value: Any) -> None:
    """Alone, beside another one, with a request, and as the one that another may share a database with."""
    old = shaped(place, value)
    other = elsewhere("well")
    other["metadata"]["namespace"] = "shop"
    strange, well = plan([old, other], [])
    assert well["todo"] == "make"
    usable = place == "port" and value in (None, "")
    assert (strange["todo"] == "make") is usable
    of_text = ("database", "username", "password", "hostname", "port", "environment")
    if (value not in (None, "") and place in of_text) or value is False or value == 0:
        named = "spec" if place == "spec" else f".{place}"
        kind = "isn't text" if place in of_text else "isn't a mapping"
        assert strange["state"] == "not-tried" and named in strange["message"] and kind in strange["message"]
        assert strange["reason"] == ("ScopeInvalid" if place == "environment" else "SeedSecretInvalid")
    for step in ("migrate", "finish"):
        entries = plan([old], [request("done")], step=step)
        assert place == "environment" or usable or place == "password" or entries[0]["reason"] == "DatabaseDiffers"
        assert plan([consumer(LABELLED)], [request("done")], step=step, elsewhere=[strange_elsewhere(old)])


def strange_elsewhere(old: Json) -> Json:
    return {**old, "metadata": {"name": "strange", "namespace": "blog"}}


def test_an_environment_is_not_needed_where_the_scope_is_given() -> None:
    assert one([shaped("environment", 5)], [], scope="production")[2] == "make"
    assert one([shaped("environment", 5)], [])[:2] == ("not-tried", "ScopeInvalid")


def test_settings_that_yaml_read_as_numbers_are_text() -> None:
    assert one([consumer()], [], services={"*": 5})[:2] == ("not-tried", "NameInvalid")
    assert one([consumer()], [], scopes={"live": 5})[:2] == ("not-tried", "ProviderMissing")


def elsewhere(name: str = "mariadb", **more: Any) -> Json:
    other = consumer(**more)
    other["metadata"] |= {"namespace": "blog", "name": name}
    return other


DIFFERENT = {
    "server": (consumer(provider={"hostname": "db2.example.com"}), request("done")),
    "port": (consumer(provider={"port": "3307"}), request("done")),
    "account": (consumer(), request("done", username="other")),
    "capitals-of-account": (consumer(), request("done", username="Shop")),
    "capitals": (consumer(consumer={"database": "shop"}), request("done", database="Shop")),
    "other-capitals": (consumer(consumer={"database": "SHOP"}), request("done", database="Shop")),
    "no-host": (consumer(provider={"hostname": ""}), request("done")),
    "labelled": (consumer(LABELLED, provider={"hostname": "db2.example.com"}), request("done")),
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("ours", [True, False], ids=["ours", "foreign"])
def test_a_database_of_the_same_name_is_not_the_same(name: str, ours: bool) -> None:
    old, new = DIFFERENT[name]
    if not ours:
        del new["metadata"]["labels"], new["metadata"]["annotations"]
    expected = ("failed", "DatabaseDiffers", "") if ours else ("not-tried", "NameConflict", "")
    for step in ("migrate", "finish"):
        (entry,) = plan([old], [new], step=step)
        assert (entry["state"], entry["reason"], entry["todo"]) == expected
        assert migration.label_patches([entry]) == []
        if ours:
            assert ("The label was not set." in entry["message"]) is not migration.is_labelled(old)


@pytest.mark.parametrize(
    "provider", [{"hostname": "DB.Example.com."}, {"port": ""}, {"port": None}, {"port": " 3306"}], ids=str
)
def test_a_server_is_compared_like_a_seed(provider: Json) -> None:
    assert one([consumer(provider=provider)], [request("done")])[2] == "label"


@pytest.mark.parametrize(
    "providers", [None, [], [{**PROVIDER, "metadata": {"name": "q"}}]], ids=["no", "none", "other"]
)
def test_an_unknown_server_is_not_the_same(providers: list[Json] | None) -> None:
    (entry,) = plan([consumer()], [request("done")], providers=providers)
    assert (entry["state"], entry["reason"], entry["todo"]) == ("failed", "DatabaseDiffers", "")
    assert "DatabaseMySQLProvider" in entry["message"]
    assert one([consumer()], [request("done", ours=False)], providers=providers)[1] == "NameConflict"


def test_finish_is_held_back_while_another_could_drop_the_database() -> None:
    """Whatever account and namespace the other has; once it has the label, finish goes on."""
    other = elsewhere(consumer={"username": "blog"}, provider={"hostname": "DB.example.com.", "port": ""})
    for step in ("migrate", "finish"):
        (entry,) = plan([consumer(LABELLED)], [request("done")], step=step, elsewhere=[other])
        assert (entry["state"], entry["reason"], entry["todo"]) == ("migrated", "DatabaseShared", "")
        assert "blog/mariadb" in entry["message"] and "blog/mariadb" in entry["shared"]
    other["metadata"]["labels"] = LABELLED
    (entry,) = plan([consumer(LABELLED)], [request("done")], step="finish", elsewhere=[other])
    assert (entry["reason"], entry["todo"]) == ("SeedAdopted", "finish")
    assert "blog/mariadb" in entry["shared"]


def test_finish_is_held_back_in_one_namespace_and_for_one_that_is_gone() -> None:
    other = elsewhere("second")
    other["metadata"]["namespace"] = "shop"
    first, second = plan([consumer(LABELLED), other], [request("done")], step="finish")
    assert (first["reason"], first["todo"]) == ("DatabaseShared", "")
    assert "shop/mariadb" in second["shared"]
    (orphan,) = plan([], [request("done")], step="finish", elsewhere=[elsewhere()])
    assert (orphan["state"], orphan["reason"], orphan["todo"]) == ("migrated", "DatabaseShared", "")
    (orphan,) = plan([], [request("done")], step="finish", providers=None, elsewhere=[elsewhere()])
    assert orphan["reason"] == "DatabaseShared", "a server that isn't known may be the same"


HALF_FILLED: list[Json] = [{"hostname": ""}, {"hostname": None}, {"hostname": 5}, {"port": 3306}, {"port": "x"}]


@pytest.mark.parametrize("field", HALF_FILLED, ids=str)
def test_a_server_that_is_not_known_may_be_the_same(field: Json) -> None:
    """A half-filled one may be corrected, and deleted then."""
    other = elsewhere(provider=field)
    (entry,) = plan([consumer(LABELLED)], [request("done")], step="finish", elsewhere=[other])
    assert (entry["state"], entry["reason"], entry["todo"]) == ("migrated", "DatabaseShared", "")
    assert "blog/mariadb (perhaps: its server isn't known)" in entry["message"]
    (planned,) = plan([consumer()], [], elsewhere=[other])
    assert "blog/mariadb" in planned["shared"]
    other["metadata"]["labels"] = LABELLED
    assert one([consumer(LABELLED)], [request("done")], step="finish", elsewhere=[other])[2] == "finish"


def test_one_that_is_finished_and_shared_is_told() -> None:
    (entry,) = plan([consumer(LABELLED)], [request("done", drop=True)], elsewhere=[elsewhere()])
    assert (entry["state"], entry["reason"]) == ("failed", "DatabaseShared")


@pytest.mark.parametrize(
    "change",
    [
        {"provider": {"hostname": "db2.example.com"}},
        {"provider": {"port": "3307"}},
        {"consumer": {"database": "other"}},
        {"consumer": {"database": ""}},
    ],
    ids=str,
)
def test_another_database_holds_nothing_back(change: Json) -> None:
    (entry,) = plan([consumer(LABELLED)], [request("done")], step="finish", elsewhere=[elsewhere(**change)])
    assert (entry["todo"], entry["shared"]) == ("finish", "")
    (entry,) = plan([consumer()], [], elsewhere=[elsewhere(**change)])
    assert (entry["todo"], entry["shared"]) == ("make", "")


def test_a_plan_names_the_others_and_a_refused_one_is_warned_of() -> None:
    (entry,) = plan([consumer()], [], elsewhere=[elsewhere()])
    assert entry["todo"] == "make" and "blog/mariadb" in entry["shared"]
    refused = request("refused", "SeedDatabaseInUse")
    (entry,) = plan([consumer()], [refused], elsewhere=[elsewhere(labels=LABELLED)])
    assert entry["state"] == "refused" and "blog/mariadb" in entry["shared"]
    assert migration.KEEP_LABEL in entry["shared"] and "before it is deleted" in entry["shared"]


def test_the_deletion_of_one_of_two_is_bad() -> None:
    (entry,) = plan([consumer(deleting=True)], [], elsewhere=[elsewhere()])
    assert (entry["state"], entry["reason"]) == ("failed", "ConsumerDeleted")
    (entry,) = plan([consumer(LABELLED, deleting=True)], [], elsewhere=[elsewhere()])
    assert entry["state"] == "skipped"


def test_documents_hold_what_the_operator_needs_and_drop_nothing() -> None:
    entries = plan([consumer()], [])
    secret, made = migration.documents(entries, [consumer()], SETTINGS)
    assert set(secret["data"]) == {"database", "username", "password", "hostname", "port"}
    assert made["spec"] == {
        "scope": "production",
        "type": "mariadb",
        "name": "mariadb",
        "seed": {"name": "mariadb-seed", "namespace": "shop", "deleteAfterSuccess": False},
        "dropDatabaseOnDelete": False,
    }
    assert {migration.consumer_of(d) for d in (secret, made)} == {"mariadb"}


def test_patches_hold_nothing_else() -> None:
    (label,) = migration.label_patches(plan([consumer()], [request("done")]))
    assert label["metadata"] == {"namespace": "shop", "name": "mariadb", "labels": LABELLED}
    assert set(label) == {"apiVersion", "kind", "metadata"}
    (finish,) = migration.finish_patches(plan([consumer(LABELLED)], [request("done")], step="finish"))
    assert finish["spec"] == {"dropDatabaseOnDelete": True}


def test_a_removal_leaves_a_secret_of_others() -> None:
    refused = request("refused", "SeedDatabaseMissing")
    kinds = [d["kind"] for d in migration.removals(plan([consumer()], [refused]))]
    assert kinds == ["DatabaseRequest", "Secret"]
    kinds = [d["kind"] for d in migration.removals(plan([consumer()], [refused], seeds=[]))]
    assert kinds == ["DatabaseRequest"]


@pytest.mark.parametrize("name", ["mariadb", "a" * 63])
def test_a_usable_name_is_kept(name: str) -> None:
    assert migration_names.derived(name) == name


@pytest.mark.parametrize("name", ["a.b", "a-b.", "9lives", "a" * 64, "a" * 253, "-", "a..b"])
def test_another_name_is_made_usable(name: str) -> None:
    made = migration_names.derived(name)
    assert migration_names.SERVICE_NAME.fullmatch(made)
    assert made != migration_names.derived(name + "x")


def test_names_can_be_chosen() -> None:
    names = {"shop/mariadb": "one", "mariadb": "two", "*": "{consumer}-db"}
    assert migration_names.chosen(names, "shop", "mariadb") == "one"
    assert migration_names.chosen(names, "blog", "mariadb") == "two"
    assert migration_names.chosen(names, "blog", "other") == "other-db"


def test_write_notes_name_the_object() -> None:
    documents = [{"kind": "Secret", "metadata": {"namespace": "n", "name": name}} for name in ("a", "b")]
    bad: Json = {"error": {"reason": "Forbidden", "msg": "with values"}}
    told = "This kubeconfig may not write the Secret a in n: use an admin's."
    assert migration.write_notes(bad, documents[:1]) == {"n/a": told}
    assert set(migration.write_notes({"result": {"results": [{}, bad]}}, documents)) == {"n/b"}
    assert migration.write_notes({"result": {"kind": "Secret"}}, documents[:1]) == {}
    broken = migration.write_notes({"msg": "no connection"}, documents)
    assert broken == {f"n/{name}": "The Secret could not be written." for name in ("a", "b")}


def test_wait_notes_tell_what_ran_out() -> None:
    waited = {"done": ["n/a"], "left": ["n/b"]}
    assert migration.wait_notes(waited, 9) == {"n/b": "It was not Settled within 9 s."}
    assert migration.wait_notes(waited, 9, gone=True) == {
        "n/a": "Its request and seed secret were removed.",
        "n/b": "It was not gone within 9 s.",
    }
