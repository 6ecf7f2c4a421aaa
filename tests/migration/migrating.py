"""Runs of the playbook that migrates, with an admin's kubeconfig, and the reports that it writes."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.cases.running import Run, Runner
from tests.cases.world import Cases
from tests.integration.e2ehelpers import Request

Json = dict[str, Any]

PLAYBOOK = "migrate-mariadbconsumer.yml"
AT_ONCE = 2  # runs of a request's playbook


@dataclass
class Migration:
    """Runs of the playbook.

    Attributes:
        runner: an admin's.
        last: the last run.
    """

    runner: Runner
    last: Run | None = None

    def run(self, *arguments: str, **variables: Any) -> Json:
        """Run the playbook.

        Args:
            *arguments: of ansible-playbook.
            **variables: extra variables.

        Returns:
            The report; ``rows`` are its entries by namespace and MariaDBConsumer.
        """
        file = self.runner.folder / "report.json"
        file.unlink(missing_ok=True)
        given = {"dbaas_migration_report_file": str(file), **variables}
        self.last = self.runner.run(PLAYBOOK, given, arguments=arguments)
        assert file.exists(), self.last.output
        assert file.stat().st_mode & 0o777 == 0o600, "others may read the report"
        report: Json = json.loads(file.read_text(encoding="utf-8"))
        assert (self.last.rc == 0) is report["good"], self.last.output
        report["rows"] = {f"{row['namespace']}/{row['consumer']}": row for row in report["consumers"]}
        return report

    @property
    def output(self) -> str:
        """What the last run printed."""
        assert self.last is not None
        return self.last.output


def reconcile(world: Cases, requests: Sequence[Request]) -> None:
    """Do the operator's work on requests, some at once.

    Args:
        world: where they are.
        requests: the requests.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for result in [pool.submit(world.reconcile, request) for request in requests]:
            result.result()
