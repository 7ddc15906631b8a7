"""`why POD`: the deciding reason that a pod is pending, and the nodes that come closest."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from ..failures import Failed
from ..server import Server
from ..text import Column, Json, Table, gib, known, one_line, pairs, span
from ..told import Told

HELP = "why a pod is pending, and the closest nodes"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("pod")
    parser.add_argument("-n", "--namespace", help="required if several namespaces have the pod")


def run(server: Server, asked: Namespace) -> Told:
    rows = server.listed("pods", 100, pod=asked.pod, namespace=asked.namespace, cluster=asked.cluster)["results"]
    if not rows:
        where = f" in the namespace {asked.namespace}" if asked.namespace else ""
        raise Failed(f"There is no pod {asked.pod}{where} that requests a GPU")
    if len(rows) > 1:
        names = ", ".join(one_line(f"{row.get('cluster')} {row.get('namespace')}") for row in rows)
        raise Failed(f"There are several pods {asked.pod}: {names}. Name one with --cluster and -n")
    answer = server.get(f"pods/{rows[0].get('id')}", "closest")
    return Told(answer, list(_lines(answer)))


def _lines(pod: Json) -> Iterator[str | Table]:
    yield f"Pod: {pod.get('namespace')}/{pod.get('name')} in {pod.get('cluster')}"
    if requests := pairs(pod.get("requests")):
        yield f"Requests: {requests}"
    if claims := ", ".join(f"{one.get('name')} ({one.get('state')})" for one in pod.get("claims") or []):
        yield f"Claims: {claims}"
    if not pod.get("pending"):
        yield f"Not pending: {known(pod.get('phase'))} on {known(pod.get('node'))}"
        return
    yield f"Pending for: {span(pod.get('created_at'))}"
    yield f"Reason: {known(pod.get('deciding_reason'))}"
    if pod.get("pending_message"):
        yield f"Scheduler: {pod['pending_message']}"
    if pod["closest"]:
        yield "Closest nodes:"
        yield Table(
            [
                Column("NODE", lambda row: row.get("node")),
                Column("MODEL", lambda row: known(row.get("model"))),
                Column("LARGEST, GiB", lambda row: gib(row.get("largest_gap_bytes"))),
                Column("LACKS", _lacks),
                Column("BLOCKED BY", _blocking, wide=True),
            ],
            pod["closest"],
        )


def _lacks(row: Json) -> str:
    return "; ".join(str(one.get("text")) for one in row.get("lacks") or []) or "nothing in the synced data"


def _blocking(row: Json) -> str:
    pods = [one for lack in row.get("lacks") or [] for one in lack.get("blocking") or []]
    return ", ".join(f"{one.get('namespace') or 'another namespace'}/{one.get('pod') or '…'}" for one in pods)
