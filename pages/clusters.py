"""Clusters: are the numbers current? One row each; of one, its watches, what its credentials may do, what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from inventory.condition import State, condition_of
from inventory.history.named import Named
from inventory.mirror.anew import relist
from inventory.models import Cluster, Subject, Unreadable, Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind
from inventory.processes import START, pulses
from inventory.queries import rows as querysets
from inventory.queries.totals import ClusterSummary, summaries
from pages.charts.charts import chart_of, window_of, windows
from pages.exporters import Exporters, exporters_of
from pages.frame.freshness import Freshness, freshness_of, kind_words, notices, optional_words
from pages.frame.live import live_page
from pages.frame.refusals import NotThere, answered
from pages.frame.set_up import set_up_url
from pages.permission import RELIST, SILENCE, may, relisters_only
from pages.rows.findings import OF_FRESHNESS, FindingRow, finding_lines, finding_rows
from pages.words.components import lines_of_cluster, list_url
from pages.words.findings import Counted, counted
from runtime.models import Role
from wording.close_names import close_names
from wording.said import restored

UNREADABLE_SHOWN, FINDINGS_SHOWN = 100, 50


@dataclass(frozen=True)
class WatchLine:
    """One kind of object that is watched. level: sign; words: state; explains: what the kind is needed for."""

    watch: Watch
    kind: str
    level: str
    words: str
    explains: str
    since: datetime | None
    reason: str
    audit_note: str
    next_try_at: datetime | None

    @property
    def rests(self) -> bool:
        """Whether there is nothing of it to be watched."""
        return self.level == "none" and self.watch.state in (State.NOT_SERVED, State.NOT_NEEDED)


@dataclass(frozen=True)
class Permission:
    """What the credentials may do, as the last check found. allowed: True, False, or None when the server did not say.

    served: False where the cluster does not have what it is for. rule: what the role lacks; "" for nothing.
    """

    verb: str
    resource: str
    allowed: bool | None
    optional: bool
    needed_for: str
    served: bool
    rule: str

    @property
    def level(self) -> str:
        if self.allowed is None:
            return "none"
        return "good" if self.allowed else "warning" if self.optional else "error"


#: Permissions that are lacking: what is needed comes first.
_WORST = {"error": 0, "warning": 1, "none": 2}


@dataclass(frozen=True)
class ClusterLine:
    summary: ClusterSummary
    fresh: Freshness
    exporters: Exporters | None

    @property
    def watches(self) -> list[WatchLine]:
        """In the order in which one needs the other."""
        order = list(Kind.values)
        found = self.summary.sync.watches
        return [
            watch_line(watch)
            for watch in sorted(found, key=lambda one: order.index(one.kind) if one.kind in order else len(order))
        ]

    @property
    def findings(self) -> list[Counted]:
        return counted(self.summary.findings)


_LEVELS = {
    State.REFUSED: "error",
    State.UNWATCHED: "error",
    State.UNREACHED: "error",
    State.SILENT: "error",
    State.BACKING_OFF: "warning",
    State.WAITING: "none",
    State.LISTING: "info",
    State.RELISTING: "info",
    State.NOT_SERVED: "none",
    State.NOT_NEEDED: "none",
    State.WATCHING: "good",
}


def watch_line(watch: Watch) -> WatchLine:
    now = condition_of(watch)
    words = {
        State.REFUSED: _("access denied"),
        State.UNWATCHED: _("not watched"),
        State.UNREACHED: _("unreachable"),
        State.SILENT: _("not reporting"),
        State.BACKING_OFF: _("retrying"),
        State.WAITING: _("waiting for a watch worker"),
        State.LISTING: _("initial list"),
        State.RELISTING: _("relisting"),
        State.NOT_SERVED: _("API not available"),
        State.NOT_NEEDED: _("not needed"),
        State.WATCHING: _("in sync"),
    }
    explains = {
        Kind.NODES.value: _("cards and capacity"),
        Kind.PODS.value: _("allocations and pending pods"),
        **{kind.value: optional_words(kind.value) for kind in OPTIONAL_KINDS},
        Kind.CARDS.value: _("totals of the synced data"),
    }
    return WatchLine(
        watch=watch,
        kind=kind_words(watch.kind),
        level=_LEVELS[now.state],
        words=words[now.state],
        explains=explains.get(watch.kind, ""),
        since=now.since,
        reason=now.reason,
        audit_note=restored(watch.audit_note, watch.audit_wording),
        next_try_at=watch.next_try_at if now.state in (State.BACKING_OFF, State.UNREACHED, State.REFUSED) else None,
    )


def permissions_of(cluster: Cluster) -> list[Permission]:
    """The stored answers; an entry of a strange shape is left out of the table, not of the page's work."""
    found = cluster.permissions if isinstance(cluster.permissions, list) else []
    return [
        Permission(
            verb=str(one.get("verb", "")),
            resource=str(one.get("resource", "")),
            allowed=one["allowed"] if isinstance(one.get("allowed"), bool) else None,
            optional=bool(one.get("optional", False)),
            needed_for=restored(str(one.get("needed_for", "")), one.get("needed_wording")),
            served=one.get("served") is not False,
            rule=restored(str(one.get("rule") or ""), one.get("rule_wording")),
        )
        for one in found
        if isinstance(one, dict)
    ]


def _lines(request: HttpRequest, chosen: list[Cluster] | None) -> list[ClusterLine]:
    fresh = {one.cluster_id: one for one in freshness_of(request)}
    found = [summary for summary in summaries(chosen) if summary.cluster.pk in fresh]
    exporters = exporters_of([summary.cluster for summary in found])
    return [ClusterLine(summary, fresh[summary.cluster.pk], exporters.get(summary.cluster.pk)) for summary in found]


@dataclass(frozen=True)
class Missing:
    """A background process without a heartbeat, or behind schedule. at: its last heartbeat, None for never.

    overdue: since when work is overdue; None: none is known of.
    """

    title: str
    means: str
    command: str
    at: datetime | None
    overdue: datetime | None = None


def missing() -> list[Missing]:
    """Background processes that do not work now; a few queries."""
    titles = {
        Role.SCHEDULE: _("No heartbeat from the schedule (beat)."),
        Role.TASKS: _("No heartbeat from the tasks worker."),
        Role.WATCH: _("No heartbeat from the watch worker."),
        Role.USAGE: _("No heartbeat from the usage worker."),
        Role.LAUNCH: _("No heartbeat from the launch worker."),
    }
    means = {
        Role.SCHEDULE: _("New tasks are not started, checked or replaced."),
        Role.TASKS: _("Runs do not advance and ended watchers are not replaced."),
        Role.WATCH: _("Data is not updated."),
        Role.LAUNCH: _("Runs stay queued: no worker serves the queue launch."),
        Role.USAGE: _("No metrics are collected: used memory, activity and health of cards are unknown."),
    }
    late = [pulse for pulse in pulses() if not pulse.ok]
    busy = {Role.USAGE: _("The usage worker is behind schedule.")}
    return [
        Missing(
            busy.get(one.role, titles[one.role]) if one.seen else titles[one.role],
            means[one.role],
            START[one.role],
            one.seen_at,
            one.overdue_since,
        )
        for one in late
    ]


@require_safe
@answered
def clusters(request: HttpRequest) -> HttpResponseBase:
    lines = _lines(request, None)
    told = {one.cluster_id for one in notices(request)}
    stale = [line for line in lines if line.summary.cluster.pk in told]
    context = {"lines": lines, "stale": stale, "good": len(lines) - len(stale), "missing": missing()}
    return live_page(request, "clusters/page.html", "clusters/part.html", context)


def _place(one: Unreadable) -> str:
    return "/".join(part for part in (one.namespace, one.name or "?") if part)


@require_safe
@answered
def cluster(request: HttpRequest, name: str) -> HttpResponseBase:
    found = found_cluster(name)
    unread = querysets.unreadable().filter(cluster=found)
    window = window_of(request)
    asked = permissions_of(found)
    context: dict[str, Any] = {
        "chart": chart_of(Named(found, Subject.CLUSTER, ""), window),
        "windows": windows(request, window),
        "line": next(iter(_lines(request, [found])), None),
        "permissions": asked,
        "lacking": sorted((one for one in asked if one.served and not one.allowed), key=lambda one: _WORST[one.level]),
        "granted": [one for one in asked if one.served and one.allowed],
        "not_served": [one for one in asked if not one.served],
        "cluster": found,
        "uid_note": restored(found.uid_note, found.uid_wording),
        "unreadable": [(one, kind_words(one.kind), _place(one)) for one in unread[:UNREADABLE_SHOWN]],
        "notices": notices(request, {found.pk}),
        "may_relist": may(request, RELIST),
        "missing": missing(),
        "may_silence": may(request, SILENCE),
        "findings": _own_findings(found),
        "software": lines_of_cluster(found.pk),
        "software_url": list_url(cluster=found.name),
        "set_up_url": set_up_url(found.pk, found.name),
        "check": f"gpudash cluster check {quote(found.name)}",
        "set_source": f"gpudash cluster set {quote(found.name)} --prometheus URL",
    }
    return live_page(request, "clusters/cluster.html", "clusters/cluster_part.html", context)


def _own_findings(cluster: Cluster) -> list[FindingRow]:
    """Findings of the cluster itself, of no node. That its data are not current is what the head says."""
    rows = querysets.findings_now().filter(cluster=cluster, node_name="").exclude(code__in=OF_FRESHNESS)
    return finding_rows(finding_lines(rows.order_by("severity_rank", "-first_seen_at", "id")[:FINDINGS_SHOWN]))


@require_POST
@relisters_only
@answered
def cluster_relist(request: HttpRequest, name: str) -> HttpResponseBase:
    """Asks the watchers by their rows; this process calls no cluster."""
    found = found_cluster(name)
    kinds = relist(found, request.user.get_username())
    asked = _("Relist requested: %(kinds)s. The watchers start within seconds.")
    messages.info(request, asked % {"kinds": ", ".join(kind_words(kind) for kind in kinds)})
    return HttpResponseRedirect(reverse("cluster", args=[found.name]))


def found_cluster(name: str) -> Cluster:
    """Raises NotThere."""
    found = None if "\0" in name else Cluster.objects.filter(name=name).first()
    if found is None:
        raise _no_such_cluster(name)
    return found


def _no_such_cluster(name: str) -> NotThere:
    names = list(Cluster.objects.values_list("name", flat=True))
    close = close_names(name, names, 3) or names[:5]
    return NotThere(
        _("There is no cluster %(name)s.") % {"name": name[:100]},
        "",
        [(one, reverse("cluster", args=[one])) for one in close],
    )
