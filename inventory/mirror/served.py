"""Kinds that a cluster does not serve: nobody watches them, and one question a minute finds out that they came.

The watcher of nodes, which every cluster has, asks for all of them; so a kind that is not served costs no thread, no connection and
no lease. The question is asked in a thread of its own: an API server that is slow keeps no event waiting.
"""

from __future__ import annotations

import logging
import threading
import time

import msgspec
from django.db.models import QuerySet
from django.db.models.functions import Now

from inventory.mirror.kinds import KINDS
from inventory.models import Watch
from inventory.models.cluster import WatchState
from kube.client import ApiError, BadKubeconfig, Client
from kube.decoders import decoder
from kube.source import TIMEOUT_S, Source

logger = logging.getLogger(__name__)

#: How often it is looked what came.
LOOK_S = 60.0
#: Where nobody finds it this way, the kind's own watcher tries again after this.
REST_S = 600.0


class Served:
    """Of one cluster. `step` in each turn of a follower's loop: it looks at once, then each minute."""

    def __init__(self, cluster_id: int, client: Client) -> None:
        self.cluster_id, self.client = cluster_id, client
        self._due_at = time.monotonic()
        self._thread: threading.Thread | None = None
        self._came: set[str] = set()

    def step(self) -> None:
        """Begin to look when it is time; wake the watches of what was found."""
        if self._thread is not None:
            if not self._thread.is_alive():
                self._thread = None
                self._wake()
        elif time.monotonic() >= self._due_at:
            self._due_at = time.monotonic() + LOOK_S
            self._begin()

    @property
    def _absent(self) -> QuerySet[Watch]:
        return Watch.objects.filter(cluster_id=self.cluster_id, state=WatchState.NOT_SERVED)

    def _begin(self) -> None:
        absent = list(self._absent.values_list("kind", flat=True))
        if absent:
            self._thread = threading.Thread(target=self._ask, args=(absent,), name="check available APIs", daemon=True)
            self._thread.start()

    def _ask(self, absent: list[str]) -> None:
        found = set()
        try:
            groups = group_names(self.client)
            for kind in absent:
                # Of core/v1, which is served everywhere, the kind's own watcher tries again.
                group = KINDS[kind].group if kind in KINDS else ""
                if group and (groups is None or group in groups) and is_served(kind, self.client):
                    found.add(kind)
        except (ApiError, BadKubeconfig) as error:
            logger.info("cannot check the available APIs: %s", error)
        self._came = found

    def _wake(self) -> None:
        came, self._came = self._came, set()
        if came and self._absent.filter(kind__in=came).update(
            state=WatchState.WAITING, state_since=Now(), reason="", next_try_at=None, sent_at=None
        ):
            logger.info("available now: %s", ", ".join(sorted(came)))


class _GroupName(msgspec.Struct):
    name: str


class _Groups(msgspec.Struct):
    groups: list[_GroupName]


def group_names(client: Client) -> set[str] | None:
    """The groups that the API server has, by one question; "" is that of core/v1. None: it does not say. Raises ApiError."""
    try:
        found = decoder(_Groups).decode(client.get("/apis", timeout_s=TIMEOUT_S))
    except ApiError as error:
        if error.status in (403, 404):
            return None
        raise
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return {"", *(one.name for one in found.groups)}


def is_served(kind: str, client: Client, timeout_s: float = TIMEOUT_S) -> bool:
    """Asked of the cluster now, by up to four questions of discovery. timeout_s: for each of them. Raises ApiError."""
    found = KINDS[kind]
    if not found.group:
        return True  # core/v1
    version = found.path.split("/")[3]
    try:
        Source(found.path, found.versions or (version,)).locate(client, timeout_s)
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return True
