"""``/healthz``, ``/readyz`` and an empty ``/metrics``, so that the same probes fit both runtimes."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer a probe."""
        path = self.path.partition("?")[0].rstrip("/")
        known = {
            "/healthz": b"ok",
            "/readyz": b"ok",
            "/metrics": b"# the development stand-in counts nothing\n",
        }
        content = known.get(path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it so)
        """Say nothing."""


def serve(address: str) -> None:
    """Serve in the background.

    Args:
        address: ``host:port``; ``0`` serves nothing, an empty host is the loopback address.

    Raises:
        OSError: if the port is in use.
        ValueError: if the address has no port.
    """
    if address == "0":
        return
    host, _, port = address.rpartition(":")
    server = ThreadingHTTPServer((host.strip("[]") or "127.0.0.1", int(port)), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
