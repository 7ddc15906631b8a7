"""`manage.py demo`: a simulated fleet that lives, in one process; no cluster, GPU, Docker, Redis or PostgreSQL."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from accounts.local import local_admin
from accounts.sign_in_links import make_link
from fleetsim import Fleet, serve
from fleetsim.fleetplan import NODES
from gpudash.demo_programs import demo_programs
from gpudash.embedded import EmbeddedService, prepare
from inventory import clusters
from inventory.management.shown import ShownCommand
from inventory.models import Cluster

NAME = "demo"


class Command(ShownCommand):
    help = "Show gpudash on a simulated fleet. Prints a link that signs in."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--nodes", type=int, default=NODES, help="how many nodes the fleet has")
        parser.add_argument("--seed", type=int, default=1, help="another number gives another fleet")

    def handle(self, *args: Any, **options: Any) -> None:
        prepare()
        settings.SIGN_IN_LINKS = True
        # The simulated nodes of Kubernetes 1.7 have a driver where its documentation has it.
        settings.ALPHA_DRIVER_PATH = settings.ALPHA_DRIVER_PATH or "/usr/lib/nvidia-384"
        service = EmbeddedService(
            port=options["port"]
        )  # first: a port that is taken must not cost another demo its cluster
        for old in Cluster.objects.filter(name=NAME):
            clusters.remove(old)  # a fleet of an earlier demo: its pods are not in this one
        fleet = Fleet(nodes=options["nodes"], seed=options["seed"], programs=demo_programs())
        simulated = serve(fleet)
        clusters.add(NAME, str(simulated.kubeconfig(settings.DATA_DIR / "demo-kubeconfig")))
        service.start()
        self.stdout.write(f"A simulated fleet of {options['nodes']} nodes; nothing here is a real cluster.")
        self.stdout.write(f"Sign in: {service.url}{make_link(local_admin())}")
        self.stdout.flush()
        try:
            service.run_until_signal()
        finally:
            simulated.close()
