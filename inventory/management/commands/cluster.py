"""`gpudash cluster add|set|list|check|prepare|relist|take-over|remove`."""

from __future__ import annotations

import getpass
import os
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from inventory import checks, clusters
from inventory.collect import source_lines, sources
from inventory.collect.prometheus import BadAddress
from inventory.condition import condition_of
from inventory.extension import EXTENSIONS
from inventory.management.arguments import chosen_clusters
from inventory.management.prepare import add_prepare_arguments, run_prepare
from inventory.management.shown import ShownCommand
from inventory.management.usage_arguments import add_usage_arguments, set_usage
from inventory.mirror import anew
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, QuarantineHow
from inventory.processes import pulses
from inventory.queries import rows as querysets
from kube.client import ApiError, BadKubeconfig
from kube.plugin import LIMIT_S as PLUGIN_S
from runtime.clock import database_now
from runtime.spans import span
from wording.printable import one_line


class Command(ShownCommand):
    help = "Add, set, list, check, prepare, relist or remove clusters."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="add a cluster, or change its credentials")
        add.add_argument("name")
        add.add_argument("--kubeconfig", default=settings.KUBECONFIG or os.environ.get("KUBECONFIG", ""))
        add.add_argument("--context", default="")
        add.add_argument(
            "--launcher-kubeconfig",
            default="",
            help="kubeconfig of the launch workers, for validations (default: the one of --kubeconfig)",
        )
        add.add_argument("--in-cluster", action="store_true", help="use the service account of the pod")
        add_usage_arguments(add)
        change = verbs.add_parser("set", help="set the exporters, the launcher or the quarantine of a cluster")
        change.add_argument("name")
        change.add_argument(
            "--launcher-kubeconfig",
            help="kubeconfig of the launch workers; run this where they run ('': the kubeconfig of the watchers)",
        )
        change.add_argument(
            "--quarantine-kubeconfig",
            help="kubeconfig with which the launch workers take nodes out of service ('': gpudash marks no node)",
        )
        change.add_argument(
            "--quarantine-how",
            choices=QuarantineHow.values,
            default="",
            help="mark of a node that is out of service: taint, cordon (taint and cordon) or nvsentinel (default: taint)",
        )
        add_usage_arguments(change)
        change.add_argument("--no-usage", action="store_true", help="stop reading the exporters, and delete their data")
        verbs.add_parser("list", help="list the clusters and their sync state")
        for verb, text in (
            ("check", "check the permissions of the credentials"),
            ("remove", "delete a cluster with all its data"),
            ("take-over", "make this database the launcher (the previous one is permanently gone)"),
        ):
            verbs.add_parser(verb, help=text).add_argument("name")
        add_prepare_arguments(
            verbs.add_parser("prepare", help="render the manifests that a stack needs in a cluster; nothing is applied")
        )
        relist = verbs.add_parser("relist", help="reread all objects and recalculate all cards")
        which = relist.add_mutually_exclusive_group(required=True)
        which.add_argument("name", nargs="?")
        which.add_argument("--all", action="store_true", help="all clusters")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb'].replace('-', '_')}")(options)

    def _add(self, options: dict[str, Any]) -> None:
        path = "" if options["in_cluster"] else options["kubeconfig"]
        if not path and not options["in_cluster"]:
            raise CommandError("--kubeconfig FILE is required (or --in-cluster in a pod)")
        try:
            cluster = clusters.add(options["name"], path, options["context"], options["launcher_kubeconfig"])
        except (BadKubeconfig, ValidationError) as error:
            raise CommandError(
                "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            ) from None
        self.stdout.write(f"{cluster.name}: {cluster.server}. Next: gpudash cluster check {cluster.name}")
        self._set_usage(cluster, options)

    def _set(self, options: dict[str, Any]) -> None:
        cluster = chosen_clusters(options["name"])[0]
        launcher = self._set_launcher(cluster, options["launcher_kubeconfig"])
        launcher |= self._set_quarantine(cluster, options["quarantine_kubeconfig"], options["quarantine_how"])
        if options["no_usage"]:
            removed = sources.remove(cluster)
            text = "exporters are no longer read" if removed else "exporters were not being read"
            self.stdout.write(f"{cluster.name}: {text}")
        elif not self._set_usage(cluster, options) and not launcher:
            raise CommandError(
                "Nothing to set. Use --launcher-kubeconfig FILE, --quarantine-kubeconfig FILE, --quarantine-how HOW, "
                "--prometheus URL, --exporters-directly or --no-usage."
            )

    def _set_launcher(self, cluster: Cluster, kubeconfig: str | None) -> bool:
        if kubeconfig is None:
            return False
        try:
            clusters.set_launcher(cluster, kubeconfig)
        except BadKubeconfig as error:
            raise CommandError(str(error)) from None
        used = f"with {kubeconfig}" if kubeconfig else "with the watchers' credentials"
        self.stdout.write(f"{cluster.name}: validations are launched {used}")
        cluster.refresh_from_db()
        for answer in checks.check_launcher(cluster) if kubeconfig else ():
            self.stdout.write(_permission_line(answer))
        return True

    def _set_quarantine(self, cluster: Cluster, kubeconfig: str | None, how: str) -> bool:
        if kubeconfig is None and not how:
            return False
        try:
            clusters.set_quarantine(cluster, kubeconfig, how)
        except BadKubeconfig as error:
            raise CommandError(str(error)) from None
        cluster.refresh_from_db()
        used = (
            f"marks nodes with {cluster.quarantine_kubeconfig}" if cluster.quarantine_kubeconfig else "marks no nodes"
        )
        self.stdout.write(f"{cluster.name}: gpudash {used} ({cluster.get_quarantine_how_display()})")
        for answer in checks.check_quarantine(cluster) if kubeconfig else ():
            self.stdout.write(_permission_line(answer))
        return True

    def _set_usage(self, cluster: Cluster, options: dict[str, Any]) -> bool:
        try:
            text = set_usage(cluster, options)
        except BadAddress as error:
            raise CommandError(str(error)) from None
        if text:
            self.stdout.write(f"{cluster.name}: {text}")
        return bool(text)

    def _list(self, options: dict[str, Any]) -> None:
        for pulse in pulses():
            if not pulse.ok:
                self.stdout.write(f"ATTENTION: {pulse.reason}")
        for cluster in querysets.clusters():
            self.stdout.write(f"{cluster.name}  {cluster.server}")
            if cluster.recreated_at:
                self.stdout.write(f"  another cluster responds at this address since {_at(cluster.recreated_at)}")
            for watch in cluster.watches.all():
                self.stdout.write(_watch_line(watch))
            self._told(cluster)
            source = source_lines.source_of(cluster.pk)
            for line in source_lines.lines(source, database_now()) if source else ():
                self.stdout.write(f"  {one_line(line)}")

    def _told(self, cluster: Cluster) -> None:
        """What others know of the cluster."""
        for extension in EXTENSIONS.values():
            for text in extension.told(cluster):
                self.stdout.write(f"  ATTENTION: {one_line(text)}")

    def _take_over(self, options: dict[str, Any]) -> None:
        cluster = chosen_clusters(options["name"])[0]
        for extension in EXTENSIONS.values():
            if extension.take_over is not None:
                self.stdout.write(f"{cluster.name}: {extension.take_over(cluster)}")

    def _relist(self, options: dict[str, Any]) -> None:
        """Writes rows only, so it returns at once and works from any process; the watchers see it with their next write."""
        who = f"{_user()} (gpudash cluster relist)"
        for cluster in chosen_clusters(None if options["all"] else options["name"]):
            kinds = anew.relist(cluster, who)
            self.stdout.write(f"{cluster.name}: relist requested: {', '.join(kinds)}.")

    def _check(self, options: dict[str, Any]) -> None:
        cluster = chosen_clusters(options["name"])[0]
        try:
            found = checks.check(cluster, checks.CHECK_PATIENTLY_S, PLUGIN_S)
        except (BadKubeconfig, ApiError) as error:
            raise CommandError(str(error)) from None
        answers = found.answers
        self.stdout.write(f"{cluster.name}: {cluster.server}, Kubernetes {one_line(found.version)}")
        for answer in answers:
            if answer.served or answer.wanted.verb == "list":
                self.stdout.write(_permission_line(answer))
        if found.note:
            self.stdout.write(f"  {_of_launcher(cluster)}: {one_line(found.note)}")
        self._told(cluster)
        source = source_lines.source_of(cluster.pk)
        for line in source_lines.check(source) if source else ():
            self.stdout.write(f"  {one_line(line)}")
        for rule in dict.fromkeys(answer.rule for answer in answers if answer.rule):
            self.stdout.write(f"  to grant it, add to {rule}")
        missing = sorted({one.wanted.role for one in answers if one.wanted.optional and one.allowed is False})
        if missing:
            self.stdout.write(f"  optional permissions are in {', '.join(missing)}")
        if any(answer.allowed is not True and not answer.wanted.optional for answer in answers):
            raise CommandError("Missing permissions. Apply deploy/watcher-role.yaml.")

    def _prepare(self, options: dict[str, Any]) -> None:
        run_prepare(options, self.stdout.write)

    def _remove(self, options: dict[str, Any]) -> None:
        counts = clusters.remove(chosen_clusters(options["name"])[0])
        self.stdout.write(f"{options['name']} removed: " + ", ".join(f"{n} {name}" for name, n in counts.items() if n))


def _watch_line(watch: Watch) -> str:
    now = condition_of(watch)
    since = f" since {_at(now.since)}" if now.since else ""
    reason = f": {one_line(now.reason)}" if now.reason else ""
    last = watch.last_event_at
    if watch.kind == Kind.CARDS:
        seen = f"; last calculated {_at(last)}" if last else "; not calculated yet"
    else:
        seen = f"; last update {_at(last)}, {span(now.age_s or 0)} ago" if last else "; no update yet"
    return f"  {watch.kind}: {now.state.label}{since}{reason}{seen}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return f"user {os.getuid()}"


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _of_launcher(cluster: Cluster) -> str:
    """Where the answers about the launcher come from, when they were not asked for here."""
    at = cluster.launcher_checked_at
    said = f"checked by the launch worker {_at(at)}" if at else "unknown: not checked by the launch worker yet"
    return f"launcher permissions {said}; its kubeconfig is not read here"


def _permission_line(answer: checks.Answer) -> str:
    wanted = answer.wanted
    if not answer.served:
        return f"  API not available: {wanted.resource} ({wanted.needed_for}, optional)"
    word = {True: "allowed", False: "denied", None: "unknown"}[answer.allowed]
    optional = ", optional" if wanted.optional else ""
    why = f" ({one_line(answer.reason)})" if answer.reason and not answer.allowed else ""
    return f"  {word}: {wanted.verb} {wanted.resource} ({wanted.needed_for}{optional}){why}"
