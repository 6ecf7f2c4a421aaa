"""What is said where the API refuses or is away, and where a collection is missing."""

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, KubeError, NoKubeconfig, asked


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("GET", "/api/v1/namespaces/shop", "get namespaces"),
        ("GET", "/api/v1/namespaces/shop/services", "list services in shop"),
        ("GET", "/api/v1/secrets?labelSelector=a%3Db", "list secrets"),
        ("GET", "/api/v1/namespaces/shop/secrets/the-name", "get secrets in shop"),
        ("GET", f"{GROUP}/databasemysqlproviders/", "list databasemysqlproviders"),
        ("GET", f"{GROUP}/databaserequests", "list databaserequests"),
        ("PATCH", f"{GROUP}/namespaces/shop/databaserequests/r/status", "patch databaserequests/status in shop"),
        ("POST", "/api/v1/namespaces/shop/events", "create events in shop"),
        ("DELETE", "/api/v1/namespaces/shop/secrets/the-name", "delete secrets in shop"),
        ("GET", GROUP, "read which kinds there are"),
    ],
)
def test_a_call_is_told_like_a_right_and_without_names(method: str, path: str, words: str) -> None:
    assert asked(method, path) == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NoKubeconfig(), "No kubeconfig could be read"),
        (KubeError(None, "list x"), "can't be reached: set KUBECONFIG"),
        (KubeError(401, "list x"), "login (HTTP 401): use an admin's."),
        (KubeError(403, "list x in shop"), "This kubeconfig may not list x in shop: use an admin's."),
        (KubeError(500, "list x"), "answered HTTP 500 (list x). Run this again."),
    ],
)
def test_an_answer_of_the_api(error: KubeError, words: str) -> None:
    assert words in lacking.answer(error)


def test_a_collection_that_is_missing() -> None:
    assert lacking.modules(["no.such.module"]) == [
        "The module no.such.module isn't installed: ansible-galaxy collection install -r requirements.yml"
    ]
