"""Finds the node that a name means."""

from __future__ import annotations

from collections.abc import Sequence

from .failures import Failed
from .server import Server, segment
from .text import Column, Json, one_line


def node(server: Server, name: str, cluster: str | None) -> Json:
    """A node with its cards, allocations and components. Raises Failed where none or several have the name."""
    if cluster is None:
        rows = server.listed("nodes", 100, node=name)["results"]
        if len(rows) > 1:
            names = ", ".join(one_line(str(row.get("cluster"))) for row in rows)
            raise Failed(f"Several clusters have a node {name}: {names}. Name one with --cluster")
        if not rows:
            raise Failed(f"There is no node {name} with a GPU. `kubectl gpudash free` lists nodes")
        cluster = str(rows[0].get("cluster"))
    return server.get(f"nodes/{segment(cluster)}/{segment(name)}", "cards")


def cluster_column(rows: Sequence[Json]) -> list[Column]:
    """Where rows are of several clusters."""
    return [Column("CLUSTER", lambda row: row.get("cluster"))] if len({row.get("cluster") for row in rows}) > 1 else []
