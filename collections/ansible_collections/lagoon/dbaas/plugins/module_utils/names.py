# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Names and passwords that the operator makes up, and names that are never a tenant's."""

from __future__ import annotations

import hashlib
import re
import secrets
import string

#: Databases that are the server's own or an operator's; compared in lower case.
RESERVED_DATABASES = frozenset(
    ("mysql", "sys", "information_schema", "performance_schema", "dbaas_operator", "dbaas_controller")
)
#: Accounts that are the server's own; a connection's own admin account is reserved there, too.
RESERVED_ACCOUNTS = frozenset(("root", "mysql", "mariadb.sys"))

#: A label of a host name (DNS-1123), as namespaces and scopes are named.
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

PASSWORD_LENGTH = 32
_ALPHABET = string.ascii_letters + string.digits + "-_"


def _digest(cluster: str, uid: str, length: int) -> str:
    return hashlib.sha256(f"{cluster}/{uid}".encode()).hexdigest()[:length]


def derived_database(namespace: str, name: str, cluster: str, uid: str) -> str:
    """The database's name of a request without a seed.

    Args:
        namespace, name: the request's. cluster: the cluster's id. uid: the request's UID.
    Returns:
        ``<namespace cut to 30>-<name cut to 20>-<10 of a hash>``: letters, digits and ``-`` only, so that
        escaping it in a grant can't outgrow the column's 64 characters.
    """
    parts = (namespace[:30], name[:20].replace(".", "-"), _digest(cluster, uid, 10))
    return "-".join(parts)


def derived_account(cluster: str, uid: str) -> str:
    """The account's name of a request without a seed: ``u-`` and 24 of a hash of cluster id and UID."""
    return "u-" + _digest(cluster, uid, 24)


def is_object(text: str) -> bool:
    """Whether an object of the cluster can be called so: letters, digits, ``-`` and ``.``, at most 253."""
    return len(text) <= 253 and _OBJECT.fullmatch(text) is not None


def is_derived(username: str) -> bool:
    """Whether an account's name has the form of those of :func:`derived_account`, whosever it is."""
    return re.fullmatch(r"u-[0-9a-f]{24}", username) is not None


def generated_password() -> str:
    """A new password: 32 letters, digits, ``-`` and ``_``; a letter first, one of each class at least."""
    while True:
        text = "".join(secrets.choice(_ALPHABET) for _ in range(PASSWORD_LENGTH))
        classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits, "-_")
        if text[0] in string.ascii_letters and all(any(c in chars for c in text) for chars in classes):
            return text


def is_reserved(database: str, username: str, admin: str) -> bool:
    """Whether a seed's database or account is the server's own or an operator's.

    Args:
        database, username: the seed's. admin: the user name of the connection's admin account.
    """
    return (
        database.lower() in RESERVED_DATABASES
        or username in RESERVED_ACCOUNTS
        or username.startswith("mysql.")
        or username == admin
    )


def key_prefix(service: str) -> str:
    """The prefix of the published Secret's keys: ``spec.name`` in upper case, ``-`` as ``_``."""
    return re.sub("-", "_", service.upper())
