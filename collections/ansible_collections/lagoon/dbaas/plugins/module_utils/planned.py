# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a plan tells what would be done."""

from __future__ import annotations

from typing import Any

Dict = dict[str, Any]

#: How a plan tells that Service and Secret would be written.
PUBLISHING = "write Service and Secret"


def publish_words(publish: Dict) -> list[str]:
    """How a plan tells what of Service and Secret would be written.

    Args:
        publish: ``{apply, replace, retire}`` of publish_plan.
    """
    return [PUBLISHING] if any(publish[key] for key in ("apply", "replace", "retire")) else []


def finalize_words(ending: Dict) -> list[str]:
    """How a plan tells what a deletion would do.

    Args:
        ending: of :func:`finalize`.
    """
    return {
        "keep": ["keep database, account and their credentials", "give_back"],
        "leave": ["leave all on the server as it is"],
        "give_back": ["keep database and account", "give_back"],
        "drop": ["drop_account", "drop_database", "give_back"],
    }.get(ending["action"], [])
