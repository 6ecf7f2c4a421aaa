"""Run the stand-in: ``python -m dev.standin --watches-file watches.yaml``; KUBECONFIG says as whom."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from kubernetes.config import ConfigException

from dev.standin import probes
from dev.standin.api import Api
from dev.standin.controller import Controller, RunSettings
from dev.standin.durations import parse_duration
from dev.standin.inputs import PROXY_HOST, PROXY_PORT, RUNNER_ROOT
from dev.standin.proxy import ProxyServer
from dev.standin.watches import WatchesError, load_watches

LOG = logging.getLogger("standin")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dev.standin",
        description="Stand-in for `ansible-operator run`, with its options; for development only.",
    )
    parser.add_argument("--watches-file", type=Path, default=Path("watches.yaml"))
    parser.add_argument("--metrics-bind-address", default=":8443")
    parser.add_argument("--health-probe-bind-address", default=":6789")
    parser.add_argument("--reconcile-period", type=parse_duration, default=parse_duration("10h"))
    parser.add_argument("--max-concurrent-reconciles", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--ansible-verbosity", type=int, default=2)
    parser.add_argument("--ansible-args", default="")
    parser.add_argument("--ansible-roles-path", default="")
    parser.add_argument("--ansible-collections-path", default="")
    parser.add_argument("--graceful-shutdown-timeout", type=parse_duration, default=30.0)
    parser.add_argument(
        "--leader-elect", nargs="?", const="true", default="false", help="ignored: one operator only"
    )
    parser.add_argument(
        "--runner-root", type=Path, default=RUNNER_ROOT, help="folder of the runs; not in the real one"
    )
    return parser.parse_args()


def main() -> int:
    """Run until SIGTERM or SIGINT, then wait for plays under way.

    Returns:
        The exit status: 0 after a signal, 1 if the start failed, 2 if a play had to be left running.
    """
    arguments = _arguments()
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr
    )
    for name in ("ROLES", "COLLECTIONS"):
        if path := getattr(arguments, f"ansible_{name.lower()}_path"):
            os.environ[f"ANSIBLE_{name}_PATH"] = path
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        controllers = _start(arguments, stop)
    except (WatchesError, ConfigException, OSError, ValueError) as error:
        LOG.error("the stand-in can't start: %s", error)
        return 1
    LOG.info("started: the development stand-in of ansible-operator, never for a cluster")
    stop.wait()
    LOG.info("stopping: waiting for plays under way")
    for controller in controllers:
        controller.stop()
    deadline = time.monotonic() + arguments.graceful_shutdown_timeout
    ended = [controller.join(max(0.0, deadline - time.monotonic())) for controller in controllers]
    if not all(ended):
        LOG.error("stopped, but a play still ran after %.0f s", arguments.graceful_shutdown_timeout)
        return 2
    LOG.info("stopped")
    return 0


def _start(arguments: argparse.Namespace, stop: threading.Event) -> list[Controller]:
    watches = load_watches(
        arguments.watches_file,
        arguments.max_concurrent_reconciles,
        arguments.ansible_verbosity,
        arguments.reconcile_period,
    )
    if "ANSIBLE_INVENTORY" in os.environ:
        raise ValueError("ANSIBLE_INVENTORY is set; the stand-in runs with its own inventory only, unset it")
    api = Api()
    settings = RunSettings(arguments.runner_root, arguments.ansible_args)
    controllers = [Controller(api, watch, settings, stop) for watch in watches]
    try:
        proxy = ProxyServer(api, {item.watch.kind: item.dependents for item in controllers})
    except OSError as error:
        raise OSError(
            f"{PROXY_HOST}:{PROXY_PORT} is in use ({error}): is another operator running here?"
        ) from error
    threading.Thread(target=proxy.serve_forever, name="proxy", daemon=True).start()
    probes.serve(arguments.health_probe_bind_address)
    probes.serve(arguments.metrics_bind_address)
    for controller in controllers:
        controller.start()
    return controllers


if __name__ == "__main__":
    sys.exit(main())
