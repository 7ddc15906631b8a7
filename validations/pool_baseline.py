"""The baseline of a pool: the last pass of each target of one suite, workload and card model there, whatever the driver.

Each target counts once, by its own last pass: how many other runs there were does not matter. What a run was judged against is kept
as the baseline of its pool, for who wants to see it, until the next run there is judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Subquery

from inventory.models import NodeTotals
from validations.baseline import LESS_IS_BETTER, MORE_IS_BETTER, not_compared
from validations.models import LastResult, Measurement, PoolBaseline, Run
from validations.spread import LEAST, Spread

#: Targets of a pool that count: of more those that passed last.
MOST_TARGETS = 1_000
_KEY = ("cluster", "pool", "suite", "measurement", "unit", "model")
_NUMBERS = ("median", "spread", "targets", "run")


def pool_passes(run: Run) -> list[str]:
    """Ids of the last pass of each other target of the run's pool, before it; newest first. Two queries."""
    pool = _pool(run) if run.workload_key and run.card_model else ""
    if not pool:
        return []
    nodes = NodeTotals.objects.filter(cluster_id=run.cluster_id, pool=pool)
    targets = LastResult.objects.filter(
        cluster_id=run.cluster_id, suite=run.suite, node_name__in=nodes.values("node_name"), passed_at__isnull=False
    )
    passes = Run.objects.filter(
        cluster_id=run.cluster_id,
        node_name=OuterRef("node_name"),
        card_key=OuterRef("card_key"),
        suite=run.suite,
        workload_key=run.workload_key,
        card_model=run.card_model,
        verdict="passed",
    )
    if run.ended_at is not None:
        passes = passes.filter(ended_at__lte=run.ended_at)
    last = Subquery(passes.order_by("-ended_at", "-id").values("pk")[:1])
    others = targets.exclude(node_name=run.node_name, card_key=run.card_key)
    found = others.annotate(last=last).values_list("last", flat=True)
    # Ids are in the order of time.
    return sorted((one for one in found if one is not None), reverse=True)[:MOST_TARGETS]


def of_pool(run: Run) -> dict[tuple[str, str], list[float]]:
    """(measurement, unit) → its value in the last pass of each other target of the run's pool. Three queries at most."""
    passes = pool_passes(run)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    if len(passes) >= LEAST:
        measured = Measurement.objects.filter(run_id__in=passes).exclude(name__in=not_compared(run.suite))
        for name, unit, value in measured.values_list("name", "unit", "value"):
            if unit in MORE_IS_BETTER or unit in LESS_IS_BETTER:
                found[name, unit].append(value)
    return dict(found)


def keep(run: Run, measured: Iterable[Measurement]) -> None:
    """What an ended run was judged against is the baseline of its pool, unless a later run was judged there. Three queries, none of
    a run without. In the order of names: two that end at once wait for each other and do not lock each other out."""
    used = [(one, found) for one in sorted(measured, key=lambda one: one.name) if (found := spread_of(one)) is not None]
    pool = _pool(run) if used else ""
    if not pool:
        return
    place = {"cluster_id": run.cluster_id, "pool": pool, "suite": run.suite, "model": run.card_model}
    later = PoolBaseline.objects.filter(**place, run__ended_at__gt=run.ended_at)
    known = set(later.values_list("measurement", "unit"))
    rows = [
        PoolBaseline(
            **place,
            run=run,
            measurement=one.name,
            unit=one.unit,
            median=found.median,
            spread=found.mad,
            targets=found.targets,
        )
        for one, found in used
        if (one.name, one.unit) not in known
    ]
    PoolBaseline.objects.bulk_create(rows, update_conflicts=True, unique_fields=_KEY, update_fields=_NUMBERS)


def spread_of(measured: Measurement) -> Spread | None:
    """The baseline of its pool that it was judged against; None where there was none."""
    if measured.pool_median is None or measured.pool_spread is None:
        return None
    return Spread(measured.pool_median, measured.pool_spread, measured.pool_targets or 0)


def pool_baselines() -> list[PoolBaseline]:
    """Those in scope of the pools that there are. One query, of as many rows as there are baselines."""
    pools = NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), pool=OuterRef("pool"))
    rows = PoolBaseline.objects.filter(Exists(pools)).select_related("cluster")
    return list(rows.order_by("suite", "measurement", "unit", "model", "cluster__name", "pool"))


def _pool(run: Run) -> str:
    nodes = NodeTotals.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name)
    return nodes.values_list("pool", flat=True).first() or ""
