# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which database an object means: on which server, by which account; and which MariaDBConsumers mean one database."""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import migration_fields, seed_secret

Dict = dict[str, Any]


def server(hostname: str, port: str | int) -> tuple[str, int] | None:
    """A server as seeds are compared.

    Args:
        hostname: a name or address. port: as text or number; "" means 3306.
    Returns:
        The host in lower case without the final dot, and the port; None where it is neither host nor port.
    """
    text = str(port).strip(" \t") or str(seed_secret.DEFAULT_PORT)
    if not (text.isascii() and text.isdecimal()):
        return None
    try:
        return seed_secret.normal_hostname(hostname), int(text)
    except ValueError:
        return None


def of_consumer(consumer: Dict) -> Dict:
    """The place that a MariaDBConsumer names.

    Args:
        consumer: the object, of whatever shape.
    Returns:
        ``{server, database, username}``; ``server`` is of :func:`server`.
    """
    fields = migration_fields.fields(consumer)
    if fields["port"] == "" and migration_fields.misshapen(consumer, scoped=True):
        return {"server": None, "database": fields["database"], "username": fields["username"]}
    return {
        "server": server(fields["hostname"], fields["port"]),
        "database": fields["database"],
        "username": fields["username"],
    }


def of_request(request: Dict, providers: list[Dict] | None) -> Dict:
    """The place that a request has, by its status.

    Args:
        request: the DatabaseRequest. providers: all DatabaseMySQLProvider objects; None where they can't be read.
    Returns:
        ``{server, database, username}`` with the names as the server spells them; ``server`` is None where its
        connection isn't among the providers.
    """
    status = request.get("status") or {}
    info = status.get("databaseInfo") or {}
    reference = status.get("observedDatabaseConnectionReference") or {}
    provider = (reference.get("databaseObjectReference") or {}).get("name")
    found = [
        server(connection["hostname"], connection.get("port", seed_secret.DEFAULT_PORT))
        for candidate in providers or []
        if candidate["metadata"]["name"] == provider
        for connection in candidate["spec"]["connections"]
        if connection["name"] == reference.get("name")
    ]
    names = {"database": info.get("databasename", ""), "username": info.get("username", "")}
    return {"server": found[0] if found else None, **names}


def is_name(spelling: str, name: str) -> bool:
    """Whether a name means the database that the server spells so.

    Args:
        spelling: the server's own. name: what an object says.
    Returns:
        True for the same text. Capitals count, unless the server's has none: then it may be one that folds names.
    """
    return spelling in (name, name.lower())


def is_same(place: Dict, old: Dict) -> bool:
    """Whether a request has the very database and account that a MariaDBConsumer names, on a server that is known.

    Args:
        place: of :func:`of_request`. old: of :func:`of_consumer`.
    """
    known = place["server"] is not None and place["database"] != ""
    same = place["server"] == old["server"] and place["username"] == old["username"]
    return known and same and is_name(place["database"], old["database"])


def shares(place: Dict, old: Dict, settled: bool) -> bool:
    """Whether a MariaDBConsumer names the database of a place, by whatever account.

    Args:
        place: of :func:`of_request`, or of :func:`of_consumer` where no request has the database. old: the other
            MariaDBConsumer's. settled: the place is a request's.
    Returns:
        True as well where one of the two servers isn't known: it may be the same.
    """
    if not place["database"] or not old["database"]:
        return False
    if None not in (place["server"], old["server"]) and place["server"] != old["server"]:
        return False
    if settled:
        return is_name(place["database"], old["database"])
    return is_name(place["database"], old["database"]) or is_name(old["database"], place["database"])
