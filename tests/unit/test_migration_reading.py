"""What a migration reads: the file of namespaces, and what is said where the API doesn't let it read."""

from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration_names, migration_reading
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import Kube, KubeError, asked

Json = dict[str, Any]

SETTINGS: Json = {"step": "migrate", "scope": "", "scopes": {}, "requests": {}, "services": {}}
SETTINGS |= {"database_type": "mariadb", "delete_seed": False}
OLD = "/apis/mariadb.amazee.io/v1"


@pytest.mark.parametrize("text", ["shop\nblog", "\ufeffshop\r\n\r\n# no\r\n  blog \r\n", "\n\nshop\n#x\n\nblog\n\n"])
def test_a_relative_file_is_read_where_the_command_was_started(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names.txt").write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    assert migration_names.from_file(Path("names.txt")) == ["shop", "blog"]


def test_a_file_that_is_not_there_is_told_with_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(migration_names.ListError) as failed:
        migration_names.from_file(Path("names.txt"))
    assert f"{tmp_path}/names.txt" in str(failed.value) and "started" in str(failed.value)


@pytest.mark.parametrize("content", [b"", b"# none\n\n", b"\xff\xfes\x00"])
def test_a_file_without_names_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_bytes(content)
    with pytest.raises(migration_names.ListError, match=r"lists no namespace|UTF-8"):
        migration_names.from_file(tmp_path / "names.txt")


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("", [], []),
        ("shop", [], ["shop"]),
        (" shop ", [""], ["shop"]),
        ("", ["a", " b "], ["a", "b"]),
        ("", [""], []),
    ],
)
def test_namespaces_of_the_command_line(name: str, names: list[str], expected: list[str]) -> None:
    assert migration_names.from_arguments(name, names, "") == expected


@pytest.mark.parametrize(
    ("name", "names", "loose", "words"),
    [
        ("", ["m3", ""], "", "write no blanks"),  # -e "namespaces=m3, m1"
        ("", ["m3", "", "m1"], "", "write no blanks"),
        ("", ["m3"], ",m1", "write no blanks"),  # -e "namespaces=m3 ,m1"
        ("m3", [], "m1", "quotes"),
        ("a", ["b"], "", "Both namespace and namespaces"),
    ],
)
def test_namespaces_that_say_something_else_than_was_meant(
    name: str, names: list[str], loose: str, words: str
) -> None:
    with pytest.raises(migration_names.ListError, match=words):
        migration_names.from_arguments(name, names, loose)


class Api:
    """The API with some paths that fail; lists are empty unless given, and no name is taken."""

    def __init__(self, failing: dict[str, int | None], lists: dict[str, list[Json]] | None = None) -> None:
        self.failing, self.lists = failing, lists or {}

    def get(self, path: str) -> Json | None:
        if "/secrets/" in path or "/services/" in path:
            return None
        for part, status in self.failing.items():
            if path.endswith(part):
                raise KubeError(status, asked("GET", path))
        return {"items": self.lists.get(path, [])}

    def items(self, path: str) -> list[Json]:
        return cast("list[Json]", (self.get(path) or {})["items"])


@pytest.mark.parametrize(
    ("part", "status", "words"),
    [
        ("namespaces/shop", 403, ["This kubeconfig may not get namespaces: use an admin's."]),
        ("shop/mariadbconsumers", 403, ["This kubeconfig may not list mariadbconsumers in shop: use an admin's."]),
        ("shop/databaserequests", 403, ["This kubeconfig may not list databaserequests in shop: use an admin's."]),
        ("namespaces/shop", 401, ["HTTP 401", "use an admin's"]),
        ("namespaces/shop", None, ["can't be reached", "KUBECONFIG"]),
        ("namespaces/shop", 500, ["HTTP 500", "get namespaces"]),
    ],
)
def test_a_missing_right_is_named(part: str, status: int | None, words: list[str]) -> None:
    read = migration_reading.read_all(cast(Kube, Api({part: status})), ["shop"], SETTINGS)
    (entry,) = read["entries"]
    assert (entry["state"], entry["reason"]) == ("failed", "KubernetesError")
    assert [word for word in words if word not in entry["message"]] == []


@pytest.mark.parametrize("cluster_wide", [True, False])
def test_others_are_looked_for_in_all_namespaces_that_can_be_read(cluster_wide: bool) -> None:
    spec = {
        "environment": "live",
        "provider": {"hostname": "db.example.com", "port": "3306"},
        "consumer": {"database": "shop", "username": "shop", "password": "x"},
    }
    shop, blog = ({"metadata": {"name": "mariadb", "namespace": n}, "spec": spec} for n in ("shop", "blog"))
    paths = [f"{OLD}/namespaces/shop/mariadbconsumers", f"{OLD}/namespaces/blog/mariadbconsumers"]
    lists = {paths[0]: [shop], paths[1]: [blog], f"{OLD}/mariadbconsumers": [shop, blog]}
    failing: dict[str, int | None] = {"/databasemysqlproviders": 403}
    failing |= {} if cluster_wide else {"v1/mariadbconsumers": 403}
    settings = {**SETTINGS, "namespaces": ["shop"] if cluster_wide else ["shop", "blog"]}
    read = migration_reading.read_all(cast(Kube, Api(failing, lists)), ["shop"], settings)
    (entry,) = read["entries"]
    assert "blog/mariadb" in entry["shared"]
    assert read["whole"] is cluster_wide
