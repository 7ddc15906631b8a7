"""Where the page is that prepares a cluster for a stack: for who sees the cluster whole, since it names nodes and their labels."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from pages.frame.freshness import freshness_of
from runtime.scope import current


def set_up_url(cluster_id: int, name: str) -> str:
    """The page of this cluster; "" for who does not see all of it."""
    return reverse("cluster-prepare", args=[name]) if current().sees_whole(cluster_id) else ""


def set_up_one_url(request: HttpRequest) -> str:
    """The same of the one cluster that is chosen, or that there is; else ""."""
    known = {one.cluster: one.cluster_id for one in freshness_of(request)}
    names = [name for name in request.GET.getlist("cluster") if name] or list(known)
    return set_up_url(known[names[0]], names[0]) if len(names) == 1 and names[0] in known else ""
