"""`gpudash standalone`: the whole of gpudash in one process, against a real cluster."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from accounts.local import local_admin
from accounts.sign_in_links import make_link
from gpudash.embedded import EmbeddedService, prepare
from inventory import clusters
from inventory.kubeconfig_files import is_stored
from inventory.management.shown import ShownCommand
from inventory.models import Cluster
from kube.client import BadKubeconfig

_NO_KUBECONFIG = "No kubeconfig found. Add a cluster on the page Clusters."


class Command(ShownCommand):
    help = "Run gpudash in one process on loopback, with a real cluster. Migrates the data folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--kubeconfig",
            default=settings.KUBECONFIG or os.environ.get("KUBECONFIG", ""),
            help="kubeconfig file (default: $GPUDASH_KUBECONFIG, $KUBECONFIG, ~/.kube/config, or the pod's service account)",
        )
        parser.add_argument("--context", default="", help="context of the kubeconfig (default: the current context)")
        parser.add_argument("--name", default="", help="name of the cluster (default: the context)")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        log = prepare()
        cluster = _cluster(options)
        settings.SIGN_IN_LINKS = True
        service = EmbeddedService(port=options["port"])
        service.start()
        watched = f"Watching {cluster.server} as {cluster.name!r}." if cluster else _NO_KUBECONFIG
        self.stdout.write(f"{watched} Data in {settings.DATA_DIR}.")
        self.stdout.write(f"Log: {log}")
        self.stdout.write(f"Sign in: {service.url}{make_link(local_admin())}")
        self.stdout.flush()
        service.run_until_signal()


def _cluster(options: dict[str, Any]) -> Cluster | None:
    """The cluster of the command line; None where there is no kubeconfig at all. One that was uploaded by a page stays in use, unless
    a file is named here.
    """
    given = options["kubeconfig"]
    path = given or _default_kubeconfig()
    try:
        name = options["name"] or _name(path, options["context"])
        known = Cluster.objects.filter(name=name).first()
        if known is not None and not given and is_stored(known.kubeconfig):
            return known
        return clusters.add(name, path, options["context"])
    except BadKubeconfig as error:
        if not path:
            return None
        raise CommandError(str(error)) from None


def _default_kubeconfig() -> str:
    path = Path("~/.kube/config").expanduser()
    return str(path) if path.exists() else ""


def _name(path: str, context: str) -> str:
    return clusters.name_from(context or (clusters.current_context(path) if path else "in-cluster"))
