"""Overview: where is GPU memory free, can the numbers be trusted, and what is to be done? A line, five figures, the causes of what
needs attention, and capacity by model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from inventory.models import Cluster
from inventory.models.choices import CardState
from inventory.queries import rows as querysets
from inventory.queries import totals
from inventory.queries.availability import with_room
from inventory.queries.free import added_cards
from inventory.queries.totals import ClusterSummary, Totals
from pages.attention import attention
from pages.charts.capacity import capacity
from pages.frame import amounts
from pages.frame.freshness import freshness_of, incomplete
from pages.frame.links import with_filters
from pages.frame.live import live_page
from pages.frame.parameters import clusters_asked
from pages.frame.refusals import BadParameter, answered
from pages.rows.cards import card_row
from pages.sections.answer import answer, tallies
from pages.words.findings import counted
from runtime.cached import shareable
from stacks.engine.base import ERROR, INFO, WARNING
from validations import validity

PARAMETERS = frozenset({"cluster", "open"})
#: Pools that an address can have open.
MOST_OPEN = 40


@dataclass(frozen=True)
class Figure:
    """value: "" where it is not known yet. text: the line under it; more: what else there is to it, for its title.

    oldest_at: told in the line.
    """

    title: str
    url: str
    value: str
    text: str
    more: str = ""
    oldest_at: datetime | None = None


@shareable
@require_safe
@answered
def overview(request: HttpRequest) -> HttpResponseBase:
    chosen, opened = _asked(request)
    if not chosen:
        return live_page(request, "overview/page.html", "overview/none.html", {})
    ids, pools, several = {one.pk for one in chosen}, totals.totals_by_pool(chosen), len(freshness_of(request)) > 1
    query, proofs = _clusters_of(request), tallies(ids)
    found, sums = totals.summaries(chosen, pools=pools), totals.added(one.totals for one in pools)
    rows, more, silenced = attention(request, ids, several, proofs)

    def toggle(pool: str, to_open: bool) -> str:
        asked = query.copy()
        asked.setlist("open", [one for one in opened if one != pool] + ([pool] if to_open else []))
        text = asked.urlencode()
        return f"{request.path}?{text}" if text else request.path

    validated = {place: one.states[validity.VALIDATED] for place, one in proofs.items()}
    context = {
        "incomplete": incomplete(request, ids),
        "best": _best(ids),
        "several": several,
        "excluded": sums.memory_free.unknown_nodes,
        "uncounted": sum(one.nodes_uncounted for one in found),
        "free": added_cards(one.free for one in found),
        "urls": {
            "excluded": with_filters(reverse("nodes"), query, {"free_known": "false"}),
            "unavailable": with_filters(reverse("cards"), query, {"state": CardState.UNAVAILABLE.value}),
            "findings": with_filters(reverse("findings"), query, {}),
            "silenced": with_filters(reverse("findings"), query, {"silenced": "true"}),
        },
        "figures": _figures(found, sums, query, ids, incomplete(request, ids)),
        "attention": rows,
        "more_attention": more,
        "silenced_causes": silenced,
        "capacity": capacity(pools, chosen, opened, validated, toggle, query),
        "nodes_url": with_filters(reverse("nodes"), query, {"ordering": "pool"}),
    }
    return live_page(request, "overview/page.html", "overview/part.html", context)


def _asked(request: HttpRequest) -> tuple[list[Cluster], list[str]]:
    """The clusters, and the pools that are open. Raises BadParameter."""
    chosen, errors = clusters_asked(request.GET, PARAMETERS)
    opened = list(dict.fromkeys(request.GET.getlist("open")))[-MOST_OPEN:]
    if any("\0" in pool or len(pool) > 255 for pool in opened):
        errors["open"] = [_("No pool has this name.")]
    if errors:
        raise BadParameter(errors)
    return chosen, opened


def _clusters_of(request: HttpRequest) -> QueryDict:
    """The clusters as the address has them, for the lists behind the figures."""
    query = QueryDict(mutable=True)
    if names := [name for name in request.GET.getlist("cluster") if name]:
        query.setlist("cluster", names)
    return query


def _best(ids: set[int]) -> Any:
    """The card with the largest free block; None when no card is known to have free memory."""
    rows = querysets.cards_present().filter(with_room("memory_free_bytes", 1))
    rows = rows.filter(cluster_id=next(iter(ids))) if len(ids) == 1 else rows.filter(cluster_id__in=ids)
    found = rows.order_by("-memory_free_bytes", "-id").first()
    return None if found is None else card_row(found, [])


def _figures(found: list[ClusterSummary], sums: Totals, query: QueryDict, ids: set[int], unsure: bool) -> list[Figure]:
    """unsure: a first list is not complete, so that nothing found is not the same as none."""
    cards = sum(sum(one.card_states.values()) for one in found)
    pending = sum(one.pods_pending for one in found)
    oldest_at = min((one.pods_oldest_at for one in found if one.pods_oldest_at), default=None)

    def counted(number: int) -> str:
        return "" if unsure and not number else amounts.count(number)

    def url(page: str, **more: str) -> str:
        return with_filters(reverse(page), query, more)

    return [
        _free_memory(sums, url("cards", ordering="-memory_free_bytes")),
        _free_cards(found, sums, cards, unsure, url("cards", state=CardState.FREE.value)),
        Figure(_("Pending pods"), url("pending"), counted(pending), "" if pending else _("none"), oldest_at=oldest_at),
        _validated(ids, cards, url("validations")),
        _findings(found, unsure, url),
    ]


def _free_memory(sums: Totals, url: str) -> Figure:
    free, metered, total = sums.memory_free.value, sums.memory_metered.value, sums.memory_total.value or 0
    more = [
        _("%(more)s unavailable") % {"more": amounts.gib(sums.memory_unavailable)} if sums.memory_unavailable else "",
        _("%(more)s not metered") % {"more": amounts.gib(total - (metered or 0))} if total > (metered or 0) else "",
    ]
    if free is None or not metered:
        return Figure(_("Free memory"), url, "", "", _listed(more))
    text = _("%(percent)d%% of %(total)s") % {"percent": amounts.percent(free, metered), "total": amounts.gib(metered)}
    return Figure(_("Free memory"), url, amounts.gib(free), text, _listed([text, *more]))


def _free_cards(found: list[ClusterSummary], sums: Totals, cards: int, unsure: bool, url: str) -> Figure:
    free, partly = added_cards(one.free for one in found), sum(one.cards_partly for one in found)
    unknown = sums.cards_free.unknown_nodes
    text = _("of %(all)s") % {"all": amounts.count(cards)}
    if partly:
        text = _listed([text, _("%(n)s partially free") % {"n": amounts.count(partly)}])
    more = [
        _("%(n)s more free, unidentified") % {"n": amounts.count(free.unidentified)} if free.unidentified else "",
        ngettext("unknown on %(n)d node", "unknown on %(n)d nodes", unknown) % {"n": unknown} if unknown else "",
    ]
    value = "" if unsure and not cards else amounts.count(free.named)
    return Figure(_("Free cards"), url, value, text if value else "", _listed([text, *more]))


def _validated(ids: set[int], cards: int, url: str) -> Figure:
    told = answer(ids)
    number = told.recent + told.stale
    text = _("%(percent)d%% of %(all)s") % {"percent": amounts.percent(number, cards) or 0, "all": amounts.count(cards)}
    parts = [
        text,
        _("%(n)s failed") % {"n": amounts.count(told.failed)} if told.failed else "",
    ]
    more = [
        _("%(n)s with a changed driver") % {"n": amounts.count(told.changed)} if told.changed else "",
        _("%(n)s validated earlier") % {"n": amounts.count(told.stale)} if told.stale else "",
        _("%(n)s not validated") % {"n": amounts.count(told.not_validated)} if told.not_validated else "",
    ]
    return Figure(_("Validated"), url, amounts.count(number), _listed(parts), _listed([*parts, *more]))


def _findings(found: list[ClusterSummary], unsure: bool, url: Any) -> Figure:
    """The worst severity that there is, and the others under it."""
    there = counted({level: sum(one.findings.get(level, 0) for one in found) for level in (ERROR, WARNING, INFO)})
    if not there:
        return Figure(_("Findings"), url("findings"), "" if unsure else "0", "" if unsure else _("none"))
    worst, *others = there
    rest = _listed(one.words for one in others)
    return Figure(_("Findings"), url("findings", severity=worst.level), worst.words, rest)


def _listed(parts: Iterable[str]) -> str:
    return " · ".join(part for part in parts if part)
