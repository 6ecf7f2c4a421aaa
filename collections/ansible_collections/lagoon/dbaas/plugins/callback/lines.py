# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Print what a person asked for: of plays that say so, the lines of their debug tasks and what failed, no more."""

from __future__ import annotations

from typing import Any

from ansible.plugins.callback.default import CallbackModule as Default

DOCUMENTATION = r"""
name: lines
type: stdout
short_description: Lines for people, of the plays that ask for them
description:
  - Like the default callback. Of a play with the variable C(dbaas_lines) set to true it prints the messages of
    C(ansible.builtin.debug) tasks and what failed, and nothing else, unless the run is verbose.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
"""


class CallbackModule(Default):
    """The ``lagoon.dbaas.lines`` callback."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "lagoon.dbaas.lines"

    def __init__(self) -> None:
        super().__init__()
        self._lines = False

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """See whether the play asks for lines."""
        self._lines = bool(play.vars.get("dbaas_lines")) and not self._display.verbosity
        if not self._lines:
            super().v2_playbook_on_play_start(play)

    def v2_runner_on_ok(self, result: Any) -> None:
        """Print a debug task's message as it is."""
        if not self._lines:
            super().v2_runner_on_ok(result)
        elif result._task.action in ("debug", "ansible.builtin.debug"):
            self._print(result._result.get("msg"))

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """The same for one item of a loop."""
        if not self._lines:
            super().v2_runner_item_on_ok(result)
        elif result._task.action in ("debug", "ansible.builtin.debug"):
            self._print(result._result.get("msg"))

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Print why a run ended, unless its task did; an expected failure is data, and stays out."""
        if not self._lines:
            super().v2_runner_on_failed(result, ignore_errors)
        elif not ignore_errors and not result._result.get("told"):
            hidden = result._task.no_log and not result._result.get("msg")
            why = "its result may hold a password, so it isn't shown" if hidden else result._result.get("msg")
            self._display.display(f"{result._task.get_name()}: {why}", color="red", stderr=True)

    def _print(self, message: Any) -> None:
        for line in message if isinstance(message, list) else [message]:
            self._display.display(str(line))


def _unless_lines(name: str) -> Any:
    def call(self: CallbackModule, *args: Any, **kwargs: Any) -> None:
        if not self._lines:
            getattr(Default, name)(self, *args, **kwargs)

    call.__doc__ = "Print nothing where lines are asked for."
    return call


for _name in (
    "v2_playbook_on_task_start",
    "v2_playbook_on_handler_task_start",
    "v2_playbook_on_include",
    "v2_playbook_on_stats",
    "v2_runner_on_skipped",
    "v2_runner_item_on_skipped",
    "v2_runner_item_on_failed",
    "v2_runner_on_start",
):
    setattr(CallbackModule, _name, _unless_lines(_name))
