"""`gpudash sync`: run the watchers in the foreground, without Celery."""

from __future__ import annotations

import logging
import signal
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, connections
from django.db.models import Count

from inventory import clusters, tasks
from inventory.collect import collector, source_lines
from inventory.collect import lease as collectors
from inventory.management.arguments import chosen_clusters
from inventory.management.shown import ShownCommand
from inventory.mirror.follow import Follower, NotListed
from inventory.mirror.keeper import keeper
from inventory.mirror.lease import acquire, release
from inventory.models import Card, Cluster, UsageSource, Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind, WatchState
from inventory.reconcile.reconciler import NodeReconciler
from kube.client import BadKubeconfig
from kube.plugin import LIMIT_S as PLUGIN_S
from runtime.clock import database_now
from runtime.leases.lease import Lease, LeaseLost
from runtime.process_memory import collect_rarely
from wording.printable import one_line

logger = logging.getLogger(__name__)

#: Between two looks at a database whose tables are not there yet.
TRY_AGAIN_S = 1.0

#: DaemonSets and Deployments say which ConfigMaps and Services are read, and cards are counted of all that was read.
LAST = (Kind.CONFIGMAPS, Kind.SERVICES, Kind.CARDS)


class Command(ShownCommand):
    help = "Sync with the clusters in the foreground."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cluster", help="only this cluster")
        parser.add_argument(
            "--once", action="store_true", help="list and store all objects once, print counts and seconds, and exit"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collect_rarely()
        if not options["once"]:
            return self._forever(self._when_there(options["cluster"]))
        for cluster in chosen_clusters(options["cluster"]):
            self._once(cluster)

    def _when_there(self, name: str | None) -> list[Cluster]:
        """The clusters, as soon as the tables are those of this version: in an upgrade this may start before `migrate` has run."""
        told = ""
        while True:
            try:
                return chosen_clusters(name)
            except DatabaseError as error:
                text = one_line(str(error))
                if text != told:
                    self.stderr.write(f"Waiting for the database. Run gpudash migrate, or check this error: {text}")
                told = text
            connections.close_all()
            time.sleep(TRY_AGAIN_S)

    def _once(self, cluster: Cluster) -> None:
        started = time.perf_counter()
        counts: dict[str, tuple[int, float]] = {}
        failures: list[str] = []
        threads = [
            threading.Thread(target=_one, args=(cluster, kind, counts, failures))
            for kind in Kind.values
            if kind not in LAST
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for last in LAST:
            if not failures:
                _one(cluster, last, counts, failures)
        if not failures and (source := source_lines.source_of(cluster.pk)):
            self._exporters(source, counts, failures)
        if failures:
            raise CommandError("; ".join(failures))
        for watch in Watch.objects.filter(cluster=cluster).order_by("kind"):
            if watch.kind not in counts or watch.state == WatchState.NOT_NEEDED:
                self.stdout.write(f"{cluster.name} {watch.kind}: not read ({one_line(watch.reason)}){_lost(watch)}")
                continue
            written, seconds = counts[watch.kind]
            seen = f"{watch.objects_seen} seen, {watch.objects_stored} stored, " if watch.kind != Kind.CARDS else ""
            self.stdout.write(f"{cluster.name} {watch.kind}: {seen}{written} rows written in {seconds:.2f} s")
        cards = Card.objects.filter(cluster=cluster, removed_at=None).aggregate(n=Count("id"))["n"]
        self.stdout.write(f"{cluster.name}: {cards} cards, in sync after {time.perf_counter() - started:.2f} s")

    def _exporters(self, source: UsageSource, counts: dict[str, tuple[int, float]], failures: list[str]) -> None:
        """Once, then the cards again, since exporters may say which cards there are and who is on them.

        A node without labels of its cards says only how many there are: of those the first round measures none, and a second one,
        after the cards were made, finds them.
        """
        source = self._round(source, failures)
        if not failures:
            _one(source.cluster, Kind.CARDS, counts, failures)
        if not failures and source.cards_unmatched and counts[Kind.CARDS][0]:
            source = self._round(source, failures)
            if not failures:
                _one(source.cluster, Kind.CARDS, counts, failures)
        if not failures:
            for line in source_lines.lines(source, database_now()):
                self.stdout.write(f"{source.cluster.name} {one_line(line)}")

    def _round(self, source: UsageSource, failures: list[str]) -> UsageSource:
        """One round of reading them, due or not."""
        UsageSource.objects.filter(pk=source.pk).update(due_at=None)
        lease = collectors.acquire(source.cluster_id)
        if lease is None:
            failures.append("exporters: another process is reading them; try again later")
            return source
        try:
            return collector.collect(lease)
        finally:
            lease.release()

    def _forever(self, chosen: list[Cluster]) -> None:
        self.stdout.write(f"Watching {', '.join(cluster.name for cluster in chosen)}. Ctrl-C ends.")
        pairs = [(cluster.id, kind) for cluster in chosen for kind in Kind.values]
        threads = [threading.Thread(target=_hold, args=pair, daemon=True) for pair in pairs]
        keeper.start(0, sent=False)
        for thread in threads:
            thread.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: tasks.stopping.set())
        while not tasks.stopping.wait(1.0):
            pass
        for thread in threads:
            thread.join(timeout=10)
        keeper.stop()


def _lost(watch: Watch) -> str:
    """What is not known without it."""
    refused = watch.kind == Kind.DAEMONSETS and watch.state == WatchState.REFUSED
    return "; node labels must state the memory unit" if refused else ""


def _hold(cluster_id: int, kind: str) -> None:
    while not tasks.stopping.is_set():
        tasks.watch(cluster_id, kind)
        tasks.stopping.wait(1.0)


def _one(cluster: Cluster, kind: str, counts: dict[str, tuple[int, float]], failures: list[str]) -> None:
    """One kind, once. Failures are collected: a thread cannot raise into the command."""
    started = time.perf_counter()
    lease = acquire(cluster.id, kind)
    try:
        if lease is None:
            failures.append(f"{kind}: another process watches this cluster; stop it, or run without --once")
            return
        counts[kind] = (_written(cluster, lease), time.perf_counter() - started)
    except BadKubeconfig as error:
        failures.append(str(error))
    except LeaseLost:
        failures.append(f"{kind}: another process took the lease")
    except NotListed as error:
        if kind not in OPTIONAL_KINDS or not error.refused:
            failures.append(f"{kind}: {error}")
    except Exception as error:
        logger.exception("%s of cluster %s", kind, cluster.name)
        failures.append(f"{kind}: {type(error).__name__}: {error}")
    finally:
        if lease is not None:
            release(lease)
        if kind != Kind.CARDS:
            connections.close_all()


def _written(cluster: Cluster, lease: Lease) -> int:
    stopped = threading.Event()
    if lease.kind == Kind.CARDS:
        reconciler = NodeReconciler(lease, stopped)
        reconciler.run(once=True)
        return reconciler.written
    client = clusters.client_of(cluster, PLUGIN_S)
    try:
        follower = Follower(lease, client, stopped)
        follower.run(once=True)
    finally:
        client.close()
    return follower.written
