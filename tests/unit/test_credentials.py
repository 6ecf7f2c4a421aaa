"""Login files: what is written is what the driver reads, byte for byte."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials
from hypothesis import given
from hypothesis import strategies as st
from pymysql.optionfile import Parser

from tests.passwords import parameters

LINE = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=80)


def driver_reads(text: str) -> tuple[str, bytes]:
    """User and password as PyMySQL reads them: the password as the bytes that it sends."""
    parser = Parser()
    parser.read_string(text)
    # community.mysql reads the file with another parser before; it mustn't stumble either.
    configparser.ConfigParser(comment_prefixes=("#", ";", "!")).read_string(text)
    return parser.get("client", "user"), parser.get("client", "password").encode("latin-1")


@pytest.mark.parametrize(
    "text",
    parameters(
        " ", '"', '""', "'", "''", "'a'", '"a"', "# no comment", "; no comment", "!include x", "[client]", "=", "a=b",
        "\\n", "\t", "\x1c", "\x85", "\u2028", "%(user)s", "${user}", "{{ 7*7 }}", "(1049, 'x')",
    ),
)  # fmt: skip
def test_the_driver_reads_what_was_written(text: str) -> None:
    assert driver_reads(credentials.option_file("app", text)) == ("app", text.encode())
    assert driver_reads(credentials.option_file(text, "geheim")) == (text, b"geheim")


@given(LINE, LINE)
def test_the_driver_reads_any_line(user: str, password: str) -> None:
    assert driver_reads(credentials.option_file(user, password)) == (user, password.encode())


@pytest.mark.parametrize("user", ["a\nb", "a\rb", "a\0b", "a\n[mysqld]\nx=1"])
def test_a_line_break_is_refused(user: str) -> None:
    for pair in ((user, "geheim"), ("app", user)):
        with pytest.raises(ValueError, match="line break or NUL") as caught:
            credentials.option_file(*pair)
        assert "geheim" not in str(caught.value)


def test_slots_never_meet() -> None:
    own = {credentials.SEED, credentials.PUBLISHED, credentials.SEED_AGAIN, credentials.GENERATED}
    others = [credentials.connection_slot(i, ca) for i in range(credentials.MAX_CONNECTIONS) for ca in (False, True)]
    assert len(own) == 4
    assert len(set(others)) == len(others) == 2 * credentials.MAX_CONNECTIONS
    assert not own & set(others)
    with pytest.raises(ValueError, match="at most"):
        credentials.connection_slot(credentials.MAX_CONNECTIONS)


def test_a_file_of_the_parent_is_not_written_in_the_parent() -> None:
    # In the process that holds the slots nothing has been forked: what is stored there wouldn't be a task's.
    with pytest.raises(RuntimeError, match="parent process"):
        credentials.store(credentials.SEED, "x")


_FORKED = """
import os, subprocess, sys
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials
readable, writable = os.pipe()
for text in ("first, and longer", "second"):
    child = os.fork()
    if child == 0:
        path = credentials.store(credentials.SEED, text)
        os.write(writable, path.encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    path = os.read(readable, 1000).decode()
    print(subprocess.run(["cat", path], capture_output=True, text=True, check=True).stdout, path.count("/proc/"))
"""


def test_another_process_reads_it_after_the_task_has_ended() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["first, and longer 1", "second 1"], "")
