"""`components [NODE]`: the GPU software of a node, or what is not ready anywhere, with the first causes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..options import add_limit
from ..places import cluster_column, node
from ..server import Server
from ..text import Column, Json, Table, ago, known
from ..told import Told, cut_note

HELP = "GPU software of a node, or what is not ready, first causes first"
#: States of software that does not work, or of which that is not known. Not: ready, disabled, not needed.
_NOT_READY = ["crash-looping", "missing", "not ready", "pending", "waiting", "paused", "outdated", "unknown"]


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("node", nargs="?", metavar="NODE")
    add_limit(parser)


def run(server: Server, asked: Namespace) -> Told:
    return _of_node(server, asked) if asked.node else _not_ready(server, asked)


def _of_node(server: Server, asked: Namespace) -> Told:
    """JSON: the node."""
    found = node(server, asked.node, asked.cluster)
    rows = found.get("components") or []
    if not rows:
        return Told(found, [f"No GPU software of {asked.node} is known"])
    cause = next((row for row in rows if row.get("first_cause")), None)
    lines: list[str | Table] = []
    if cause:
        lines = [f"First cause: {cause.get('name')}, {cause.get('state')}"]
        lines += [f"Remedy: {cause['remedy']}"] if cause.get("remedy") else []
    return Told(found, [*lines, Table(_columns([]), rows)])


def _not_ready(server: Server, asked: Namespace) -> Told:
    """JSON: both lists as one."""
    given = {"cluster": asked.cluster, "state": _NOT_READY}
    answer = server.listed("components", asked.limit, first_cause="true", **given)
    if len(answer["results"]) < asked.limit:
        more = server.listed("components", asked.limit - len(answer["results"]), first_cause="false", **given)
        answer = {**more, "results": answer["results"] + more["results"]}
    rows = answer["results"]
    columns = [Column("NODE", lambda row: row.get("node") or "(cluster)"), *_columns(rows)]
    return Told(answer, [Table(columns, rows)] if rows else ["All components are ready"], cut_note(answer))


def _columns(rows: list[Json]) -> list[Column]:
    return [
        *cluster_column(rows),
        Column("COMPONENT", lambda row: row.get("name")),
        Column("STATE", lambda row: row.get("state")),
        Column("FIRST CAUSE", lambda row: "yes" if row.get("first_cause") else None),
        Column("VERSION", lambda row: known(row.get("version"))),
        Column("SINCE", lambda row: ago(row.get("since") or row.get("state_since"))),
        Column("REASON", lambda row: row.get("why")),
        Column("REMEDY", lambda row: row.get("remedy"), wide=True),
        Column("SOURCE", lambda row: row.get("source"), wide=True),
    ]
