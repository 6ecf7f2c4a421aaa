# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The seed secret: its five keys read, cleaned and judged. No value of it stands in any message."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import unicodedata
from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import names

#: Keys in the order in which they are judged; all but ``port`` must be there.
KEYS = ("database", "username", "password", "hostname", "port")
DEFAULT_PORT = 3306


class SeedKeyError(Exception):
    """A key that can't be used: ``key`` names it, ``problem`` says what is wrong, never with its value."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key} {problem}")
        self.key = key
        self.problem = problem


def _text(key: str, data: dict[str, Any]) -> str:
    encoded = data.get(key)
    if encoded is None:
        raise SeedKeyError(key, "is missing")
    try:
        text = base64.b64decode(encoded).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise SeedKeyError(key, "is not UTF-8 text") from None
    if "\0" in text:
        raise SeedKeyError(key, "holds a NUL character")
    if text.endswith(("\n", "\r")):
        raise SeedKeyError(key, "ends with a line break")
    if "\n" in text or "\r" in text:
        raise SeedKeyError(key, "holds a line break")
    if text == "" and key != "port":
        raise SeedKeyError(key, "is empty")
    return text


def _name(key: str, text: str) -> str:
    if text != text.strip():
        raise SeedKeyError(key, "begins or ends with a blank")
    if any(unicodedata.category(c) == "Cc" for c in text):
        raise SeedKeyError(key, "holds a control character")
    if any(ord(c) > 0xFFFF for c in text):
        # The server's name columns hold the Basic Multilingual Plane only; the rest would become "?".
        raise SeedKeyError(key, "holds a character that the server's names can't (beyond U+FFFF)")
    if key == "username" and len(text) > 1 and text[0] == text[-1] == "'":
        raise SeedKeyError(key, "stands in single quotes, which the server takes off at a login")
    if key == "database" and text.lower().startswith("#mysql50#"):
        raise SeedKeyError(key, "begins with #mysql50#, which the server reads as another name")
    return text


def _port(data: dict[str, Any]) -> int:
    if "port" not in data:
        return DEFAULT_PORT
    text = _text("port", data).strip(" \t")
    if not re.fullmatch(r"[0-9]{1,5}", text, re.ASCII) or not 1 <= int(text) <= 65535:
        raise SeedKeyError("port", "is not a number from 1 to 65535")
    return int(text)


def normal_hostname(text: str) -> str:
    """A host name or address as hosts are compared: in lower case, without the final dot.

    Raises:
        ValueError: it is neither a DNS name nor an address.
    """
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        pass
    name = text.lower().removesuffix(".")
    if not text.isascii() or len(name) > 253 or not all(names.LABEL.fullmatch(part) for part in name.split(".")):
        raise ValueError("neither a host name nor an address")
    return name


def parse(data: dict[str, Any] | None) -> dict[str, Any]:
    """Read a seed secret.

    Args:
        data: the Secret's ``data``, base64 as the API gives it; None as an empty one.
    Returns:
        ``{database, username, password, hostname, port}``; the hostname in the form of
        :func:`normal_hostname`, the port as a number, absent meaning 3306.
    Raises:
        SeedKeyError: a key that can't be used.
    """
    data = data or {}
    values: dict[str, Any] = {key: _text(key, data) for key in KEYS if key != "port"}
    for key in ("database", "username"):
        _name(key, values[key])
    try:
        values["hostname"] = normal_hostname(values["hostname"])
    except ValueError:
        raise SeedKeyError("hostname", "is not a host name or an address") from None
    values["port"] = _port(data)
    return values
