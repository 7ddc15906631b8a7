"""One node: its cards and allocations, its components, findings and recent history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from shlex import quote
from typing import Any

import msgspec
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from inventory.history.named import Named
from inventory.history.series import Window
from inventory.models import Card, Cluster, Component, NodeTotals, Pod, Subject
from inventory.models.cards import MOST_ROOMS
from inventory.queries import availability
from inventory.queries import rows as querysets
from inventory.queries.measured import with_usage
from kube import objects as kube
from kube.decoders import decoder
from pages.allocations import AllocationLine, allocation_line
from pages.charts.charts import chart_of, window_of, windows
from pages.frame.freshness import notices
from pages.frame.links import node_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.frame.worded import quoted, told, worded_html
from pages.node_changes import MOST_CHANGES, changes_of
from pages.nodes import condition_of
from pages.permission import SILENCE, may
from pages.rows.cards import CardRow, card_row, ordinal_of
from pages.rows.findings import FindingLine, finding_lines, finding_rows
from pages.rows.slices import rooms_of
from pages.sections.changes import axis, newest, steady_now
from pages.sections.health import health_lines
from pages.words.components import ComponentLine, component_lines
from runtime.scope import ANOTHER
from stacks.engine import base, components
from stacks.engine.software import base as software
from validations import validity
from wording.close_names import close_names

NOTES_SHOWN = 4
#: A hostile cluster can bind any number of pods to a node; what is not drawn is counted and linked.
MOST_CARDS, MOST_UNPLACED, MOST_COMPONENTS, MOST_FINDINGS, MOST_READ = 128, 50, 40, 50, 1000
#: To be copied. {}: the node.
COMMANDS = (
    "describe node {}",
    "cordon {}",
    "drain {} --ignore-daemonsets --delete-emptydir-data",
    "uncordon {}",
)
_decoder = decoder(kube.Pod)


@dataclass(frozen=True)
class ComponentPod:
    """A plugin or operator pod of the node. level: good, warning, error or none; text: state and reason."""

    component: str
    pod: str
    level: str
    text: str


@require_safe
@answered
def node(request: HttpRequest, cluster: str, name: str) -> HttpResponseBase:
    row = querysets.node_row(cluster, name)
    if row is None:
        raise no_such_node(cluster, name)
    window = window_of(request)
    context = _context(row, window) | {
        "notices": notices(request, {row.totals.cluster_id}),
        "chart": chart_of(Named(row.totals.cluster, Subject.NODE, row.totals.node_name), window),
        "windows": windows(request, window),
        "may_silence": may(request, SILENCE),
    }
    return live_page(request, "nodes/node.html", "nodes/node_part.html", context)


def _cut(mine: dict[str, Any]) -> int:
    """How many cards of the node are cut."""
    found = querysets.cards_present().filter(**mine).exclude(room="").values_list("key", "parent")
    return len({parent or key for key, parent in found})


def _context(row: querysets.NodeRow, window: Window) -> dict[str, Any]:
    node_totals, mine = row.totals, {"cluster_id": row.totals.cluster_id, "node_name": row.totals.node_name}
    end = steady_now(window.seconds)
    begin = end - timedelta(seconds=window.seconds)
    found: Any = querysets.with_holders(querysets.cards_present().filter(**mine)).order_by(
        F("index").asc(nulls_last=True), "id"
    )
    cards: list[Any] = with_usage(found[:MOST_CARDS])
    availability.cards_now(cards)
    # By index; without one what is unknown comes last, and slices without a name by their numbers.
    cards.sort(key=lambda card: (card.index is None, card.index or card.state == "unknown", ordinal_of(card) or 0))
    rows, capacity_note = _source_once([card_row(card, card.holders) for card in cards])
    # Without an order in the query the index of the node serves it; the order is made here.
    unplaced = sorted(
        querysets.unplaced(node_totals.cluster_id, node_totals.node_name).order_by()[:MOST_READ],
        key=lambda one: (one.started_at, one.pk),
    )
    loose = [allocation_line(one) for one in unplaced[:MOST_UNPLACED]]
    level, words = condition_of(row)
    rooms = node_totals.found_rooms
    places = {card.key: (row.name, row.url) for card, row in zip(cards, rows, strict=True)}
    validities = validity.of_cards([card.pk for card in cards])
    findings = _findings(mine, begin)
    held = [(one, card) for card in cards for one in card.holders] + [(one, one.card) for one in unplaced]
    changes = changes_of(node_totals, held, findings, begin)
    here = {"cluster": node_totals.cluster.name, "node": node_totals.node_name}
    seen, every = newest(changes, begin)
    return {
        "row": row,
        "totals": node_totals,
        "free": _free(node_totals, rows),
        "rooms": rooms_of(rooms, places, _cut(mine) if len(rooms) >= MOST_ROOMS else 0),
        "health_lines": health_lines(node_totals.found_health),
        "models": len({card.model for card in cards if card.model}),
        "sliced": any(card.profile for card in cards),
        "level": level,
        "words": words,
        "cards": rows,
        "capacity_note": capacity_note,
        "metered": any(row.total is not None or row.physical is not None for row in rows),
        "measured": any(row.usage.measured_at or row.usage.lost_at for row in rows),
        "validities": validities,
        "validated": sum(one.state == validity.VALIDATED for one in validities.values()),
        "cards_hidden": max(0, (node_totals.cards_total or 0) - len(rows)) if len(rows) == MOST_CARDS else 0,
        "best": max((card for card in rows if (card.free or 0) > 0), key=lambda card: card.free or 0, default=None),
        "loose": loose,
        "loose_why": _why_loose(loose),
        "software": _software(node_totals),
        "component_pods": _component_pods(node_totals),
        "findings": finding_rows(line for line in findings[:MOST_FINDINGS] if line.row.ended_at is None),
        "axis": axis(changes, begin, end),
        "changes": seen,
        "more_changes": every if len(every) > len(seen) else [],
        "allocations_url": with_query(reverse("allocations"), **here),
        "compare_url": with_query(reverse("node-compare"), a=f"{node_totals.cluster.name}/{node_totals.node_name}"),
        "ended_url": with_query(reverse("allocations"), ended="true", **here),
        "cards_url": with_query(reverse("cards"), **here),
        "namespaces": _legend(rows, loose),
        "commands": [f"kubectl {command.format(quote(node_totals.node_name))}" for command in COMMANDS],
    }


def _source_once(rows: list[CardRow]) -> tuple[list[CardRow], str]:
    """The source of the capacity that all cards have alike, and the cards without it; "" where they differ, or there is one only."""
    sources = {row.memory_source for row in rows}
    if len(rows) < 2 or len(sources) > 1:
        return rows, ""
    return [replace(row, memory_source="") for row in rows], sources.pop()


def _free(node_totals: NodeTotals, rows: list[CardRow]) -> int | None:
    """Free memory. What one card is overcommitted by is not taken from another."""
    free = node_totals.memory_free_bytes
    return None if free is None else max(0, free - sum(min(row.free or 0, 0) for row in rows))


def _findings(mine: dict[str, Any], begin: datetime) -> list[FindingLine]:
    """Those that are, the worst first, then those that ended in the window."""
    rows = querysets.findings_ever().filter(Q(ended_at=None) | Q(ended_at__gte=begin), **mine)
    order = (F("ended_at").desc(nulls_first=True), "severity_rank", "-first_seen_at", "id")
    return finding_lines(rows.order_by(*order)[: MOST_FINDINGS + MOST_CHANGES])


def _legend(rows: list[CardRow], loose: list[AllocationLine]) -> list[str]:
    """Namespaces with allocations here, so that hues have names."""
    found = {held.namespace for row in rows for held in row.holders} | {line.row.namespace for line in loose}
    return sorted(_(name) if name == ANOTHER else name for name in found)[:20]


def _why_loose(loose: list[AllocationLine]) -> list[str]:
    """Why some allocations are unidentified, each reason once."""
    reasons = []
    if any(line.row.evidence == base.COUNT_ONLY and line.row.mode in (base.WHOLE, base.SHARES) for line in loose):
        reasons.append(
            _(
                "The device plugin chooses the card when the container starts. The API server has only the count. An "
                "exporter identifies the card, or the kubelet in allocatedResourcesStatus (feature gate ResourceHealthStatus)."
            )
        )
    if any(line.row.mode == base.MEMORY for line in loose):
        reasons.append(
            _(
                "The pod requests GPU memory, but no readable annotation identifies its card. Either it bypassed the scheduler "
                "extender, or its annotation is missing, invalid or names a card that the node does not have."
            )
        )
    return reasons or [_("No readable source identifies the card.")] if loose else []


@dataclass(frozen=True)
class Software:
    """The GPU software of the node. steps: in the order of blame; off: what is not needed there, or switched off.

    cause: explains those that are not ready. notes: what is wrong besides, of those that are out of date or have warnings.
    """

    steps: list[ComponentLine]
    off: list[ComponentLine]
    cause: ComponentLine | None
    notes: list[ComponentLine]

    @property
    def all(self) -> list[ComponentLine]:
        return [*self.steps, *self.off]


def _software(node_totals: NodeTotals) -> Software:
    found = querysets.components_of_node(node_totals.cluster_id, node_totals.node_name)
    lines = component_lines(found[:MOST_COMPONENTS])
    off = [line for line in lines if _is_off(line.row)]
    steps = [line for line in lines if not _is_off(line.row)]
    cause = next((line for line in lines if line.row.first_cause), None)
    notes = [line for line in steps if line is not cause and (line.row.state == software.OUTDATED or line.warnings)]
    return Software(steps, off, cause, notes[:NOTES_SHOWN])


def _is_off(row: Component) -> bool:
    """Nothing is missing: it is not needed, or is switched off for good reason. Switched off by a label, it has a remedy."""
    return row.state == software.NOT_NEEDED or (row.state == software.DISABLED and not row.remedy)


def _component_pods(node_totals: NodeTotals) -> list[ComponentPod]:
    pods = Pod.objects.filter(cluster_id=node_totals.cluster_id, node_name=node_totals.node_name).exclude(component="")
    return [_component_pod(pod) for pod in pods.order_by("component", "name", "id")[:MOST_COMPONENTS]]


def _component_pod(pod: Pod) -> ComponentPod:
    try:
        facts = _decoder.decode(pod.facts)
    except (msgspec.MsgspecError, ValueError):
        return ComponentPod(pod.component, pod.name, "none", _("state unreadable"))
    reason, message = components.pending_reason(facts)
    if pod.terminating_since is not None:
        return ComponentPod(pod.component, pod.name, "warning", _("being deleted"))
    if pod.phase == "Succeeded":
        return ComponentPod(pod.component, pod.name, "good", _("done"))
    if components.ready(facts) and pod.phase == "Running":
        return ComponentPod(pod.component, pod.name, "good", _("ready"))
    phase = quoted(pod.phase) if pod.phase != "Running" else _("not ready")
    parts = (phase, quoted(reason), worded_html(told(message, None)))
    words = format_html_join(" · ", "{}", ((text,) for text in parts if text))
    level = "error" if pod.phase == "Failed" or "BackOff" in reason or "Err" in reason else "warning"
    return ComponentPod(pod.component, pod.name, level, words or _("state unknown"))


def no_such_node(cluster: str, name: str) -> NotThere:
    """Says whether cards of it are remembered, and links names that are close."""
    names = dict(Cluster.objects.values_list("name", "pk"))
    if cluster not in names:
        close = [(one, with_query(reverse("nodes"), cluster=one)) for one in close_names(cluster, names, 3)]
        return NotThere(_("Unknown cluster: %(name)s.") % {"name": cluster[:100]}, "", close)
    cluster_id = names[cluster]
    gone = Card.objects.filter(cluster_id=cluster_id, node_name=name).count()
    why = ""
    if gone:
        why = ngettext(
            "The node was removed. %(count)d of its cards is stored with its history.",
            "The node was removed. %(count)d of its cards are stored with their history.",
            gone,
        ) % {"count": gone}
    found = (
        querysets.node_totals().filter(cluster_id=cluster_id).values_list("node_name", flat=True).order_by("node_name")
    )
    close = [(one, node_url(cluster, one)) for one in close_names(name, found[:5000])]
    if gone:
        close.insert(0, (_("its cards"), with_query(reverse("cards"), cluster=cluster, node=name, removed="any")))
    return NotThere(
        _("No GPU node %(name)s in cluster %(cluster)s.") % {"name": name[:100], "cluster": cluster},
        why,
        close,
    )
