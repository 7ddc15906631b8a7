"""How many cards are what, each hour: by cluster, pool, model and driver, of each policy and of the whole fleet. For the chart.

The row of an hour is written again until the hour is over, so it holds what was at its end. One writer of `PolicyCount`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import connection, transaction

from inventory.models import Card, Node, NodeTotals
from validations.models import PolicyCard, PolicyCount, PolicyState
from validations.policies.standing import NOT_APPLICABLE, WORST_FIRST

#: Counts are kept for so long.
KEPT = timedelta(days=400)
#: Of the fleet a card is excluded for this only where all of its policies are not for such a card: the last rank.
_ELSEWHERE = f"state = '{PolicyState.EXCLUDED.value}' AND reason = '{NOT_APPLICABLE}'"
_RANKS = (*WORST_FIRST, PolicyState.EXCLUDED.value)
_RANK = " ".join(f"WHEN state = '{state}' THEN {rank}" for rank, state in enumerate(WORST_FIRST))
_RANK = f"CASE WHEN {_ELSEWHERE} THEN {len(WORST_FIRST)} {_RANK} END"
_COUNTED = f"""
    SELECT {{policy}}, s.cluster_id, COALESCE(t.pool, ''), COALESCE(c.model, ''), COALESCE(n.driver_version, ''),
        s.rank, s.reason, COUNT(*)
    FROM ({{states}}) s
    JOIN {Card._meta.db_table} c
        ON c.cluster_id = s.cluster_id AND c.node_name = s.node_name AND c.key = s.card_key AND c.removed_at IS NULL
    LEFT JOIN {Node._meta.db_table} n ON n.cluster_id = s.cluster_id AND n.name = s.node_name
    LEFT JOIN {NodeTotals._meta.db_table} t ON t.cluster_id = s.cluster_id AND t.node_name = s.node_name
    GROUP BY 1, 2, 3, 4, 5, 6, 7
"""  # noqa: S608 - names from our models
_WHY = f"CASE state WHEN '{PolicyState.EXCLUDED.value}' THEN reason ELSE '' END"
_EACH = f"""
    SELECT policy_id, cluster_id, node_name, card_key, {_RANK} AS rank, {_WHY} AS reason
    FROM {PolicyCard._meta.db_table}
"""  # noqa: S608 - names from our models
_FLEET = f"""
    SELECT cluster_id, node_name, card_key, MIN({_RANK}) AS rank,
        COALESCE(MAX(CASE WHEN {_ELSEWHERE} THEN NULL ELSE {_WHY} END), '{NOT_APPLICABLE}') AS reason
    FROM {PolicyCard._meta.db_table}
    GROUP BY cluster_id, node_name, card_key
"""  # noqa: S608 - names from our models
#: policy (None for the fleet), cluster, pool, model, driver.
_Group = tuple[str | None, int, str, str, str]
_GROUP = ("policy_id", "cluster_id", "pool", "model", "driver")
#: A group, rank of the state, reason of the excluded, number.
_Row = tuple[str | None, int, str, str, str, int, str, int]


def count(at: datetime) -> int:
    """Write the counts of the hour that this moment is in; returns the number of rows."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    groups: dict[_Group, Counter[str]] = defaultdict(Counter)
    reasons: dict[_Group, dict[str, int]] = defaultdict(dict)
    for row in (*_rows("s.policy_id", _EACH), *_rows("NULL", _FLEET)):
        key, (rank, reason, number) = row[:5], row[5:]
        state = _RANKS[rank]
        groups[key][state] += number
        if state == PolicyState.EXCLUDED:
            reasons[key][reason] = number
    made = [
        PolicyCount(**dict(zip(_GROUP, group, strict=True)), at=hour, reasons=reasons.get(group, {}), **states)
        for group, states in groups.items()
    ]
    with transaction.atomic():
        PolicyCount.objects.filter(at=hour).delete()
        PolicyCount.objects.bulk_create(made, batch_size=1000)
    return len(made)


def prune(at: datetime) -> int:
    return PolicyCount.objects.filter(at__lt=at - KEPT).delete()[0]


def _rows(policy: str, states: str) -> Iterable[_Row]:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED.format(policy=policy, states=states))
        rows: list[_Row] = cursor.fetchall()
    return rows
