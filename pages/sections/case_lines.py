"""Cases as pages print them, and what an answer line says of a node or card that is out of service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.marks import OURS, Mark
from inventory.models import Card, NodeTotals
from pages.frame import amounts
from pages.frame.links import card_url, node_url, with_query
from pages.frame.worded import worded
from pages.permission import may_case
from pages.rows.runs import card_short
from pages.words import out_of_service as words
from pages.words.runs import Shown, suite_title
from quarantine import reading
from quarantine.models import Case, CaseState, What


@dataclass(frozen=True)
class CaseLine:
    """A case. place: its card, "" for the whole node. costs: what it takes away. card_url: "" for a card that is not there.

    decides: it waits for a decision. validate_url: of the launch form, where it waits for a pass. may: who reads may act on it.
    acts: gpudash marks nodes in its cluster.
    """

    row: Case
    url: str
    node_url: str
    place: str
    card_url: str
    suite: str
    reason: str
    shown: Shown
    costs: str
    by: str
    how: str
    decides: bool
    validate_url: str
    returns: bool
    may: bool
    acts: bool


def case_lines(request: HttpRequest, rows: Sequence[Case]) -> list[CaseLine]:
    """Two queries more, for the cards and the totals of their nodes."""
    nodes = {row.node_name for row in rows}
    clusters = {row.cluster_id for row in rows}
    cards = {
        (one.cluster_id, one.node_name, one.key): one
        for one in Card.objects.filter(
            cluster_id__in=clusters, node_name__in=nodes, key__in={row.card_key for row in rows}, removed_at=None
        ).only("cluster_id", "node_name", "key", "memory_total_bytes")
    }
    totals = {
        (one.cluster_id, one.node_name): one
        for one in NodeTotals.objects.filter(cluster_id__in=clusters, node_name__in=nodes).only(
            "cluster_id", "node_name", "cards_total", "memory_total_bytes"
        )
    }
    return [
        _line(
            request,
            row,
            cards.get((row.cluster_id, row.node_name, row.card_key)),
            totals.get((row.cluster_id, row.node_name)),
        )
        for row in rows
    ]


def _line(request: HttpRequest, row: Case, card: Card | None, totals: NodeTotals | None) -> CaseLine:
    waits = row.state == CaseState.OUT
    launch = {"suite": row.suite, "cluster": row.cluster.name, "node": row.node_name, "card": row.card_key}
    return CaseLine(
        row=row,
        url=reverse("case", args=[row.pk]),
        node_url=node_url(row.cluster.name, row.node_name),
        place=card_short(row.card_key) if row.card_key else "",
        card_url=card_url(card.pk) if card is not None else "",
        suite=suite_title(row.suite),
        reason=worded(row.said_reason),
        shown=words.shown_state(row.state),
        costs=_costs(row, card, totals),
        by=words.taken_by(row),
        how=words.how_words(row.how),
        decides=row.state == CaseState.RECOMMENDED,
        validate_url=with_query(reverse("validation-new"), **launch) if waits else "",
        returns=row.state in (CaseState.ACCEPTED, CaseState.OUT),
        may=may_case(request, row.cluster_id),
        acts=reading.acts_in(row.cluster),
    )


def _costs(row: Case, card: Card | None, totals: NodeTotals | None) -> str:
    """ "8 cards · 640 GiB"; "" where neither is known."""
    one = row.what == What.CARD
    number = 1 if one else totals.cards_total if totals else None
    memory = (card.memory_total_bytes if card else None) if one else totals.memory_total_bytes if totals else None
    return cost_words(number, memory)


def cost_words(cards: int | None, memory: int | None) -> str:
    number = ngettext("%(n)s card", "%(n)s cards", cards) % {"n": amounts.count(cards)} if cards else ""
    return " · ".join(filter(None, (number, amounts.gib(memory) if memory else "")))


@dataclass(frozen=True)
class OutLine:
    """Why a node or card is out, or should be. lines: of our cases; others: marks of other tools that keep pods away."""

    lines: list[CaseLine]
    others: list[words.MarkLine]


def out_line(
    request: HttpRequest, cluster_id: int, node: str, marks: Sequence[Mark], card_key: str | None = None
) -> OutLine | None:
    """Of a node, or of one card of it: then only cases of that card or of the whole node. None where it is in service."""
    cases = list(reading.open_cases().filter(cluster_id=cluster_id, node_name=node).order_by("pk"))
    if card_key is not None:
        cases = [one for one in cases if one.card_key in (card_key, "") or _node_is_out(one)]
    others = [words.mark_line(one) for one in marks if one.blocks and one.tool != OURS]
    if not cases and not others:
        return None
    return OutLine(case_lines(request, cases), others)


def _node_is_out(case: Case) -> bool:
    return case.what == What.NODE and case.state in (CaseState.OUT, CaseState.RETURNING)


def blocked_words(case: Case) -> str:
    """Why nothing is done now: what it waits for, or the error of the last try; "" for neither."""
    if case.error:
        return _("Last attempt failed: %(error)s") % {"error": worded(case.said_error)}
    return worded(case.said_waits) if case.waits else ""
