"""What the address of a picture of clusters asks: which clusters, and what is wrong with it. Lists have filter sets for that."""

from __future__ import annotations

from collections.abc import Collection

from django.http import QueryDict
from django.utils.translation import gettext as _

from inventory.models import Cluster


def clusters_asked(query: QueryDict, parameters: Collection[str]) -> tuple[list[Cluster], dict[str, list[str]]]:
    """The clusters that are named, each once; all where none is. Parameter → what is wrong with it. One query."""
    errors = {
        name: [_("Unknown filter. Valid filters: %(names)s.") % {"names": ", ".join(sorted(parameters))}]
        for name in query
        if name not in parameters
    }
    every = {one.name: one for one in Cluster.objects.order_by("name")}
    names = list(dict.fromkeys(name for name in query.getlist("cluster") if name))
    if unknown := [name for name in names if name not in every]:
        told = {"name": unknown[0][:64], "known": ", ".join(every)}
        errors["cluster"] = [_("Unknown cluster: %(name)s. Known clusters: %(known)s.") % told]
    return [every[name] for name in names if name in every] or list(every.values()), errors
