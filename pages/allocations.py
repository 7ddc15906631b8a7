"""Allocations: active, pending with reasons, and ended. Three tables, each under its own address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.models import Allocation, Pod
from inventory.models.choices import Evidence
from inventory.placement.pending.words import claim_text
from inventory.queries import grouped
from inventory.queries import rows as querysets
from inventory.queries.claimed import Claimed
from inventory.queries.pod_usage import PodUsage
from pages.charts.bars import amount_of
from pages.frame import choices
from pages.frame.grouped import Grouping
from pages.frame.labels import label_of
from pages.frame.links import card_url, node_url, pod_url
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.rows.cards import card_called, card_name
from pages.rows.groups import allocation_facts, by_model, by_namespace, by_node
from pages.usage import used_by, why_not_used
from resources import moments
from resources.allocation import ALLOCATIONS
from resources.pod import PODS
from runtime.cached import shareable
from stacks import STACKS
from stacks.engine import base

#: Sharing system → what its scheduler makes of a pod that is being deleted.
_TERMINATING = {stack.name: stack.terminating for stack in STACKS}


@dataclass(frozen=True)
class AllocationLine:
    """What a template prints of an allocation. card: "" when the card is not known.

    deleting: what it means that its pod is being deleted; "" when it is not. used: of rows that went through
    `with_pod_usage`; used_why: why it is not known; used_by: who counted it.
    """

    row: Allocation
    amount: str
    card: str
    card_url: str
    node_url: str
    pod_url: str
    evidence: str
    metered: bool
    deleting: str
    used: PodUsage
    used_why: str
    used_by: str


_NO_USAGE = PodUsage()


def allocation_line(row: Allocation) -> AllocationLine:
    used: PodUsage = getattr(row, "used", _NO_USAGE)
    return AllocationLine(
        row=row,
        amount=amount_of(row),
        card=card_name(row.card) if row.card else "",
        card_url=card_url(row.card.pk) if row.card else "",
        node_url=node_url(row.cluster.name, row.node_name),
        pod_url="" if row.foreign else pod_url(row.cluster.name, row.namespace, row.pod),
        evidence=label_of(Evidence, row.evidence),
        metered=row.mode != base.SHARES,
        deleting=_deleting(row) if row.terminating and row.ended_at is None else "",
        used=used,
        used_why=why_not_used(used),
        used_by=used_by(used),
    )


def _deleting(row: Allocation) -> str:
    own = _TERMINATING.get(row.stack, "")
    return " ".join(filter(None, (gettext("Terminating. Allocated until the pod is deleted."), own and gettext(own))))


@dataclass(frozen=True)
class ClaimLine:
    """A claim of a pod. asks: each request on a line, the ways to fulfil one marked by "or".

    why: what keeps the pod from it, a sentence.
    """

    name: str
    asks: list[str]
    why: str


@dataclass(frozen=True)
class PendingLine:
    """A pod that no node takes yet. wanted: the resources that it asks for, as the API writes them. why: what decides, a sentence."""

    pod: Pod
    wanted: list[str]
    claims: list[ClaimLine]
    why: str

    @property
    def url(self) -> str:
        return pod_url(self.pod.cluster.name, self.pod.namespace, self.pod.name)

    @property
    def name(self) -> str:
        """With its namespace."""
        return f"{self.pod.namespace}/{self.pod.name}"

    @property
    def asked(self) -> list[str]:
        """All that it asks for, for where there is one line."""
        return [*self.wanted, *(text for claim in self.claims for text in claim.asks or [claim.name])]


def pending_line(pod: Pod) -> PendingLine:
    """pod: with its claims, and with what decides (`inventory.placement.pending.decided`)."""
    asked = pod.requests if isinstance(pod.requests, dict) else {}
    wanted = [f"{resource}: {quantity}" for resource, quantity in sorted(asked.items())]
    claims = [_claim_line(one) for one in getattr(pod, "claimed", ())]
    return PendingLine(pod, wanted, claims, pod.deciding.text)  # type: ignore[attr-defined]


def _claim_line(one: Claimed) -> ClaimLine:
    asks = [gettext("or %(ask)s") % {"ask": text} if other else text for other, text in one.asks]
    return ClaimLine(one.claim or one.template or one.name, asks, claim_text(one) or "")


def _allocation_lines(rows: list[Any]) -> list[Any]:
    return [allocation_line(row) for row in rows]


def _waiting_lines(rows: list[Any]) -> list[Any]:
    return [pending_line(pod) for pod in rows]


_HOLDING = ListSpec(
    resource=ALLOCATIONS,
    fields=(
        Field("q", _("Search"), placeholder=_("pod, namespace, owner, node, UUID"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("namespace", _("Namespace")),
        Field("stack", _("Stack"), choices.stacks),
        Field("evidence", _("Identified by"), Evidence.choices),
        Field("placed", _("Card"), (("true", _("identified")), ("false", _("unidentified")))),
    ),
    shape=_allocation_lines,
    page="allocations/page.html",
    part="allocations/part.html",
    caption=_("Allocations"),
    cells="allocations/cells",
    key=lambda line: f"held-{line.row.id}",
    gone=lambda line: line.row.ended_at is not None,
    words={"card_id": card_called},
    groups={
        "namespace": Grouping(
            _("By namespace"), by_namespace(grouped.allocations, allocation_facts), column="namespace"
        ),
        "node": Grouping(_("By node"), by_node(grouped.allocations, allocation_facts)),
        "model": Grouping(_("By model"), by_model(grouped.allocations, allocation_facts)),
    },
)

_PENDING = ListSpec(
    resource=PODS,
    rows=querysets.pods_pending,
    fields=(
        Field("q", _("Search"), placeholder=_("pod, namespace, owner"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("namespace", _("Namespace")),
        Field("resource", _("Resource")),
    ),
    shape=_waiting_lines,
    page="allocations/page.html",
    part="allocations/pending.html",
    title=_("Pending"),
    caption=_("Pending pods"),
    cells="allocations/pending_cells",
    style="told",
    key=lambda line: f"pending-{line.pod.id}",
    order="created_at",
)


def _demand() -> dict[str, Any]:
    """How many pods wait and since when: one query."""
    return {"pending": querysets.pods_pending().aggregate(count=Count("id"), oldest=Min("created_at"))}


@shareable
@require_safe
@answered
def allocations(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, _HOLDING, lambda _: _demand() | {"tab": _tab(request)})


def _tab(request: HttpRequest) -> str:
    """now, ended, or "" where another time is asked for."""
    if any(request.GET.get(name) for name in moments.NAMES):
        return ""
    return "ended" if request.GET.get("ended", "") in ("true", "any") else "now"


@shareable
@require_safe
@answered
def pending(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, _PENDING, lambda _: _demand() | {"tab": "pending"})
