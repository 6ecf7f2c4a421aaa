"""Names and passwords with any character: text stays text, and reaches the server byte for byte."""

from collections.abc import Iterator
from pathlib import Path

import pymysql
import pytest

from dev.mariadb import MariaDB
from dev.operator import Operator
from dev.sandbox import Sandbox
from tests.integration.e2ehelpers import ROWS, Account, Request, World, opened, quoted, token
from tests.sampling import some

pytestmark = pytest.mark.e2e

# What a template engine would run or change; %PLACE% is a file that must not come into being.
PIPE = "{{ lookup('pipe', 'touch %PLACE%') }}"

# id: (start of the database's name, start of the account's name, password)
EVERY: dict[str, tuple[str, str, str]] = {
    "N2-dash": ("ak-test-", "ak-test-user-", "^!#}p@ss:/w?d"),
    "N3-quotes": ("a`b'c\"d", "o'brien`\"", "a'b\"c`d"),
    "N3-backslash": ("a\\b", "c\\d", "a'; DROP USER x; -- \\"),
    "N3-percent": ("pct%s %(x)s", "u%d", "100%s %d %%"),
    "N3-dots": ("a.b/c:d e", "u.v/w:x y@z", " ü€😀 "),
    "N8-error-number": ("(1049, 'x')", '(2003, "y")', "1045"),
    "P1-long": ("long", "long", "x" * 255),
    "P1-one": ("one", "one", "1"),
    "P1-list": ("['a', 1]", "[1, 2]", "[1, 2]"),
    "P1-true": ("true", "none", "True"),
    "P1-shell": ("shell", "shell", "$HOME $(id) `id`"),
    "P2-expression": ("{{ 7*7 }}", "{{ 7*7 }}", "{{ 7*7 }}"),
    "P2-block": ("{% raw %}", "{# x #}", "{% raw %}"),
    "P2-pipe": ("pipe", "pipe", PIPE),
    "P2-mark": ("{pattern}{database}", "{privileges}", "{message}"),
}
TEXTS = {name: EVERY[name] for name in some("texts", list(EVERY), 4)}
# These are taken over, the others created.
ADOPTED = ("N3-quotes", "N3-percent", "P1-one", "P2-expression", "P2-pipe", "P1-list")


@pytest.fixture(scope="module")
def world(sandbox: Sandbox, _operator: Operator, provider: str) -> Iterator[World]:
    with opened(sandbox, _operator) as world:
        yield world


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that exists only if somebody ran a template."""
    return tmp_path_factory.mktemp("text") / "pwned"


@pytest.fixture(scope="module")
def batch(world: World, place: Path) -> dict[str, tuple[Request, Account]]:
    namespace = world.namespace()
    made = {}
    annotations = {"example.com/note": PIPE.replace("%PLACE%", str(place)), "example.com/open": "{% raw %}"}
    for name, (database, username, password) in TEXTS.items():
        unique = token()
        make = world.older if name in ADOPTED else world.imagined
        password = password.replace("%PLACE%", str(place))
        account = make(world.one, f"{database}{unique}", f"{username}{unique}", password)
        world.secret(namespace, f"{name.lower()}-seed", account.seed())
        request = world.request(namespace, name.lower(), annotations, seed=f"{name.lower()}-seed")
        made[name] = (request, account)
    return made


@pytest.mark.parametrize("name", TEXTS)
def test_text_stays_text(batch: dict[str, tuple[Request, Account]], place: Path, name: str) -> None:
    """The published Secret has the seed's bytes and logs in with them."""
    request, account = batch[name]
    assert request.settle() == ("SeedAdopted" if name in ADOPTED else "SeedCreated")
    values = request.values()
    assert (values["DATABASE"], values["USERNAME"]) == (account.database, account.username)
    assert (values["PASSWORD"] == account.password) is True
    assert request.ask("SELECT DATABASE()") == account.database
    assert request.ask("SELECT CURRENT_USER()") == f"{account.username}@%"
    if name in ADOPTED:
        assert request.ask("SELECT COUNT(*) FROM t") == ROWS
    assert not place.exists()


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in ADOPTED])
def test_deletion_drops_exactly_its_own(batch: dict[str, tuple[Request, Account]], name: str) -> None:
    request, account = batch[name]
    request.settle()
    request.delete()
    assert account.exists() == (False, False)


@pytest.mark.parametrize(
    ("key", "value"),
    [("hostname", "{{ lookup('pipe', 'true') }}"), ("port", "{{ 3306 }}")],
)
def test_P2_keys_that_are_no_names(world: World, place: Path, key: str, value: str) -> None:
    account = world.imagined(world.one)
    request = world.seeded(world.namespace(), "refused", account.seed(**{key: value}))
    assert request.settle() == "SeedSecretInvalid"
    assert f"the key {key} " in request.condition("Ready")["message"]
    assert not place.exists()


@pytest.mark.long
def test_N1_grant_fits_one_database_only(world: World) -> None:
    """``team_a`` doesn't open ``teamXa``."""
    unique = token()
    other = world.older(world.one, database=f"teamX{unique}")
    account = world.imagined(world.one, database=f"team_{unique}")
    request = world.seeded(world.namespace(), "team", account.seed())
    assert request.settle() == "SeedCreated"
    with pytest.raises(pymysql.err.OperationalError) as refused:
        request.ask(f"SELECT COUNT(*) FROM {quoted(other.database)}.t")
    assert refused.value.args[0] in (1044, 1142)
    seen = world.one.query("SELECT Db FROM mysql.db WHERE User = %s", [account.username])
    assert [row["Db"] for row in seen] == [f"team\\_{unique}"]


@pytest.fixture(scope="module")
def strict(world: World) -> tuple[MariaDB, str]:
    """A server where backslashes and double quotes mean other things, with a scope of its own."""
    server = MariaDB.new("modes", {"sql-mode": "ANSI,NO_BACKSLASH_ESCAPES"})
    server.start()
    world.cleanup.insert(0, server.remove)
    scope = f"modes-{token()}"
    world.provider(scope, server)
    world.wait_provider(scope)
    return server, scope


@pytest.mark.long
def test_N6_other_sql_modes(world: World, strict: tuple[MariaDB, str]) -> None:
    server, scope = strict
    namespace = world.namespace()
    account = world.imagined(server, database=f"a\\b_{token()}", password="a\\b'c\"d")
    plain = world.request(namespace, "plain", scope=scope)
    seeded = world.seeded(namespace, "seeded", account.seed(), scope=scope)
    assert (plain.settle(), seeded.settle()) == ("DatabaseCreated", "SeedCreated")
    for request in (plain, seeded):
        assert request.ask("SELECT @@sql_mode LIKE '%NO_BACKSLASH%'") == 1
    made = plain.account(server)
    for request, owned in ((plain, made), (seeded, account)):
        request.delete()
        assert owned.exists() == (False, False)
