"""Arguments that several commands share."""

from __future__ import annotations

from django.core.management.base import CommandError

from inventory.close_names import close_names
from inventory.models import Cluster


def chosen_clusters(name: str | None) -> list[Cluster]:
    """The cluster of that name, or all. Raises CommandError when there is none."""
    known = {cluster.name: cluster for cluster in Cluster.objects.all()}
    if not known:
        raise CommandError("no cluster yet; add one: manage.py cluster add NAME --kubeconfig FILE")
    if name is None:
        return list(known.values())
    if name not in known:
        close = close_names(name, known, 3) or sorted(known)
        raise CommandError(f"no cluster {name!r}; there are: {', '.join(close)}")
    return [known[name]]
