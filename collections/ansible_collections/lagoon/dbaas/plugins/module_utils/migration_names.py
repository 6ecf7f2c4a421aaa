# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a MariaDBConsumer's request and Service are called."""

from __future__ import annotations

import hashlib
import re

#: Names that a Service may have (DNS-1035), at most 63 characters; a request's name is held to the same here.
SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
#: Names that a scope may have.
SCOPE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
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


def chosen(names: dict[str, str], namespace: str, consumer: str) -> str:
    """The name that a setting gives, or the derived one.

    Args:
        names: ``NAMESPACE/CONSUMER``, ``CONSUMER`` or ``*`` -> a name, in which ``{consumer}`` stands for the
            derived one. namespace, consumer: the MariaDBConsumer's.
    """
    for key in (f"{namespace}/{consumer}", consumer, "*"):
        if key in names:
            return names[key].replace(PLACEHOLDER, derived(consumer))
    return derived(consumer)
