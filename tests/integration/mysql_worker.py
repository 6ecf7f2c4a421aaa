"""Runs ``community.mysql.mysql_query`` itself, over and over, in one process: arguments in, the module's result out.

``python tests/integration/mysql_worker.py`` reads one JSON object of module arguments a line and writes the module's
own JSON, one a line. It is the module's real code and the real driver, without the second that Ansible takes to
start; tests/integration/test_sql_errors.py shows that a playbook gets the same. A process of its own, since the
module changes the driver's classes.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from ansible.module_utils import basic
from ansible_collections.community.mysql.plugins.modules import mysql_query  # type: ignore[import-untyped]


def run(arguments: dict[str, object]) -> str:
    """Run the module once.

    Args:
        arguments: the module's.

    Returns:
        What it printed, one line of JSON.
    """
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        mysql_query.main()
    return output.getvalue().strip()


if __name__ == "__main__":
    for line in sys.stdin:
        print(run(json.loads(line)), flush=True)
