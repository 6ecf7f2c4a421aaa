"""What a person's playbooks say, all in the same words, where something that they need is missing."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cases.kubeconfigs import of_a_stranger, of_nobody, of_nowhere
from tests.cases.running import Run, Runner
from tests.cases.world import Cases
from tests.sampling import some

PLAYBOOKS = (
    "reconcile-namespace.yml",
    "migrate-mariadbconsumer.yml",
    "release-database.yml",
    "hand-over-database.yml",
    "report-orphans.yml",
    "check-invariants.yml",
)
AWAY = (
    "The Kubernetes API can't be reached: set KUBECONFIG to an admin's kubeconfig of the cluster, and see that"
    " `kubectl get namespaces` works with it."
)
STRANGER = "The Kubernetes API doesn't take this kubeconfig's login (HTTP 401): use an admin's."
NOBODY = "This kubeconfig may not "
NO_KUBECONFIG = "No kubeconfig could be read: set KUBECONFIG to an admin's."
NO_COLLECTION = "The module kubernetes.core.k8s isn't installed: ansible-galaxy collection install -r requirements.yml"
LACKS = {
    "api": AWAY,
    "login": STRANGER,
    "right": NOBODY,
    "kubeconfig": NO_KUBECONFIG,
    "garbage": NO_KUBECONFIG,
    "collection": NO_COLLECTION,
}
PAIRS = some("lacks", [(playbook, lack) for lack in LACKS for playbook in PLAYBOOKS], 8)
# Collections of the Python environment aren't looked for.
ALONE = {"ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false"}


@pytest.fixture(scope="module")
def runs(world: Cases, tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], Run]:
    """A run for each pair of playbook and lack."""
    folder = tmp_path_factory.mktemp("lacking")
    namespace = world.namespace()
    kubeconfigs = {
        "api": of_nowhere(folder / "api.kubeconfig"),
        "login": of_a_stranger(world, folder / "login.kubeconfig"),
        "right": of_nobody(world, namespace, folder / "right.kubeconfig"),
        "kubeconfig": folder / "not-there.kubeconfig",
        "garbage": folder / "garbage.kubeconfig",
        "collection": world.sandbox.kubeconfig,
    }

    kubeconfigs["garbage"].write_text("garbage\n", encoding="utf-8")

    def run(pair: tuple[str, str]) -> Run:
        playbook, lack = pair
        report = {"dbaas_migration_report_file": "", "from": f"{namespace}/a", "to": f"{namespace}/b"}
        given = {"namespace": namespace, "request": "a", "confirm": True, **report}
        runner = Runner(kubeconfigs[lack], folder / f"{playbook}-{lack}")
        return runner.run(playbook, given, settings=ALONE if lack == "collection" else None)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(PAIRS, pool.map(run, PAIRS), strict=True))


@pytest.mark.parametrize(("playbook", "lack"), PAIRS)
def test_it_is_said_in_the_same_words(
    runs: Mapping[tuple[str, str], Run], playbook: str, lack: str, tmp_path: Path
) -> None:
    run = runs[playbook, lack]
    assert run.rc == 2, run.output
    assert LACKS[lack] in run.output, run.output
    assert "Traceback" not in run.output and "censored" not in run.output, run.output
    if playbook in PLAYBOOKS[2:]:
        assert run.output.count(LACKS[lack]) == 1 and "fatal" not in run.output, "said once, in plain words"
