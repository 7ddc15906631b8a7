"""What tests of kinds that a cluster need not have share: a watcher that looks soon, and what the tables say."""

from __future__ import annotations

import sys

from inventory.models import Card, Cluster, ConfigMap, Finding, NodeTotals, Watch
from inventory.models.cluster import WatchState
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import Json
from tests.processes import Processes

#: `gpudash sync` that looks after a second or three, and not after a minute, for what is not served or was refused.
SOON = """
import django
django.setup()
from django.core.management import call_command
from inventory.mirror import served
from kube import reflector
served.LOOK_S = reflector.ABSENT_S = 1.0
reflector.REFUSED_S = 3
call_command("sync")
"""


def start(processes: Processes) -> None:
    processes.start("sync", [sys.executable, "-c", SOON], {"DJANGO_SETTINGS_MODULE": "gpudash.settings"})


def delete_if_there(admin: Admin, thing: Json) -> None:
    try:
        admin.delete(thing)
    except Refused as refused:
        if refused.status != 404:
            raise


def state(cluster: Cluster, kind: str) -> tuple[str, str]:
    return Watch.objects.values_list("state", "holder").get(cluster=cluster, kind=kind)


def rests(cluster: Cluster, kind: str, as_state: WatchState) -> bool:
    """Whether nobody holds its lease, because there is nothing to watch."""
    return state(cluster, kind) == (as_state.value, "")


def watches(cluster: Cluster, kind: str) -> bool:
    found, holder = state(cluster, kind)
    return found == WatchState.WATCHING and holder != ""


def cards(node: str) -> int | None:
    """Total of a node as its row has it; None where it is not known."""
    return NodeTotals.objects.filter(node_name=node).values_list("cards_total", flat=True).first()


def config_maps(cluster: Cluster) -> set[str]:
    return set(ConfigMap.objects.filter(cluster=cluster).values_list("name", flat=True))


def unread(node: str) -> bool:
    return Finding.objects.filter(code="plugin-settings-unread", node_name=node, ended_at=None).exists()


def health(node: str) -> list[str]:
    return list(
        Card.objects.filter(node_name=node, removed_at=None).order_by("index", "key").values_list("health", flat=True)
    )


def free(node_name: str) -> list[int | None]:
    """GiB that are free on each card, in order."""
    rows = Card.objects.filter(node_name=node_name, removed_at=None).order_by("index")
    return [None if one is None else one // 2**30 for one in rows.values_list("memory_free_bytes", flat=True)]
