"""When was a card last proven good, by what, on which driver? As columns of card querysets, and as a struct.

Pages, REST and metrics take it from here, so that they cannot disagree; many cards are counted by the same rule in `proof_counts`,
and a test compares the two. A constant number of queries for any list.
Only a run that *passed* and whose result was checked (level "checked") is a proof; a pass on a lower level is shown as what it is. A
run on "any card" proves nothing of a card, only of its node.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Case, CharField, F, OuterRef, Q, QuerySet, Subquery, Value, When

from inventory.models import Card, Node, NodeTotals
from validations.models import LastResult, LevelChoice

NEVER, VALIDATED, DRIVER_CHANGED, FAILED = "never", "validated", "driver-changed", "failed"
RAN, DETECTED = LevelChoice.RAN.value, LevelChoice.DETECTED.value
STATES = (FAILED, DRIVER_CHANGED, NEVER, DETECTED, RAN, VALIDATED)
#: The states of a card that was never proven good.
NOT_VALIDATED = (NEVER, DETECTED, RAN)
_GOOD, _BAD = ("good_run", "good_suite", "good_at", "good_driver"), ("bad_run", "bad_suite", "bad_at")
_LOWER = ("lower_level", "lower_run", "lower_suite", "lower_at")
_COLUMNS = (*_GOOD, *_BAD, *_LOWER, "driver_now")


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """The proof of one card or node.

    state: never (nothing known), seen (the driver answered), ran (work was done, its result not checked), proven, driver-changed
    (proven, on another driver than now), failed (the last word of at least one suite is a failure: bad_*).
    good_*: the newest run that proved it, of any suite. lower_*: the newest of the best level below that, also of a card that
    is proven. driver_now: "" when not known.
    """

    state: str
    good_run: str | None = None
    good_suite: str | None = None
    good_at: datetime | None = None
    good_driver: str | None = None
    bad_run: str | None = None
    bad_suite: str | None = None
    bad_at: datetime | None = None
    lower_level: str | None = None
    lower_run: str | None = None
    lower_suite: str | None = None
    lower_at: datetime | None = None
    driver_now: str | None = None


def with_validity(cards: QuerySet[Card]) -> QuerySet[Card]:
    """The same cards with `proof_state` and the columns that `proof_of` reads."""
    own = LastResult.objects.filter(
        cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), card_key=OuterRef("key")
    )
    return _annotated(cards, own)


def with_node_proof(totals_of_nodes: QuerySet[NodeTotals]) -> QuerySet[NodeTotals]:
    """The same for nodes: a run on any card of the node, or on "any card", counts."""
    return _annotated(
        totals_of_nodes, LastResult.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"))
    )


def _annotated(rows: QuerySet[Any], own: QuerySet[LastResult]) -> QuerySet[Any]:
    good = own.filter(good__isnull=False).order_by("-good_at")
    bad = own.filter(said_verdict="failed").order_by("-said_at")
    # "ran" sorts after "detected".
    lower = own.filter(lower__isnull=False).order_by("-lower_level", "-lower_at")
    node = Node.objects.filter(cluster_id=OuterRef("cluster_id"), name=OuterRef("node_name"))
    columns = {
        "good_run": good.values("good_id"),
        "good_suite": good.values("suite"),
        "good_at": good.values("good_at"),
        "good_driver": good.values("good_driver"),
        "bad_run": bad.values("said_id"),
        "bad_suite": bad.values("suite"),
        "bad_at": bad.values("said_at"),
        "lower_level": lower.values("lower_level"),
        "lower_run": lower.values("lower_id"),
        "lower_suite": lower.values("suite"),
        "lower_at": lower.values("lower_at"),
        "driver_now": node.values("driver_version"),
    }
    found = rows.annotate(**{f"proof_{name}": Subquery(values[:1]) for name, values in columns.items()})
    judged: QuerySet[Any] = found.annotate(validity_state=_state())
    return judged


def _state() -> Case:
    known = Q(proof_driver_now__gt="", proof_good_driver__gt="")
    return Case(
        When(proof_bad_run__isnull=False, then=Value(FAILED)),
        When(proof_good_run=None, proof_lower_run=None, then=Value(NEVER)),
        When(proof_good_run=None, then=F("proof_lower_level")),
        When(known & ~Q(proof_good_driver=F("proof_driver_now")), then=Value(DRIVER_CHANGED)),
        default=Value(VALIDATED),
        output_field=CharField(),
    )


def validity_of(row: Any) -> Validity:
    """The proof of a row of `with_proof` or `with_node_proof`."""
    return Validity(state=row.validity_state, **{name: getattr(row, f"proof_{name}") or None for name in _COLUMNS})


def of_cards(card_ids: Iterable[int]) -> dict[int, Validity]:
    """Proofs by card id: one query."""
    return {card.pk: validity_of(card) for card in with_validity(Card.objects.filter(pk__in=list(card_ids)).only("pk"))}


def of_nodes(account_ids: Iterable[int]) -> dict[int, Validity]:
    """Proofs by id of nodes, by the ids of their totals: one query."""
    rows = with_node_proof(NodeTotals.objects.filter(pk__in=list(account_ids)).only("pk"))
    return {node_totals.pk: validity_of(node_totals) for node_totals in rows}
