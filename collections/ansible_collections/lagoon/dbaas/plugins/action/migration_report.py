# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tell what a migration came to: a table on standard output, a file for programs, and the task's own end.

Arguments: ``entries`` (list of dict, required): of the last ``migration_read``; ``notes`` (dict): ``NAMESPACE/NAME`` of
an object -> a sentence on what became of it; ``step`` (str, required): ``migrate`` or ``finish``; ``began`` (float,
required): when the run began, in seconds since 1970; ``file`` (str): where to write JSON, "" for nowhere;
``namespaces`` (int, required): how many were given; ``remove`` (bool): what was refused was to be removed.

Fails where none was given, and where an entry isn't as the step wants it, so that the exit status tells.
"""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.lagoon.dbaas.plugins.module_utils import migration_report, tables


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.migration_report`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {
                "entries": {"type": "list", "elements": "dict", "required": True},
                "notes": {"type": "dict", "default": {}},
                "step": {"type": "str", "required": True, "choices": sorted(migration_report.GOOD)},
                "began": {"type": "float", "required": True},
                "file": {"type": "str", "default": ""},
                "namespaces": {"type": "int", "required": True},
                "remove": {"type": "bool", "default": False},
            }
        )
        if not args["namespaces"]:
            way = "-e namespace=NAME, -e namespaces=ONE,TWO or -e namespaces_file=FILE"
            result.update({"failed": True, "msg": f"No namespace was given: {way}."})
            return result
        check = bool(self._task.check_mode)
        rows = migration_report.outcomes(args["entries"], args["notes"], args["step"], check, args["remove"])
        seconds = round(time.time() - args["began"])
        report = migration_report.document(rows, args["step"], check, seconds)
        for line in ["", *migration_report.lines(report), ""]:
            Display().display(line)
        result.update({"changed": False, "counts": report["counts"]})
        if args["file"]:
            problem = tables.write_report(args["file"], report)
            if problem:
                result.update({"failed": True, "msg": problem})
                return result
        bad = sum(not row["good"] for row in rows)
        if bad:
            done = {"finish": "finished", "migrate": "migrated"}[args["step"]]
            wont = "would not be" if check else "are not"
            result.update({"failed": True, "msg": f"{bad} of {len(rows)} {wont} {done}; the table says why."})
        return result
