"""How many cards are in each state of proof: of a cluster, by pool, by node. One query, whatever the number of cards and suites.

Of the results of a card one decides (`lastresults.deciding`), so that each card is one row. Written in SQL, since its tables are
joined by names, which no foreign key says; PostgreSQL and SQLite read it alike. `proof.of_cards` says the same of single cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import connection

from inventory.models import Card, Node, NodeTotals
from validations.models import LastResult, VerdictChoice
from validations.validity import DETECTED, DRIVER_CHANGED, FAILED, NEVER, RAN, STATES, VALIDATED, Validity

_STATE = f"""
    CASE
        WHEN r.said_verdict = '{VerdictChoice.FAILED.value}' THEN '{FAILED}'
        WHEN r.good_id IS NULL THEN r.lower_level
        WHEN n.driver_version <> '' AND r.good_driver <> '' AND n.driver_version <> r.good_driver THEN '{DRIVER_CHANGED}'
        ELSE '{VALIDATED}'
    END
"""
_FROM = f"""
    FROM {LastResult._meta.db_table} r
    JOIN {Card._meta.db_table} c
        ON c.cluster_id = r.cluster_id AND c.node_name = %(node)s AND c.key = r.card_key AND c.removed_at IS NULL
    LEFT JOIN {Node._meta.db_table} n ON n.cluster_id = r.cluster_id AND n.name = r.node_name
    LEFT JOIN {NodeTotals._meta.db_table} t ON t.cluster_id = r.cluster_id AND t.node_name = r.node_name
    WHERE r.decides
"""
# Where many are counted the name of the node is an expression, so that no index of results serves to find those of one card after the
# other: PostgreSQL takes that for cheaper than to join all at once, and needs three times as long (130 and 47 ms of 40,000 cards).
_OF_MANY, _OF_FEW = _FROM % {"node": "r.node_name || ''"}, _FROM % {"node": "r.node_name"}
# What the state rests on, of each state.
_COLUMNS = ("r.suite", "r.said_id", "r.said_at", "r.good_id", "r.good_at", "r.good_driver", "r.lower_id", "r.lower_at")


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """Cards that were ever tested, in each state; every state but "never" is there.

    fresh: of the proven, those since a given time; sure: of these, on a driver that is known.
    """

    states: dict[str, int]
    fresh: int = 0
    sure: int = 0

    @property
    def tested(self) -> int:
        return sum(self.states.values())

    def of(self, cards: int) -> dict[str, int]:
        """Every state, of so many cards: those that were never tested are "never"."""
        return {NEVER: max(0, cards - self.tested), **self.states}


def by_pool(cluster_ids: Collection[int], fresh_from: datetime) -> dict[tuple[int, str], Tally]:
    """(cluster id, pool) → its cards that are present; a pool none of whose cards was ever tested is absent."""
    fresh = "SUM(CASE WHEN r.good_at >= %s THEN 1 ELSE 0 END)"
    sure = "SUM(CASE WHEN r.good_at >= %s AND n.driver_version <> '' AND r.good_driver <> '' THEN 1 ELSE 0 END)"
    columns = ("r.cluster_id", "COALESCE(t.pool, '')", _STATE)
    since = connection.ops.adapt_datetimefield_value(fresh_from)
    rows = _counted(columns, cluster_ids, more=(fresh, sure), values=(since, since))
    found: dict[tuple[int, str], Tally] = {}
    for cluster, pool, state, count, young, known in rows:
        before = found.get((cluster, pool), Tally(states=_none()))
        validated = state == VALIDATED
        found[cluster, pool] = Tally(
            states={**before.states, state: count},
            fresh=before.fresh + (young if validated else 0),
            sure=before.sure + (known if validated else 0),
        )
    return found


def by_node(cluster_ids: Collection[int]) -> dict[tuple[int, str], dict[str, int]]:
    """(cluster id, node) → state → cards; nodes and states without one are absent."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    for cluster, node, state, count in _counted(("r.cluster_id", "r.node_name", _STATE), cluster_ids):
        found.setdefault((cluster, node), {})[state] = count
    return found


def by_card(cluster_ids: Collection[int], nodes: Sequence[str] | None = None) -> dict[tuple[int, str, str], str]:
    """(cluster id, node, key of the card) → state of those that were ever tested. nodes: names; None: all."""
    columns = ("r.cluster_id", "r.node_name", "r.card_key", _STATE)
    if nodes is None:
        rows = _counted(columns, cluster_ids)
    elif nodes:
        rows = _counted(columns, cluster_ids, f"AND r.node_name IN ({_marks(nodes)})", names=nodes)
    else:
        rows = iter(())
    return {(cluster, node, key): state for cluster, node, key, state, _ in rows}


def of_cards(card_ids: Collection[int]) -> dict[int, Validity]:
    """Card id → its proof, with what its state rests on alone (of a failure what failed, and no proof besides): for many cards.

    Cards that are gone, or were never tested, are absent. `proof.of_cards` knows all of a card, and needs seven times as long.
    """
    if not card_ids:
        return {}
    query = f"SELECT c.id, n.driver_version, {_STATE}, {', '.join(_COLUMNS)} {_OF_FEW} AND c.id IN ({_marks(card_ids)})"
    with connection.cursor() as cursor:
        cursor.execute(query, list(card_ids))
        return {card: _resting(*row) for card, *row in cursor.fetchall() if row[1] in STATES}


def _resting(
    driver_now: str | None,
    state: str,
    suite: str,
    said_id: str | None,
    said_at: datetime | None,
    good_id: str | None,
    good_at: datetime | None,
    good_driver: str,
    lower_id: str | None,
    lower_at: datetime | None,
) -> Validity:
    if state == FAILED:
        return Validity(
            state=state, bad_run=said_id, bad_suite=suite, bad_at=_aware(said_at), driver_now=driver_now or None
        )
    if state in (RAN, DETECTED):
        return Validity(
            state=state,
            lower_level=state,
            lower_run=lower_id,
            lower_suite=suite,
            lower_at=_aware(lower_at),
            driver_now=driver_now or None,
        )
    return Validity(
        state=state,
        good_run=good_id,
        good_suite=suite,
        good_at=_aware(good_at),
        good_driver=good_driver or None,
        driver_now=driver_now or None,
    )


def _aware(moment: datetime | None) -> datetime | None:
    """SQLite gives moments without their zone, which is UTC."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def added(parts: Collection[Tally]) -> Tally:
    """Of all of them together."""
    states = _none()
    for part in parts:
        for state, number in part.states.items():
            states[state] += number
    return Tally(states=states, fresh=sum(one.fresh for one in parts), sure=sum(one.sure for one in parts))


def _none() -> dict[str, int]:
    return {state: 0 for state in STATES if state != NEVER}


def _counted(
    columns: Sequence[str],
    cluster_ids: Collection[int],
    where: str = "",
    more: Sequence[str] = (),
    values: Sequence[Any] = (),
    names: Sequence[str] = (),
) -> Iterator[tuple[Any, ...]]:
    """Rows of these columns, the number of cards, and `more`. A state that is none (somebody wrote into the table) is left out."""
    if not cluster_ids:
        return
    place = columns.index(_STATE)
    query = (
        f"SELECT {', '.join((*columns, 'COUNT(*)', *more))} {_OF_MANY} AND r.cluster_id IN ({_marks(cluster_ids)}) {where} "
        f"GROUP BY {', '.join(str(number) for number in range(1, len(columns) + 1))}"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [*values, *cluster_ids, *names])
        for row in cursor.fetchall():
            if row[place] in STATES:
                yield row


def _marks(values: Collection[Any]) -> str:
    return ", ".join(["%s"] * len(values))
