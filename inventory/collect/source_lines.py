"""What a source of usage has to say, in lines for commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from inventory.collect import collector
from inventory.collect.errors import SourceError
from inventory.collect.prometheus import BadAddress
from inventory.models import UsageSource
from inventory.models.usage import SourceState, Way
from inventory.processes import START
from inventory.queries.measured import overdue_since
from kube.kubeconfig import BadKubeconfig
from runtime.models import Role

#: Problems that are shown; the rest is counted.
MOST_PROBLEMS = 8


def lines(source: UsageSource, now: datetime) -> Iterator[str]:
    """How it stands, from its row."""
    said = f": {source.reason}" if source.reason else ""
    yield f"exporters, from {_place(source)}: {SourceState(source.state).label}{said}"
    if (since := overdue_since(source, now)) is not None:
        yield f"  ATTENTION: not being read, overdue since {since:%Y-%m-%d %H:%M:%S} UTC. Start `{START[Role.USAGE]}`."
    if source.round_at is not None:
        took = f"{source.round_seconds or 0:.1f} s"
        age_s = max((now - source.round_at).total_seconds(), 0)
        yield (
            f"  last round {age_s:.0f} s ago in {took}: {source.samples} samples, {source.cards_measured} cards measured, "
            f"{source.cards_unmatched} cards unknown to gpudash"
        )
        yield from (f"  {line}" for line in _formats(source.formats))


def check(source: UsageSource) -> Iterator[str]:
    """How it stands now: each exporter that is found, and what is wrong with what it says. Nothing is written."""
    try:
        found = collector.look(source)
    except (SourceError, BadAddress, BadKubeconfig) as error:
        yield f"exporters, from {_place(source)}: {error}"
        return
    yield f"exporters, from {_place(source)}: {found.samples} samples"
    yield from (f"  {line}" for line in _formats(collector.formats_of(found)) or ["no supported exporter found"])
    yield from (f"  not read: {text}" for text in found.missing)
    yield from (f"  warning: {text}" for text in found.warnings)
    problems = collector.problems_of(found)
    yield from (
        f"  {one['format'] or 'the answers'}: {one['code']}, {one['count']} times" for one in problems[:MOST_PROBLEMS]
    )
    if len(problems) > MOST_PROBLEMS:
        yield f"  and {len(problems) - MOST_PROBLEMS} more kinds of problems"


def source_of(cluster_id: int) -> UsageSource | None:
    return UsageSource.objects.filter(cluster_id=cluster_id).first()


def _place(source: UsageSource) -> str:
    return "pods, through the API server" if source.way == Way.DIRECT else source.address


def _formats(formats: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"{one['format']}{' ' if one['versions'] else ''}{', '.join(one['versions'])}: {one['cards']} cards, {one['samples']} samples"
        for one in formats
    ]
