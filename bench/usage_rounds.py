"""`python -m bench.usage_rounds fill NODES | round URL | look`: a mirror of that many nodes; one round, or look."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

CARDS_OF_A_NODE = 8


def main(what: str, of: str = "") -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from gpudash.celery import ARENAS
    from runtime.process_memory import collect_rarely, give_back_large, limit_arenas

    # As the worker of that work does at its start.
    limit_arenas(ARENAS)
    give_back_large()
    if what == "round":
        collect_rarely()
    print(json.dumps(_fill(int(of)) if what == "fill" else _look() if what == "look" else _round(of)))


def _fill(nodes: int) -> list[tuple[str, int, str]]:
    """(node, index, UUID) of each card."""
    from inventory.models import Card
    from tests import factories

    cluster = factories.make_cluster("large")
    batch = factories.Batch(cluster)
    for number in range(nodes):
        factories.make_node(cluster, f"gpu-{number + 1:05d}", "nvidia", CARDS_OF_A_NODE, loads=(1.0,), batch=batch)
    batch.write()
    rows = Card.objects.order_by("id").values_list("node_name", "uuid")
    numbers: dict[str, int] = {}
    found = []
    for node, uuid in rows:
        numbers[node] = numbers.get(node, -1) + 1
        found.append((node, numbers[node], uuid))
    return found


def _round(url: str) -> dict[str, Any]:
    from inventory.collect import collector, lease, sources
    from inventory.models import CardUsage, Cluster, UsageSource

    cluster = Cluster.objects.get()
    if not UsageSource.objects.exists():
        sources.set_prometheus(cluster, url)
    UsageSource.objects.update(due_at=None)
    before = CardUsage.objects.order_by("-written_at").values_list("written_at", flat=True).first()
    held = lease.acquire(cluster.pk)
    assert held is not None
    started = time.perf_counter()
    source = collector.collect(held)
    seconds = time.perf_counter() - started
    held.release()
    written = CardUsage.objects.filter(written_at__gt=before) if before else CardUsage.objects.all()
    return {
        "seconds": seconds,
        "state": source.state,
        "reason": source.reason[:300],
        "samples": source.samples,
        "cards_measured": source.cards_measured,
        "rows_written": written.count(),
        "used_known": CardUsage.objects.filter(memory_used_bytes__isnull=False).count(),
    }


def _look() -> dict[str, Any]:
    """As `inventory.tasks.find_idle` does it, twice: the second one writes nothing."""
    from inventory.discrepancies.look import look
    from inventory.idle import allocations
    from inventory.models import Allocation, Discrepancy, IdleLook

    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        allocations.look()
        look()
        seconds.append(time.perf_counter() - started)
    judged = sum(sum(row.verdicts.values()) for row in IdleLook.objects.all())
    held = Allocation.objects.filter(ended_at=None).count()
    return {"seconds": max(seconds), "conditions": Discrepancy.objects.count(), "judged": judged, "held": held}


if __name__ == "__main__":
    main(*sys.argv[1:3])
