"""One round of a cluster's exporters under the lease of its source: ask, join, write, and say when the next is due."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from exporters import Found, Report
from exporters.engine.context import Context
from inventory.collect import direct, rows, sources
from inventory.collect.ask import Round, ask
from inventory.collect.cards import Cards, Known
from inventory.collect.errors import AWAY, BUSY, SourceError
from inventory.collect.merged import Merged, merge
from inventory.collect.prometheus import BadAddress
from inventory.models import Card, CardUsage, Node, Pod, UsageSource
from inventory.models.usage import SourceState, Way
from kube.kubeconfig import BadKubeconfig
from runtime.clock import database_now
from runtime.leases.lease import Lease
from wording.said import cut, of_error, sentence, series, stored

logger = logging.getLogger(__name__)

#: After failures rounds come less often, up to this; sooner where Prometheus says when.
MOST_PAUSE_S = 600.0
#: Without a complete round for so long, nothing is known any more.
LOST_AFTER = timedelta(minutes=5)
#: Lines of a source that are kept to be read.
MOST_TOLD = 20


def collect(lease: Lease) -> UsageSource:
    """One round. Returns the source as it is then. Raises LeaseLost and DatabaseError."""
    source = UsageSource.objects.select_related("cluster").get(pk=lease.pk)
    began, now = time.monotonic(), database_now()
    try:
        found = look(source, lease.tick)
    except (SourceError, BadAddress, BadKubeconfig) as error:
        _failed(lease, source, error, now)
    else:
        _write(lease, source, found, now, began)
    source.refresh_from_db()
    return source


def look(source: UsageSource, alive: Callable[[], None] = lambda: None) -> Round:
    """Ask, and write nothing. Raises SourceError, BadAddress and BadKubeconfig."""
    context = _context(source.cluster_id)
    if source.way == Way.DIRECT:
        with closing(sources.direct_client_of(source)) as client:
            return direct.read(client, context, alive)
    with closing(sources.client_of(source)) as prometheus:
        return ask(prometheus, source.matchers, context, alive)


def _context(cluster_id: int) -> Context:
    """What is known of the cluster. Its clock is that of the samples, which `ask` finds out."""
    nodes = Node.objects.filter(cluster_id=cluster_id)
    addresses = {address: name for name, address in nodes.exclude(address="").values_list("name", "address")}
    parts = Pod.objects.filter(cluster_id=cluster_id).exclude(component="").exclude(node_name="")
    exporters = {
        (namespace, name): node for namespace, name, node in parts.values_list("namespace", "name", "node_name")
    }
    return Context(
        now=0.0,
        nodes=frozenset(nodes.values_list("name", flat=True)),
        addresses=addresses,
        exporters=exporters,
        sizes=_cards(cluster_id).sizes(),
    )


def _cards(cluster_id: int) -> Cards:
    present = Card.objects.filter(cluster_id=cluster_id, removed_at=None).order_by("id")
    return Cards(Known(*values) for values in present.values_list(*Known.__struct_fields__))


def _write(lease: Lease, source: UsageSource, found: Round, now: datetime, began: float) -> None:
    merged = merge(found.reports, _cards(source.cluster_id), found.at)
    state = _state(source, found, merged, now, began)
    # What was read is in `merged` now; of 40,000 cards it is a hundred megabytes.
    found.reports.clear()
    lease.tick()
    with transaction.atomic():
        lease.update(**state)
        done = rows.write_round(source.cluster_id, source.pk, merged.cards, now, source.round_at)
    logger.info(
        "exporters of %s: %d samples, %d cards, %d rows written, %d lost",
        source.cluster.name,
        found.samples,
        len(merged.cards),
        done.written,
        done.lost,
    )


def _state(source: UsageSource, found: Round, merged: Merged, now: datetime, began: float) -> dict[str, Any]:
    seconds, doubts = time.monotonic() - began, _doubts(source, found)
    matched = sum(1 for one in merged.cards if one.card is not None)
    return {
        "state": SourceState.READING,
        "reason": doubts,
        "wording": stored(doubts),
        "state_since": source.state_since if source.state == SourceState.READING else now,
        "trouble_since": None,
        "failures": 0,
        "due_at": now + timedelta(seconds=max(source.every_s, seconds)),
        "round_at": now,
        "round_seconds": seconds,
        "samples": found.samples,
        "cards_measured": matched,
        "cards_unmatched": len(merged.cards) - matched + merged.homeless,
        "formats": formats_of(found),
        "problems": problems_of(found),
    }


_NOTHING = {
    Way.PROMETHEUS: sentence(
        "no supported exporter found. Check the matchers, the tenant and the scrape configuration"
    ),
    Way.DIRECT: sentence(
        "no running pod of a supported exporter found. gpudash finds exporters by the pod labels of their charts"
    ),
}


def _doubts(source: UsageSource, found: Round) -> str:
    """Why the round may not be whole; "" when it is."""
    told = [*found.missing, *found.warnings]
    if not found.reports:
        told.append(_NOTHING[Way(source.way)])
    return cut(series(told[:MOST_TOLD], "; "), 2000)


def formats_of(found: Round) -> list[dict[str, Any]]:
    """Each exporter that was found, once for all its pages."""
    by_name: dict[str, list[tuple[Found, Report]]] = {}
    for one, report in found.reports:
        by_name.setdefault(one.format.name, []).append((one, report))
    return [
        {
            "format": name,
            "sure": all(one.sure for one, _ in mine),
            "versions": sorted(
                {reading.source.version for _, report in mine for reading in report.readings if reading.source.version}
            ),
            "cards": sum(len(report.readings) for _, report in mine),
            "samples": sum(report.samples for _, report in mine),
        }
        for name, mine in by_name.items()
    ]


def problems_of(found: Round) -> list[dict[str, Any]]:
    """What was dropped or doubted, by exporter."""
    told = [("", problem) for problem in found.problems]
    told += [(one.format.name, problem) for one, report in found.reports for problem in report.problems]
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for name, problem in told:
        known = made.get((name, problem.code))
        if known is not None:
            known["count"] += problem.count
            continue
        made[name, problem.code] = {
            "format": name,
            "code": problem.code,
            "count": problem.count,
            "example": problem.example,
            "cards": problem.cards,
        }
    return list(made.values())


def _failed(lease: Lease, source: UsageSource, error: SourceError | BadAddress | BadKubeconfig, now: datetime) -> None:
    kind = error.kind if isinstance(error, SourceError) else ""
    state = SourceState.BACKING_OFF if kind in (AWAY, BUSY) else SourceState.REFUSED
    wait_s = error.retry_after_s if isinstance(error, SourceError) else None
    if wait_s is None:
        wait_s = min(source.every_s * 2 ** min(source.failures, 6), MOST_PAUSE_S) * random.uniform(0.8, 1.2)
    logger.warning("exporters of %s: %s", source.cluster.name, error)
    reason = cut(of_error(error), 2000)
    lease.update(
        state=state,
        reason=reason,
        wording=stored(reason),
        state_since=source.state_since if source.state == state else now,
        trouble_since=source.trouble_since or now,
        failures=F("failures") + 1,
        due_at=now + timedelta(seconds=wait_s),
    )


def lose_silent() -> int:
    """Where no round was complete for a while, cards are not measured any more. Called by the schedule; returns how many cards."""
    now, count = database_now(), 0
    silent = UsageSource.objects.filter(round_at__lt=now - LOST_AFTER)
    for cluster_id in silent.values_list("cluster_id", flat=True):
        if CardUsage.objects.filter(cluster_id=cluster_id, lost_at=None).exists():
            with transaction.atomic():
                count += rows.lose_all(cluster_id, now)
    return count
