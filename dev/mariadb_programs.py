"""The MariaDB programs that the sandbox runs, and the empty data folder that its servers start from."""

import getpass
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dev.errors import SandboxError
from dev.paths import LOGS, SANDBOX, make_private

# A server package unpacked here by the bootstrap, where nothing could be installed.
UNPACKED = SANDBOX / "mariadb-server"
TEMPLATE = SANDBOX / "mariadb" / "template"
SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/bin", "/usr/local/bin")


@dataclass(frozen=True)
class Programs:
    """A MariaDB server installation.

    Attributes:
        server: mariadbd.
        installer: mariadb-install-db.
        base: the folder that holds bin, lib and share, if it isn't where the programs expect it.
        libraries: folders for the dynamic linker.
    """

    server: Path
    installer: Path
    base: Path | None = None
    libraries: tuple[Path, ...] = ()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment to run them in."""
        if not self.libraries:
            return os.environ
        return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, self.libraries))}

    @property
    def options(self) -> list[str]:
        """The options that tell the server where its own files are."""
        if self.base is None:
            return []
        share = self.base / "share"
        return [
            f"--basedir={self.base}",
            f"--lc-messages-dir={share / 'mysql'}",
            f"--character-sets-dir={share / 'mysql' / 'charsets'}",
            f"--plugin-dir={self.base / 'lib' / 'mysql' / 'plugin'}",
        ]


def _on_path(*names: str) -> Path | None:
    places = os.pathsep.join((os.environ.get("PATH", ""), *SYSTEM_FOLDERS))
    for name in names:
        found = shutil.which(name, path=places)
        if found:
            return Path(found)
    return None


def find_installed() -> Programs | None:
    """Look for an installed server on PATH and in the system's folders.

    Returns:
        The programs, or None. None as well if DBAAS_MARIADB=unpacked asks for the sandbox's own copy.
    """
    if os.environ.get("DBAAS_MARIADB") == "unpacked":
        return None
    server, installer = _on_path("mariadbd", "mysqld"), _on_path("mariadb-install-db", "mysql_install_db")
    return Programs(server, installer) if server and installer else None


def find_unpacked(root: Path = UNPACKED) -> Programs | None:
    """Look for a server package unpacked into a folder.

    Args:
        root: the folder that stands for the system's root.

    Returns:
        The programs, or None.
    """
    server, installer = root / "usr/sbin/mariadbd", root / "usr/bin/mariadb-install-db"
    if not server.exists() or not installer.exists():
        return None
    folders = [*root.glob("usr/lib/*-linux-gnu*"), *root.glob("lib/*-linux-gnu*")]
    return Programs(server, installer, root / "usr", tuple(folders))


def find_programs() -> Programs:
    """Find a MariaDB server.

    Returns:
        The programs.

    Raises:
        SandboxError: there is none.
    """
    found = find_installed() or find_unpacked()
    if found is None:
        raise SandboxError(
            "no MariaDB server: mariadbd is neither on PATH nor in the sandbox; "
            "run `make bootstrap`, or install the package mariadb-server-core"
        )
    return found


def ensure_template(programs: Programs) -> Path:
    """Make the data folder that each server's is copied from, unless it is there.

    It has root@localhost without a password (set at a server's first start, before it listens), no
    anonymous account and no test database.

    Args:
        programs: the installation.

    Returns:
        The folder.

    Raises:
        SandboxError: the installer failed.
    """
    if TEMPLATE.exists():
        return TEMPLATE
    make_private(TEMPLATE.parent)
    fresh = TEMPLATE.with_name("template.new")
    shutil.rmtree(fresh, ignore_errors=True)
    log = make_private(LOGS) / "mariadb-install.log"
    command = [
        str(programs.installer),
        "--no-defaults",
        f"--datadir={fresh}",
        f"--user={getpass.getuser()}",
        "--skip-test-db",
        "--auth-root-authentication-method=normal",
        "--skip-name-resolve",
        "--innodb-log-file-size=16M",
        "--innodb-buffer-pool-size=32M",
    ]
    if programs.base is not None:
        command.append(f"--basedir={programs.base}")
    with log.open("wb") as output:
        done = subprocess.run(
            command,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            env=dict(programs.environment),
            check=False,
        )
    if done.returncode != 0:
        raise SandboxError(f"mariadb-install-db ended with status {done.returncode}; see {log}")
    fresh.rename(TEMPLATE)
    return TEMPLATE
