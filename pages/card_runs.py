"""A card's history of proof: its runs, and one measurement over time, for the card and beside all cards of its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.models import Card
from inventory.queries import rows as mirror
from pages.frame.freshness import notices
from pages.frame.links import card_url, node_url, state_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.permission import may_launch
from pages.rows.cards import card_name
from pages.rows.runs import run_line
from pages.sections import series
from pages.sections.measured import figure
from pages.words import runs as words
from pages.words.names import plain
from validations import querysets, validity
from validations.baseline import not_compared
from validations.models import Measurement
from validations.suites import registry

RUNS_SHOWN, POINTS = 30, 400
OF = ("card", "model")


@dataclass(frozen=True)
class Choice:
    """A measurement that the card, or its model, has. id: "suite:name:unit"."""

    id: str
    suite: str
    name: str
    unit: str
    title: str

    @property
    def plain(self) -> str:
        return plain(self.name)


@require_safe
@answered
def card_runs(request: HttpRequest, card_id: int) -> HttpResponseBase:
    card = mirror.cards_ever().filter(pk=card_id).first() if card_id < 2**63 else None
    if card is None:
        raise NotThere(_("No card with this number."), "", [(_("all cards"), reverse("cards"))])
    return live_page(request, "validations/card.html", "validations/card_part.html", _context(request, card))


def _context(request: HttpRequest, card: Card) -> dict[str, Any]:
    own = querysets.runs_of_card(card.pk)
    on_node = querysets.runs_of_node(card.cluster_id, card.node_name).filter(card_key="")
    choices = _choices(card)
    chosen, of = _asked(request, choices, card)
    rows = _rows(chosen, of, card) if chosen else []
    here = {"cluster": card.cluster.name, "node": card.node_name}
    return {
        "card": card,
        "name": card_name(card),
        "card_url": card_url(card.pk),
        "node_url": node_url(card.cluster.name, card.node_name),
        "validity": validity.of_cards([card.pk])[card.pk],
        "runs": [run_line(run) for run in own[:RUNS_SHOWN]],
        "node_runs": [run_line(run) for run in on_node[:10]],
        "all_url": with_query(reverse("validations"), card=card.key, **here),
        "launch_url": with_query(reverse("validation-new"), card=card.key, **here),
        "choices": [(one, state_url(request, measure=one.id), one == chosen) for one in choices],
        "of": [(title, state_url(request, of=name), name == of) for name, title in _of_titles(card)],
        "chosen": chosen,
        "chart": series.chart(rows, card.pk),
        "numbers": [(run_line(row.run), figure(row.value), row) for row in rows[::-1][:60]],
        "points": len(rows),
        "most_points": POINTS,
        "measuring": " · ".join(sorted(words.suite_title(suite.id) for suite in registry().values() if suite.measures)),
        "may_launch": may_launch(request),
        "notices": notices(request, {card.cluster_id}),
    }


def _of_titles(card: Card) -> list[tuple[str, str]]:
    titles = [("card", _("this card"))]
    return [*titles, ("model", _("all %(model)s") % {"model": card.model})] if card.model else titles


def _choices(card: Card) -> list[Choice]:
    """What was ever measured on the card; on its model where the card itself has nothing. One query or two."""
    rows = Measurement.objects.filter(run__card_id=card.pk)
    found = _names(rows)
    if not found and card.model:
        found = _names(Measurement.objects.filter(run__card_model=card.model))
    return found


def _names(rows: Any) -> list[Choice]:
    found = (
        rows.values_list("run__suite", "name", "unit").annotate(Count("pk")).order_by("run__suite", "name", "unit")[:60]
    )
    several = len({suite for suite, *_rest in found}) > 1
    choices = [
        Choice(f"{suite}:{name}:{unit}", suite, name, unit, _title(suite, name, several))
        for suite, name, unit, _count in found
    ]
    # What is compared between runs comes first: the rest says more of disk and processor than of the card.
    return sorted(choices, key=lambda one: one.name in not_compared(one.suite))


def _title(suite: str, name: str, several: bool) -> str:
    return f"{words.suite_title(suite)}: {plain(name)}" if several else plain(name)


def _asked(request: HttpRequest, choices: list[Choice], card: Card) -> tuple[Choice | None, str]:
    """The measurement and whose. Raises BadParameter."""
    measure, of = request.GET.get("measure", ""), request.GET.get("of", "card")
    if of not in OF or (of == "model" and not card.model):
        raise BadParameter({"of": [_("Must be one of: %(names)s.") % {"names": ", ".join(OF)}]})
    if not measure:
        return (choices[0] if choices else None), of
    chosen = next((one for one in choices if one.id == measure), None)
    if chosen is None:
        raise BadParameter({"measure": [_("No measurement of this name on this card.")]})
    return chosen, of


def _rows(chosen: Choice, of: str, card: Card) -> list[Measurement]:
    """The newest POINTS, oldest first."""
    where: dict[str, object] = {"card_id": card.pk} if of == "card" else {"card_model": card.model}
    found = querysets.series(chosen.suite, chosen.name, **where).filter(unit=chosen.unit).select_related("run__cluster")
    return list(found.order_by("-run__ended_at", "-id")[:POINTS])[::-1]
