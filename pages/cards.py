"""Cards: a table of all cards with free memory and allocations."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.models.choices import CardState, Health, Severity, UnavailableReason
from inventory.queries import availability, free
from inventory.queries import rows as querysets
from pages.frame import choices
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.rows.cards import card_row
from resources.card import CARDS
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
    page="cards/page.html",
    part="cards/part.html",
    caption=_("Cards"),
    cells="cards/cells",
    key=lambda card: f"card-{card.id}",
    gone=lambda card: card.removed_at is not None,
    of_then=("node", "model", "allocations", "memory_total_bytes", "memory_free_bytes", "allocations_count"),
    once={"memory_total_bytes": "memory_source"},
)


def _context() -> dict[str, Any]:
    states = dict.fromkeys(CardState.values, 0)
    for found in free.card_states().values():
        for state, count in found.items():
            states[state] = states.get(state, 0) + count
    room = querysets.cards_present().filter(availability.with_room("memory_free_bytes", 1))
    largest = room.order_by("-memory_free_bytes", "-id").first()
    return {
        "states": states,
        "free": free.free_cards(),
        "total": sum(states.values()),
        "largest": None if largest is None else card_row(largest, []),
    }


@shareable
@require_safe
@answered
def cards(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
