# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ask the person at the terminal, and go on only after a typed yes.

Arguments: ``question`` (str, required).

Fails with a sentence on any other answer, an interrupt, a terminal that is lost, and where there is none to ask at, so
that ansible-playbook ends with status 2. ``ansible.builtin.pause`` has no end of input, and asks whether to go on after
an interrupt.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleError, AnsiblePromptInterrupt, AnsiblePromptNoninteractive
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

#: Keys that end an answer: the line's end; those that end the input, Ctrl-D and a terminal without any more keys.
LINE_ENDS = (b"\r", b"\n")
INPUT_ENDS = (b"\x04", b"")


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.platform_ask`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec({"question": {"type": "str", "required": True}})
        why = _objection(args["question"])
        result.update({"changed": False, "failed": bool(why), "msg": f"Nothing was done: {why}." if why else "yes"})
        return result


def _objection(question: str) -> str:
    """Why not to go on, "" after a yes."""
    try:
        typed = Display().prompt_until(f"{question}:", complete_input=(*LINE_ENDS, *INPUT_ENDS))
    except AnsiblePromptNoninteractive:
        return "there is no terminal to ask at. -e confirm=true says yes beforehand"
    except AnsiblePromptInterrupt:
        return "it was interrupted at the question"
    except AnsibleError:
        return "the terminal was lost at the question"
    return "" if typed.strip() == b"yes" else "the answer wasn't yes"
