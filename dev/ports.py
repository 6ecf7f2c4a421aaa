"""Ports of the sandbox: found free once, then kept, so that a second start finds everything where it was."""

import json
import random
import socket
from pathlib import Path

from dev.errors import SandboxError
from dev.paths import SANDBOX, read_json, write_private

FILE = SANDBOX / "ports.json"


def is_free(port: int) -> bool:
    """Tell whether nothing listens on a port of the loopback address.

    Args:
        port: the port.

    Returns:
        True if a server could listen there now.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    """Tell whether something accepts connections on a port of the loopback address.

    Args:
        port: the port.

    Returns:
        True if a connection was accepted.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _choose(taken: set[int]) -> int:
    # Below the range that outgoing connections take their ports from: while a server is stopped, one of
    # those could hold its port.
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    candidates = list(range(min(20000, first - 2000), first)) if first > 4000 else list(range(61000, 65536))
    random.shuffle(candidates)
    for port in candidates:
        if port not in taken and port != 8888 and is_free(port):
            return port
    raise SandboxError("no free port on 127.0.0.1; end some of the servers on this machine")


def port_of(name: str, renew: bool = False) -> int:
    """Look up the port of a service, choosing a free one the first time.

    Args:
        name: the service, for example ``etcd`` or ``mariadb-one``.
        renew: choose another one, because somebody else has taken the kept one.

    Returns:
        The port.
    """
    ports: dict[str, int] = read_json(FILE) or {}
    if name not in ports or renew:
        ports[name] = _choose(set(ports.values()))
        write_private(FILE, json.dumps(ports, indent=2) + "\n")
    return ports[name]
