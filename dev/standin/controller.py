"""Reconciles the objects of one kind: when a run is due, what is done before it, and what its end means."""

from __future__ import annotations

import copy
import logging
import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.standin.api import Api, ApiError
from dev.standin.dependents import Dependents
from dev.standin.durations import parse_duration
from dev.standin.eventlog import VERBOSITY_ANNOTATION, log_event
from dev.standin.failure import mark_failure
from dev.standin.informer import Informer, Key
from dev.standin.inputs import Owner, is_finalizer_run, runner_arguments, write_folder, write_kubeconfig
from dev.standin.outcome import Outcome, ReconcileError, follow
from dev.standin.runs import Run
from dev.standin.watches import Watch
from dev.standin.workqueue import WorkQueue

LOG = logging.getLogger("standin.controller")
PERIOD_ANNOTATION = "ansible.sdk.operatorframework.io/reconcile-period"
ARTIFACTS_ANNOTATION = "ansible.sdk.operatorframework.io/max-runner-artifacts"
DELETED_MEANWHILE_PERIOD = 5.0


@dataclass(frozen=True)
class RunSettings:
    """What holds for the runs of all kinds."""

    root: Path
    ansible_args: str


class Controller:
    """The queue, the workers and the watch of one kind."""

    def __init__(self, api: Api, watch: Watch, settings: RunSettings, stop: threading.Event) -> None:
        """Prepare; ``start`` begins.

        Args:
            api: the API server.
            watch: the entry of watches.yaml.
            settings: what holds for all runs.
            stop: set when the program ends.
        """
        self.watch = watch
        self._api, self._settings = api, settings
        self._queue = WorkQueue()
        self._informer = Informer(api, watch.kind, stop)
        self.dependents = Dependents(api, watch, self._queue.add, stop)
        self._workers: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to watch, and to work once all objects are known."""
        LOG.info("watching %s with %d workers", self.watch.kind, self.watch.workers)
        self._informer.add_handler(self._changed)
        self._informer.start()
        for number in range(self.watch.workers):
            worker = threading.Thread(target=self._work, name=f"{self.watch.kind.kind} {number}", daemon=True)
            worker.start()
            self._workers.append(worker)

    def stop(self) -> None:
        """Start no more runs; ``join`` waits for those under way."""
        self._queue.close()
        self._informer.synced.set()  # so that workers of a kind that was never listed end too

    def join(self, seconds: float) -> bool:
        """Wait for runs under way.

        Returns:
            Whether all have ended in that time.
        """
        for worker in self._workers:
            worker.join(seconds)
        return not any(worker.is_alive() for worker in self._workers)

    def _changed(self, key: Key, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        """A new generation, an object seen for the first time and a deletion are due; nothing else is."""
        if old is None or new is None:
            self._queue.add(key)
            return
        before, after = old["metadata"], new["metadata"]
        generation = after.get("generation", 0)
        annotated = self.watch.watch_annotations and before.get("annotations") != after.get("annotations")
        if generation != before.get("generation", 0) or generation == 0 or annotated:
            self._queue.add(key)

    def _work(self) -> None:
        self._informer.synced.wait()
        while (key := self._queue.get()) is not None:
            try:
                self._reconcile_and_requeue(key)
            finally:
                self._queue.done(key)

    def _reconcile_and_requeue(self, key: Key) -> None:
        try:
            period = self._reconcile(key)
        except (ReconcileError, ApiError, OSError, ValueError) as error:
            pause = self._queue.add_failed(key)
            LOG.error(
                "%s %s/%s: reconciler error: %s; next try in %.3f s", self.watch.kind.kind, *key, error, pause
            )
        except Exception:  # a worker must outlive any mistake, as the real runtime's do
            self._queue.add_failed(key)
            LOG.exception("%s %s/%s: panic", self.watch.kind.kind, *key)
        else:
            self._queue.forget(key)
            if period > 0:
                self._queue.add_after(key, period)

    def _reconcile(self, key: Key) -> float:
        """Run the playbook for one object.

        Returns:
            Seconds to the next run; 0 for none by itself.

        Raises:
            ReconcileError: if the object is to be tried again.
            ApiError: if the API server fails, likewise.
        """
        resource = copy.deepcopy(self._informer.get(key))
        if resource is None:
            return 0
        period = self._period(resource)
        finalizer = self.watch.finalizer
        deleted = "deletionTimestamp" in resource["metadata"]
        if finalizer is None or finalizer.name not in resource["metadata"].get("finalizers", []):
            if deleted:
                LOG.info("%s %s/%s is terminated, skipping reconciliation", self.watch.kind.kind, *key)
                return 0
            if finalizer:
                resource["metadata"].setdefault("finalizers", []).append(finalizer.name)
                resource = self._update(resource)
        if not isinstance(resource.get("spec"), dict):
            resource["spec"] = {}
        outcome = self._run(key, resource)
        if outcome.requeue_after is not None:
            LOG.info("%s %s/%s: next run after %.3f s", self.watch.kind.kind, *key, outcome.requeue_after)
            return outcome.requeue_after
        return self._finish(resource, outcome, deleted, period)

    def _period(self, resource: dict[str, Any]) -> float:
        text = (resource["metadata"].get("annotations") or {}).get(PERIOD_ANNOTATION)
        if text is None:
            return self.watch.period
        try:
            return parse_duration(text)
        except ValueError as error:
            mark_failure(
                self._api, self.watch.kind, resource, f"Unable to parse reconcile period annotation: {error}"
            )
            raise ReconcileError(f"unable to parse reconcile period annotation: {error}") from error

    def _run(self, key: Key, resource: dict[str, Any]) -> Outcome:
        ident = str(random.getrandbits(62))
        label = f"{self.watch.kind.kind} {key[0]}/{key[1]} job {ident}"
        kubeconfig = write_kubeconfig(Owner.of(resource))
        try:
            run = self._start(ident, resource, kubeconfig)
            annotations = resource["metadata"].get("annotations") or {}
            LOG.info("%s: started%s", label, " (finalizer)" if is_finalizer_run(self.watch, resource) else "")
            outcome = follow(run.events(), lambda event: log_event(label, event, annotations))
            if outcome.requeue_after is None and not outcome.has_stats:
                raise ReconcileError(f"did not receive playbook_on_stats event\n{run.stdout()}")
        finally:
            kubeconfig.unlink(missing_ok=True)
        if outcome.stats:
            LOG.info("%s: ended%s", label, outcome.stats)
        return outcome

    def _start(self, ident: str, resource: dict[str, Any], kubeconfig: Path) -> Run:
        watch, target = self.watch, self.watch.target
        if watch.finalizer and watch.finalizer.target and is_finalizer_run(watch, resource):
            target = watch.finalizer.target
        annotations = resource["metadata"].get("annotations") or {}
        artifacts = _annotated(annotations, ARTIFACTS_ANNOTATION, watch.max_artifacts)
        verbosity = _annotated(annotations, VERBOSITY_ANNOTATION, watch.verbosity)
        try:
            folder = write_folder(
                self._settings.root, watch, resource, kubeconfig, self._settings.ansible_args
            )
            return Run(
                ident, runner_arguments(target, folder, ident, artifacts, verbosity), folder, kubeconfig
            )
        except OSError:
            mark_failure(self._api, watch.kind, resource, "Unable to run reconciliation")
            raise

    def _finish(self, resource: dict[str, Any], outcome: Outcome, deleted: bool, period: float) -> float:
        """Take the finalizer away after a good finalizer run; a deletion during the run is seen to in 5 s."""
        meta, finalizer = resource["metadata"], self.watch.finalizer
        path = self._api.resource(self.watch.kind).path(meta.get("namespace") or "", meta["name"])
        try:
            current = self._api.json("GET", path)
        except ApiError as error:
            if error.status == 404:
                return 0
            raise
        good = outcome.failed_tasks == 0
        if deleted and finalizer and good:
            names = current["metadata"].get("finalizers", [])
            current["metadata"]["finalizers"] = [name for name in names if name != finalizer.name]
            self._update(current)
        elif finalizer and "deletionTimestamp" in current["metadata"]:
            period = DELETED_MEANWHILE_PERIOD
        if not good:
            raise ReconcileError(f"received {outcome.failed_tasks} failed task event(s)")
        return period

    def _update(self, resource: dict[str, Any]) -> dict[str, Any]:
        meta = resource["metadata"]
        path = self._api.resource(self.watch.kind).path(meta.get("namespace") or "", meta["name"])
        answer: dict[str, Any] = self._api.json("PUT", path, resource)
        return answer


def _annotated(annotations: dict[str, str], name: str, default: int) -> int:
    try:
        return int(annotations.get(name, default))
    except ValueError:
        LOG.info("the annotation %s is no whole number and is ignored", name)
        return default
