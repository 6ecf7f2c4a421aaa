# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person says with yes or no on the command line of a playbook; what is neither is never taken for no."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean


class AnswerError(Exception):
    """An answer that is neither yes nor no; the message is a sentence for a person."""


def yes_or_no(given: dict[str, Any]) -> dict[str, bool]:
    """Read answers.

    Args:
        given: the variables' names -> what was said: a bool, or text such as ``true``, ``no``, ``1``.
    Returns:
        The same names -> bools.
    Raises:
        AnswerError: one is neither.
    """
    said = {}
    for name, value in given.items():
        try:
            said[name] = bool(boolean(value, strict=True))
        except TypeError:
            raise AnswerError(f"{name} is neither yes nor no: write -e {name}=true or -e {name}=false.") from None
    return said
