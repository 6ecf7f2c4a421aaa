"""Who may do what: exactly the operator's rights, and those of admins, editors and viewers."""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from kubernetes.client import ApiClient

from dev.waiting import wait_for
from tests.integration.apihelpers import (
    CONFIG,
    GROUP,
    PROVIDER,
    REQUEST,
    Api,
    Json,
    Kind,
    documents,
    fresh_namespace,
)

OPERATOR_NAMESPACE = "dbaas-operator-system"
OPERATOR = f"system:serviceaccount:{OPERATOR_NAMESPACE}:dbaas-operator"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
SPEC: Json = {"scope": "development", "type": "mariadb", "name": "mariadb"}

# (group, resource, verb, name), name empty where the right isn't bound to one
Right = tuple[str, str, str, str]


def _rights(group: str, resource: str, verbs: str, name: str = "") -> set[Right]:
    return {(group, resource, verb, name) for verb in verbs.split()}


EVERYWHERE: set[Right] = (
    _rights("", "secrets", "create delete get patch")
    | _rights("", "services", "create delete get list patch watch")
    | _rights("discovery.k8s.io", "endpointslices", "create delete get patch")
    | _rights("", "events", "create")
    | _rights("", "namespaces", "get")
    | _rights(GROUP, "databaserequests", "get list update watch")
    | _rights(GROUP, "databaserequests/status", "patch")
    | _rights(GROUP, "databasemysqlproviders", "get list watch")
    | _rights(GROUP, "databasemysqlproviders/status", "patch")
)
AT_HOME: set[Right] = (
    _rights("coordination.k8s.io", "leases", "get update", "dbaas-operator")
    | _rights("coordination.k8s.io", "leases", "create")
    | _rights("", "events", "create patch")
)
WRITE = "create delete deletecollection patch update"
READ = "get list watch"


@pytest.fixture(scope="module")
def api(admin_api: ApiClient) -> Api:
    return Api(admin_api)


@pytest.fixture(scope="module")
def place(api: Api) -> Iterator[str]:
    with fresh_namespace(api, "api-rbac") as name:
        yield name


def _held(api: Api, user: str, namespace: str) -> set[Right]:
    """Read all rights of a user in a namespace, without those that every user has."""
    rights: list[set[Right]] = []
    for who in (user, f"nobody-{uuid.uuid4().hex}"):
        answer = Api(api.client, who).call(
            "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
             "spec": {"namespace": namespace}})
        assert answer.ok, answer.message
        rights.append({
            (group, resource, verb, name)
            for rule in answer.body["status"]["resourceRules"]
            for group in rule.get("apiGroups", [""]) for resource in rule.get("resources", [])
            for verb in rule["verbs"] for name in rule.get("resourceNames") or [""]})
    return rights[0] - rights[1]


def _may(api: Api, user: str, verb: str, group: str, resource: str, namespace: str = "",
         name: str = "") -> bool:
    resource, _, subresource = resource.partition("/")
    answer = api.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": {
            "verb": verb, "group": group, "resource": resource, "subresource": subresource,
            "namespace": namespace, "name": name}}})
    assert answer.ok, answer.message
    return bool(answer.body["status"]["allowed"])


def test_operator_has_exactly_its_rights(api: Api, place: str) -> None:
    assert _held(api, OPERATOR, place) == EVERYWHERE
    assert _held(api, OPERATOR, OPERATOR_NAMESPACE) == EVERYWHERE | AT_HOME


@pytest.mark.parametrize(("verb", "group", "resource"), [
    *((verb, "", "secrets") for verb in ("list", "watch", "update", "deletecollection")),
    *((verb, "", "configmaps") for verb in ("get", "list", "create")),
    *((verb, "", "namespaces") for verb in ("list", "watch", "create", "update", "delete")),
    *((verb, "", "services") for verb in ("update", "deletecollection")),
    *((verb, "", "pods") for verb in ("get", "list", "create")),
    ("create", "", "pods/exec"),
    ("create", "", "serviceaccounts/token"),
    *((verb, GROUP, "databaserequests") for verb in ("create", "patch", "delete", "deletecollection")),
    *((verb, GROUP, "databasemysqlproviders") for verb in ("create", "update", "patch", "delete")),
    *((verb, "rbac.authorization.k8s.io", "clusterroles") for verb in ("get", "bind", "escalate", "update")),
    *((verb, "coordination.k8s.io", "leases") for verb in ("get", "create", "update")),
    ("impersonate", "", "users"),
])
def test_operator_may_not(api: Api, place: str, verb: str, group: str, resource: str) -> None:
    assert not _may(api, OPERATOR, verb, group, resource, place)


def test_operator_may_not_take_another_lease_at_home(api: Api) -> None:
    group = "coordination.k8s.io"
    assert _may(api, OPERATOR, "update", group, "leases", OPERATOR_NAMESPACE, "dbaas-operator")
    assert not _may(api, OPERATOR, "update", group, "leases", OPERATOR_NAMESPACE, "other")


def test_operator_reads_a_secret_that_it_can_name_and_lists_none(api: Api, place: str) -> None:
    secrets = Kind("", "v1", "secrets", "Secret")
    body: Json = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "seed"},
                  "stringData": {"a": "b"}}
    operator = Api(api.client, OPERATOR)
    assert operator.create(secrets, body, place).ok
    assert operator.get(secrets, "seed", place).ok
    assert operator.patch(secrets, "seed", {"metadata": {"labels": {"a": "b"}}}, place).ok
    assert operator.call("GET", secrets.path(place)).code == 403
    assert operator.delete(secrets, "seed", place).ok


@pytest.fixture(scope="module")
def users(api: Api, place: str) -> Iterator[dict[str, str]]:
    """One user for each shipped role: in the test's namespace for requests, everywhere for providers.

    Yields:
        Names of the users by the names of their roles.
    """
    suffix = uuid.uuid4().hex[:8]
    users: dict[str, str] = {}
    paths: list[str] = []
    try:
        for kind in REQUEST, PROVIDER:
            for level in "admin", "editor", "viewer":
                role = f"dbaas-operator-{kind.kind.lower()}-{level}"
                users[role] = f"{role}-{suffix}"
                collection = (f"{RBAC}/namespaces/{place}/rolebindings" if kind.namespaced
                              else f"{RBAC}/clusterrolebindings")
                group = "rbac.authorization.k8s.io"
                answer = api.call("POST", collection, {
                    "apiVersion": f"{group}/v1",
                    "kind": "RoleBinding" if kind.namespaced else "ClusterRoleBinding",
                    "metadata": {"name": users[role]},
                    "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
                    "subjects": [{"apiGroup": group, "kind": "User", "name": users[role]}]})
                assert answer.ok, answer.message
                paths.append(f"{collection}/{users[role]}")
                wait_for(partial(_may, api, users[role], "get", GROUP, kind.plural, place),
                         f"role {role} to be in force")
        yield users
    finally:
        for path in paths:
            api.call("DELETE", path)


@pytest.mark.parametrize(("role", "kind", "verbs"), [
    ("databaserequest-admin", REQUEST, f"{READ} {WRITE}"),
    ("databaserequest-editor", REQUEST, f"{READ} {WRITE}"),
    ("databaserequest-viewer", REQUEST, READ),
    ("databasemysqlprovider-admin", PROVIDER, f"{READ} {WRITE}"),
    ("databasemysqlprovider-editor", PROVIDER, f"{READ} patch update"),
    ("databasemysqlprovider-viewer", PROVIDER, READ),
])
def test_role_holds_exactly(api: Api, place: str, users: dict[str, str], role: str, kind: Kind,
                            verbs: str) -> None:
    assert _held(api, users[f"dbaas-operator-{role}"], place) == _rights(GROUP, kind.plural, verbs)


@pytest.mark.parametrize("kind", [REQUEST, PROVIDER], ids=lambda kind: f"O11-{kind.kind}")
def test_no_role_writes_a_status(api: Api, place: str, users: dict[str, str], kind: Kind) -> None:
    for user in users.values():
        answer = Api(api.client, user).patch(kind, "any", {"status": {"observedGeneration": 1}}, place,
                                             subresource="status")
        assert answer.code == 403


def test_editor_writes_requests_in_its_namespace(api: Api, place: str, users: dict[str, str]) -> None:
    name = f"r-{uuid.uuid4().hex[:8]}"
    editor = Api(api.client, users["dbaas-operator-databaserequest-editor"])
    # A dry run, so that an operator that happens to run has nothing to do.
    answer = editor.create(REQUEST, REQUEST.manifest(name, SPEC), place, dry_run=True)
    assert answer.ok, answer.message
    assert editor.create(REQUEST, REQUEST.manifest(name, SPEC), "default", dry_run=True).code == 403


@pytest.mark.parametrize(("level", "builtin"), [("admin", "admin"), ("editor", "edit"), ("viewer", "view")])
def test_request_roles_join_the_builtin_roles(api: Api, level: str, builtin: str) -> None:
    own = api.call("GET", f"{RBAC}/clusterroles/dbaas-operator-databaserequest-{level}").body
    role = api.call("GET", f"{RBAC}/clusterroles/{builtin}").body
    selectors = [selector["matchLabels"] for selector in role["aggregationRule"]["clusterRoleSelectors"]]
    assert any(selector.items() <= own["metadata"]["labels"].items() for selector in selectors)


@pytest.mark.parametrize("level", ["admin", "editor", "viewer"])
def test_provider_roles_join_no_builtin_role(api: Api, level: str) -> None:
    own = api.call("GET", f"{RBAC}/clusterroles/dbaas-operator-databasemysqlprovider-{level}").body
    assert not [label for label in own["metadata"]["labels"] if "aggregate-to" in label]


@pytest.mark.parametrize("file", sorted((CONFIG / "rbac").glob("*role*.yaml")), ids=lambda file: file.stem)
def test_no_rule_uses_a_wildcard(file: Path) -> None:
    for body in documents(f"rbac/{file.name}"):
        for rule in body.get("rules", []):
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
