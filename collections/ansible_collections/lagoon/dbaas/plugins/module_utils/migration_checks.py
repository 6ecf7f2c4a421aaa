# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What keeps a MariaDBConsumer from being migrated and can be told without asking its server.

The rules are the verdict's own, in its order and by its functions, so that nothing is left out here that the operator
would take over.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    migration_fields,
    migration_names,
    names,
    providers,
    seed_secret,
)

Dict = dict[str, Any]
Problem = tuple[str, str]


def problem(entry: Dict, consumer: Dict, scoped: bool, taken: Dict, found: list[Dict] | None) -> Problem | None:
    """The first thing that is wrong.

    Args:
        entry: ``{request, service, seed, scope, ...}``. consumer: the MariaDBConsumer. scoped: its environment isn't
            needed.
        taken: ``{services, secrets}``, names that others use in the namespace. found: the DatabaseMySQLProvider
            objects, None where they can't be read.
    Returns:
        Reason and sentence, without any value of the MariaDBConsumer; None where nothing is wrong.
    """
    shape = migration_fields.misshapen(consumer, scoped)
    if shape:
        return "ScopeInvalid" if shape.startswith("spec.environment") else "SeedSecretInvalid", shape
    try:
        seed = seed_secret.parse(migration_fields.seed_data(consumer))
    except seed_secret.SeedKeyError as error:
        what = "is empty or missing" if error.problem == "is empty" else error.problem
        return "SeedSecretInvalid", f"{migration_fields.path(error.key)} {what}."
    return _names(entry, taken) or _provider(entry, seed, found)


def _names(entry: Dict, taken: Dict) -> Problem | None:
    for what in ("request", "service"):
        if not migration_names.SERVICE_NAME.fullmatch(entry[what]):
            return "NameInvalid", f"The {what}'s name isn't one that a Service may have. Set dbaas_migration_{what}s."
    if not names.LABEL.fullmatch(entry["scope"]):
        return "ScopeInvalid", "spec.environment names no scope. Set dbaas_migration_scope or dbaas_migration_scopes."
    if entry["service"] in taken["services"]:
        return "NameConflict", f"A Service {entry['service']} exists. Set another name by dbaas_migration_services."
    for secret in (entry["request"], entry["seed"]):
        if secret in taken["secrets"]:
            return "NameConflict", f"A Secret {secret} exists. Set another name by dbaas_migration_requests."
    return None


def _provider(entry: Dict, seed: Dict, found: list[Dict] | None) -> Problem | None:
    if found is None:
        return None
    usable = [c for c in providers.connections(found, entry["scope"], None) if c["enabled"]]
    if not usable:
        return "ProviderMissing", f"No DatabaseMySQLProvider has an enabled connection of the scope {entry['scope']}."
    connection, is_replica = providers.match(usable, seed["hostname"], seed["port"])
    if connection is None:
        replica = " It is a replica's." if is_replica else ""
        return "SeedNoMatchingProvider", f"No connection of the scope {entry['scope']} has this host and port.{replica}"
    if names.is_reserved(seed["database"], seed["username"], connection["username"]):
        return "SeedReservedName", "Its database or username is reserved for the server or an operator."
    return None
