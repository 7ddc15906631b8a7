"""Overview: where is GPU memory free, and can the numbers be trusted? The answer, what is wrong, and the map."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.models import Cluster
from inventory.models.choices import CardState
from inventory.queries import rows as querysets
from inventory.queries import totals
from inventory.queries.availability import in_believed, with_room
from inventory.queries.claimed import with_claims
from inventory.queries.free import FreeCards, added_cards
from inventory.queries.totals import ClusterSummary, PoolTotals, Totals
from pages.allocations import pending_line
from pages.charts.cardmap import SHOWS, Asked, card_map, nodes_of
from pages.charts.trends import trends
from pages.findings import finding_lines
from pages.frame import amounts
from pages.frame.freshness import freshness_of, incomplete, notices
from pages.frame.links import state_url, with_filters
from pages.frame.live import live_page
from pages.frame.parameters import clusters_asked
from pages.frame.refusals import BadParameter, answered
from pages.rows.cards import card_row
from runtime.cached import shareable

FINDINGS_SHOWN, PENDING_SHOWN = 6, 4
PARAMETERS = frozenset({"cluster", "pool", "show", "open"})
#: Pools that an address can have open.
MOST_OPEN = 40


@dataclass(frozen=True)
class Answer:
    """The figures of the first lines, summed over the clusters shown. partly: cards partially allocated."""

    totals: Totals
    free: FreeCards
    partly: int
    unknown_cards: int
    shared_cards: int
    cards: int
    pending: int
    oldest_at: datetime | None
    findings: dict[str, int]
    nodes_not_ready: int
    uncounted: int

    @property
    def findings_count(self) -> int:
        return sum(self.findings.values())

    @property
    def used(self) -> str:
        """Width of what is allocated, of all memory that is known."""
        return amounts.width(self.totals.memory_allocated.value or 0, self.totals.memory_total.value or 0)

    @property
    def unavailable_width(self) -> str:
        """Width of what is unavailable."""
        return amounts.width(self.totals.memory_unavailable, self.totals.memory_total.value or 0)

    @property
    def unmetered(self) -> int:
        """Bytes of cards whose allocation is not known: the hatched part."""
        return max(0, (self.totals.memory_total.value or 0) - (self.totals.memory_metered.value or 0))

    @property
    def unmetered_width(self) -> str:
        return amounts.width(self.unmetered, self.totals.memory_total.value or 0)

    @property
    def free_width(self) -> str:
        """Width of the wholly free cards, of all cards."""
        return amounts.width(self.free.named, self.cards)


def answer_of(found: list[ClusterSummary], sums: Totals) -> Answer:
    def cards_in(state: str) -> int:
        return sum(one.card_states.get(state, 0) for one in found)

    findings: dict[str, int] = {}
    for one in found:
        for severity, count in one.findings.items():
            findings[severity] = findings.get(severity, 0) + count
    return Answer(
        totals=sums,
        free=added_cards(one.free for one in found),
        partly=sum(one.cards_partly for one in found),
        unknown_cards=cards_in("unknown"),
        shared_cards=cards_in("shared"),
        cards=sum(sum(one.card_states.values()) for one in found),
        pending=sum(one.pods_pending for one in found),
        oldest_at=min((one.pods_oldest_at for one in found if one.pods_oldest_at), default=None),
        findings=findings,
        nodes_not_ready=sum(one.nodes_not_ready for one in found),
        uncounted=sum(one.nodes_uncounted for one in found),
    )


@shareable
@require_safe
@answered
def overview(request: HttpRequest) -> HttpResponseBase:
    chosen, asked = _asked(request)
    if not chosen:
        return live_page(request, "overview/page.html", "overview/none.html", {})
    ids, pools = {cluster.pk for cluster in chosen}, totals.totals_by_pool(chosen)
    drawn = card_map(pools, chosen, asked)
    context = {
        "notices": notices(request, ids),
        "incomplete": incomplete(request, ids),
        "answer": answer_of(totals.summaries(chosen, pools=pools), totals.added(one.totals for one in pools)),
        "best": _best(ids, asked),
        "of_filter": _of_filter(sorted(ids), asked, pools),
        "several": len(freshness_of(request)) > 1,
        "map": drawn,
        "trends": trends([one.place for one in drawn.pools]),
        "chips": _chips(request, asked.show),
        "clusters": _cluster_chips(request),
        "show": asked.show,
        "show_title": _titles()[asked.show],
        "pool": asked.pool,
        "all_pools_url": state_url(request, pool=None),
        "urls": _list_urls(request),
    } | _lists(ids)
    return live_page(request, "overview/page.html", "overview/part.html", context)


def _asked(request: HttpRequest) -> tuple[list[Cluster], Asked]:
    """The clusters, and what of them is drawn. Raises BadParameter."""
    chosen, errors = clusters_asked(request, PARAMETERS)
    show, pool = request.GET.get("show", ""), request.GET.get("pool", "")
    if show not in SHOWS:
        errors["show"] = [_("Must be one of: %(names)s.") % {"names": ", ".join(name for name in SHOWS if name)}]
    if "\0" in pool or len(pool) > 255:
        errors["pool"] = [_("No pool has this name.")]
    opened = request.GET.getlist("open")[:MOST_OPEN]
    if errors:
        raise BadParameter(errors)

    def toggle(key: str, to_open: bool) -> str:
        keys = [one for one in opened if one != key] + ([key] if to_open else [])
        query = request.GET.copy()
        query.setlist("open", keys[-MOST_OPEN:])
        return f"{request.path}?{query.urlencode()}" if query else request.path

    return chosen, Asked(show, pool, frozenset(opened), toggle)


def _list_urls(request: HttpRequest) -> dict[str, str]:
    """The lists behind the figures, of the clusters that the figures are of."""
    query = QueryDict(mutable=True)
    query.setlist("cluster", [name for name in request.GET.getlist("cluster") if name])
    wanted = {
        "memory": ("cards", {"ordering": "-memory_free_bytes"}),
        "free": ("cards", {"state": CardState.FREE.value}),
        "unavailable": ("cards", {"state": CardState.UNAVAILABLE.value}),
        "pending": ("pending", {}),
        "findings": ("findings", {}),
    }
    return {name: with_filters(reverse(page), query, more) for name, (page, more) in wanted.items()}


def _best(ids: set[int], asked: Asked) -> Any:
    """The card with the largest free piece, of what the filter keeps; None when no card is known to have room."""
    rows = querysets.cards_present().filter(with_room("memory_free_bytes", 1))
    rows = rows.filter(cluster_id=next(iter(ids))) if len(ids) == 1 else rows.filter(cluster_id__in=ids)
    if asked.pool or asked.show:
        nodes = nodes_of(sorted(ids), asked)
        rows = rows.filter(Exists(nodes.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"))))
    if asked.show == "free":
        rows = rows.filter(in_believed(), state=CardState.FREE)
    elif asked.show == "findings":
        rows = rows.exclude(worst_severity="")
    found = rows.order_by("-memory_free_bytes", "-id").first()
    return None if found is None else card_row(found, [])


def _lists(ids: set[int]) -> dict[str, Any]:
    findings = querysets.findings_now().filter(cluster_id__in=ids).order_by("severity_rank", "-first_seen_at", "id")
    pending = querysets.pods_pending().filter(cluster_id__in=ids).order_by("created_at", "id")
    return {
        "findings": finding_lines(findings[:FINDINGS_SHOWN]),
        "pending": [pending_line(pod) for pod in with_claims(pending[:PENDING_SHOWN])],
    }


def _of_filter(ids: list[int], asked: Asked, pools: list[PoolTotals]) -> Totals | None:
    """Of the nodes that the filter keeps; None where it keeps all."""
    if asked.show:
        return totals.totals_of(nodes_of(ids, asked))
    return totals.added(one.totals for one in pools if one.pool == asked.pool) if asked.pool else None


def _titles() -> dict[str, str]:
    """Name of a filter → what its chip says."""
    return {
        "": _("All"),
        "room": _("Free ≥ 8 GiB"),
        "free": _("Free cards"),
        "unavailable": _("Unavailable"),
        "unknown": _("Unknown"),
        "findings": _("With findings"),
    }


def _chips(request: HttpRequest, show: str) -> list[tuple[str, str, bool]]:
    return [(title, state_url(request, show=name or None), name == show) for name, title in _titles().items()]


def _cluster_chips(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """One per cluster where there are several."""
    names = [one.cluster for one in freshness_of(request)]
    if len(names) < 2:
        return []
    asked = request.GET.getlist("cluster")
    chips = [(name, state_url(request, cluster=name, pool=None), asked == [name]) for name in names[:20]]
    return [(_("All clusters"), state_url(request, cluster=None, pool=None), not asked), *chips]
