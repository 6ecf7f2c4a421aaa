# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What stands in the fields of a MariaDBConsumer, whatever shape they have: its kind may come without a schema.

The older operator takes text alone, so what is anything else is never read as text.
"""

from __future__ import annotations

import base64
from typing import Any

Dict = dict[str, Any]

#: Keys of a seed -> where a MariaDBConsumer has them.
FIELDS = {
    "database": ("consumer", "database"),
    "username": ("consumer", "username"),
    "password": ("consumer", "password"),
    "hostname": ("provider", "hostname"),
    "port": ("provider", "port"),
}


def _part(value: object) -> Dict:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def path(key: str) -> str:
    """The whole name of the field of a seed's key, such as ``spec.consumer.database``."""
    return ".".join(("spec", *FIELDS[key]))


def fields(consumer: Dict) -> dict[str, str]:
    """The five values of a seed as a MariaDBConsumer has them; "" for one that it lacks or that isn't text."""
    spec = _part(consumer.get("spec"))
    return {key: _text(_part(spec.get(part)).get(name)) for key, (part, name) in FIELDS.items()}


def environment(consumer: Dict) -> str:
    """``spec.environment``; "" where it is missing or isn't text."""
    return _text(_part(consumer.get("spec")).get("environment"))


def misshapen(consumer: Dict, scoped: bool) -> str:
    """What is wrong with the first field that has another shape than the older operator knows.

    Args:
        consumer: the object. scoped: its ``spec.environment`` isn't needed.
    Returns:
        A sentence without any value, "" where all that is there is well.
    """
    spec = consumer.get("spec")
    parts = {part: _part(spec).get(part) for part in ("consumer", "provider")}
    for name, value in {"spec": spec, **{f"spec.{part}": value for part, value in parts.items()}}.items():
        if value is not None and not isinstance(value, dict):
            return f"{name} isn't a mapping of fields."
    texts = {path(key): _part(parts[part]).get(name) for key, (part, name) in FIELDS.items()}
    texts |= {} if scoped else {"spec.environment": _part(spec).get("environment")}
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            return f"{name} isn't text: write it in quotes, if it is right."
    return ""


def seed_data(consumer: Dict) -> dict[str, str]:
    """The ``data`` of the seed secret. A port that isn't there is left out, which means 3306."""
    values = {key: value for key, value in fields(consumer).items() if value or key != "port"}
    return {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
