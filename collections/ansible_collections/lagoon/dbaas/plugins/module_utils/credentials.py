# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""Login files for ``community.mysql`` that exist in memory only and die with the run.

``login_password`` would be masked wherever it occurs in the module's result, even in numbers, so facts read
back would lie; and a file on disk would outlive a SIGKILL. So user and password travel in an option file that
is a memory file (memfd) of the ansible-playbook process: the tasks' workers inherit it by fork, the modules
open it as ``/proc/<pid>/fd/<n>``, and the kernel drops it when the process ends, whatever ended it.
"""

from __future__ import annotations

import os
from pathlib import Path

# Slots are made when the plugin's file is imported, which Ansible does in the parent process, before it
# forks a worker for the task. Fewer than the usual limit of 1024 open files leaves room.
#: The accounts that a run may log in as, besides the connections' admins.
SEED, PUBLISHED, SEED_AGAIN, KEPT, GENERATED = range(5)
_CONNECTIONS_FROM = 5
#: Connections of one scope that a run can hold: each takes a slot for its login and one for its CA.
MAX_CONNECTIONS = 100
_OWNER = os.getpid()
_SLOTS = [os.memfd_create(f"dbaas-login-{slot}") for slot in range(_CONNECTIONS_FROM + 2 * MAX_CONNECTIONS)]


def connection_slot(index: int, ca: bool = False) -> int:
    """The slot of the connection number *index* (from 0): of its login, or of its CA certificate.

    Raises:
        ValueError: more connections than a run can hold.
    """
    if index >= MAX_CONNECTIONS:
        raise ValueError(f"a scope can have at most {MAX_CONNECTIONS} connections")
    return _CONNECTIONS_FROM + 2 * index + int(ca)


def more_slots(count: int) -> list[int]:
    """Slots beside the usual ones; to be called where a plugin's file is imported, as for those.

    Args:
        count: how many.
    Returns:
        What :func:`store` takes.
    """
    first = len(_SLOTS)
    _SLOTS.extend(os.memfd_create(f"dbaas-login-{slot}") for slot in range(first, first + count))
    return list(range(first, first + count))


def store(slot: int, text: str) -> str:
    """Write *text* into a slot.

    Args:
        slot: one of this file's constants or :func:`connection_slot`. text: the file's whole content.
    Returns:
        The path by which another process of the same user opens it while the run lives.
    Raises:
        RuntimeError: the file wouldn't outlive this task. A login file that isn't there is skipped by the
        module in silence, so this is checked.
    """
    data = text.encode("utf-8")
    os.ftruncate(_SLOTS[slot], 0)
    os.pwrite(_SLOTS[slot], data, 0)
    path = f"/proc/{_OWNER}/fd/{_SLOTS[slot]}"
    if os.getpid() == _OWNER or not Path(path).exists():
        raise RuntimeError("the login file isn't held by the run's parent process")
    return path


def option_file(user: str, password: str) -> str:
    """The content of an option file for PyMySQL.

    Args:
        user, password: any text without a line break.
    Returns:
        The text. The driver sends a password as latin-1, so it stands there as its UTF-8 bytes read as
        latin-1; quotes keep blanks at the ends.
    Raises:
        ValueError: a line break, which the format can't hold.
    """
    sent = password.encode("utf-8").decode("latin-1")
    if any(c in user + sent for c in "\r\n\0"):
        raise ValueError("a user name or password with a line break or NUL can't be used")
    return f'[client]\nuser="{user}"\npassword="{sent}"\n'
