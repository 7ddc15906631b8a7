"""`gpudash inspect [NODE] [-d] [-o text|json|SYSTEM] [--cluster C]`: the mirror on the command line.

SYSTEM: a sharing system with a command line tool of its own; what that tool prints is printed.
"""

from __future__ import annotations

import gc
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.arguments import no_node, one_cluster
from inventory.management.shown import ShownCommand, add_output
from inventory.models import Cluster, Node, NodeTotals, Pod
from inventory.stack_context import stack_context
from kube import objects as kube
from kube.decoders import decoder
from resources.inspection import report
from resources.inspection.table import blocks
from stacks import STACKS
from stacks.engine.stack import ToolOutput
from wording.columns import aligned

#: What the tools of sharing systems print, by the names of the systems.
REPORTS = {stack.name: stack.report for stack in STACKS if stack.report is not None}


class Command(ShownCommand):
    help = "Nodes, cards and allocations, from the synced data"
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("node", nargs="?", help="only this node")
        parser.add_argument("-d", "--details", action="store_true", help="one line per card, with its allocations")
        add_output(parser, *REPORTS)
        parser.add_argument("--cluster", help="name of the cluster; required if there are several")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = one_cluster(options["cluster"])
        name = options["node"]
        if name is not None:
            _check_node(cluster, name, options["output"])
        if options["output"] in REPORTS:
            text = _reported(REPORTS[options["output"]], cluster, name, options["details"])
            self.stdout.write(aligned(text), ending="")
            return
        with _without_collector():
            found = report.inspect(cluster, name, options["details"] or options["output"] == "json")
            if options["output"] == "json":
                for piece in report.as_json(found):
                    self.stdout.write(piece, ending="")
                self.stdout.write("")
            else:
                for block in blocks(found, options["details"]):
                    self.stdout.write(f"{block}\n", ending="")


@contextmanager
def _without_collector() -> Iterator[None]:
    """Of 40,000 cards with their allocations nothing is garbage, and looking for it took a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _check_node(cluster: Cluster, name: str, output: str) -> None:
    """Tools of sharing systems know every node; the other outputs know those with a GPU."""
    nodes = Node.objects.filter(cluster=cluster)
    totals_of_nodes = NodeTotals.objects.filter(cluster=cluster)
    known = (
        nodes.values_list("name", flat=True)
        if output in REPORTS
        else totals_of_nodes.values_list("node_name", flat=True)
    )
    names = set(known)
    if name in names:
        return
    if nodes.filter(name=name).exists():
        raise CommandError(f"Node {name!r} of cluster {cluster} has no known GPU.")
    raise no_node(cluster, name, names)


def _reported(report: ToolOutput, cluster: Cluster, name: str | None, details: bool) -> str:
    context = stack_context()
    contained = report.contains(context)
    nodes = Node.objects.filter(cluster=cluster, **({"facts__contains": contained} if name is None else {"name": name}))
    pods = Pod.objects.filter(
        cluster=cluster, facts__contains=contained, **({} if name is None else {"node_name": name})
    )
    decoded = [_decoded(node, kube.Node) for node in nodes.only("name", "facts")]
    if name is None:
        decoded = [node for node in decoded if report.has(node, context)]
    bound = [_decoded(pod, kube.Pod) for pod in pods.only("name", "facts")]
    return report.text(decoded, bound, details, context)


def _decoded(row: Any, kind: Any) -> Any:
    try:
        return decoder(kind).decode(row.facts)
    except msgspec.MsgspecError as error:
        raise CommandError(f"{kind.__name__} {row.name!r}: cannot read synced data: {error}") from None
