"""What is wrong, by cause: findings of one code and severity that state the same are one cause, wherever they are.

What a finding states is a column of its row (`inventory.stated`). Findings whose texts are one sentence, as stacks have them, differ
in their codes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat

from inventory.models import Finding
from inventory.stated import stated
from wording.said import Stored

_KEY = ("severity", "code", "cause")


@dataclass(frozen=True)
class Cause:
    """count: findings; quiet: how many of them are silenced. since: of the first of them. oldest, newest: rows, with their clusters;
    the same one where there is one.
    """

    code: str
    severity: str
    cause: str
    count: int
    since: datetime
    oldest: Finding
    newest: Finding
    quiet: int = 0

    @property
    def stated(self) -> Stored | None:
        """What the findings state, in the form that is stored; None where the code says it."""
        return stated(self.oldest.wording) if self.cause else None


@dataclass(frozen=True)
class Spread:
    """cards, nodes, clusters: how many of them a cause is on. names: of the nodes where they are one or two."""

    cards: int = 0
    nodes: int = 0
    clusters: int = 0
    names: tuple[str, ...] = ()


def causes(rows: QuerySet[Finding], most: int, quiet: Q | None = None) -> tuple[list[Cause], int]:
    """Errors first, of equal ones those with the most findings; and how many causes there are in all.

    rows: of `inventory.queries.rows`, filtered. quiet: the silenced ones, which are counted.

    Two queries; one more where there are more than `most`.
    """
    groups = rows.order_by().values(*_KEY)
    found = list(
        groups.annotate(
            count=Count("id"),
            since=Min("first_seen_at"),
            oldest=Min("id"),
            newest=Max("id"),
            rank=Min("severity_rank"),
            **({"quiet": Count("id", filter=quiet)} if quiet is not None else {}),
        ).order_by("rank", "-count", "oldest")[: most + 1]
    )
    number = len(found) if len(found) <= most else number_of_causes(rows)
    found = found[:most]
    examples = rows.in_bulk({one[end] for one in found for end in ("oldest", "newest")})
    return [made for one in found if (made := _cause(one, examples))], number


def number_of_causes(rows: QuerySet[Finding]) -> int:
    return int(rows.order_by().values(*_KEY).distinct().count())


def _cause(group: Mapping[str, Any], examples: Mapping[int, Finding]) -> Cause | None:
    """None for one whose rows have just gone."""
    oldest, newest = examples.get(group["oldest"]), examples.get(group["newest"])
    if oldest is None or newest is None:
        return None
    return Cause(
        code=group["code"],
        severity=group["severity"],
        cause=group["cause"],
        count=group["count"],
        since=group["since"],
        oldest=oldest,
        newest=newest,
        quiet=group.get("quiet", 0),
    )


def spreads(rows: QuerySet[Finding], found: Sequence[Cause]) -> list[Spread]:
    """On how much each of the causes is, in their order. One query. rows: those that the causes are of."""
    if not found:
        return []
    node = Concat(Cast("cluster_id", TextField()), Value("/"), "node_name", output_field=TextField())
    card = Concat(node, Value("/"), "card_key", output_field=TextField())
    groups = rows.filter(_any_of(found)).order_by().values(*_KEY)
    counted = {
        tuple(one[name] for name in _KEY): one
        for one in groups.annotate(
            cards=Count(card, distinct=True, filter=~Q(card_key="")),
            nodes=Count(node, distinct=True, filter=~Q(node_name="")),
            clusters=Count("cluster_id", distinct=True),
            first=Min("node_name", filter=~Q(node_name="")),
            last=Max("node_name"),
        )
    }
    return [_spread(counted.get((one.severity, one.code, one.cause))) for one in found]


def _any_of(found: Iterable[Cause]) -> Q:
    condition = Q()
    for one in found:
        condition |= Q(severity=one.severity, code=one.code, cause=one.cause)
    return condition


def _spread(group: Mapping[str, Any] | None) -> Spread:
    if group is None:
        return Spread()
    names = dict.fromkeys((group["first"], group["last"])) if group["nodes"] <= 2 else ()
    return Spread(group["cards"], group["nodes"], group["clusters"], tuple(name for name in names if name))
