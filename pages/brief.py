"""A card, a node or a part of the heat map in a few lines: what is shown beside the pointer. A part of a page, never a page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import Resolver404, get_script_prefix, resolve
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from inventory.models.choices import Health
from inventory.queries import availability
from inventory.queries import rows as querysets
from inventory.queries.measured import measured_now, with_usage
from inventory.queries.rows import NodeRow
from pages.charts.heat import cells, colours, picture
from pages.charts.heat.cells import Asked
from pages.frame import amounts
from pages.frame.labels import label_of
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.frame.worded import named
from pages.heatmap import asked_of
from pages.nodes import condition_of
from pages.rows.cards import CardRow, card_row
from pages.sections.health import sign_of

#: Pods that are named.
NAMED = 4
_LONGEST = 2000


@dataclass(frozen=True)
class Fact:
    """One line. level: of its sign; "" without one."""

    title: str
    text: str
    level: str = ""


@dataclass(frozen=True)
class Brief:
    """note: below the title. pods: who holds it; more: how many others do."""

    title: str
    note: SafeString
    facts: list[Fact]
    pods: list[str]
    more: int = 0


@require_safe
@answered
def brief(request: HttpRequest) -> HttpResponseBase:
    """?of=ADDRESS, of a card, a node or the heat map.

    at=X,Y: of the cell there in the picture of the pool, whose cells are per=card or per=node; 204 where there is none.
    """
    address = urlsplit(request.GET.get("of", "")[:_LONGEST])
    try:
        found = resolve("/" + address.path.removeprefix(get_script_prefix()))
    except Resolver404:
        raise _wrong() from None
    query = QueryDict(address.query)
    if found.url_name == "map":
        place, per = (request.GET.get(name, "") for name in ("at", "per"))
        return _shown(request, _in_picture(query, place, per) if place else _of_range(asked_of(query)[1]))
    if found.url_name == "card":
        return _shown(request, _of_card(found.kwargs["card_id"]))
    if found.url_name == "node":
        return _shown(request, _of_node(found.kwargs["cluster"], found.kwargs["name"]))
    raise _wrong()


def _wrong() -> BadParameter:
    return BadParameter({"of": [_("Must be the address of a card, a node or the heat map.")]})


def _shown(request: HttpRequest, found: Brief | None) -> HttpResponse:
    return HttpResponse(status=204) if found is None else render(request, "map/brief.html", {"brief": found})


def _in_picture(query: QueryDict, place: str, per: str) -> Brief | None:
    chosen, asked = asked_of(query)
    x, comma, y = place.partition(",")
    if not (comma and all(text.isascii() and text.isdigit() and len(text) < 7 for text in (x, y))):
        raise BadParameter({"at": [_("Must be two integers.")]})
    names = {one.pk: one.name for one in chosen}
    for (cluster, _pool), own in cells.drawn(replace(asked, colouring=colours.ALLOCATED), per).by_pool.items():
        cell = picture.at(own, int(x), int(y))
        if cell is not None:
            return _of_card(cell.card) if cell.card is not None else _of_node(names[cluster], cell.node)
    return None


def _of_range(asked: Asked) -> Brief | None:
    """Nodes that follow each other."""
    found = [cell for own in cells.heat(replace(asked, colouring=colours.ALLOCATED)).by_pool.values() for cell in own]
    if not found:
        return None
    nodes, cards = len({cell.node for cell in found}), sum(cell.cards for cell in found)
    if any(cell.nodes > 1 for cell in found):
        nodes = sum(cell.nodes for cell in found)
    free, total = (
        sum(value or 0 for value in values) for values in zip(*((c.free, c.total) for c in found), strict=True)
    )
    title = found[0].node if nodes == 1 else f"{found[0].node} – {found[-1].last or found[-1].node}"
    return Brief(
        title=title,
        note=SafeString(ngettext("%(m)s node", "%(m)s nodes", nodes) % {"m": amounts.count(nodes)}),
        facts=[Fact(_("Cards"), amounts.count(cards)), *_allocated(total - free if total else None, total or None)],
        pods=[],
    )


def _of_card(card_id: int) -> Brief:
    rows = querysets.with_holders(querysets.cards_present())
    card: Any = rows.filter(pk=card_id).first() if card_id < 2**63 else None
    if card is None:
        raise NotThere(_("No card has this number."))
    availability.cards_now([card])
    with_usage([card])
    row = card_row(card, card.holders, NAMED)
    return Brief(
        title=f"{row.node} · {row.name}",
        note=named(row.model),
        facts=[*_card_allocated(row), _used(row.usage.memory_used_bytes), _health(row.health)],
        pods=[one.who for one in row.holders],
        more=row.more_holders,
    )


def _card_allocated(row: CardRow) -> list[Fact]:
    if row.allocated is None and row.shared and row.holds_words:
        return [Fact(_("Allocated"), row.holds_words)]
    return _allocated(row.allocated, row.total)


def _of_node(cluster: str, name: str) -> Brief:
    found = querysets.node_row(cluster, name)
    if found is None:
        raise NotThere(_("No GPU node %(name)s in cluster %(cluster)s.") % {"name": name[:100], "cluster": cluster})
    totals = found.totals
    here = {"cluster_id": totals.cluster_id, "node_name": totals.node_name}
    used = measured_now().filter(**here).aggregate(used=Sum("memory_used_bytes"))["used"]
    cards = "" if totals.cards_total is None else f"{amounts.count(totals.cards_total)} × "
    return Brief(
        title=totals.node_name,
        note=named(f"{cards}{totals.model}") if totals.model else SafeString(),
        facts=[
            _status(found),
            *_allocated(totals.memory_allocated_bytes, totals.memory_total_bytes),
            _used(used),
            _health(totals.health),
            Fact(_("Pods"), amounts.count(totals.allocations_count)),
        ],
        pods=[],
    )


def _status(row: NodeRow) -> Fact:
    level, words = condition_of(row)
    return Fact(_("Status"), words, level)


def _allocated(allocated: int | None, total: int | None) -> list[Fact]:
    if allocated is None or total is None:
        return [Fact(_("Allocated"), _("unknown or not metered"))]
    told = {"allocated": amounts.gib(allocated), "total": amounts.gib(total)}
    return [Fact(_("Allocated"), _("%(allocated)s of %(total)s") % told)]


def _used(used: int | None) -> Fact:
    return Fact(_("Used"), _("not collected") if used is None else amounts.gib(used))


def _health(level: str) -> Fact:
    return Fact(_("Health"), label_of(Health, level), sign_of(level))
