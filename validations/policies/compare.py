"""Before and after a change: the counts under A beside those under B, which cards lost what, and by how much measurements moved.

A, B: two drivers, images of runs, kernels, GPU Operators, MIG layouts, or days. Only drivers and days have counts.

Counts are those of an hour (`PolicyCount`), by group: the cards of one cluster, pool and model. Of two drivers, each group by itself,
since an upgrade reaches them one after the other: B at the last hour in which the group had it; A at its last hour before the group's
first one with B, or at its last one where there is none before. Of two days (UTC): the last hour of each.
Sums are of the groups that have both. Cards are compared by their results (`losses`) and measurements (`measured`): of two days A's
are the newest until its end, B's the newest after that until its own end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from django.db.models import Max, Min, Q, QuerySet

from inventory.models import Cluster
from runtime.cached import shared
from runtime.clock import database_now
from validations.ids import new_id
from validations.models import Policy, PolicyCount
from validations.planning import Refused
from validations.policies import losses
from validations.policies.losses import Loss, Lost
from validations.policies.measured import Moved, Sides, both, moved
from validations.policies.reading import STATES, Counts, Narrowed, total
from wording.said import sentence

DRIVER, IMAGE, KERNEL, OPERATOR, MIG, DAY = "driver", "image", "kernel", "operator", "mig-layout", "day"
WAYS = (DRIVER, IMAGE, KERNEL, OPERATOR, MIG, DAY)
#: Those that are counted.
COUNTED = (DRIVER, DAY)
_COLUMNS = {
    DRIVER: "driver_version",
    IMAGE: "image",
    KERNEL: "node_snapshot__kernel",
    OPERATOR: "node_snapshot__operator",
    MIG: "node_snapshot__mig_layout",
}
#: Parameters of the address, of REST and of the command.
NAMES = ("by", "a", "b", "cluster", "pool", "model", "policy")
#: Counts and results of before are not compared.
SPAN = timedelta(days=90)
_LONGEST, _MOST = 253, 100


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What to compare. a, b: versions, images, or days as YYYY-MM-DD. policy: "" for all, each card by its worst state."""

    by: str
    a: str
    b: str
    narrowed: Narrowed = Narrowed()
    policy: str = ""


class Side(msgspec.Struct, frozen=True):
    """A driver or a day. at: start of the last hour of its counts. counts: of the groups with both sides. None: there is none."""

    name: str
    at: datetime | None = None
    counts: Counts | None = None


class Group(msgspec.Struct, kw_only=True):
    """Cards of one cluster (id), pool and model. before, after: their counts; None: no such card was counted there.

    before_at, after_at: start of the hour of the counts.
    """

    cluster_id: int
    pool: str
    model: str
    before: Counts | None = None
    before_at: datetime | None = None
    after: Counts | None = None
    after_at: datetime | None = None
    lost: Lost = Lost()

    @property
    def has_both(self) -> bool:
        return self.before is not None and self.after is not None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """groups: the one that lost most of its share of valid cards first, those with one side last. groups_compared: with both.

    losses: of each card, the worst first; lost: how many. measurements: by group, what got slower first.
    """

    by: str
    before: Side
    after: Side
    groups_compared: int
    groups: list[Group]
    lost: Lost
    losses: list[Loss]
    measurements: list[Moved]

    @property
    def size(self) -> int:
        """For `runtime.cached`: bytes."""
        return 600 * (len(self.losses) + len(self.groups)) + 3000 * len(self.measurements)


def read(given: Mapping[str, Sequence[str]]) -> Ask:
    """What an address, REST or a command asks: parameter → its values. Raises Refused."""
    problems: dict[str, list[str]] = {}
    for name, values in given.items():
        if len(values) > _MOST or any(len(one) > _LONGEST or "\0" in one for one in values):
            problems[name] = [sentence("At most {most} characters.", most=_LONGEST)]
    if problems:
        raise Refused(problems)
    one = {name: next((value for value in given.get(name, ()) if value), "") for name in ("by", "a", "b", "policy")}
    by = one["by"] or DRIVER
    if by not in WAYS:
        raise Refused({"by": [sentence("Must be one of: {names}.", names=", ".join(WAYS))]})
    for name in ("a", "b"):
        if not one[name]:
            problems[name] = [sentence("Required.")]
        elif by == DAY and _day(one[name]) is None:
            problems[name] = [sentence("Must be a day: YYYY-MM-DD.")]
    if not problems and one["a"] == one["b"]:
        problems["b"] = [sentence("Must be another one than a.")]
    if not problems and by == DAY and one["a"] > one["b"]:
        problems["b"] = [sentence("Must be a day after a.")]
    if one["policy"] and not Policy.objects.filter(pk=one["policy"]).exists():
        problems["policy"] = [sentence("There is no policy {name}.", name=f"{one['policy'][:64]!r}")]
    clusters = _clusters([value for value in given.get("cluster", ()) if value], problems)
    if problems:
        raise Refused(problems)
    pools, models = (tuple(value for value in given.get(name, ()) if value) for name in ("pool", "model"))
    narrowed = Narrowed(clusters=clusters, pools=pools, models=models)
    return Ask(by=by, a=one["a"], b=one["b"], narrowed=narrowed, policy=one["policy"])


def compare(ask: Ask) -> Compared:
    """Four queries, and one for each suite with the options that policies want of it; none per card."""
    return shared("policies compared", ask, lambda: _compare(ask))


def _compare(ask: Ask) -> Compared:
    now = database_now()
    sought = _sought(ask, now)
    found = losses.losses(sought)
    before, after = _of_days(ask) if ask.by == DAY else _of_drivers(ask, now) if ask.by == DRIVER else ([], [])
    groups = grouped(before, after, found)
    paired = [group for group in groups if group.has_both]
    return Compared(
        by=ask.by,
        before=Side(ask.a, _last(one.before_at for one in groups), _sum(one.before for one in paired)),
        after=Side(ask.b, _last(one.after_at for one in groups), _sum(one.after for one in paired)),
        groups_compared=len(paired),
        groups=groups,
        lost=losses.counted(found),
        losses=found,
        measurements=moved(both(_measured(ask, now), ask.narrowed, sought.tests if ask.policy else None)),
    )


#: Cluster, pool, model.
Key = tuple[int, str, str]


class Row(NamedTuple):
    """Counts of a group at an hour."""

    group: Key
    at: datetime
    counts: Counts


def grouped(before: Iterable[Row], after: Iterable[Row], lost: Iterable[Loss]) -> list[Group]:
    """The groups that were counted on either side. Pure."""
    sides: dict[Key, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    mine: dict[Key, list[Loss]] = defaultdict(list)
    for number, rows in enumerate((before, after)):
        for row in rows:
            sides[row.group][number].append(row)
    for loss in lost:
        mine[loss.cluster, loss.pool, loss.model].append(loss)
    groups = [
        Group(
            cluster_id=key[0],
            pool=key[1],
            model=key[2],
            before=_sum(row.counts for row in a),
            before_at=_last(row.at for row in a),
            after=_sum(row.counts for row in b),
            after_at=_last(row.at for row in b),
            lost=losses.counted(mine[key]),
        )
        for key, (a, b) in sides.items()
    ]
    return sorted(groups, key=_worst_first)


def change(before: Counts | None, after: Counts | None) -> float | None:
    """Of the share of valid cards, -1 to 1; None where one of both is not known."""
    a, b = (None if one is None else one.valid_ratio for one in (before, after))
    return None if a is None or b is None else b - a


def _sum(every: Iterable[Counts | None]) -> Counts | None:
    known = [one for one in every if one is not None]
    return total(known) if known else None


def _last(times: Iterable[datetime | None]) -> datetime | None:
    return max((at for at in times if at is not None), default=None)


def _worst_first(group: Group) -> tuple[bool, bool, float, str, str, int]:
    found = change(group.before, group.after)
    return not group.has_both, found is None, found or 0.0, group.pool, group.model, group.cluster_id


_GROUP, _HOUR = ("cluster_id", "pool", "model"), timedelta(hours=1)


def _of_days(ask: Ask) -> tuple[list[Row], list[Row]]:
    """The last hour of each day."""
    rows = _counted(ask)
    hours = [rows.filter(at__gte=begin, at__lt=end).aggregate(at=Max("at"))["at"] for begin, end in _days(ask)]
    before, after = ([row for _driver, row in _rows(rows.filter(at=at))] for at in hours)
    return before, after


def _of_drivers(ask: Ask, now: datetime) -> tuple[list[Row], list[Row]]:
    """The hour of each group under A, and under B."""
    rows = _counted(ask).filter(driver__in=(ask.a, ask.b), at__gte=now - SPAN)
    spans: dict[str, dict[Key, tuple[datetime, datetime]]] = {ask.a: {}, ask.b: {}}
    for cluster, pool, model, driver, first, last in rows.values_list(*_GROUP, "driver").annotate(
        first=Min("at"), last=Max("at")
    ):
        spans[driver][cluster, pool, model] = first, last
    hours = {(driver, group): last for driver, groups in spans.items() for group, (_first, last) in groups.items()}
    hours |= {(ask.a, group): at for group, at in _before(rows, ask, spans[ask.a], spans[ask.b]).items()}
    sides: dict[str, list[Row]] = {ask.a: [], ask.b: []}
    for driver, row in _rows(rows.filter(at__in=set(hours.values()))):
        if hours[driver, row.group] == row.at:
            sides[driver].append(row)
    return sides[ask.a], sides[ask.b]


def _before(
    rows: QuerySet[PolicyCount],
    ask: Ask,
    spans_a: Mapping[Key, tuple[datetime, datetime]],
    spans_b: Mapping[Key, tuple[datetime, datetime]],
) -> dict[Key, datetime]:
    """The last hour with A before the first with B, of groups that had A before and after: of the others it is the last with A.

    That is the hour before as a rule. Where none was counted then, one query for each hour in which groups had B first.
    """
    begun = {group: begin for group, (begin, _end) in spans_b.items()}
    begun = {
        group: begun[group] for group, (begin, end) in spans_a.items() if group in begun and begin < begun[group] <= end
    }
    under_a = rows.filter(driver=ask.a)
    found = dict[Key, datetime]()
    for cluster, pool, model, at in under_a.filter(at__in={at - _HOUR for at in begun.values()}).values_list(
        *_GROUP, "at"
    ):
        if begun.get((cluster, pool, model)) == at + _HOUR:
            found[cluster, pool, model] = at
    for begin in {at for group, at in begun.items() if group not in found}:
        for cluster, pool, model, last in under_a.filter(at__lt=begin).values_list(*_GROUP).annotate(last=Max("at")):
            if begun.get((cluster, pool, model)) == begin:
                found.setdefault((cluster, pool, model), last)
    return found


def _counted(ask: Ask) -> QuerySet[PolicyCount]:
    return ask.narrowed.of(PolicyCount.objects.order_by().filter(policy=ask.policy or None))


def _rows(rows: QuerySet[PolicyCount]) -> Iterator[tuple[str, Row]]:
    """(driver, counts)."""
    for cluster, pool, model, driver, at, *numbers in rows.values_list(*_GROUP, "driver", "at", *STATES):
        yield driver, Row((cluster, pool, model), at, Counts(**dict[str, Any](zip(STATES, numbers, strict=True))))


def _sought(ask: Ask, now: datetime) -> losses.Sought:
    policies = Policy.objects.filter(pk=ask.policy) if ask.policy else Policy.objects.all()
    narrowed, tests = ask.narrowed, losses.tests_of(policies)
    if ask.by != DAY:
        return losses.Sought(tests=tests, narrowed=narrowed, by=ask.by, values=(ask.a, ask.b), since=now - SPAN)
    (_, end_a), (_, end_b) = _days(ask)
    return losses.Sought(tests=tests, narrowed=narrowed, until=(end_a, end_b))


def _measured(ask: Ask, now: datetime) -> Sides:
    work = losses.WORK.get(ask.by, "workload_key")
    if ask.by != DAY:
        since = Q(id__gte=new_id(now - SPAN))
        return Sides(since & Q(**{_COLUMNS[ask.by]: ask.a}), since & Q(**{_COLUMNS[ask.by]: ask.b}), work)
    (_, end_a), (_, end_b) = _days(ask)
    first, middle, last = new_id(end_a - SPAN), new_id(end_a), new_id(end_b)
    return Sides(Q(id__gte=first, id__lt=middle), Q(id__gte=middle, id__lt=last), work)


def _days(ask: Ask) -> tuple[tuple[datetime, datetime], tuple[datetime, datetime]]:
    a, b = (datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) for day in (ask.a, ask.b))
    return (a, a + timedelta(days=1)), (b, b + timedelta(days=1))


def _day(text: str) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    # Its next day is a day too, and it is written in one way only.
    return found if found.isoformat() == text and 2000 <= found.year < 9000 else None


def _clusters(names: Sequence[str], problems: dict[str, list[str]]) -> tuple[int, ...] | None:
    """Ids; None for all."""
    if not names:
        return None
    known = dict(Cluster.objects.filter(name__in=names).values_list("name", "pk"))
    if unknown := [name for name in names if name not in known]:
        problems["cluster"] = [sentence("There is no cluster {name}.", name=f"{unknown[0][:64]!r}")]
    return tuple(sorted(set(known.values())))
