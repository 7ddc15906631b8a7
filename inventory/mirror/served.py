"""Kinds that a cluster does not serve: nobody watches them, and one question a minute finds out that they came.

The watcher of nodes, which every cluster has, asks for all of them; so a kind that is not served costs no thread, no connection and
no lease. The question is asked in a thread of its own: an API server that is slow keeps no event waiting.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db.models import QuerySet
from django.db.models.functions import Now

from inventory.mirror.kinds import KINDS
from inventory.models import Watch
from inventory.models.cluster import WatchState
from kube.client import ApiError, BadKubeconfig, Client
from kube.source import TIMEOUT_S

logger = logging.getLogger(__name__)

#: How often it is looked what came.
LOOK_S = 60.0
#: Where nobody finds it this way, the kind's own watcher tries again after this.
REST_S = 600.0


class Served:
    """Of one cluster. `step` in each turn of a follower's loop."""

    def __init__(self, cluster_id: int, client: Client) -> None:
        self.cluster_id, self.client = cluster_id, client
        self._due_at = time.monotonic() + LOOK_S
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
            self._thread = threading.Thread(target=self._ask, args=(absent,), name="look what is served", daemon=True)
            self._thread.start()

    def _ask(self, absent: list[str]) -> None:
        found = set()
        try:
            for kind in absent:
                if kind in KINDS and is_served(kind, self.client):
                    found.add(kind)
        except (ApiError, BadKubeconfig) as error:
            logger.info("what is served could not be asked: %s", error)
        self._came = found

    def _wake(self) -> None:
        came, self._came = self._came, set()
        if came and self._absent.filter(kind__in=came).update(
            state=WatchState.WAITING, state_since=Now(), reason="", next_try_at=None, sent_at=None
        ):
            logger.info("served now: %s", ", ".join(sorted(came)))


def is_served(kind: str, client: Client, timeout_s: float = TIMEOUT_S) -> bool:
    """Asked of the cluster now, by up to four questions of discovery. timeout_s: for each of them. Raises ApiError."""
    try:
        KINDS[kind].source().locate(client, timeout_s)
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return True
