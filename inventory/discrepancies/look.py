"""One look over a cluster: the one writer of `Discrepancy`, and of the findings of clusters that come of it.

Nodes whose told conditions change are marked dirty: the node reconciler makes the findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeAlias

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from inventory import stated
from inventory.catalogue import CATALOGUE
from inventory.compared import entries, of_cluster, rules, steady
from inventory.compared.rules import Claim, Key
from inventory.compared.steady import State
from inventory.condition import NEEDED_KINDS, condition_of
from inventory.condition import State as WatchedState
from inventory.discrepancies.reading import read
from inventory.mirror.values import plain
from inventory.models import DirtyNode, Discrepancy, Finding, IdleLook, UsageSource, Watch
from inventory.models.usage import SourceState
from inventory.queries.measured import KNOWN_FOR, overdue_since
from runtime import bulk
from runtime.clock import database_now
from wording.said import restored, stored

#: Where the last look is longer ago, what was only begun may have been otherwise in between.
MOST_GAP = timedelta(minutes=5)
#: Codes of findings of a cluster.
OF_CLUSTERS = (entries.NOT_READ, entries.SILENT, entries.MISSING)
_UNIQUE = ("cluster_id", "node_name", "code", "card_key", "pod")
_COLUMNS = (*_UNIQUE, "told", "text", "wording", "first_at", "unknown_since", "numbers", "exact")

#: Node ("" for the cluster) → its conditions.
States: TypeAlias = Mapping[str, Mapping[Key, State]]


class Row(msgspec.Struct, frozen=True):
    """A stored condition."""

    id: int
    node: str
    key: Key
    state: State


def look() -> int:
    """Look over all clusters. Returns how many conditions are told. Called by the schedule."""
    read = list(UsageSource.objects.values_list("cluster_id", flat=True))
    left = set(Discrepancy.objects.exclude(cluster__in=read).values_list("cluster_id", flat=True).distinct())
    left |= set(_open(OF_CLUSTERS).exclude(cluster__in=read).values_list("cluster_id", flat=True))
    for cluster_id in left:
        _write(cluster_id, _stored(cluster_id), {}, database_now())
    return sum(look_over(cluster_id) for cluster_id in read)


def look_over(cluster_id: int) -> int:
    """Compare one cluster's promises with its measurements, and write what changed. Returns how many conditions are told."""
    now, stored = database_now(), _stored(cluster_id)
    source = UsageSource.objects.filter(cluster_id=cluster_id).first()
    row = IdleLook.objects.filter(cluster_id=cluster_id).first()
    if source is None or row is None:
        return 0  # it is read no more; or what is idle was not found yet
    last = row.findings_at
    steadily = last is not None and now - last <= MOST_GAP
    fresh = source.round_at is not None and now - source.round_at <= KNOWN_FOR
    nodes = read(cluster_id, now) if fresh and _in_step(cluster_id, now) else None
    old: dict[str, dict[Key, State]] = defaultdict(dict)
    for one in stored:
        if steadily or one.state.told:
            old[one.node][one.key] = one.state
    made = _made(source, nodes, old, now)
    with transaction.atomic():
        # Of two who look at once the second leaves it at that.
        if IdleLook.objects.filter(pk=row.pk, findings_at=last).update(findings_at=now):
            _write(cluster_id, stored, made, now)
    return sum(state.told for states in made.values() for state in states.values())


def _in_step(cluster_id: int, now: datetime) -> bool:
    """Whether the mirror knows the pods of now: else nobody would hold a card whose pod it has not seen yet."""
    rows = Watch.objects.filter(cluster_id=cluster_id, kind__in=NEEDED_KINDS)
    states = [condition_of(watch, now).state for watch in rows]
    return len(states) == len(NEEDED_KINDS) and set(states) == {WatchedState.WATCHING}


def _made(
    source: UsageSource, nodes: Sequence[rules.Node] | None, old: Mapping[str, dict[Key, State]], now: datetime
) -> dict[str, dict[Key, State]]:
    known = {node.name: node for node in nodes or ()}
    found = {name: rules.claims(node, frozenset(old.get(name, ()))) for name, node in known.items()}
    moment, round_at = now.timestamp(), (source.round_at or now).timestamp()
    whole = of_cluster.gathered(found, sum(bool(node.cards) for node in known.values()))
    whole |= of_cluster.not_read(_source(source, nodes, now))
    made: dict[str, dict[Key, State]] = {}
    for name in ("", *(old.keys() | found.keys()) - {""}):
        is_unknown = partial(_is_unknown, nodes is None, known.get(name))
        claims: Mapping[Key, Claim] = found.get(name, {}) if name else whole
        # What is said of a cluster is so at this moment, also when no round ends.
        made[name] = steady.step(
            old.get(name, {}), claims, is_unknown, moment, round_at if name else moment, source.every_s
        )
    return made


def _is_unknown(all_of_it: bool, node: rules.Node | None, key: Key) -> bool:
    """Whether it cannot be said now. all_of_it: nothing is known of the cluster now."""
    return all_of_it or (node is not None and rules.unknown(node, key))


def _source(source: UsageSource, nodes: Sequence[rules.Node] | None, now: datetime) -> of_cluster.Source:
    cards = [card for node in nodes or () for card in node.cards]
    return of_cluster.Source(
        overdue_since=_seconds(overdue_since(source, now)),
        trouble_since=_seconds(source.trouble_since),
        round_at=_seconds(source.round_at),
        reason=source.reason.rstrip(".") if source.reason.endswith(".") else restored(source.reason, source.wording),
        reads=source.state == SourceState.READING,
        measured=None if nodes is None else sum(card.fresh for card in cards),
        cards=len(cards),
        unmatched=source.cards_unmatched,
    )


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


# Rows.


def _stored(cluster_id: int) -> list[Row]:
    rows = Discrepancy.objects.filter(cluster_id=cluster_id).order_by("id")
    columns = (
        "id",
        "node_name",
        "code",
        "card_key",
        "pod",
        "first_at",
        "text",
        "wording",
        "numbers",
        "exact",
        "told",
        "unknown_since",
    )
    return [
        Row(
            pk,
            node,
            Key(code, card, pod),
            State(first.timestamp(), restored(text, form), tuple(numbers), exact, told, _seconds(unknown)),
        )
        for pk, node, code, card, pod, first, text, form, numbers, exact, told, unknown in rows.values_list(*columns)
    ]


def _write(cluster_id: int, stored: Sequence[Row], made: States, now: datetime) -> None:
    """The difference. Inside the caller's transaction, or with nothing that must go together."""
    before = {(row.node, row.key): row.state for row in stored}
    changed, dirty = [], set()
    for node, states in made.items():
        for key, state in states.items():
            old = before.get((node, key))
            if state != old:
                changed.append(_columns(cluster_id, node, key, state))
            if _said(state) != _said(old):
                dirty.add(node)
    gone = [row for row in stored if row.key not in made.get(row.node, {})]
    dirty |= {row.node for row in gone if row.state.told}
    bulk.upsert(Discrepancy, _COLUMNS, changed, _UNIQUE)
    Discrepancy.objects.filter(pk__in=[row.id for row in gone]).delete()
    nodes = sorted(dirty - {""})
    if nodes:
        bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(cluster_id, name) for name in nodes])
    _write_findings(cluster_id, made.get("", {}), now)


def _said(state: State | None) -> str:
    return state.text if state is not None and state.told else ""


def _columns(cluster_id: int, node: str, key: Key, state: State) -> tuple[Any, ...]:
    unknown = None if state.unknown_since is None else _at(state.unknown_since)
    text = plain(state.text, 4000)
    return (
        cluster_id,
        node,
        *key,
        state.told,
        text,
        stored(state.text),
        _at(state.first),
        unknown,
        list(state.numbers),
        plain(state.exact, 4000),
    )


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _open(codes: Sequence[str]) -> QuerySet[Finding]:
    return Finding.objects.filter(node_name="", code__in=codes, ended_at=None)


def _write_findings(cluster_id: int, states: Mapping[Key, State], now: datetime) -> None:
    """Those of the cluster itself."""
    rows = {row.code: row for row in _open(OF_CLUSTERS).filter(cluster_id=cluster_id)}
    wanted = {key.code: state.text for key, state in states.items() if state.told}
    Finding.objects.filter(pk__in=[row.pk for code, row in rows.items() if code not in wanted]).update(ended_at=now)
    for code, text in wanted.items():
        if code not in rows:
            where = {
                "cluster_id": cluster_id,
                "code": code,
                "node_name": "",
                "card_key": "",
                "pod": "",
                "ended_at": None,
            }
            made = {"severity": CATALOGUE[code].severity, "first_seen_at": now} | stated.columns(text)
            Finding.objects.get_or_create(**where, defaults=made)
        elif (rows[code].text, rows[code].wording) != (text, stored(text)):
            Finding.objects.filter(pk=rows[code].pk).update(**stated.columns(text))
