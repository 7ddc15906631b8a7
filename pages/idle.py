"""What is held without work: what could be taken back today, from whom, and how sure that is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.idle.allocations import idle_now, looks_now
from inventory.idle.rule import Verdict
from inventory.idle.sums import By, IdleSum, sums, total
from inventory.models import Cluster, IdleAllocation
from inventory.models.choices import Evidence
from inventory.models.idle import Confidence
from pages.charts.bars import amount_of
from pages.frame import amounts, choices
from pages.frame.labels import label_of
from pages.frame.links import card_url, node_url, pod_url
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.rows.cards import card_name
from pages.usage import SIGNS
from resources.idle import IDLE
from runtime.cached import shareable

_HOUR_S = 3600.0
_GIB = 2**30
#: Groups that the page names; REST has more.
GROUPS_SHOWN = 6
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
        loaded=None if row.memory_used_bytes is None else row.memory_used_bytes > LOADED_BYTES,
    )


def so_far(byte_seconds: float | None, card_seconds: float | None) -> str:
    """What was idle so far: "320 GiB h, 8 card h"; "" where neither is known."""
    told = [str(_("%(n)s GiB h")) % {"n": f"{byte_seconds / _GIB / _HOUR_S:,.0f}"}] if byte_seconds is not None else []
    told += [str(_("%(n)s card h")) % {"n": f"{card_seconds / _HOUR_S:,.1f}"}] if card_seconds is not None else []
    return ", ".join(told)


@dataclass(frozen=True)
class GroupLine:
    """One group of idle allocations. url: of the list of them."""

    name: str
    cluster: str
    query: str
    allocations: int
    amount: str
    cards: str
    so_far: str


def _group(one: IdleSum, by: By) -> GroupLine:
    return GroupLine(
        name=one.name,
        cluster=one.cluster,
        query=by.value,
        allocations=one.allocations,
        amount=amounts.gib(one.memory_bytes) if one.memory_bytes is not None else "",
        cards="" if one.cards is None else f"{one.cards:,.1f}".removesuffix(".0"),
        so_far=so_far(one.byte_seconds, one.card_seconds),
    )


def _lines(rows: list[Any]) -> list[Any]:
    return [idle_line(row) for row in rows]


_IDLE = ListSpec(
    resource=IDLE,
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
    caption=_("Idle allocations"),
    cells="allocations/idle_cells",
    key=lambda line: f"idle-{line.row.pk}",
)


def _summary() -> dict[str, Any]:
    """Five queries, whatever the size."""
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
        "groups": [_group(one, By.NAMESPACE) for one in sums(rows, By.NAMESPACE, GROUPS_SHOWN)],
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
    return list_page(request, _IDLE, _summary)
