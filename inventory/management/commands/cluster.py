"""`manage.py cluster add|list|check|remove`."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from inventory import clusters
from inventory.heartbeats import pulses
from inventory.kube.client import ApiError, BadKubeconfig
from inventory.management.arguments import chosen_clusters
from inventory.management.shown import ShownCommand
from inventory.models import Cluster
from inventory.printable import one_line


class Command(ShownCommand):
    help = "Add, list, check or remove clusters."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="add a cluster, or change where its credentials are")
        add.add_argument("name")
        add.add_argument("--kubeconfig", default=settings.KUBECONFIG or os.environ.get("KUBECONFIG", ""))
        add.add_argument("--context", default="")
        add.add_argument("--in-cluster", action="store_true", help="use the service account of the pod")
        verbs.add_parser("list", help="the clusters and how they are in step")
        for verb, text in (
            ("check", "say what the credentials may do and what is missing"),
            ("remove", "delete a cluster with all its rows"),
        ):
            verbs.add_parser(verb, help=text).add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb']}")(options)

    def _add(self, options: dict[str, Any]) -> None:
        path = "" if options["in_cluster"] else options["kubeconfig"]
        if not path and not options["in_cluster"]:
            raise CommandError("--kubeconfig FILE is wanted (or --in-cluster in a pod)")
        try:
            cluster = clusters.add(options["name"], path, options["context"])
        except (BadKubeconfig, ValidationError) as error:
            raise CommandError(
                "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            ) from None
        self.stdout.write(f"{cluster.name}: {cluster.server}. Next: manage.py cluster check {cluster.name}")

    def _list(self, options: dict[str, Any]) -> None:
        for pulse in pulses():
            if not pulse.ok:
                self.stdout.write(f"ATTENTION: {pulse.reason}")
        for cluster in Cluster.objects.prefetch_related("watches"):
            self.stdout.write(f"{cluster.name}  {cluster.server}")
            for watch in sorted(cluster.watches.all(), key=lambda row: row.kind):
                reason = f": {one_line(watch.reason)}" if watch.reason else ""
                seen = f", last event {watch.last_event_at:%Y-%m-%d %H:%M:%S} UTC" if watch.last_event_at else ""
                self.stdout.write(f"  {watch.kind}: {watch.get_state_display()}{reason}{seen}")

    def _check(self, options: dict[str, Any]) -> None:
        cluster = chosen_clusters(options["name"])[0]
        try:
            version, answers = clusters.check(cluster)
        except (BadKubeconfig, ApiError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{cluster.name}: {cluster.server}, Kubernetes {one_line(version)}")
        for answer in answers:
            self.stdout.write(_permission_line(answer))
        missing = sorted({one.wanted.role for one in answers if one.wanted.optional and one.allowed is False})
        if missing:
            self.stdout.write(f"  what is optional and not granted is in {', '.join(missing)}")
        if any(answer.allowed is not True and not answer.wanted.optional for answer in answers):
            raise CommandError("permissions are missing; deploy/watcher-role.yaml has the ClusterRole that is needed")

    def _remove(self, options: dict[str, Any]) -> None:
        counts = clusters.remove(chosen_clusters(options["name"])[0])
        self.stdout.write(f"{options['name']} removed: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n))


def _permission_line(answer: clusters.Answer) -> str:
    wanted = answer.wanted
    word = {True: "may", False: "may NOT", None: "not known whether it may"}[answer.allowed]
    optional = ", optional" if wanted.optional else ""
    why = f" ({one_line(answer.reason)})" if answer.reason and not answer.allowed else ""
    return f"  {word} {wanted.verb} {wanted.resource}: {wanted.needed_for}{optional}{why}"
