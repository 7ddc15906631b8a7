"""`gpudash demo`: a simulated fleet that lives, in one process; no cluster, GPU, Docker, Redis or PostgreSQL."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from accounts.local import local_admin
from accounts.sign_in_links import make_link
from fleetsim import Fleet, serve
from fleetsim.exporters import targets
from fleetsim.fleetplan import NODES
from gpudash.config import env
from gpudash.demo_past import DAYS, Past
from gpudash.demo_programs import demo_programs
from gpudash.demo_receiver import DemoReceiver
from gpudash.embedded import EmbeddedService, prepare
from inventory import clusters
from inventory.collect import sources
from inventory.collect.direct import MOST_NODES
from inventory.management.shown import ShownCommand
from inventory.models import Cluster, UsageSource
from notifications.sending.addresses import parse_allowed

NAME = "demo"
#: The setting, and what it is in the demo unless it is set.
IDLE, IDLE_MINUTES = "GPUDASH_IDLE_MINUTES", 5
NOTIFY_ALLOW = "GPUDASH_NOTIFY_ALLOW"
#: So long the mirror of a fleet takes on a slow machine.
FIRST_ROUND = timedelta(seconds=10)


class Command(ShownCommand):
    help = "Run gpudash with a simulated fleet. Prints a sign-in link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--nodes", type=int, default=NODES, help="number of nodes in the fleet")
        parser.add_argument("--no-past", action="store_true", help="start without history")
        parser.add_argument("--seed", type=int, default=1, help="seed; another number creates another fleet")

    def handle(self, *args: Any, **options: Any) -> None:
        # Before the tables are made, which takes seconds the first time: nobody looks at an empty terminal.
        self.stdout.write(f"Simulated fleet of {options['nodes']} nodes, no real cluster.")
        self.stdout.flush()
        log = prepare()
        settings.SIGN_IN_LINKS = True
        # The simulated nodes of Kubernetes 1.7 have a driver where its documentation has it.
        settings.ALPHA_DRIVER_PATH = settings.ALPHA_DRIVER_PATH or "/usr/lib/nvidia-384"
        if not env.text(IDLE):
            # Who looks at a demo does not wait for half an hour. The page says how long is waited for.
            settings.IDLE_MINUTES = IDLE_MINUTES
        service = EmbeddedService(
            port=options["port"]
        )  # first: a port that is taken must not cost another demo its cluster
        for old in Cluster.objects.filter(name=NAME):
            clusters.remove(old)  # a fleet of an earlier demo: its pods are not in this one
        programs = demo_programs()
        fleet = Fleet(nodes=options["nodes"], seed=options["seed"], programs=programs)
        receiver = DemoReceiver()
        if not env.text(NOTIFY_ALLOW):
            settings.NOTIFY_ALLOW = parse_allowed(["127.0.0.1"])
        past = Past(fleet, programs, 0 if options["no_past"] else DAYS, receiver=receiver.url)
        simulated = serve(fleet)
        kubeconfig = str(simulated.kubeconfig(settings.DATA_DIR / "demo-kubeconfig"))
        cluster = clusters.add(NAME, kubeconfig)
        clusters.set_quarantine(cluster, kubeconfig)
        source = sources.set_direct(cluster)
        # A round before the mirror knows the cards would join none of them.
        UsageSource.objects.filter(pk=source.pk).update(due_at=Now() + FIRST_ROUND)
        service.start()
        self.stdout.write(_measured(fleet))
        self.stdout.write(past.words)
        self.stdout.write(f"Log: {log}")
        self.stdout.write(f"Sign in: {service.url}{make_link(local_admin())}")
        self.stdout.flush()
        past.begin(cluster)
        try:
            service.run_until_signal()
        finally:
            past.stop()
            simulated.close()
            receiver.close()


def _measured(fleet: Fleet) -> str:
    """What the exporters of this fleet give, in a line."""
    nodes = len({one.node for one in targets(fleet)})
    if nodes > MOST_NODES:
        return f"No metrics: exporters run on {nodes} nodes, and direct reading is limited to {MOST_NODES} nodes."
    return f"Exporters on {nodes} nodes are read every minute. Used memory, activity and temperature appear after the first read."
