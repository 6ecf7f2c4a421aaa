# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a MariaDBConsumer's request and Service are called, and which namespaces a file names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

#: Names that a Service may have (DNS-1035), at most 63 characters; a request's name is held to the same here.
SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
PLACEHOLDER = "{consumer}"
_KEPT, _HASH = 52, 10


def derived(consumer: str) -> str:
    """The name that fits a MariaDBConsumer.

    Args:
        consumer: its name, up to 253 characters with dots.
    Returns:
        The very name where a Service may have it: deployments know it, and the keys of the published Secret are
        made from it. Else the same with what isn't allowed as ``-``, cut, and 10 characters of a hash, so that two
        such names never meet.
    """
    if SERVICE_NAME.fullmatch(consumer):
        return consumer
    text = re.sub(r"[^a-z0-9-]", "-", consumer.lower())
    text = (text if text[0].isalpha() else f"db-{text}")[:_KEPT].strip("-")
    return f"{text}-{hashlib.sha256(consumer.encode()).hexdigest()[:_HASH]}"


def chosen(names: Mapping[str, object], namespace: str, consumer: str) -> str:
    """The name that a setting gives, or the derived one.

    Args:
        names: ``NAMESPACE/CONSUMER``, ``CONSUMER`` or ``*`` -> a name, in which ``{consumer}`` stands for the
            derived one. namespace, consumer: the MariaDBConsumer's.
    """
    for key in (f"{namespace}/{consumer}", consumer, "*"):
        if key in names:
            return str(names[key]).replace(PLACEHOLDER, derived(consumer))
    return derived(consumer)


class ListError(Exception):
    """A file of namespaces that can't be used; the message is a sentence for a person."""


def from_arguments(name: str, names: list[str], loose: str) -> list[str]:
    """The namespaces that the command line names.

    Args:
        name: of ``-e namespace=``, "" where it isn't there. names: the entries of ``-e namespaces=``.
        loose: words behind a blank, which Ansible doesn't take for a part of either.
    Raises:
        ListError: both are there, or an entry is empty or got lost.
    """
    entries = [entry.strip() for entry in names]
    if name.strip() and any(entries):
        raise ListError("Both namespace and namespaces were given: which? Name all of them in -e namespaces=ONE,TWO.")
    if loose or ("" in entries and any(entries)):
        raise ListError(
            "namespaces has an empty entry, or words behind a blank: write no blanks, -e namespaces=ONE,TWO, or"
            " quotes within quotes, -e \"namespaces='ONE, TWO'\"."
        )
    return [entry for entry in (name.strip(), *entries) if entry]


def from_file(path: Path) -> list[str]:
    """The namespaces that a file lists.

    Args:
        path: a name a line, UTF-8 with or without a byte order mark; a relative one begins where ansible-playbook was
            started. Blank lines and those that begin with ``#`` are left out.
    Raises:
        ListError: it can't be read, or lists none.
    """
    where = path.expanduser().absolute()
    try:
        text = where.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ListError(f"namespaces_file {where} isn't UTF-8 text.") from None
    except OSError as error:
        hint = (
            "" if path.is_absolute() else " A relative path begins in the directory where ansible-playbook is started."
        )
        raise ListError(f"namespaces_file {where} can't be read: {error.strerror}.{hint}") from None
    names = [line.strip() for line in text.splitlines()]
    found = [name for name in names if name and not name.startswith("#")]
    if not found:
        raise ListError(f"namespaces_file {where} lists no namespace: it takes a name a line.")
    return found
