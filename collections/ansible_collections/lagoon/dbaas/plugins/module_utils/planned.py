# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a plan tells what would be done."""

from __future__ import annotations

from typing import Any

Dict = dict[str, Any]

#: How a plan tells that Service and Secret would be written.
PUBLISHING = "write Service and Secret"
TAKING_OVER = "take database and account over"
KEEPING = "keep database and account"
LEAVING = "leave all on the server as it is"
#: What is only so at the end of a run: one that waits hasn't done it.
AT_THE_END = (TAKING_OVER, KEEPING, LEAVING)


def adopt_words(checked: Dict) -> list[str]:
    """How a run tells that a database is taken over, which takes no statement of its own.

    Args:
        checked: of ``adopt_check``.
    """
    return [] if checked else [TAKING_OVER]


def publish_words(publish: Dict) -> list[str]:
    """How a plan tells what of Service and Secret would be written.

    Args:
        publish: ``{apply, replace, retire}`` of publish_plan.
    """
    return [PUBLISHING] if any(publish[key] for key in ("apply", "replace", "retire")) else []


def finalize_words(ending: Dict, check: bool) -> list[str]:
    """How a deletion is told.

    Args:
        ending: of :func:`finalize`. check: it is a plan. A run notes each statement as it goes out, so that what it
            leaves alone is all that is told here.
    """
    if not check:
        return {"keep": [KEEPING], "leave": [LEAVING], "give_back": [KEEPING]}.get(ending["action"], [])
    return {
        "keep": ["keep database, account and their credentials", "give_back"],
        "leave": [LEAVING],
        "give_back": [KEEPING, "give_back"],
        "drop": ["drop_database", "drop_account", "give_back"],
    }.get(ending["action"], [])
