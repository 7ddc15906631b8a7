"""The facts of all cards of a policy, and what is kept of them: the rows of one statement, beside short queries for the runs
under way and the last runs that gave no result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from inventory.models import Card, NodeTotals
from inventory.models.choices import UnavailableReason
from inventory.queries.availability import unbelieved
from stacks.engine.base import COUNT_ONLY
from validations.ids import new_id
from validations.models import (
    ACTIVE,
    NOT_PASSED,
    SAYS,
    Policy,
    PolicyCard,
    Run,
    VerdictChoice,
)
from validations.policies import rules
from validations.policies.rows import Row, rows_of
from validations.policies.rules import Cover
from validations.policies.standing import (
    CARD_UNKNOWN,
    IN_USE,
    MAYBE_IN_USE,
    NOT_APPLICABLE,
    OFF,
    Facts,
    Failure,
    Identity,
    Pass,
    Rule,
)

#: How far back runs without a result, or without a card, are counted.
LOOKED_BACK = timedelta(days=14)
_FAILED = VerdictChoice.FAILED.value
_CARD = ("cluster_id", "node_name", "card_key")

Place = tuple[int, str, str]


class Kept(NamedTuple):
    """The row of `PolicyCard` as it is now. id: None where there is none."""

    id: int | None
    state: str | None
    reason: str | None
    hindrance: str | None
    since: datetime | None
    valid_until: datetime | None
    not_before: datetime | None
    run: str | None
    failures: int | None
    tries: int | None


class Known(NamedTuple):
    """One card: its place, pool, model and driver, its facts, and the row that is kept."""

    place: Place
    pool: str
    model: str
    facts: Facts
    kept: Kept


class _Tries(NamedTuple):
    """Of one card: runs that failed, by their ids, and when runs ended that gave no result."""

    failed: dict[str, tuple[datetime, Identity]]
    without: list[datetime]


def cards_of(
    policy: Policy, cover: Cover, at: datetime, node: tuple[int, str] | None = None, unless: Rule | None = None
) -> Iterator[Known]:
    """All cards that the policy covers. node: (cluster id, name), to look at one node alone.

    unless: without the cards that are kept as valid and are so still by this rule: of a fleet at rest those are nearly all.
    Raises NoRule.
    """
    clusters = [one for one in cover.clusters if node is None or one == node[0]]
    if not clusters:
        return
    os = rules.suite_of(policy).os
    away = frozenset(unbelieved())
    here = {"cluster_id__in": clusters, **({"node_name": node[1]} if node is not None else {})}
    mine = Run.objects.filter(suite=policy.suite, **here)
    active, tries, unknown = _active(mine), _tries(mine, at), _with_unknown_card(mine, at)
    for row in rows_of(policy, clusters, at, node, unless):
        place = row.cluster, row.node, row.key
        if cover.nodes is None or place[:2] in cover.nodes:
            hindrance = _hindrance(row, place[0] in away, os) or (CARD_UNKNOWN if place[:2] in unknown else "")
            yield _known(place, row, hindrance, active.get(place), tries.get(place))


def delete_uncovered(policy: Policy, cover: Cover) -> int:
    """Delete the rows of cards that are gone, or that the policy no longer covers; returns how many."""
    here = Card.objects.filter(
        cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), key=OuterRef("card_key"), removed_at=None
    )
    if policy.model:
        here = here.filter(model=policy.model)
    if policy.stack:
        here = here.filter(stack=policy.stack)
    covered = Q(Exists(here), cluster_id__in=cover.clusters)
    if policy.pool:
        totals = NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"))
        covered &= Q(Exists(totals.filter(pool=policy.pool)))
    rows = PolicyCard.objects.filter(policy=policy)
    gone = set(rows.exclude(covered).values_list("pk", flat=True))
    if cover.nodes is not None:
        places = rows.values_list("pk", "cluster_id", "node_name")
        gone |= {pk for pk, cluster, node in places.iterator(5000) if (cluster, node) not in cover.nodes}
    found = sorted(gone)
    for start in range(0, len(found), 500):
        PolicyCard.objects.filter(pk__in=found[start : start + 500]).delete()
    return len(found)


def _known(place: Place, row: Row, hindrance: str, active: str | None, tries: _Tries | None) -> Known:
    passed = None
    if row.passed_run is not None and (passed_at := _moment(row.passed_at)) is not None:
        passed = Pass(
            run=row.passed_run,
            at=passed_at,
            identity=Identity(row.passed_driver, row.passed_boot, row.passed_machine),
            image=row.passed_image,
            parser_version=row.passed_parser,
        )
    reported, reported_at = row.reported or "", _moment(row.reported_at)
    if reported == VerdictChoice.PASSED and reported_at is not None and (passed is None or passed.at < reported_at):
        identity = Identity(row.reported_driver or "", row.reported_boot or "", row.reported_machine or "")
        passed = Pass(run=None, at=reported_at, identity=identity, image="", parser_version=None)
    said_at, ever = _moment(row.said_at), _moment(row.ever)
    told = max((one for one in (said_at, ever) if one is not None), default=None)
    without = [one for one in tries.without if told is None or one > told] if tries else []
    facts = Facts(
        now=Identity(row.driver or "", row.boot or "", row.machine or ""),
        hindrance=hindrance,
        passed=passed,
        failure=_failure(row, said_at, passed, tries),
        reported_failure=reported_at if reported == _FAILED else None,
        ever=ever,
        tries=len(without),
        last_at=max(without) if without else _moment(row.last_at),
        active=active,
        refused=row.refused or "",
        refused_at=_moment(row.refused_at),
    )
    moments = _moment(row.since), _moment(row.valid_until), _moment(row.not_before)
    kept = Kept(row.kept, row.state, row.reason, row.hindrance, *moments, row.run, row.failures, row.tries)
    return Known(place, row.pool or "", row.model, facts, kept)


def _failure(row: Row, said_at: datetime | None, passed: Pass | None, tries: _Tries | None) -> Failure | None:
    if row.said_verdict != _FAILED or row.said_run is None or said_at is None:
        return None
    failed = tries.failed if tries else {}
    times = sum(1 for ended, _ in failed.values() if passed is None or ended > passed.at)
    identity = failed[row.said_run][1] if row.said_run in failed else Identity()
    return Failure(run=row.said_run, at=said_at, identity=identity, times=max(times, 1))


def _hindrance(row: Row, away: bool, os: Collection[str]) -> str:
    """Why no run may start on the card now, the most lasting cause first. A node that is not in the cluster has no system."""
    if away:
        return UnavailableReason.STALE.value
    if row.off:
        return OFF
    if row.os and row.os not in os:
        return NOT_APPLICABLE
    if row.os is None or row.unavailable:
        return row.unavailable or UnavailableReason.NOT_READY.value
    if row.allocations:
        return IN_USE
    return MAYBE_IN_USE if row.unplaced else ""


def _active(runs: QuerySet[Run]) -> dict[Place, str]:
    """Runs of the suite under way, by the card that they are to take."""
    found = {}
    columns = ("pk", "cluster_id", "node_name", "card_key", "card_requested")
    for run, cluster, node, key, asked in runs.filter(state__in=ACTIVE).values_list(*columns):
        if key or asked:
            found[cluster, node, key or asked] = run
    return found


def _tries(runs: QuerySet[Run], at: datetime) -> dict[Place, _Tries]:
    """All runs that failed, and those of the last days that gave no result. One that took another card than it was to take gave none
    for that card. Two queries."""
    recent = Q(pk__gte=new_id(at - LOOKED_BACK))
    found: dict[Place, _Tries] = defaultdict(lambda: _Tries({}, []))
    bad = runs.filter(Q(verdict=_FAILED) | recent, verdict__in=NOT_PASSED).exclude(card_key="")
    columns = (*_CARD, "verdict", "ended_at", "pk", "driver_version", "boot_id", "machine_id")
    for cluster, node, key, verdict, ended, run, *identity in bad.values_list(*columns).iterator(2000):
        if ended is None:
            continue  # no row of ours: what has a verdict has ended
        if verdict == _FAILED:
            found[cluster, node, key].failed[run] = (ended, Identity(*identity))
        else:
            found[cluster, node, key].without.append(ended)
    other = runs.filter(recent, ended_at__isnull=False).exclude(card_requested="").exclude(card_key=F("card_requested"))
    for cluster, node, asked, ended in other.values_list(*_CARD[:2], "card_requested", "ended_at").iterator(2000):
        if ended is not None:
            found[cluster, node, asked].without.append(ended)
    return found


def _with_unknown_card(runs: QuerySet[Run], at: datetime) -> set[tuple[int, str]]:
    """Nodes on which a run of the last days had a result that belongs to no known card: their system says of no pod which it has."""
    rows = runs.filter(pk__gte=new_id(at - LOOKED_BACK), verdict__in=SAYS, card_key="", card_evidence=COUNT_ONLY)
    return set(rows.values_list("cluster_id", "node_name"))


def _moment(value: Any) -> datetime | None:
    """SQLite gives moments as text without their zone, which is UTC."""
    if value is None:
        return None
    found = datetime.fromisoformat(value) if isinstance(value, str) else value
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
