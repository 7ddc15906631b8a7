"""Cards: a table of all cards with free memory and allocations."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.models.choices import CardState, Health, Severity, UnavailableReason
from inventory.queries import free
from inventory.queries.grouped import cards as sums_of_cards
from pages.frame import choices
from pages.frame.grouped import Grouping
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.frame.table import Column
from pages.rows.cards import card_row
from pages.rows.groups import by_model, by_node, card_facts
from resources.card import CARDS
from resources.filter_sets import StrictFilterSet
from runtime.cached import shareable

#: Holders named in a row; the bar shows all of them.
NAMED = 2


def _shape(rows: list[Any]) -> list[Any]:
    return [card_row(card, card.holders, NAMED) for card in rows]


SPEC = ListSpec(
    resource=CARDS,
    fields=(
        Field("q", _("Search"), placeholder=_("node, UUID, model, pod, namespace"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("stack", _("Stack"), choices.stacks),
        Field("model", _("Card model"), choices.models),
        Field("state", _("State"), CardState.choices),
        Field("unavailable_reason", _("Unavailable because"), UnavailableReason.choices),
        Field("min_free_bytes", _("Min. free"), placeholder="8 GiB"),
        Field("min_unused_bytes", _("Min. not used"), placeholder="8 GiB"),
        Field("health", _("Health"), Health.choices),
        Field("severity", _("Findings"), Severity.choices),
        Field("removed", _("Time"), (("true", _("Removed")), ("any", _("All"))), rest=_("Present")),
    ),
    shape=_shape,
    part="cards/part.html",
    caption=_("Cards"),
    cells="cards/cells",
    key=lambda card: f"card-{card.id}",
    gone=lambda card: card.removed_at is not None,
    more=(Column("validated", _("Validated")),),
    order="-memory_free_bytes",
    groups={
        "node": Grouping(_("By node"), by_node(sums_of_cards, card_facts)),
        "model": Grouping(_("By model"), by_model(sums_of_cards, card_facts), column="model"),
    },
    of_then=("node", "model", "stack", "allocations", "memory_total_bytes", "memory_free_bytes", "allocations_count"),
)


def _context(found: StrictFilterSet) -> dict[str, Any]:
    """Cards by state, of those that the filter keeps: "" and None are choices of nothing."""
    if found.span is not None:
        return {}
    kept = any(
        found.form.cleaned_data.get(name) not in (None, "", []) for name in found.base_filters if name != "ordering"
    )
    counts = (
        free.count_cards(found.qs.select_related(None).prefetch_related(None)) if kept else free.cards_by_cluster(None)
    )
    states = dict.fromkeys(CardState.values, 0)
    for one in counts.values():
        for state, count in one.states.items():
            states[state] += count
    return {
        "states": states,
        "total": sum(states.values()),
        "free": free.added_cards(one.free for one in counts.values()) if kept else free.free_cards(),
    }


@shareable
@require_safe
@answered
def cards(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
