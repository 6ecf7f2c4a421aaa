"""What the API server's audit log holds, where a reader of it could take too much for granted."""

import pytest
from kubernetes.client import ApiClient, Configuration

from dev import cluster
from dev.sandbox import Sandbox
from tests import audit
from tests.integration.apihelpers import REQUEST, Api


def test_refused_credentials_are_nobodys(sandbox: Sandbox, admin_api: ApiClient) -> None:
    if cluster.own_cluster():
        pytest.skip("this cluster's audit log isn't known")
    start = sandbox.audit_log.stat().st_size
    stranger = Configuration(host=admin_api.configuration.host, api_key={"authorization": "Bearer no-such-token"})
    stranger.ssl_ca_cert = admin_api.configuration.ssl_ca_cert
    with ApiClient(stranger) as client:
        assert Api(client).call("GET", REQUEST.path("refused-credentials")).code == 401
    asked = [
        entry
        for entry in audit.entries(sandbox.audit_log, start)
        if (entry.get("objectRef") or {}).get("namespace") == "refused-credentials"
    ]
    assert [audit.user(entry) for entry in asked] == [""]
