"""Whether the numbers of a page can be trusted now: how far and how old the mirror of each cluster is, in words.

Reads `Watch` rows only, once per request. Must not know what a page shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from inventory.condition import NEEDED_KINDS, STALE_S, Condition, State, Sync, sync_of
from inventory.models import Watch
from inventory.models.cluster import Kind
from inventory.queries import rows as querysets
from pages.frame.worded import together, worded_html
from stacks import STACKS
from wording.said import restored

_ORDER = {"error": 0, "warning": 1, "good": 2}


@dataclass(frozen=True)
class Freshness:
    """One cluster: level good, warning or error; title and text say what it means for the numbers.

    at: the last update from the cluster. since: when what is not good began; None while all is good, or when that is `at`.
    """

    cluster: str
    cluster_id: int
    level: str
    title: str
    text: str
    at: datetime | None
    sync: Sync
    since: datetime | None = None


def freshness_of(request: HttpRequest) -> list[Freshness]:
    """All clusters, by name: two queries the first time in a request, none after."""
    found: list[Freshness] | None = getattr(request, "_freshness", None)
    if found is None:
        found = [_judge(cluster.name, cluster.pk, sync_of(cluster.watches.all())) for cluster in querysets.clusters()]
        request._freshness = found  # type: ignore[attr-defined]
    return found


def notices(request: HttpRequest, cluster_ids: set[int] | None = None) -> list[Freshness]:
    """What the reader must know before the numbers of these clusters (or of all): the bad news, worst first."""
    found = [one for one in freshness_of(request) if cluster_ids is None or one.cluster_id in cluster_ids]
    return sorted((one for one in found if one.level != "good"), key=lambda one: _ORDER[one.level])


def incomplete(request: HttpRequest, cluster_ids: set[int] | None = None) -> bool:
    """Whether the first list of one of these clusters (or of any) is not complete: nothing found is then not the same as none."""
    return any(
        not one.sync.synced for one in freshness_of(request) if cluster_ids is None or one.cluster_id in cluster_ids
    )


def _judge(name: str, cluster_id: int, sync: Sync) -> Freshness:
    level, title, text = _verdict(sync)
    cause = _unreached(sync)
    began = cause.since if cause else sync.since
    since = None if level == "good" or began == sync.last_event_at else began
    return Freshness(name, cluster_id, level, title, text, sync.last_event_at, sync, since)


def _verdict(sync: Sync) -> tuple[str, str, str]:
    """(level, title, text): what is worst first. A kind that is optional never makes the numbers wrong."""
    states = {kind: one.state for kind, one in sync.conditions.items()}
    needed = {states.get(kind) for kind in NEEDED_KINDS}
    refused = [watch for watch in sync.watches if states[watch.kind] == State.REFUSED]
    if any(watch.kind in NEEDED_KINDS for watch in refused):
        why = _reasons([watch for watch in refused if watch.kind in NEEDED_KINDS])
        return "error", _("access denied"), why
    if State.UNWATCHED in needed:
        text = _("No watch worker holds the lease. Start the watch workers, or check their log.")
        return "error", _("not watched"), together(text, _last_known(sync))
    if State.UNREACHED in needed:
        cause = _unreached(sync)
        return "error", _("unreachable"), worded_html(cause.reason if cause else sync.reason)
    if not sync.synced:
        return "warning", _("initial list"), _not_complete(sync)
    if sync.age_seconds is None or sync.age_seconds > STALE_S or State.SILENT in needed:
        return "error", _("not reporting"), together(_last_known(sync), worded_html(sync.reason))
    if State.BACKING_OFF in states.values():
        return "warning", _("reconnecting"), worded_html(sync.reason)
    if State.RELISTING in needed:
        text = format_html(
            _("Numbers may change until the relist is complete. %(reason)s") % {"reason": "{}"},
            worded_html(sync.reason),
        )
        return "warning", _("relisting"), SafeString(text.strip())
    if State.WAITING in needed:
        return "warning", _("waiting for a watch worker"), worded_html(sync.reason)
    if refused:
        text = _("Possibly missing: %(what)s. %(reason)s")
        what = ", ".join(optional_words(watch.kind) for watch in refused)
        kinds = ", ".join(kind_words(watch.kind) for watch in refused)
        told = format_html(text % {"what": "{}", "reason": "{}"}, what, _reasons(refused))
        return "warning", _("access denied: %(kinds)s") % {"kinds": kinds}, told
    return "good", _("in sync"), ""


def _unreached(sync: Sync) -> Condition | None:
    """The first needed kind that is unreachable; `sync.reason` may be that of an optional kind."""
    needed = (one for kind, one in sync.conditions.items() if kind in NEEDED_KINDS)
    return next((one for one in needed if one.state == State.UNREACHED), None)


def _last_known(sync: Sync) -> str:
    return _("Showing last known data.") if sync.synced else _("No data yet.")


def _not_complete(sync: Sync) -> str:
    """What is there already, and what holds the rest up."""
    parts = [f"{kind_words(watch.kind)}: {watch.objects_seen:,}" for watch in sync.watches if watch.objects_seen]
    told = _("Initial list in progress: data is incomplete.")
    seen = _("Seen so far:") + " " + ", ".join(parts) + "." if parts else ""
    return together(told, seen, worded_html(sync.reason))


def kind_words(kind: str) -> str:
    """What is watched, in words; a kind without words is its own name."""
    words = {
        Kind.NODES.value: _("nodes"),
        Kind.PODS.value: _("pods"),
        Kind.DAEMONSETS.value: _("daemonsets"),
        Kind.CONFIGMAPS.value: _("config maps"),
        Kind.RESOURCESLICES.value: _("resource slices"),
        Kind.RESOURCECLAIMS.value: _("resource claims"),
        Kind.DEVICETAINTRULES.value: _("device taint rules"),
        Kind.DEVICES.value: _("devices"),
        Kind.DEPLOYMENTS.value: _("deployments"),
        Kind.SERVICES.value: _("services"),
        Kind.CLUSTERPOLICIES.value: _("cluster policies"),
        Kind.NVIDIADRIVERS.value: _("NVIDIA drivers"),
        Kind.GPUCLUSTERS.value: _("GPU clusters"),
        Kind.DEVICECONFIGS.value: _("device configs"),
        Kind.GPUDEVICEPLUGINS.value: _("GPU device plugins"),
        Kind.CARDS.value: _("cards"),
    }
    return words.get(kind, kind)


def daemonsets_words() -> str:
    """What DaemonSets are read for: what the sharing systems declare, and the components of all."""
    return ", ".join([*(_(stack.daemonsets_for) for stack in STACKS if stack.daemonsets_for), _("plugin components")])


def optional_words(kind: str) -> str:
    """What an optional kind is read for."""
    words = {
        Kind.DAEMONSETS.value: daemonsets_words(),
        Kind.CONFIGMAPS.value: _("device plugin settings and their card reports"),
        Kind.RESOURCESLICES.value: _("cards of DRA drivers"),
        Kind.RESOURCECLAIMS.value: _("allocations by ResourceClaims (DRA)"),
        Kind.DEVICETAINTRULES.value: _("device taints set by administrators (DRA)"),
        Kind.DEVICES.value: ", ".join(_(stack.devices_for) for stack in STACKS if stack.devices_for),
    }
    return words.get(kind, "")


def _reasons(watches: list[Watch]) -> SafeString:
    lines = [format_html("{}: {}", kind_words(watch.kind), _why(watch) or _("access denied")) for watch in watches]
    return together(*dict.fromkeys(lines))


def _why(watch: Watch) -> SafeString:
    return worded_html(restored(watch.reason, watch.reason_wording))
