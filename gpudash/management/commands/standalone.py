"""`manage.py standalone`: the whole of gpudash in one process, against a real cluster."""

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
from inventory.management.shown import ShownCommand
from kube.client import BadKubeconfig


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
        prepare()
        path = options["kubeconfig"] or _default_kubeconfig()
        try:
            cluster = clusters.add(options["name"] or _name(path, options["context"]), path, options["context"])
        except BadKubeconfig as error:
            raise CommandError(str(error)) from None
        settings.SIGN_IN_LINKS = True
        service = EmbeddedService(port=options["port"])
        service.start()
        self.stdout.write(f"Watching {cluster.server} as {cluster.name!r}. Data in {settings.DATA_DIR}.")
        self.stdout.write(f"Sign in: {service.url}{make_link(local_admin())}")
        self.stdout.flush()
        service.run_until_signal()


def _default_kubeconfig() -> str:
    path = Path("~/.kube/config").expanduser()
    return str(path) if path.exists() else ""


def _name(path: str, context: str) -> str:
    """A cluster name from the context's: lower case, with - for what is not allowed."""
    chosen = context or (clusters.current_context(path) if path else "in-cluster")
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in chosen.lower()).strip("-")
    return name[:63].strip("-") or "cluster"
