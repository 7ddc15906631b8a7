"""One pod, pending, running or ended: its requests, why it is pending, and its current and past allocations."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.models import Allocation, Cluster, NodeTotals, Pod
from inventory.placement.pending.asked import asks_of
from inventory.placement.pending.decided import with_deciding
from inventory.placement.pending.detail import detail_of
from inventory.placement.pending.mistakes import mistakes
from inventory.placement.pending.reasons import lines
from inventory.placement.pending.words import mistake_text
from inventory.queries import rows as querysets
from inventory.queries.pod_usage import with_pod_usage
from kube import objects as kube
from kube.decoders import decoder
from pages.allocations import allocation_line, pending_line
from pages.frame.freshness import notices
from pages.frame.links import node_url, pod_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.frame.worded import quoted, told, worded_html
from pages.permission import SILENCE, may
from pages.rows.findings import finding_lines
from pages.rows.pods import ask_line, near_line, selector_is_silent
from pages.rows.runs import run_line
from stacks.engine import components
from validations.querysets import runs
from wording.close_names import close_names

#: What is drawn; the rest is one link away.
MOST_HELD, MOST_BEFORE, MOST_RUNS, MOST_FINDINGS = 64, 50, 10, 20
_decoder = decoder(kube.Pod)


@dataclass(frozen=True)
class State:
    """level: good, warning, error or none. words: what the pod does; reason: why it does not run, in the cluster's words."""

    level: str
    words: str
    reason: str = ""


@require_safe
@answered
def pod(request: HttpRequest, cluster: str, namespace: str, name: str) -> HttpResponseBase:
    own = {"cluster__name": cluster, "namespace": namespace}
    row = Pod.objects.select_related("cluster").filter(name=name, **own).order_by("-created_at", "-id").first()
    history = querysets.allocations_ever().filter(pod=name, **own)
    held = with_pod_usage(history.filter(ended_at=None).order_by("started_at", "id")[:MOST_HELD])
    before = list(history.filter(ended_at__isnull=False).order_by("-ended_at", "-id")[: MOST_BEFORE + 1])
    if row is None and not held and not before:
        raise _no_such_pod(cluster, namespace, name)
    found = row.cluster if row else (held or before)[0].cluster
    context = _of_all(found, namespace, name, row, held, before) | (_of_row(row) if row else {})
    context |= {"notices": notices(request, {found.pk}), "may_silence": may(request, SILENCE)}
    return live_page(request, "pods/page.html", "pods/part.html", context)


def _of_all(
    cluster: Cluster, namespace: str, name: str, row: Pod | None, held: list[Allocation], before: list[Allocation]
) -> dict[str, Any]:
    """What is known of a pod, whether it is there or was."""
    last = next(iter((*held, *before)), None)
    here = {"cluster": cluster.name, "namespace": namespace, "pod": name}
    findings = querysets.findings_now().filter(cluster=cluster, pod=f"{namespace}/{name}")
    uids = {one.pod_uid for one in (*held, *before)} | ({row.uid} if row else set())
    of_runs = runs().filter(cluster=cluster, namespace=namespace, pod_name=name).order_by("-id")[:MOST_RUNS]
    owner = row or last
    return {
        "cluster": cluster,
        "namespace": namespace,
        "name": name,
        "title": f"{namespace}/{name}",
        "describe": f"kubectl describe pod -n {quote(namespace)} {quote(name)}",
        "pod": row,
        "state": _state(row, held),
        "owner_kind": owner.owner_kind if owner else "",
        "owner_name": owner.owner_name if owner else "",
        "owner_url": _owner_url(here, owner.owner_name) if owner and owner.owner_name else "",
        "held": [allocation_line(one) for one in held],
        "before": [allocation_line(one) for one in before[:MOST_BEFORE]],
        "more_before": len(before) > MOST_BEFORE,
        "several": len(uids) > 1,
        "ended_at": before[0].ended_at if before and not held else None,
        "findings": finding_lines(findings.order_by("severity_rank", "-first_seen_at", "id")[:MOST_FINDINGS]),
        "runs": [run_line(run) for run in of_runs],
        "history_url": with_query(reverse("allocations"), ended="any", **here),
        "history_days": settings.HISTORY_DAYS,
    }


def _owner_url(here: dict[str, str], owner: str) -> str:
    return with_query(
        reverse("allocations"), cluster=here["cluster"], namespace=here["namespace"], owner=owner, ended="any"
    )


def _of_row(row: Pod) -> dict[str, Any]:
    """What a pod that is mirrored asks for, and why it waits."""
    [found] = with_deciding([row])
    pending = _of_pending(found) if row.pending else {"units": _units_of(row)}
    asks = asks_of(row)
    return pending | {
        "by_memory": any(ask.memory for ask in asks),
        "asks": [ask_line(ask, pending["units"]) for ask in asks],
        "line": pending_line(found),
        "node_url": node_url(row.cluster.name, row.node_name) if row.node_name else "",
    }


def _units_of(row: Pod) -> set[str]:
    """In which its node counts memory."""
    rows = NodeTotals.objects.filter(cluster_id=row.cluster_id, node_name=row.node_name)
    return set(rows.values_list("unit", flat=True)) if row.node_name else set()


def _of_pending(row: Pod) -> dict[str, Any]:
    """Why it waits, taken apart. row: with what decides it."""
    found, decided = detail_of(row), row.deciding  # type: ignore[attr-defined]
    told, asks = found.waiting.told, found.waiting.asks
    near = [near_line(row.cluster.name, one) for one in found.nodes]
    wrong = [mistake_text(one) for one in mistakes(asks, found.board)]
    return {
        "deciding": decided,
        "told": told,
        "reasons": lines(told.reasons),
        "preemption": lines(told.preemption),
        "near": near,
        "moving": any(one.moving for one in near),
        "mistakes": [text for text in wrong if text != decided.text],
        "selector_is_silent": selector_is_silent(told),
        "units": {one.unit for one in found.board.of({ask.stack for ask in asks if ask.memory})},
    }


def _state(row: Pod | None, held: list[Allocation]) -> State:
    if row is None:
        if held:
            return State("none", _("Has allocations, not in the synced data"))
        return State("none", _("Deleted. Past allocations are below."))
    if row.pending:
        return State("warning", _("Pending"))
    if row.terminating_since is not None:
        return State("warning", _("Terminating, still allocated"))
    words = {"Succeeded": _("Succeeded"), "Failed": _("Failed"), "Running": _("Running")}
    if row.phase == "Pending":
        return State("warning", _("Node assigned, not running yet"), _why_not_running(row))
    level = {"Succeeded": "good", "Failed": "error", "Running": "good"}.get(row.phase, "none")
    return State(level, words.get(row.phase, quoted(row.phase) or _("Phase unknown")), _why_not_running(row))


def _why_not_running(row: Pod) -> str:
    """Reason and message of what a container waits for, as the kubelet says it."""
    try:
        reason, message = components.pending_reason(_decoder.decode(row.facts))
    except (msgspec.MsgspecError, ValueError):  # somebody wrote into the column
        return ""
    return format_html_join(
        ": ", "{}", ((text,) for text in (quoted(reason), worded_html(told(message, None))) if text)
    )


def _no_such_pod(cluster: str, namespace: str, name: str) -> NotThere:
    """Links names that are close, of those that may be seen."""
    rows = Pod.objects.filter(cluster__name=cluster, namespace=namespace).order_by("name")
    names = list(rows.values_list("name", flat=True)[:2000])
    close = [(one, pod_url(cluster, namespace, one)) for one in close_names(name, names)]
    why = _("gpudash stores GPU pods and plugin pods. It deletes ended allocations after %(days)d days.") % {
        "days": settings.HISTORY_DAYS
    }
    named = {"name": f"{namespace[:100]}/{name[:100]}", "cluster": cluster[:100]}
    return NotThere(_("No GPU pod %(name)s in cluster %(cluster)s.") % named, why, close)
