"""Passwords that are looked for wherever they must not be."""

import base64
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.processes import stat_fields

ALIGNMENTS = 3  # a text can stand in base64 behind any number of other bytes


def traces(core: str) -> set[bytes]:
    """What is left of a text wherever it is written: as it is, and inside of anything in base64.

    Args:
        core: letters, digits and dashes, which no quoting changes.

    Returns:
        The byte strings to look for.
    """
    found = {core.encode()}
    for before in range(ALIGNMENTS):
        encoded = base64.b64encode(b"\0" * before + core.encode()).decode()
        # The ends depend on what stands before and behind.
        found.add(encoded[4:-4].encode())
    return found


@dataclass
class Marks:
    """The passwords of a test, each under a word that may be told.

    Attributes:
        cores: word -> the part of the password that no quoting changes.
    """

    cores: dict[str, str] = field(default_factory=dict)

    def add(self, word: str, core: str) -> str:
        """Look for one more.

        Args:
            word: what it is.
            core: its unquotable part, at least twelve characters.

        Returns:
            The core.
        """
        assert len(core) >= 12, f"{word} is too short to be looked for"
        self.cores[word] = core
        return core

    def within(self, content: bytes | str) -> list[str]:
        """The words of those that stand in a content."""
        data = content.encode(errors="surrogateescape") if isinstance(content, str) else content
        return [word for word, core in self.cores.items() if any(trace in data for trace in traces(core))]

    def in_text(self, what: str, content: bytes | str) -> list[str]:
        """The words of those that stand in a content, with the place."""
        return [f"{word} in {what}" for word in self.within(content)]

    def in_files(self, folders: Iterable[Path]) -> list[str]:
        """The same for all files below some folders; one that goes meanwhile is let go."""
        found = []
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                try:
                    if path.is_file():
                        found += self.in_text(str(path.relative_to(folder)), path.read_bytes())
                except FileNotFoundError:
                    continue
        return found

    def in_objects(self, documents: Iterable[Mapping[str, Any]]) -> list[str]:
        """The same for objects of the cluster."""
        found = []
        for document in documents:
            what = f"{document.get('kind', 'the object')} {document.get('metadata', {}).get('name')}"
            found += self.in_text(what, json.dumps(document, ensure_ascii=False))
        return found

    def in_processes(self, pids: Iterable[int]) -> list[str]:
        """The same for what every user of the machine, or every process of this one, sees of a process."""
        found = []
        for pid in pids:
            for part in ("cmdline", "environ"):
                try:
                    found += self.in_text(f"the {part} of a process", Path(f"/proc/{pid}/{part}").read_bytes())
                except OSError:
                    continue
        return found


def processes_with(variable: str, value: str) -> list[int]:
    """The processes that have a variable in their environment, those that inherited it too.

    Args:
        variable: its name.
        value: a part of its value.

    Returns:
        Their pids, without the asking process.
    """
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid() and (stat_fields(int(entry)) or ["Z"])[0] not in "ZX":
            try:
                variables = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(v.startswith(f"{variable}=".encode()) and value.encode() in v for v in variables):
                found.append(int(entry))
    return found
