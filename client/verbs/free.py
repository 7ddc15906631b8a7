"""`free`: free memory and free cards, of nodes or of card models, the most first."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ..options import add_limit
from ..places import cluster_column
from ..server import Server
from ..text import Column, Json, Table, gib, known, of_whole
from ..told import Told, cut_note

HELP = "free memory and free cards, most first"
#: Member of the totals → whether it is counted where it is unknown of some nodes.
_SUMS = ("cards_free", "cards_total", "memory_free_bytes", "memory_total_bytes")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--model", help="card model, or a part of its name")
    parser.add_argument("--group-by", choices=("node", "model"), default="node", help="default: node")
    add_limit(parser)


def run(server: Server, asked: Namespace) -> Told:
    return _by_model(server, asked) if asked.group_by == "model" else _by_node(server, asked)


def _by_node(server: Server, asked: Namespace) -> Told:
    answer = server.listed(
        "nodes", asked.limit, cluster=asked.cluster, model=asked.model, ordering="-memory_free_bytes,-cards_free"
    )
    rows = answer["results"]
    columns = [
        Column("NODE", lambda row: row.get("name")),
        *cluster_column(rows),
        Column("MODEL", lambda row: known(row.get("model"))),
        Column("FREE CARDS", lambda row: of_whole(row.get("cards_free"), row.get("cards_total"))),
        Column("FREE, GiB", lambda row: gib(row.get("memory_free_bytes"))),
        Column("LARGEST, GiB", lambda row: gib(row.get("largest_gap_bytes"))),
        Column("UNAVAILABLE", lambda row: row.get("unavailable_reason")),
        Column("ALLOCATED, GiB", lambda row: gib(row.get("memory_allocated_bytes")), wide=True),
        Column("HEALTH", lambda row: row.get("health"), wide=True),
        Column("STACK", lambda row: ", ".join(map(str, row.get("stacks") or [])), wide=True),
        Column("DRIVER", lambda row: known(row.get("driver_version")), wide=True),
    ]
    return Told(answer, [Table(columns, rows)] if rows else ["No nodes with a GPU match"], cut_note(answer))


def _by_model(server: Server, asked: Namespace) -> Told:
    """JSON: the pools, as /api/v1/summary has them."""
    answer = server.get("summary", "pools", cluster=asked.cluster)
    part = (asked.model or "").lower()
    pools = [one for one in answer["pools"] if part in str(one.get("model") or "").lower()]
    rows = sorted(_models(pools), key=lambda row: (-(row["memory_free_bytes"] or 0), -(row["cards_free"] or 0)))
    columns = [
        Column("MODEL", lambda row: known(row["model"])),
        Column("NODES", lambda row: row["nodes"]),
        Column("FREE CARDS", lambda row: of_whole(row["cards_free"], row["cards_total"])),
        Column("FREE, GiB", lambda row: gib(row["memory_free_bytes"])),
        Column("LARGEST, GiB", lambda row: gib(row["largest"])),
        Column("EXCLUDED", lambda row: f"{row['excluded']} of {row['nodes']} nodes" if row["excluded"] else None),
    ]
    return Told({**answer, "pools": pools}, [Table(columns, rows)] if rows else ["No nodes with a GPU match"])


def _models(pools: Iterable[Json]) -> list[Json]:
    """The totals of pools, added by model. A sum of which no part is known stays unknown."""
    of_model: dict[str | None, list[Json]] = defaultdict(list)
    for one in pools:
        of_model[one.get("model")].append(one["totals"])
    return [
        {name: _added(one[name]["value"] for one in totals) for name in _SUMS}
        | {
            "model": model,
            "nodes": sum(one["nodes"] for one in totals),
            "largest": max(
                (one["largest_gap_bytes"] for one in totals if one["largest_gap_bytes"] is not None), default=None
            ),
            "excluded": sum(one["memory_free_bytes"]["unknown_nodes"] for one in totals),
        }
        for model, totals in of_model.items()
    ]


def _added(values: Iterable[Any]) -> int | None:
    there = [value for value in values if value is not None]
    return sum(there) if there else None
