"""What a process counts of itself: metrics of prometheus-client in a registry of their own. Knows no Django, no Celery, no table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

REGISTRY = CollectorRegistry()
# When each series began is no use to anybody, and half of the text.
disable_created_metrics()  # type: ignore[no-untyped-call]
REQUESTS = Histogram(
    "gpudash_http_request_duration_seconds",
    "Duration of requests, by kind and status.",
    ("kind", "status"),
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=REGISTRY,
)
TASKS = Histogram(
    "gpudash_task_duration_seconds",
    "How long tasks took, by name and whether they failed.",
    ("task", "outcome"),
    buckets=(0.1, 1, 5, 20, 60),
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)

#: Failed tasks that are remembered.
MOST_FAILURES = 20
_TEXT = 300
failures: deque[dict[str, Any]] = deque(maxlen=MOST_FAILURES)

#: state ("used", "idle", "waiting") → connections of this process, or threads that wait for one; None where there is no pool.
PoolStates = Callable[[], dict[str, int] | None]


class _Connections(Collector):
    """Connections to the database; absent without a pool."""

    states: PoolStates = staticmethod(lambda: None)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self.states()
        if found is None:
            return
        family = GaugeMetricFamily(
            "gpudash_database_connections",
            "Connections to the database, and threads that wait for one.",
            labels=["state"],
        )
        for state, count in found.items():
            family.add_metric([state], count)
        yield family


_connections = _Connections()
REGISTRY.register(_connections)


def count_connections(states: PoolStates) -> None:
    """From now on these are told."""
    _connections.states = states


def count_request(kind: str, status: int, seconds: float) -> None:
    """kind: "page", "part", "rest", "scrape" or "probe"."""
    REQUESTS.labels(kind, f"{status // 100}xx").observe(seconds)


def count_task(name: str, seconds: float, failed: bool) -> None:
    TASKS.labels(name, "failed" if failed else "done").observe(seconds)


def note_failure(name: str, at: float, error: str) -> None:
    failures.append({"task": name, "at": at, "error": error[:_TEXT]})


def text() -> str:
    """All of it, in Prometheus' text format."""
    return generate_latest(REGISTRY).decode()
