"""`fit 2x20Gi`: the nodes that fit such a pod now, and why the others do not."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from ..failures import REFUSED
from ..options import add_limit
from ..places import cluster_column
from ..server import Server
from ..text import Column, Json, Table, gib, pairs
from ..told import Told

HELP = "nodes that fit a pod now, and why others do not; exit code 1 if none does"
_REQUEST = re.compile(r"(?:(\d+)[x×])?(.+)")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request", help="cards × memory of each: 2x20Gi; or 2 (cards), or 20Gi (one card)")
    parser.add_argument("--model", action="append", default=[], help="card model, or a part of its name")
    parser.add_argument("--stack", action="append", default=[], help="how the pod requests cards")
    parser.add_argument("--tolerate", action="append", default=[], help="key, key=value or key=value:Effect")
    parser.add_argument("--selector", action="append", default=[], help="label of the node: key=value")
    parser.add_argument("--cpu", help="CPU of the node: 8, 500m")
    parser.add_argument("--host-memory", help="memory of the node: 64Gi")
    parser.add_argument("--yaml", action="store_true", help="print a pod for the first node, for kubectl apply -f -")
    add_limit(parser, 20)


def run(server: Server, asked: Namespace) -> Told:
    cards, memory = amounts(asked.request)
    names = ("model", "stack", "tolerate", "selector", "cpu", "host_memory", "cluster", "limit")
    given = {name: getattr(asked, name) for name in names}
    answer = server.get("fit", "nodes_fitting", cards=cards, memory=memory, **given)
    code = 0 if answer["nodes_fitting"] else REFUSED
    if not asked.yaml:
        return Told(answer, list(_lines(answer)), code=code)
    manifest = next((one.get("manifest") for one in answer["fitting"]), None)
    if manifest:
        return Told(answer, str(manifest).splitlines())
    return Told(answer, [], [*_summary(answer), *_reasons(answer)], REFUSED)


def amounts(text: str) -> tuple[str | None, str | None]:
    """(cards, memory) as REST takes them, which also judges them: "2x20Gi", "2" or "20Gi"."""
    found = _REQUEST.fullmatch(text)
    if found is None:
        return text, None
    if found[1] is None and text.isdigit():
        return text, None
    return found[1], found[2]


def _lines(answer: Json) -> Iterator[str | Table]:
    yield from _summary(answer)
    rows = answer["fitting"]
    if rows:
        yield Table(
            [
                Column("NODE", lambda row: row.get("node")),
                *cluster_column(rows),
                Column("STACK", lambda row: row.get("stack")),
                Column("CARDS", _cards),
                Column("LARGEST, GiB", lambda row: gib(row.get("largest_gap_bytes"))),
                Column("REQUEST", _request),
                Column("NOTES", lambda row: " ".join(str(one.get("text")) for one in row.get("notes") or [])),
            ],
            rows,
        )
    yield from _reasons(answer)


def _summary(answer: Json) -> Iterator[str]:
    fitting, shown = answer["nodes_fitting"], len(answer["fitting"])
    cut = f", the first {shown} of them" if 0 < shown < fitting else ""
    yield f"{fitting} of {answer.get('nodes')} GPU nodes fit now{cut}"


def _reasons(answer: Json) -> Iterator[str]:
    """Most frequent first."""
    if answer.get("reasons"):
        yield "Rejected:"
    for one in answer.get("reasons") or []:
        about = f" ({one['about']})" if one.get("about") else ""
        examples = [str(name) for name in one.get("examples") or []]
        more = ", …" if len(examples) < one.get("nodes", 0) else ""
        yield f"  {one.get('nodes')}: {one.get('text')}{about}: {', '.join(examples)}{more}"


def _cards(row: Json) -> str:
    """By index, else by the end of the key."""
    found = row.get("cards") or []
    return " ".join(str(one["index"] if one.get("index") is not None else str(one.get("key"))[-8:]) for one in found)


def _request(row: Json) -> str:
    return pairs({**(row.get("limits") or {}), **(row.get("labels") or {})}) or "ResourceClaim"
