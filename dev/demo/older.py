"""What the older operator (MariaDBConsumer) left on the servers, and what else a case needs beforehand."""

import secrets

import pymysql

from dev.demo import cases, names
from dev.demo.cases import Case
from dev.mariadb import MariaDB

#: What the older operator granted: eighteen rights by name, on the database's name as it is, unescaped.
RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, REFERENCES, INDEX, ALTER, CREATE TEMPORARY TABLES, "
    "LOCK TABLES, EXECUTE, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EVENT, TRIGGER"
)
POLICY_PLUGIN = "simple_password_check"


def password() -> str:
    """Make up a password that a usual policy takes and that is awkward to quote.

    Returns:
        The password.
    """
    return f"Aa1'\"\\%€-{secrets.token_urlsafe(12)}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def make_database(server: MariaDB, database: str) -> None:
    """Make a database with its table of 1,000 rows.

    Args:
        server: where.
        database: its name.
    """
    server.query(f"CREATE DATABASE {_quoted(database)} CHARACTER SET utf8mb4")
    server.query(f"CREATE TABLE {names.TABLE} (id INT PRIMARY KEY, title VARCHAR(80))", database=database)
    server.query(
        f"INSERT INTO {names.TABLE} SELECT seq, CONCAT('page ', seq) FROM seq_1_to_{names.ROWS}",
        database=database,
    )


def make_account(server: MariaDB, username: str, word: str) -> None:
    """Make an account that may log in from anywhere.

    Args:
        server: where.
        username: its name; empty for the anonymous one.
        word: its password.
    """
    server.query("CREATE USER %s@'%%' IDENTIFIED BY %s", [username, word])


def grant(server: MariaDB, username: str, database: str, rights: str = RIGHTS) -> None:
    """Grant an account rights on a database, its name unescaped.

    Args:
        server: where.
        username: the account's name.
        database: the database's name, which is a pattern here.
        rights: which ones.
    """
    target = _quoted(database).replace("%", "%%")
    server.query(f"GRANT {rights} ON {target}.* TO %s@'%%'", [username])


def _has_database(server: MariaDB, database: str) -> bool:
    return bool(server.query("SELECT 1 FROM information_schema.schemata WHERE schema_name = %s", [database]))


def set_policy(server: MariaDB) -> bool:
    """Make a server refuse weak passwords.

    Args:
        server: which one.

    Returns:
        Whether it has the plugin for that.
    """
    try:
        server.query(f"INSTALL SONAME '{POLICY_PLUGIN}'")
    except pymysql.err.MySQLError:
        return False
    return True


def prepare(server: MariaDB, case: Case, word: str) -> bool:
    """Make what a case needs on its server.

    Args:
        server: the case's.
        case: the case.
        word: the password of its account.

    Returns:
        Whether the server can do it; else the case has to be left out.
    """
    left = case.left
    if cases.POLICY in left and not set_policy(server):
        return False
    if cases.DATABASE in left and not _has_database(server, case.database_name):
        make_database(server, case.database_name)
    if cases.ACCOUNT in left:
        make_account(server, case.user_name, word)
    if cases.RIGHTS in left:
        grant(server, case.user_name, case.database_name)
    if cases.READING in left:
        grant(server, case.user_name, case.database_name, "SELECT")
    if cases.ANONYMOUS in left:
        make_account(server, "", word)
    if cases.NEIGHBOUR in left:
        # As a name it is the neighbour's own; as a pattern, which it is in a grant, it fits the case's too.
        neighbour = case.database_name[:-1] + "_"
        make_database(server, neighbour)
        make_account(server, f"{names.PREFIX}neighbour", password())
        grant(server, f"{names.PREFIX}neighbour", neighbour)
    return True


def mend(server: MariaDB) -> None:
    """Take away what would get in the way of others: the anonymous account and the password policy.

    Args:
        server: which one.
    """
    server.query("DROP USER IF EXISTS ''@'%'")
    if server.query("SELECT 1 FROM information_schema.plugins WHERE plugin_name = %s", [POLICY_PLUGIN]):
        server.query(f"UNINSTALL SONAME '{POLICY_PLUGIN}'")
