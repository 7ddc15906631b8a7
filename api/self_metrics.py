"""What `/metrics/self` says: of each process what it counts, and what the tables say of queues, leases and rounds.

It names only those clusters that the user who asks may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection
from django.db.models import Count, DurationField, ExpressionWrapper, F
from django.db.models.functions import Now
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from inventory.models import DirtyNode, UsageSource, Watch
from inventory.processes import pulses
from runtime.leases.row import free
from runtime.models import Message, ProcessReport
from runtime.scope import current
from runtime.telemetry.report import GONE


def text() -> bytes:
    """In Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Installation())
    return generate_latest(registry)


class _Installation(Collector):
    def collect(self) -> Iterator[Metric]:
        reports = list(ProcessReport.objects.filter(written_at__gt=Now() - GONE).order_by("name"))
        yield from _processes(reports)
        yield from _figures(reports)
        yield from _queue()
        yield from _watchers()
        yield from _rounds()
        yield _database()

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: what there is depends on the tables."""
        return ()


def _processes(reports: list[ProcessReport]) -> Iterator[Metric]:
    info = GaugeMetricFamily("gpudash_process_info", "Running processes.", labels=["process", "role", "code"])
    for one in reports:
        info.add_metric([one.name, one.role, one.version], 1)
    yield info
    works = GaugeMetricFamily(
        "gpudash_role_up", "1 if the required processes of this role are running, else 0.", labels=["role"]
    )
    for pulse in pulses():
        works.add_metric([pulse.role.value], 1 if pulse.ok else 0)
    yield works


def _figures(reports: list[ProcessReport]) -> list[Metric]:
    """Of all processes, each with its name; one whose figures cannot be read is left out of them."""
    merged: dict[str, Metric] = {}
    for one in reports:
        try:
            families = list(text_string_to_metric_families(one.figures))
        except (ValueError, KeyError, IndexError):
            continue
        for family in families:
            into = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                labels = {**sample.labels, "process": one.name, "role": one.role}
                into.add_sample(sample.name, labels, sample.value)
    return list(merged.values())


def _queue() -> Iterator[Metric]:
    """Queued messages, by task."""
    age = ExpressionWrapper(Now() - F("sent_at"), output_field=DurationField())
    oldest: dict[str, float] = {}
    counts: dict[str, int] = {}
    for key, waited in Message.objects.filter(taken=False).annotate(age=age).values_list("key", "age"):
        task = key.partition(":")[0]
        counts[task] = counts.get(task, 0) + 1
        oldest[task] = max(oldest.get(task, 0.0), waited.total_seconds())
    waiting = GaugeMetricFamily("gpudash_messages_queued", "Queued messages.", labels=["task"])
    ages = GaugeMetricFamily("gpudash_message_oldest_seconds", "Age of the oldest queued message.", labels=["task"])
    for task, count in sorted(counts.items()):
        waiting.add_metric([task], count)
        ages.add_metric([task], oldest[task])
    yield from (waiting, ages)


def _watchers() -> Iterator[Metric]:
    holders = GaugeMetricFamily("gpudash_lease_held", "Watches, by lease holder.", labels=["cluster", "kind", "holder"])
    lag = GaugeMetricFamily(
        "gpudash_watch_lag_seconds",
        "Seconds since the last stored update from the cluster; up to 60 for an idle kind.",
        labels=["cluster", "kind"],
    )
    age = ExpressionWrapper(Now() - F("last_event_at"), output_field=DurationField())
    rows = (
        Watch.objects.filter(current().in_clusters())
        .exclude(free())
        .annotate(age=age)
        .order_by("cluster__name", "kind")
    )
    for cluster, kind, holder, waited in rows.values_list("cluster__name", "kind", "holder", "age"):
        holders.add_metric([cluster, kind, holder], 1)
        if waited is not None:
            lag.add_metric([cluster, kind], max(waited.total_seconds(), 0.0))
    yield from (holders, lag)
    dirty = GaugeMetricFamily("gpudash_dirty_nodes", "Nodes with a pending card recalculation.", labels=["cluster"])
    waiting = (
        DirtyNode.objects.filter(current().in_clusters())
        .values("cluster__name")
        .annotate(count=Count("node_name", distinct=True))
    )
    for row in waiting.order_by("cluster__name"):
        dirty.add_metric([row["cluster__name"]], row["count"])
    yield dirty


_OF_ROUNDS = (
    ("gpudash_usage_round_timestamp_seconds", "Last complete read of the exporters of a cluster, unix time.", "at"),
    ("gpudash_usage_round_seconds", "Duration of that read, in seconds.", "round_seconds"),
    ("gpudash_usage_round_samples", "Samples of that read.", "samples"),
    ("gpudash_usage_round_cards", "Cards measured in that read.", "cards_measured"),
    ("gpudash_usage_source_failures", "Failed reads since then.", "failures"),
)


def _rounds() -> Iterator[Metric]:
    rows: list[dict[str, Any]] = [
        {**row, "at": row["round_at"].timestamp() if row["round_at"] else None}
        for row in UsageSource.objects.filter(current().in_clusters())
        .order_by("cluster__name")
        .values("cluster__name", "round_at", "round_seconds", "samples", "cards_measured", "failures")
    ]
    for name, about, column in _OF_ROUNDS:
        family = GaugeMetricFamily(name, about, labels=["cluster"])
        for row in rows:
            if row[column] is not None and (row["at"] is not None or column == "failures"):
                family.add_metric([row["cluster__name"]], row[column])
        yield family


def _database() -> Metric:
    """Tables and indexes of the database."""
    family = GaugeMetricFamily("gpudash_database_bytes", "Size of the database, in bytes.")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        family.add_metric([], cursor.fetchone()[0])
    return family
