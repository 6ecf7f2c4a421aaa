# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""All SQL of the operator: how names are quoted, and every statement form it sends.

Values travel as driver arguments (``%(name)s``), never in the text. Identifiers can't be arguments;
they are put into the text by :func:`identifier` and :func:`grant_pattern` alone. The forms are correct
under the sql_modes default, ANSI and NO_BACKSLASH_ESCAPES, on MariaDB and on MySQL 8.
"""

from __future__ import annotations

import re

#: The operator's own schema on each server.
LEDGER = "dbaas_operator"
#: The version of the ledger that this operator writes. Changes are additive only.
LEDGER_VERSION = 1

#: What an account gets on its database: by name, never ALL. What ALL means differs between versions,
#: and an admin can't grant what it lacks.
#: Beside each stands its column of ``mysql.db``.
DATABASE_PRIVILEGES = {
    "SELECT": "Select_priv",
    "INSERT": "Insert_priv",
    "UPDATE": "Update_priv",
    "DELETE": "Delete_priv",
    "CREATE": "Create_priv",
    "DROP": "Drop_priv",
    "REFERENCES": "References_priv",
    "INDEX": "Index_priv",
    "ALTER": "Alter_priv",
    "CREATE TEMPORARY TABLES": "Create_tmp_table_priv",
    "LOCK TABLES": "Lock_tables_priv",
    "EXECUTE": "Execute_priv",
    "CREATE VIEW": "Create_view_priv",
    "SHOW VIEW": "Show_view_priv",
    "CREATE ROUTINE": "Create_routine_priv",
    "ALTER ROUTINE": "Alter_routine_priv",
    "EVENT": "Event_priv",
    "TRIGGER": "Trigger_priv",
}


def identifier(name: str) -> str:
    """Quote *name* as an SQL identifier, for a statement that is sent with arguments.

    Args:
        name: any text without NUL; the server itself judges its length and characters.
    Returns:
        The name in backticks; backticks doubled (valid in every sql_mode), ``%`` doubled for the driver.
    Raises:
        ValueError: the name holds a NUL, which no identifier can.
    """
    if "\0" in name:
        raise ValueError("an identifier can't hold a NUL character")
    return "`" + name.replace("`", "``").replace("%", "%%") + "`"


def escape_pattern(name: str) -> str:
    r"""Escape a database name for a grant, where ``_`` and ``%`` are wildcards and ``\`` escapes.

    Args:
        name: the database's name.
    Returns:
        The pattern that matches this name only (``team_a`` -> ``team\_a``).
    """
    return re.sub(r"([\\_%])", r"\\\1", name)


def unescape_pattern(pattern: str) -> str:
    r"""The name that a grant's pattern spells, its escapes taken away (``team\_a`` -> ``team_a``).

    Args:
        pattern: the ``Db`` column of ``mysql.db``.
    Returns:
        The text without the escaping backslashes; wildcards that are not escaped stay as they are.
    """
    return re.sub(r"\\([\\_%])", r"\1", pattern)


def grant_pattern(name: str) -> str:
    """The database name as it stands in GRANT and REVOKE: escaped, then quoted.

    Args:
        name: the database's name.
    Returns:
        An identifier in backticks for a statement that is sent with arguments.
    """
    return identifier(escape_pattern(name))


# A condition that doesn't hold makes the subquery return two rows: error 1242. So a guard stops the list
# of statements that it stands in, in plain SQL, before the next statement is sent.
_STOP = "(SELECT 1 UNION SELECT 2)"
_LOCK = f"SELECT IF(GET_LOCK(CONCAT('{LEDGER}.', SHA1(%(database)s)), 3) = 1, 1, {_STOP}) AS locked"
#: The guard that a read-only server stops at.
WRITABLE = f"SELECT IF(@@global.read_only = 0, 1, {_STOP}) AS writable"
_MINE = "cluster = %(cluster)s AND request_uid = %(request_uid)s"
_ROW = f"database_name = %(database)s AND {_MINE}"
# The request's rows, or those of a request of the same namespace and name (a restored backup).
_OWN_ROWS = "(o.cluster = %(cluster)s AND (o.request_uid = %(request_uid)s OR (o.namespace = %(namespace)s AND o.request = %(request)s)))"  # noqa: E501
_OWN_ACCOUNTS = (
    f"SELECT a.user, a.host FROM {LEDGER}.account a JOIN {LEDGER}.ownership o"
    f" ON o.database_name = a.database_name WHERE {_OWN_ROWS}"
)
# lower_case_table_names: the server folds database names itself, so the name is folded before it is compared.
_FOLDED = "IF(@@lower_case_table_names = 0, %(database)s, LOWER(%(database)s))"
# MariaDB skips /*!80000 */, MySQL skips /*M! */: the one place where the dialects differ.
_ROLES = (
    "/*M! SELECT User, Host, '' AS Db FROM mysql.roles_mapping */"
    "/*!80000 SELECT TO_USER AS User, TO_HOST AS Host, '' AS Db FROM mysql.role_edges */"
)
_OTHER_GRANTS = (
    "SELECT User AS user, Host AS host, Db AS pattern FROM ("
    "SELECT User, Host, Db FROM mysql.tables_priv UNION ALL "
    "SELECT User, Host, Db FROM mysql.columns_priv UNION ALL "
    "SELECT User, Host, Db FROM mysql.procs_priv UNION ALL "
    f"SELECT User, Host, '' AS Db FROM mysql.proxies_priv UNION ALL {_ROLES}) g"
)
# information_schema shows an admin without SELECT on *.* less than there is, without an error: databases and global
# rights of others would be missing. So each answer says whether the admin has it.
_OWN_HOST = "SUBSTRING_INDEX(CURRENT_USER(), '@', -1)"
_ADMIN_SEES = (
    "(SELECT COUNT(*) FROM information_schema.user_privileges WHERE privilege_type = 'SELECT' AND grantee ="
    " CONCAT('''', LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH("
    f"{_OWN_HOST}) - 1), '''@''', {_OWN_HOST}, '''')) AS admin_sees"
)
_GRANTEES = "SELECT CONCAT('''', User, '''@''', Host, '''') FROM mysql.user WHERE "

#: name -> the statements of one connection, in order. ``{database}``, ``{pattern}`` and ``{privileges}`` are
#: filled in by :func:`statements`; all else is constant.
STATEMENTS: dict[str, tuple[str, ...]] = {
    # A connection's state and this request's rows with what the server has of them. Keys: SURVEY.
    "survey": (
        "SELECT @@global.read_only AS read_only, @@version AS version, @@lower_case_table_names AS folds,"
        f" {_ADMIN_SEES}, (SELECT COUNT(*) FROM information_schema.schemata) AS databases_count",
        f"SELECT MAX(version) AS version FROM {LEDGER}.meta",
        "SELECT CONVERT(o.database_name USING utf8mb4) AS database_name, o.origin, o.state, o.fence,"
        " TIMESTAMPDIFF(SECOND, o.ready_at, UTC_TIMESTAMP()) AS ready_seconds,"
        " CAST(o.created_at AS CHAR) AS created_at,"
        " CONVERT(o.namespace USING utf8mb4) AS namespace, CONVERT(o.request USING utf8mb4) AS request,"
        " CONVERT(o.request_uid USING utf8mb4) AS request_uid"
        f" FROM {LEDGER}.ownership o WHERE {_OWN_ROWS}",
        "SELECT CONVERT(a.user USING utf8mb4) AS user, CONVERT(a.host USING utf8mb4) AS host,"
        " CONVERT(a.database_name USING utf8mb4) AS database_name, a.origin, a.purpose"
        f" FROM {LEDGER}.account a JOIN {LEDGER}.ownership o ON o.database_name = a.database_name"
        f" WHERE {_OWN_ROWS}",
        "SELECT s.schema_name AS name FROM information_schema.schemata s JOIN"
        f" {LEDGER}.ownership o ON CAST(s.schema_name AS BINARY) = o.database_name WHERE {_OWN_ROWS}",
        "SELECT u.User AS user, u.Host AS host FROM mysql.user u JOIN"
        f" ({_OWN_ACCOUNTS}) a ON CAST(u.User AS BINARY) = a.user AND CAST(u.Host AS BINARY) = a.host",
        f"SELECT d.* FROM mysql.db d JOIN ({_OWN_ACCOUNTS}) a"
        " ON CAST(d.User AS BINARY) = a.user AND CAST(d.Host AS BINARY) = a.host",
        f"SELECT g.user, g.host, g.pattern FROM ({_OTHER_GRANTS}) g JOIN ({_OWN_ACCOUNTS}) a"
        " ON CAST(g.user AS BINARY) = a.user AND CAST(g.host AS BINARY) = a.host",
        "SELECT p.grantee FROM information_schema.user_privileges p WHERE p.privilege_type <> 'USAGE'"
        " AND p.grantee IN (SELECT CONCAT('''', CONVERT(a.user USING utf8mb4), '''@''',"
        f" CONVERT(a.host USING utf8mb4), '''') FROM ({_OWN_ACCOUNTS}) a)",
    ),
    # What the server has of a database name and an account name. Keys: FACTS.
    "facts": (
        f"SELECT {_FOLDED} AS database_name, {_ADMIN_SEES},"
        " (SELECT character_maximum_length FROM information_schema.columns WHERE table_schema = 'mysql'"
        " AND table_name = 'user' AND column_name = 'User') AS user_length,"
        " (SELECT character_maximum_length FROM information_schema.columns WHERE table_schema = 'mysql'"
        " AND table_name = 'db' AND column_name = 'Db') AS pattern_length",
        "SHOW SESSION STATUS LIKE 'Ssl_cipher'",
        "SELECT schema_name AS name FROM information_schema.schemata"
        f" WHERE CAST(schema_name AS BINARY) = CAST({_FOLDED} AS BINARY)",
        "SELECT User AS user, Host AS host, ssl_type FROM mysql.user WHERE User = %(username)s",
        "SELECT CONVERT(o.cluster USING utf8mb4) AS cluster,"
        " CONVERT(o.request_uid USING utf8mb4) AS request_uid"
        f" FROM {LEDGER}.ownership o WHERE o.database_name = CAST({_FOLDED} AS BINARY) OR o.database_name IN"
        f" (SELECT a.database_name FROM {LEDGER}.account a WHERE a.user = CAST(%(username)s AS BINARY))",
        "SELECT * FROM mysql.db WHERE User = %(username)s",
        f"SELECT g.user, g.host, g.pattern FROM ({_OTHER_GRANTS}) g WHERE g.user = %(username)s",
        "SELECT grantee FROM information_schema.user_privileges WHERE privilege_type <> 'USAGE'"
        f" AND grantee IN ({_GRANTEES} User = %(username)s)",
        "SELECT User AS user, Host AS host FROM mysql.db"
        f" WHERE {_FOLDED} LIKE Db ESCAPE %(escape)s AND CAST(User AS BINARY) <> CAST(%(username)s AS BINARY)",
    ),
    # What a database holds; asked only where a database was found in state creating.
    "content": (
        "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = %(database)s)"
        " + (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = %(database)s)"
        " + (SELECT COUNT(*) FROM information_schema.events WHERE event_schema = %(database)s"
        # The server compares this one column without regard to case and accents.
        " AND CAST(event_schema AS BINARY) = CAST(%(database)s AS BINARY)) AS objects",
    ),
    # A whole server for a person of the platform: its ledger, and what there is of databases, accounts and rights.
    # Keys: INVENTORY.
    "inventory": (
        f"SELECT @@version AS version, @@lower_case_table_names AS folds, {_ADMIN_SEES}",
        f"SELECT MAX(version) AS version FROM {LEDGER}.meta",
        "SELECT CONVERT(o.database_name USING utf8mb4) AS database_name, o.origin, o.state, o.fence,"
        " CAST(o.created_at AS CHAR) AS created_at, CONVERT(o.cluster USING utf8mb4) AS cluster,"
        " CONVERT(o.namespace USING utf8mb4) AS namespace, CONVERT(o.request USING utf8mb4) AS request,"
        f" CONVERT(o.request_uid USING utf8mb4) AS request_uid FROM {LEDGER}.ownership o",
        "SELECT CONVERT(a.user USING utf8mb4) AS user, CONVERT(a.host USING utf8mb4) AS host,"
        " CONVERT(a.database_name USING utf8mb4) AS database_name, a.origin, a.purpose"
        f" FROM {LEDGER}.account a",
        "SELECT schema_name AS name FROM information_schema.schemata",
        # A role of MariaDB has no host.
        "SELECT User AS user, Host AS host FROM mysql.user WHERE Host <> ''",
        "SELECT d.* FROM mysql.db d",
        f"SELECT g.user, g.host, g.pattern FROM ({_OTHER_GRANTS}) g",
        "SELECT DISTINCT p.grantee FROM information_schema.user_privileges p WHERE p.privilege_type <> 'USAGE'",
    ),
    # How large each database is, in bytes, and how many tables it has.
    "sizes": (
        "SELECT t.table_schema AS name, COUNT(*) AS tables_count,"
        " CAST(COALESCE(SUM(t.data_length + t.index_length), 0) AS UNSIGNED) AS bytes"
        " FROM information_schema.tables t GROUP BY t.table_schema",
    ),
    # One login as an account: is it the account that was meant (else 1242), and at which host part.
    "login": (
        "SELECT IF(CAST(CURRENT_USER() AS BINARY) = CAST(CONCAT(%(username)s, '@',"
        f" SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) AS BINARY), SUBSTRING_INDEX(CURRENT_USER(), '@', -1), {_STOP})"
        " AS host",
    ),
    "use": ("USE {database}",),
    # The claim: its keys make it atomic over requests, namespaces and clusters that share a server.
    "claim": (
        _LOCK,
        WRITABLE,
        f"INSERT INTO {LEDGER}.ownership (database_name, origin, state, fence, cluster, namespace, request,"
        " request_uid, created_at) VALUES (%(database)s, %(origin)s, 'creating', %(fence)s, %(cluster)s,"
        " %(namespace)s, %(request)s, %(request_uid)s, UTC_TIMESTAMP())",
        f"INSERT INTO {LEDGER}.account (user, host, database_name, origin, purpose, created_at) VALUES"
        " (%(username)s, %(host)s, %(database)s, %(origin)s, 'owner', UTC_TIMESTAMP())",
    ),
    # Every change is sent behind these two, on one connection: the lock on the database's name is taken, the row
    # takes this run's number, and it is looked at whether it did. A run that was overtaken stops with 1242.
    "take": (
        _LOCK,
        WRITABLE,
        f"UPDATE {LEDGER}.ownership SET fence = %(fence)s WHERE {_ROW} AND fence <= %(fence)s",
        f"SELECT IF((SELECT COUNT(*) FROM {LEDGER}.ownership WHERE {_ROW} AND fence = %(fence)s) = 1, 1, {_STOP})"
        " AS fenced",
    ),
    # What a change may consist of.
    "ready": (f"UPDATE {LEDGER}.ownership SET state = 'ready', ready_at = UTC_TIMESTAMP() WHERE {_ROW}",),
    "deleting": (f"UPDATE {LEDGER}.ownership SET state = 'deleting' WHERE {_ROW}",),
    # One statement: a row of the one table without its row in the other would block the name for good.
    "give_back": (
        f"DELETE FROM {LEDGER}.ownership, {LEDGER}.account USING {LEDGER}.ownership LEFT JOIN {LEDGER}.account"
        f" ON {LEDGER}.account.database_name = {LEDGER}.ownership.database_name"
        f" WHERE {LEDGER}.ownership.{_ROW}",
    ),
    # The row and all it stands for become another request's. That one must have none yet, else the key refuses.
    "hand_over": (
        f"UPDATE {LEDGER}.ownership SET namespace = %(heir_namespace)s, request = %(heir_request)s,"
        f" request_uid = %(heir_uid)s WHERE {_ROW}",
    ),
    "create_account": ("CREATE USER %(username)s@%(host)s IDENTIFIED BY %(password)s",),
    "set_password": ("ALTER USER %(username)s@%(host)s IDENTIFIED BY %(password)s",),
    "create_database": ("CREATE DATABASE {database} CHARACTER SET utf8mb4",),
    "grant": ("GRANT {privileges} ON {pattern}.* TO %(username)s@%(host)s",),
    "drop_account": ("DROP USER IF EXISTS %(username)s@%(host)s",),
    "drop_database": ("DROP DATABASE IF EXISTS {database}",),
    # The provider's run.
    "health": (
        f"SELECT @@version AS version, @@global.read_only AS read_only, {_ADMIN_SEES}",
        f"SELECT COUNT(*) AS tables_count FROM information_schema.tables WHERE table_schema = '{LEDGER}'"
        " AND table_name IN ('meta', 'ownership', 'account')",
        "SELECT COUNT(*) AS users FROM mysql.user",
        f"SELECT COUNT(*) AS exposed FROM mysql.db WHERE '{LEDGER}' LIKE Db ESCAPE %(escape)s",
    ),
    "ledger": (
        WRITABLE,
        f"CREATE DATABASE IF NOT EXISTS {LEDGER} CHARACTER SET utf8mb4",
        f"CREATE TABLE IF NOT EXISTS {LEDGER}.meta (version INT UNSIGNED NOT NULL PRIMARY KEY) ENGINE=InnoDB",
        # First of all: a run that was killed before this is repeated, since a table is lacking.
        f"INSERT IGNORE INTO {LEDGER}.meta (version) VALUES ({LEDGER_VERSION})",
        f"CREATE TABLE IF NOT EXISTS {LEDGER}.ownership ("
        "database_name VARBINARY(256) NOT NULL PRIMARY KEY,"
        " origin ENUM('created','adopted') NOT NULL,"
        " state ENUM('creating','ready','deleting') NOT NULL,"
        " ready_at DATETIME NULL,"
        " fence BIGINT UNSIGNED NOT NULL,"
        " cluster VARBINARY(255) NOT NULL,"
        " namespace VARBINARY(63) NOT NULL,"
        " request VARBINARY(253) NOT NULL,"
        " request_uid VARBINARY(64) NOT NULL,"
        " created_at DATETIME NOT NULL,"
        " updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,"
        " UNIQUE KEY request (cluster, request_uid)) ENGINE=InnoDB",
        f"CREATE TABLE IF NOT EXISTS {LEDGER}.account ("
        "user VARBINARY(512) NOT NULL,"
        " host VARBINARY(255) NOT NULL,"
        " database_name VARBINARY(256) NOT NULL,"
        " origin ENUM('created','adopted') NOT NULL,"
        " purpose VARBINARY(32) NOT NULL,"
        " created_at DATETIME NOT NULL,"
        " PRIMARY KEY (user, host), KEY database_name (database_name)) ENGINE=InnoDB",
    ),
}

#: The keys that the results of the lists with many reads are known by, in order.
SURVEY = (
    "server", "ledger", "rows", "accounts", "databases", "users", "grants", "other_grants", "global_grants",
)  # fmt: skip
FACTS = (
    "names", "tls", "databases", "users", "claims", "grants", "other_grants", "global_grants", "exposures",
)  # fmt: skip
INVENTORY = (
    "server", "ledger", "rows", "accounts", "databases", "users", "grants", "other_grants", "global_grants",
)  # fmt: skip


def statements(names: str | list[str], database: str | None = None) -> list[str]:
    """The statements for one connection, ready for ``community.mysql.mysql_query``.

    Args:
        names: one key of :data:`STATEMENTS`, or several that follow each other on one connection.
        database: the database that ``{database}`` and ``{pattern}`` stand for, where a form has them.
    Returns:
        The statements in order, ``%`` doubled where it isn't an argument's.
    Raises:
        KeyError: an unknown form. ValueError: a form needs a database and none was given.
    """
    fill = {
        "{database}": lambda: identifier(_given(database)),
        "{pattern}": lambda: grant_pattern(_given(database)),
        "{privileges}": lambda: ", ".join(DATABASE_PRIVILEGES),
    }
    # One pass over the constant form: what was filled in is never looked at again.
    mark = re.compile("|".join(re.escape(name) for name in fill))
    forms = [form for name in ([names] if isinstance(names, str) else names) for form in STATEMENTS[name]]
    return [mark.sub(lambda found: fill[found.group()](), form) for form in forms]


def _given(database: str | None) -> str:
    if not database:
        raise ValueError("this statement form needs a database")
    return database
