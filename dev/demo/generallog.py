"""A server's general log: who logged in, and who sent which statement."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dev.mariadb import MariaDB

LINE = re.compile(r"^(?:\d{6} [ \d]\d:\d\d:\d\d)?\t+ *(\d+) ([A-Z][A-Za-z ]*)\t(.*)$", re.DOTALL)
WRITE = re.compile(
    r"^\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|GRANT|REVOKE|RENAME|TRUNCATE|SET\s+PASSWORD)\b",
    re.IGNORECASE,
)

DENIED = "Access denied"
UID = re.compile(r"'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'")


@dataclass
class Entry:
    """One entry of the log.

    Attributes:
        connection: which connection it came from, counted from the beginning.
        user: name of the account that the connection asked for.
        command: ``Connect``, ``Query`` and so on.
        text: the statement, or what was said of the login.
    """

    connection: int
    user: str
    command: str
    text: str


class GeneralLog:
    """What a server's general log holds from the moment this was made."""

    def __init__(self, server: MariaDB) -> None:
        """Begin at the log's present end.

        Args:
            server: the server; it has been started once.
        """
        self._path = server.general_log
        self._offset = self._path.stat().st_size
        self._open: dict[str, tuple[int, str]] = {}  # connection and user by the server's own number
        self._entries: list[Entry] = []

    def entries(self, since: int = 0) -> list[Entry]:
        """Read on, and return the entries.

        Args:
            since: how many entries to leave out, see ``mark``.

        Returns:
            The entries, in order.
        """
        with self._path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        text = text[: text.rfind(b"\n") + 1]  # a line that is being written waits for the next time
        self._offset += len(text)
        for line in text.split(b"\n")[:-1]:
            self._take(line.decode("utf-8", errors="replace"))
        return self._entries[since:]

    def _take(self, line: str) -> None:
        found = LINE.match(line)
        if found is None:
            if self._entries:
                self._entries[-1].text += f"\n{line}"
            return
        number, command, text = found.groups()
        if command == "Connect" and not text.startswith(DENIED):
            user = text.rpartition(" on ")[0].partition(" as ")[0].rpartition("@")[0]
            self._open[number] = (len(self._entries), user)
        connection, user = self._open.get(number, (-1, ""))
        self._entries.append(Entry(connection, user, command, text))

    def mark(self) -> int:
        """Return how many entries there are now, to be handed over as ``since`` later."""
        return len(self.entries())

    def logins(self, user: str) -> int:
        """Count the logins that were tried as an account.

        Args:
            user: the account's name.

        Returns:
            How many there were, refused ones too.
        """
        return sum(
            entry.command == "Connect" and entry.user == user and not entry.text.startswith(DENIED)
            for entry in self.entries()
        )

    def statements(self, user: str, markers: Iterable[str], since: int = 0) -> list[Entry]:
        """List the statements of one account that name one of some things.

        Args:
            user: the account's name.
            markers: names of databases and accounts, or UIDs; none for any statement.
            since: how many entries to leave out.

        Returns:
            Their entries.
        """
        spelt = [form for marker in markers for form in (marker, re.sub(r"([\\_%])", r"\\\1", marker))]
        quoted = re.compile("|".join(f"['`]{re.escape(form)}['`]" for form in spelt))  # of none: fits all
        return [
            entry
            for entry in self.entries(since)
            if entry.command == "Query" and entry.user == user and quoted.search(entry.text)
        ]

    def writes_for(self, uid: str, markers: Iterable[str], user: str, since: int = 0) -> list[str]:
        """List what an operator's account changed for one request.

        The connection tells whose a statement is: before it changes something, the operator names the
        request's UID on the same connection. A connection that names no UID at all is judged by its statements.

        Args:
            uid: the request's UID.
            markers: names of its database and account.
            user: the operator's account.
            since: how many entries to leave out.

        Returns:
            The statements.
        """
        own = {entry.connection for entry in self.statements(user, [uid], since)}
        others = {entry.connection for entry in self.entries(since) if UID.search(entry.text)} - own
        naming = {id(entry) for entry in self.statements(user, markers, since)}
        return [
            entry.text
            for entry in self.statements(user, [], since)
            if WRITE.match(entry.text)
            and (entry.connection in own or (entry.connection not in others and id(entry) in naming))
        ]
