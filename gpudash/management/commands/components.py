"""`gpudash components [NODE] [-o text|json] [--cluster C]`: the GPU software of nodes and of the cluster, on the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from inventory.management.arguments import no_node, one_cluster
from inventory.management.shown import ShownCommand, add_output
from inventory.models import Node
from resources.inspection import components


class Command(ShownCommand):
    help = "GPU software of the cluster and its nodes: states, versions and missing components"
    #: They load every page and the REST API, which takes longer than the answer; other commands run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("node", nargs="?", help="only this node")
        add_output(parser)
        parser.add_argument("--cluster", help="name of the cluster; required if there are several")

    def handle(self, *args: Any, **options: Any) -> None:
        cluster, name = one_cluster(options["cluster"]), options["node"]
        nodes = Node.objects.filter(cluster=cluster)
        if name is not None and not nodes.filter(name=name).exists():
            raise no_node(cluster, name, nodes.values_list("name", flat=True))
        found = components.Software(cluster, name)
        if options["output"] == "json":
            for piece in components.as_json(found):
                self.stdout.write(piece, ending="")
        else:
            for block in components.blocks(found, cluster.name):
                self.stdout.write(f"{block}\n", ending="")
