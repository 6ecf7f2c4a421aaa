"""What a whole run left in the API server's audit log and in the servers' general logs. Runs last.

Where the end-to-end tests weren't among the tests of this run, "nothing is unused" can't be told and isn't asked.
"""

from collections.abc import Iterator

import pytest
import yaml

from dev.paths import ROOT
from dev.sandbox import Sandbox
from tests import audit
from tests.settings import LOG_STARTS
from tests.statements import forms, unknown_statements

pytestmark = pytest.mark.after_all

ACCOUNT = "system:serviceaccount:dbaas-operator-system:dbaas-operator"
ADMIN = "dbaas_admin"
Right = tuple[str, str, str]

#: The runtime's own write where it can't start a run. It isn't granted: the operator writes its own conditions,
#: and the runtime's would stand among them for ever.
NOT_GRANTED = {
    ("crd.lagoon.sh", "databaserequests/status", "update"),
    ("crd.lagoon.sh", "databasemysqlproviders/status", "update"),
}


def granted() -> set[Right]:
    """The rights of the operator's ClusterRole: group, resource, verb."""
    role = yaml.safe_load((ROOT / "config/rbac/role.yaml").read_text(encoding="utf-8"))
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def requests(sandbox: Sandbox) -> Iterator[tuple[Right, int]]:
    """What the operator asked the API server for, and the status of the answer."""
    for entry in audit.entries(sandbox.audit_log, LOG_STARTS[sandbox.audit_log]):
        reference = entry.get("objectRef")
        if audit.user(entry) != ACCOUNT or not reference:
            continue
        parts = (reference["resource"], reference.get("subresource"))
        right = (reference.get("apiGroup", ""), "/".join(filter(None, parts)), entry["verb"])
        yield right, entry.get("responseStatus", {}).get("code", 0)


@pytest.fixture
def whole_run(request: pytest.FixtureRequest, sandbox: Sandbox) -> Sandbox:
    """The sandbox, after the end-to-end tests."""
    names = {item.path.name for item in request.session.items}
    if not {"test_e2e_plain.py", "test_e2e_seed.py", "test_e2e_claims.py"} <= names:
        pytest.skip("the end-to-end tests are no part of this run")
    return sandbox


def test_no_right_is_missing(whole_run: Sandbox) -> None:
    used = {right for right, _ in requests(whole_run)}
    assert used, "the operator never asked the API server for anything"
    assert used - granted() - NOT_GRANTED == set()


def test_no_right_is_unused(whole_run: Sandbox) -> None:
    used = {right for right, code in requests(whole_run) if code < 400}
    assert granted() - used == set()


def test_the_patterns_tell_forms_from_others() -> None:
    known = forms()
    good = "USE `a``b`"
    bad = ("USE `a`; DROP DATABASE `b`", "SELECT 1", "DROP USER 'x'@'%'")
    assert any(form.fullmatch(good) for form in known)
    assert not any(form.fullmatch(text) for form in known for text in bad)


@pytest.mark.parametrize("name", ["one", "two", "retired"])
def test_the_admin_account_sends_known_forms_only(whole_run: Sandbox, name: str) -> None:
    log = whole_run.servers[name].general_log
    seen, unknown = unknown_statements(log.read_bytes()[LOG_STARTS[log] :], {ADMIN})
    assert seen, f"the operator sent nothing to the server {name}"
    assert unknown == set()
