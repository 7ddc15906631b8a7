"""Nodes: which have room? A table of all nodes with a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.models import NodeTotals
from inventory.models.choices import Health, Severity, UnavailableReason
from inventory.queries import free, grouped, totals
from inventory.queries import rows as querysets
from pages.frame import amounts, choices
from pages.frame.grouped import Grouping
from pages.frame.links import node_url, with_query
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.rows.groups import by_model, node_facts
from pages.words.out_of_service import tool_words
from resources.filter_sets import StrictFilterSet
from resources.node import NODES, OF_NODES
from runtime.cached import shareable


@dataclass(frozen=True)
class NodeLine:
    """What a template prints of a node. level, words: its condition. used, unknown: widths of its gauge.

    out: the tools that keep pods off it, "" for none.
    """

    name: str
    url: str
    cluster: str
    totals: NodeTotals
    level: str
    words: str
    out: str
    used: str
    over: bool
    known: bool
    changed_at: datetime


def node_line(row: querysets.NodeRow) -> NodeLine:
    node_totals = row.totals
    total, held = node_totals.memory_total_bytes, node_totals.memory_allocated_bytes
    known = total is not None and held is not None
    level, words = condition_of(row)
    return NodeLine(
        name=node_totals.node_name,
        url=node_url(node_totals.cluster.name, node_totals.node_name),
        cluster=node_totals.cluster.name,
        totals=node_totals,
        level=level,
        words=words,
        out=", ".join(dict.fromkeys(tool_words(one.tool) for one in row.own.found_marks if one.blocks)),
        used=amounts.width(held or 0, total or 0) if known else "0",
        over=known and (held or 0) > (total or 0),
        known=known,
        changed_at=node_totals.changed_at,
    )


def condition_of(row: querysets.NodeRow) -> tuple[str, str]:
    """(sign, words) of what the node says of itself."""
    node = row.node
    if node is None:
        return "none", str(_("node unknown"))
    if node.ready is None:
        return "none", str(_("readiness unknown"))
    if not node.ready:
        return "error", str(_("not ready"))
    if node.unschedulable:
        return "warning", str(_("cordoned"))
    out = any(one.blocks for one in node.found_marks)
    return ("warning", str(_("out of service"))) if out else ("good", str(_("ready")))


def _shape(rows: list[Any]) -> list[Any]:
    return [node_line(row) for row in rows]


SPEC = ListSpec(
    resource=NODES,
    fields=(
        Field("q", _("Search"), placeholder=_("node, pool, model, address"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("stack", _("Stack"), choices.stacks),
        Field("model", _("Card model"), choices.models),
        Field("ready", _("Status"), (("true", _("ready")), ("false", _("not ready")), ("unknown", _("unknown")))),
        Field("out", _("Out of service"), (("true", _("Out of service")), ("false", _("In service")))),
        Field(
            "unavailable_reason",
            _("Unavailable because"),
            [one for one in UnavailableReason.choices if one[0] in OF_NODES],
        ),
        Field("health", _("Health"), Health.choices),
        Field("free_known", _("Free memory"), (("true", _("known")), ("false", _("unknown")))),
        Field("min_gap_bytes", _("Min. free block"), placeholder="8 GiB"),
        Field("severity", _("Findings"), Severity.choices),
    ),
    shape=_shape,
    part="nodes/part.html",
    title=_("Nodes"),
    caption=_("Nodes with a GPU"),
    cells="nodes/cells",
    key=lambda node: f"node-{node.cluster}-{node.name}",
    groups={"model": Grouping(_("By model"), by_model(grouped.nodes, node_facts))},
)


def _context(found: StrictFilterSet) -> dict[str, Any]:
    return {"totals": totals.all_totals(), "free": free.free_cards(), "room_url": with_query("", min_gap_bytes="8Gi")}


@shareable
@require_safe
@answered
def nodes(request: HttpRequest) -> HttpResponseBase:
    return list_page(request, SPEC, _context)
