"""What is held without work: what could be taken back today, from whom, and how sure that is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.idle.allocations import idle_now, looks_now
from inventory.idle.rule import Verdict
from inventory.idle.sums import total
from inventory.models import Cluster, IdleAllocation, Price
from inventory.models.choices import Evidence
from inventory.models.idle import Confidence
from pages.charts.bars import amount_of
from pages.frame import amounts, choices
from pages.frame.labels import label_of
from pages.frame.links import card_url, node_url, pod_url, state_url
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.frame.table import columns_of
from pages.rows.cards import card_name
from pages.sections.waste import owners_waste, waste
from pages.usage import SIGNS
from resources.filter_fields import OneOfFilter
from resources.filter_sets import StrictFilterSet
from resources.idle import IDLE, IdleFilter
from runtime.cached import shareable
from runtime.clock import database_now

_HOUR_S = 3600.0
#: A context of CUDA takes a few hundred MiB: above this something is loaded.
LOADED_BYTES = 500 << 20
#: Why an allocation is neither idle nor active, in the order of the page.
_NOT_SAID = (
    (Verdict.SHARED, _("on a shared, active card")),
    (Verdict.NOT_COLLECTED, _("on cards without activity metrics")),
    (Verdict.TOO_SHORT, _("allocated or watched for a shorter time")),
    (Verdict.NOT_RUNNING, _("not running yet, or terminating")),
)


@dataclass(frozen=True)
class IdleLine:
    """What a template prints of an idle allocation. card: "" when it is unidentified. loaded: None: not known."""

    row: IdleAllocation
    amount: str
    card: str
    card_url: str
    node_url: str
    pod_url: str
    evidence: str
    sure: bool
    confidence: str
    sign: str
    so_far: str
    figures: str
    cost: str
    loaded: bool | None


def idle_line(row: IdleAllocation) -> IdleLine:
    held = row.allocation
    return IdleLine(
        row=row,
        amount=amount_of(held),
        card=card_name(held.card) if held.card else "",
        card_url=card_url(held.card.pk) if held.card else "",
        node_url=node_url(row.cluster.name, row.node_name),
        pod_url=pod_url(row.cluster.name, held.namespace, held.pod),
        evidence=label_of(Evidence, held.evidence),
        sure=row.confidence == Confidence.CERTAIN,
        confidence=label_of(Confidence, row.confidence),
        sign=str(SIGNS.get(row.measure, row.measure)),
        so_far=so_far(row.byte_seconds, row.card_seconds),
        figures=figures(row.byte_seconds, row.card_seconds),
        cost=_cost(row),
        loaded=None if row.memory_used_bytes is None else row.memory_used_bytes > LOADED_BYTES,
    )


def _cost(row: Any) -> str:
    """row: as the resource joins it."""
    return amounts.money(row.costs, row.cost_complete)


def so_far(byte_seconds: float | None, card_seconds: float | None) -> str:
    """What was idle so far: "320 GiB h, 8 card h"; "" where neither is known."""
    told = [(_("%(n)s GiB h"), byte_seconds / amounts.GIB)] if byte_seconds is not None else []
    told += [(_("%(n)s card h"), card_seconds)] if card_seconds is not None else []
    return ", ".join(str(text) % {"n": amounts.figure(seconds / _HOUR_S)} for text, seconds in told)


def figures(byte_seconds: float | None, card_seconds: float | None) -> str:
    """The same without units, as the column's heading has them: "320 / 8"; – for what is not known."""
    amounts_told = (None if byte_seconds is None else byte_seconds / amounts.GIB, card_seconds)
    return " / ".join("–" if one is None else amounts.figure(one / _HOUR_S) for one in amounts_told)


def _lines(rows: list[Any]) -> list[Any]:
    return [idle_line(row) for row in rows]


class PageFilter(IdleFilter):
    """What the page shows beside the list. waste: sums by owner are read where they are asked for, from a row per owner and day."""

    waste = OneOfFilter(("owner",), "waste", default="", method="beside")

    def beside(self, rows: Any, _name: str, _value: Any) -> Any:
        return rows


_IDLE = ListSpec(
    resource=IDLE.filtered(PageFilter),
    fields=(
        Field("q", _("Search"), placeholder=_("pod, namespace, owner, node"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("namespace", _("Namespace")),
        Field("owner", _("Owner")),
        Field("confidence", _("Confidence"), Confidence.choices),
    ),
    shape=_lines,
    page="allocations/page.html",
    part="allocations/idle.html",
    title=_("Allocations"),
    caption=_("Idle allocations"),
    cells="allocations/idle_cells",
    key=lambda line: f"idle-{line.row.pk}",
)


#: Where there are prices, the table has them unless other columns are chosen.
_WITH_COSTS = replace(_IDLE, columns=columns_of(IDLE, (*IDLE.table, "costs")))


def _summary(request: HttpRequest, priced: bool, found: StrictFilterSet) -> dict[str, Any]:
    """Six queries, whatever the size; one more with the owners. priced: there are prices."""
    by_owner = request.GET.get("waste") == "owner"
    rows = idle_now()
    idle = total(rows)
    looks = list(looks_now().values_list("cluster_id", "verdicts"))
    verdicts: Counter[str] = Counter()
    for _cluster, found in looks:
        verdicts.update({name: number for name, number in found.items() if isinstance(number, int)})
    looked = {cluster for cluster, _found in looks}
    names = Cluster.objects.order_by("name").values_list("pk", "name")
    return {
        "tab": "idle",
        "idle": idle,
        "likely": idle.allocations - idle.certain,
        "waste": waste(database_now()),
        "owners": owners_waste(database_now()) if by_owner else [],
        "owners_url": state_url(request, waste=None if by_owner else "owner"),
        "by_owner": by_owner,
        "priced": priced,
        "minutes": settings.IDLE_MINUTES,
        "looked": bool(looks),
        "works": verdicts[Verdict.WORKS],
        "not_said": [(verdicts[verdict], words) for verdict, words in _NOT_SAID if verdicts[verdict]],
        "not_looked": [name for pk, name in names if pk not in looked],
    }


@shareable
@require_safe
@answered
def idle(request: HttpRequest) -> HttpResponseBase:
    priced = Price.objects.exists()
    return list_page(request, _WITH_COSTS if priced else _IDLE, partial(_summary, request, priced))
