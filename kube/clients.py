"""Clients of clusters, one per cluster and process, for their connections.

The lock is for the table alone: nothing that reads a file or waits for a cluster happens under it.
"""

from __future__ import annotations

import threading

from kube.client import Client

#: (kubeconfig, context)
Source = tuple[str, str]


class Clients:
    """Of one account each: who launches and who marks nodes keep their own."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Source, Client]] = {}
        self._lock = threading.Lock()

    def of(self, cluster_id: int, source: Source) -> Client:
        """The one that is kept, while its files are as it read them. Raises BadKubeconfig."""
        known = self._known.get(cluster_id)
        if known is None or known[0] != source or known[1].changed:
            known = self._keep(cluster_id, (source, Client(*source)))
        return known[1]

    def _keep(self, cluster_id: int, made: tuple[Source, Client]) -> tuple[Source, Client]:
        """The one that is kept: that of another thread where it came first."""
        with self._lock:
            known = self._known.get(cluster_id)
            if known is not None and known[0] == made[0] and not known[1].changed:
                return known
            self._known[cluster_id] = made
        if known is not None:
            known[1].close()
        return made

    def forget(self, cluster_id: int) -> None:
        """After a 401 or an error of the file: read the file again next time. A plugin's answer stays, unless it was refused."""
        with self._lock:
            known = self._known.pop(cluster_id, None)
        if known is not None:
            known[1].close()
