"""Servers and ways to them that aren't as they should be: the seed isn't blamed, nothing is written by mistake."""
# names of tests hold the ids of cases

from pathlib import Path

import pytest
import yaml
from ansible_collections.lagoon.dbaas.plugins.module_utils import sql
from kubernetes.client.exceptions import ApiException

from dev import objects
from dev.certificates import ensure_authority, ensure_server
from dev.mariadb import ADMIN_RIGHTS, MariaDB
from dev.sandbox import NAMESPACE
from tests.cases.world import DONE, REFUSED, WAITS, Cases, Place, execute
from tests.integration.e2ehelpers import API, MERGE, OLDER_RIGHTS, Json, Log, Request, token

OWN_SLICE = "discovery.k8s.io/v1"


def secure(world: Cases, name: str, hosts: tuple[str, ...], demanded: bool = True) -> tuple[Place, Path]:
    """A server with a certificate.

    Args:
        world: where.
        name: what it is called.
        hosts: that the certificate is valid for.
        demanded: whether it demands TLS.

    Returns:
        The server, and its authority's certificate.
    """
    folder = world.runner.folder.parent / f"{world.runner.folder.name}-{name}"
    with world.alone(f"certificates of {name}"):
        authority = ensure_authority(folder)
        certificate, key = ensure_server(folder, "server", hosts)
    options = {"ssl-ca": str(authority), "ssl-cert": str(certificate), "ssl-key": str(key)}
    wanted = {"require-secure-transport": "ON"} if demanded else {}
    return world.place(name, {**options, **wanted}), authority


def by_mode(world: Cases, place: Place, mode: str, authority: Path | None = None) -> Place:
    """Another way to a server: with this TLS mode and this authority."""
    tls: Json = {"mode": mode}
    if mode.startswith("verify-"):
        assert authority is not None
        secret = f"ca-{token()}"
        world.secret(NAMESPACE, secret, {"ca.crt": authority.read_text(encoding="ascii")})
        world.cleanup.append(lambda: objects.delete(world.api, "v1", "Secret", secret, NAMESPACE))
        tls["caSecretRef"] = {"name": secret, "namespace": NAMESPACE, "key": "ca.crt"}
    return world.another(place, tls=tls)


def demanding(world: Cases, place: Place, demand: str = "SSL") -> dict[str, str | bytes]:
    """A seed of an account that demands TLS itself."""
    account = world.older(place.server)
    execute(place.server, f"ALTER USER %s@'%%' REQUIRE {demand}", account.username)
    return account.seed()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("mode", "demand"),
    [
        *(("preferred", demand) for demand in ("SSL", "NONE")),
        ("required", "NONE"),
        *((mode, "SSL") for mode in ("verify-ca", "verify-identity")),
    ],
)
def test_S1_tls_that_works(world: Cases, mode: str, demand: str) -> None:
    """The server demands TLS, the seed's account does too or not: it is probed as the admin is."""
    place, authority = secure(world, "tls", ("localhost",))
    there = by_mode(world, place, mode, authority)
    request = world.ask(there, demanding(world, place, demand))
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["verify-ca", "verify-identity"])
def test_S1_wrong_authority(world: Cases, mode: str) -> None:
    place, _ = secure(world, "tls", ("localhost",))
    other = ensure_authority(world.runner.folder.parent / f"another-{mode}", "another")
    there = by_mode(world, place, mode, other)
    account, log = world.older(place.server), Log(place.server)
    world.waits(world.ask(there, account.seed()), "ProviderError")
    assert "TLS must be mended" in world.provider_run(there.scope)
    assert log.logins(account.username) == 0


def test_S1_wrong_host_name(world: Cases) -> None:
    place, authority = secure(world, "othername", ("other.example.com",))
    seed = demanding(world, place)
    world.waits(world.ask(by_mode(world, place, "verify-identity", authority), seed), "ProviderError")
    request = world.ask(by_mode(world, place, "verify-ca", authority), seed)
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["required", "verify-ca"])
def test_S1_server_without_tls(world: Cases, mode: str) -> None:
    place = world.place("notls", {"skip-ssl": None})
    authority = ensure_authority(world.runner.folder.parent / f"unused-{mode}", "unused")
    account = world.older(place.server)
    world.waits(world.ask(by_mode(world, place, mode, authority), account.seed()), "ProviderError")


@pytest.mark.sample(1)
@pytest.mark.parametrize("demand", ["SSL", "X509"])
def test_S1_account_that_demands_what_the_way_lacks(world: Cases, demand: str) -> None:
    """The login is refused, and that isn't the seed's fault."""
    place = world.place("notls", {"skip-ssl": None})
    world.waits(world.ask(place, demanding(world, place, demand)), "ProviderError")


def test_S1_replaced_certificate_goes_on_by_itself(world: Cases) -> None:
    """A request that waited for a right certificate goes on once the provider has the right authority."""
    place, authority = secure(world, "tls", ("localhost",))
    other = ensure_authority(world.runner.folder.parent / "mended", "mended")
    there = by_mode(world, place, "verify-identity", other)
    request = world.ask(there, world.older(place.server).seed())
    world.waits(request, "ProviderError")
    found = objects.get(world.api, API, "DatabaseMySQLProvider", there.scope) or {}
    [connection] = found["spec"]["connections"]
    name = connection["tls"]["caSecretRef"]["name"]
    world.secret(NAMESPACE, name, {"ca.crt": authority.read_text(encoding="ascii")})
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


@pytest.mark.sample(1)
@pytest.mark.parametrize("may_override", [False, True], ids=["bound-admin", "admin-that-may-override"])
def test_S2_read_only_server(world: Cases, may_override: bool) -> None:
    """All wait and nothing is written, a Ready one stays Ready; after promotion all go on by themselves."""
    usual = world.place(f"readonly-{int(may_override)}")
    server = usual.server
    rights = "ALL PRIVILEGES" if may_override else ADMIN_RIGHTS
    place = world.another(usual, *world.admin(server, "another", rights))
    older, imagined = world.older(server), world.imagined(server)
    done, leaving = world.ask(place), world.ask(place)
    for request in (done, leaving):
        assert world.reconcile(request) == f"DatabaseCreated {DONE}", request.told()
    gone = leaving.account(server)
    waiting = {
        "SeedAdopted": world.ask(place, older.seed()),
        "SeedCreated": world.ask(place, imagined.seed()),
        "DatabaseCreated": world.ask(place),
    }
    server.query("SET GLOBAL read_only = 1")
    log = Log(server)
    for request in waiting.values():
        world.waits(request, "ServerReadOnly")
        assert "observedDatabaseConnectionReference" not in (request.read() or {})["status"]
    world.steady(done)
    world.mark(leaving)
    assert not world.finalize(leaving)
    assert leaving.condition("Ready")["reason"] == "DropPending"
    markers = (older.database, imagined.database, gone.database, *(r.uid for r in waiting.values()), done.uid)
    assert log.changes(*markers) == []
    assert gone.exists() == (True, True)
    assert imagined.exists() == (False, False)
    server.query("SET GLOBAL read_only = 0")
    for reason, request in waiting.items():
        assert world.reconcile(request) == f"{reason} {DONE}", request.told()
    assert world.finalize(leaving)
    assert gone.exists() == (False, False)


def test_S3_spellings_of_one_host(world: Cases) -> None:
    place = world.place()
    request = world.ask(place, world.older(place.server).seed(hostname="LOCALHOST."))
    assert world.reconcile(request) == f"SeedAdopted {DONE}", request.told()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "hostname",
    ["db_eu.example.com", "localhost:3306", "h." * 126 + "hh", "", "localhost..", " localhost", "[::1]"],
)
def test_S3_what_is_no_host(world: Cases, hostname: str) -> None:
    place = world.place()
    account, log = world.imagined(place.server), Log(place.server)
    world.refused(world.ask(place, account.seed(hostname=hostname)), "SeedSecretInvalid", "the key hostname ")
    assert log.logins(account.username) == 0
    assert account.exists() == (False, False)


@pytest.mark.sample(1)
@pytest.mark.parametrize("address", ["192.0.2.5", "127.0.0.1"])
def test_S3_hosts_of_no_provider(world: Cases, address: str) -> None:
    """No connection is made to what only a seed names."""
    place = world.place()
    world.refused(world.ask(place, world.imagined(place.server).seed(hostname=address)), "SeedNoMatchingProvider")


PUBLISH = [
    {
        "name": "Publish a request's database at a given address",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "tasks": [
            {
                "name": "Read what is published",
                "ansible.builtin.include_role": {"name": "dbaas_request", "tasks_from": "read.yml"},
            },
            {
                "name": "Say where the database is",
                "ansible.builtin.set_fact": {
                    "__dbaas_request_connection": "{{ given_connection }}",
                    "__dbaas_request_row": "{{ given_row }}",
                    "__dbaas_request_login": "{{ given_login }}",
                },
            },
            {
                "name": "Publish",
                "ansible.builtin.include_role": {"name": "dbaas_request", "tasks_from": "publish.yml"},
            },
            {
                "name": "Demand that it went well",
                "ansible.builtin.assert": {"that": ["__dbaas_request_outcome == {}"], "quiet": True},
            },
        ],
    }
]


def publish(world: Cases, request: Request, hostname: str) -> list[Json | None]:
    """Run the publishing tasks, and read what is there then.

    Args:
        world: where.
        request: whose.
        hostname: of the connection.

    Returns:
        Service, Secret and EndpointSlice.
    """
    file = world.runner.folder / "publish.yml"
    file.write_text(yaml.safe_dump(PUBLISH, sort_keys=False), encoding="utf-8")
    variables = {
        "ansible_operator_meta": {"name": request.name, "namespace": request.namespace},
        "dbaas_request_name": request.name,
        "dbaas_request_namespace": request.namespace,
        "given_connection": {"name": "it", "hostname": hostname, "port": 3307, "replicas": []},
        "given_row": {"database": "db", "username": "user"},
        "given_login": {"source": "seed", "password": "password-of-nobody", "config_file": ""},
    }
    world.runner.run(file, variables).check()
    service = objects.get(world.api, "v1", "Service", f"{request.name}-db", request.namespace)
    endpoints = objects.get(world.api, OWN_SLICE, "EndpointSlice", f"{request.name}-db", request.namespace)
    return [service, request.secret(), endpoints]


def versions(documents: list[Json | None]) -> list[str]:
    return [d["metadata"]["resourceVersion"] if d else "-" for d in documents]


def test_S4_addresses_and_names(world: Cases) -> None:
    """Name, IPv4, IPv6, name: the Service follows in place, the slice comes, is replaced, and goes."""
    request = world.ask(world.place(), name_of_request=f"s4-{token()}")
    service, secret, endpoints = publish(world, request, "db.example.com")
    assert service and secret and endpoints is None
    assert service["spec"]["externalName"] == "db.example.com"
    identity = service["metadata"]["uid"], secret["metadata"]["uid"]
    for address, kind in (("192.0.2.5", "IPv4"), ("fd00::5", "IPv6"), ("192.0.2.6", "IPv4")):
        seen = publish(world, request, address)
        service, secret, endpoints = seen
        assert service and secret and endpoints
        assert (service["metadata"]["uid"], secret["metadata"]["uid"]) == identity
        assert service["spec"]["type"] == "ClusterIP"
        assert not {"externalName", "selector"} & set(service["spec"])
        [port] = service["spec"]["ports"]
        assert (port["port"], port["targetPort"]) == (3307, 3307)
        assert endpoints["addressType"] == kind
        assert [e["addresses"] for e in endpoints["endpoints"]] == [[address]]
        [port_of_slice] = endpoints["ports"]
        assert (port_of_slice["name"], port_of_slice["port"]) == (port["name"], 3307)
        assert endpoints["metadata"]["labels"]["kubernetes.io/service-name"] == service["metadata"]["name"]
        [owner] = endpoints["metadata"]["ownerReferences"]
        assert owner["uid"] == request.uid
        if address == "192.0.2.5":
            assert versions(publish(world, request, address)) == versions(seen), "a second pass wrote something"
    service, secret, endpoints = publish(world, request, "db.example.com")
    assert service and secret and endpoints is None
    assert (service["metadata"]["uid"], secret["metadata"]["uid"]) == identity
    assert (service["spec"]["type"], service["spec"]["externalName"]) == ("ExternalName", "db.example.com")
    assert not service["spec"].get("clusterIP")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "hostname",
    ["127.0.0.1", "127.1", "::1", "169.254.1.1", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "::ffff:127.0.0.1"],
)
def test_S4_addresses_that_no_provider_may_have(world: Cases, hostname: str) -> None:
    place = world.place()
    with pytest.raises(ApiException) as refused:
        world.another(place, hostname=hostname)
    assert refused.value.status == 422


BLIND = ADMIN_RIGHTS.replace("SELECT, ", "")
TABLES = ("user", "global_priv", "db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv", "roles_mapping")


def blind(world: Cases, server: MariaDB, rights: str, readable: list[str], option: str) -> tuple[str, str]:
    """An admin account that may read only these of the server's own tables."""
    username, password = world.admin(server, f"blind-{token()}", rights, option=option)
    for what in readable:
        execute(server, f"GRANT SELECT ON mysql.{what} TO %s@'%%'", username)
    execute(server, f"GRANT SELECT, INSERT, UPDATE, DELETE ON {sql.LEDGER}.* TO %s@'%%'", username)
    return username, password


def log_in_as(world: Cases, place: Place, username: str, password: str) -> None:
    """Give a provider another admin account."""
    path = objects.path_of(API, "DatabaseMySQLProvider", place.scope)
    [connection] = (objects.get(world.api, API, "DatabaseMySQLProvider", place.scope) or {})["spec"]["connections"]
    world.secret(NAMESPACE, place.scope, {"password": password})
    objects.call(world.api, "PATCH", path, {"spec": {"connections": [{**connection, "username": username}]}}, MERGE)


@pytest.mark.sample(1)
@pytest.mark.parametrize("table", ["user", "db"])
def test_S5_admin_that_may_not_read_a_table(world: Cases, table: str) -> None:
    """What it doesn't see isn't absent: no verdict on a seed, no repair, no drop."""
    usual = world.place()
    server, place = usual.server, world.another(usual)
    account, ready = world.older(server), world.ask(place)
    assert world.reconcile(ready) == f"DatabaseCreated {DONE}", ready.told()
    owned, password = ready.account(server), ready.values()["PASSWORD"]
    readable = [other for other in TABLES if other != table]
    log_in_as(world, place, *blind(world, server, BLIND, readable, "WITH GRANT OPTION"))
    seeded = world.ask(place, account.seed())
    for request in (seeded, ready):
        world.waits(request, "ProviderError", "error 1142")
    world.mark(ready)
    assert not world.finalize(ready)
    assert ready.condition("Ready")["reason"] == "DropPending"
    assert owned.exists() == (True, True)

    log_in_as(world, place, server.admin_user, server.admin_password)
    assert (ready.values()["PASSWORD"] == password) is True
    assert world.reconcile(seeded) == f"SeedAdopted {DONE}", seeded.told()
    assert world.finalize(ready)
    assert owned.exists() == (False, False)


def test_S5_admin_that_does_not_see_global_rights(world: Cases) -> None:
    """It reads each table, but not the whole schema: the rights that an account has everywhere are hidden from it."""
    usual = world.place()
    grants = (f"{OLDER_RIGHTS} ON {{database}}.*", "SELECT ON *.*")
    account = world.older(usual.server, grants=grants)
    admin = blind(world, usual.server, BLIND, list(TABLES), "WITH GRANT OPTION")
    request = world.ask(world.another(usual, *admin), account.seed())
    assert world.reconcile(request) in (f"ProviderError {WAITS}", f"SeedAccountUnfit {REFUSED}"), request.told()


def test_S5_admin_that_does_not_see_databases(world: Cases) -> None:
    """It has no right on any database of others: none of them is missing for that."""
    usual = world.place()
    server, place = usual.server, world.another(usual)
    account, ready = world.older(server), world.ask(place)
    assert world.reconcile(ready) == f"DatabaseCreated {DONE}", ready.told()
    owned = ready.account(server)
    log_in_as(world, place, *blind(world, server, "CREATE USER", ["*"], ""))
    seeded = world.ask(place, account.seed())
    states = [world.reconcile(request) for request in (seeded, ready)]
    assert states == [f"ProviderError {WAITS}"] * 2
    world.mark(ready)
    assert not world.finalize(ready)
    assert owned.exists() == (True, True)
    assert len(ready.rows_in_ledger(server)) == 1


def test_no_password_anywhere(finished: Cases) -> None:
    """After all of this module: what the runs printed, and what they left in their folders."""
    assert finished.runner.leaks() == []


def test_only_known_statements(finished: Cases) -> None:
    """After all of this module: what the admin accounts sent to its servers."""
    assert finished.unknown_statements() == set()
