"""What is said where the API refuses or is away, and where a collection is missing."""

from pathlib import Path

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import lacking
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import GROUP, Kube, KubeError, NoKubeconfig, asked


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


ODD = {
    "text": b"garbage\n",
    "list": b"[1, 2]",
    "number": b"5",
    "no-yaml": b"{a: [",
    "no-text": b"\xff\xfe\0",
    "empty": b"",
    "odd": b"clusters: x\ncontexts: 5\ncurrent-context: a\n",
    "odd-parts": b"clusters: [{cluster: 5}]\ncontexts: [a]\nusers:\ncurrent-context: [a]\n",
}


@pytest.mark.parametrize("name", [*ODD, "folder"])
def test_a_file_that_is_no_kubeconfig_is_told_as_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ODD:
        (tmp_path / name).write_bytes(ODD[name])
    else:
        (tmp_path / name).mkdir()
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(tmp_path / name))
    with pytest.raises(NoKubeconfig):
        Kube()
