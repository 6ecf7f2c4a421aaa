"""Command lines that say something else than was meant: refused before the cluster is asked."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dev.paths import ROOT
from tests.cases.running import Run, Runner

NEITHER = " is neither yes nor no: write -e "
BLANKS = "write no blanks"
MIGRATE = "migrate-mariadbconsumer.yml"
LINES: dict[str, tuple[str, list[str], str]] = {
    "finish": (MIGRATE, ["-e", "namespace=a", "-e", "finish=ture"], f"finish{NEITHER}"),
    "remove": (MIGRATE, ["-e", "namespace=a", "-e", "remove_refused=maybe"], f"remove_refused{NEITHER}"),
    "strict": ("check-invariants.yml", ["-e", "strict="], f"strict{NEITHER}"),
    "release": ("release-database.yml", ["-e", "namespace=a request=b confirm=yess"], f"confirm{NEITHER}"),
    "hand-over": ("hand-over-database.yml", ["-e", "from=a/b to=b/c confirm=ja"], f"confirm{NEITHER}"),
    "logins": ("reconcile-namespace.yml", ["--check", "-e", "namespace=a seed_logins=nope"], f"seed_logins{NEITHER}"),
    "blank-behind": (MIGRATE, ["-e", "namespaces=m3, m1"], BLANKS),
    "blank-before": (MIGRATE, ["-e", "namespaces=m3 ,m1"], BLANKS),
    "both": (MIGRATE, ["-e", "namespace=a", "-e", "namespaces=b"], "Both namespace and namespaces were given"),
    "report": (
        MIGRATE,
        ["-e", "namespace=a", "-e", "dbaas_migration_report_file=/no/such/folder/report.json"],
        "The report /no/such/folder/report.json can't be written",
    ),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("lines")

    def run(name: str) -> Run:
        playbook, arguments, _ = LINES[name]
        runner = Runner(folder / "no.kubeconfig", folder / name)  # which would be told, were it needed
        return runner.run(playbook, {}, arguments=arguments)

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(LINES, pool.map(run, LINES), strict=True))


@pytest.mark.parametrize("name", LINES)
def test_it_is_refused_before_anything_else(runs: dict[str, Run], name: str) -> None:
    run, sentence = runs[name], LINES[name][2]
    assert run.rc == 2 and sentence in run.output, run.output
    assert "kubeconfig could be read" not in run.output and "Traceback" not in run.output, run.output


def test_a_plan_leaves_the_report_of_the_last_run_alone(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "no.kubeconfig", tmp_path / "home")
    usual, named = ROOT / "migration-report.json", tmp_path / "named.json"
    before = usual.stat().st_mtime_ns if usual.exists() else None
    plan = runner.run(MIGRATE, {"namespace": "a"}, arguments=["--check"])
    assert "No kubeconfig could be read" in plan.output, plan.output
    assert (usual.stat().st_mtime_ns if usual.exists() else None) == before
    runner.run(MIGRATE, {"namespace": "a", "dbaas_migration_report_file": str(named)}, arguments=["--check"])
    assert named.exists(), "a name asks for it"
