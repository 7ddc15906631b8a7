"""Whether the numbers of a page can be trusted now: how far and how old the mirror of each cluster is, in words.

Reads `Watch` rows only, once per request. Must not know what a page shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _

from inventory import querysets
from inventory.models import Watch
from inventory.models.cluster import Kind, WatchState
from inventory.totals import NEEDED_KINDS, Sync, sync_of

#: Bookmarks come each minute: silence of a minute and a half means that something is wrong.
STALE_S = 90
_ORDER = {"error": 0, "warning": 1, "good": 2}


@dataclass(frozen=True)
class Freshness:
    """One cluster: level good, warning or error; title and text say what it means for the numbers."""

    cluster: str
    cluster_id: int
    level: str
    title: str
    text: str
    at: datetime | None
    sync: Sync


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
    return Freshness(name, cluster_id, level, title, text, sync.last_event_at, sync)


def _verdict(sync: Sync) -> tuple[str, str, str]:
    refused = [watch for watch in sync.watches if watch.state == WatchState.REFUSED]
    needed = [watch for watch in refused if watch.kind in NEEDED_KINDS]
    if needed:
        return "error", _("the cluster refuses to be read"), _reasons(needed)
    if not sync.synced:
        return "warning", _("the first list is under way"), _not_complete(sync)
    if sync.age_seconds is None or sync.age_seconds > STALE_S:
        text = _("These numbers are what was last known. %(reason)s") % {"reason": sync.reason}
        return "error", _("no word from the cluster"), text.strip()
    if refused:
        text = _("Memory units of gpushare and the state of components may be missing. %(reason)s")
        return "warning", _("DaemonSets may not be read"), text % {"reason": _reasons(refused)}
    if any(watch.state == WatchState.BACKING_OFF for watch in sync.watches):
        return "warning", _("the connection is being made again"), sync.reason
    return "good", _("in step"), ""


def _not_complete(sync: Sync) -> str:
    """What is there already, and what holds the rest up."""
    parts = [f"{kind_words(watch.kind)}: {watch.objects_seen:,}" for watch in sync.watches if watch.objects_seen]
    told = _("Numbers below are not complete until it is done.")
    return " ".join(
        part for part in (told, _("Seen so far:") + " " + ", ".join(parts) + "." if parts else "", sync.reason) if part
    )


def kind_words(kind: str) -> str:
    """What is watched, in words; a kind without words is its own name."""
    words = {
        Kind.NODES.value: _("nodes"),
        Kind.PODS.value: _("pods"),
        Kind.DAEMONSETS.value: _("daemonsets"),
        Kind.CARDS.value: _("cards"),
    }
    return words.get(kind, kind)


def _reasons(watches: list[Watch]) -> str:
    return " ".join(dict.fromkeys(f"{kind_words(watch.kind)}: {watch.reason or _('refused')}" for watch in watches))
