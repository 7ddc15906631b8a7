"""What would be done for a case, by what the mirror knows of its node: sentences, the patch or object, and lines of kubectl.

The launch worker reads the node again before it writes; web and commands have this only.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import msgspec

from inventory.marks import TAINT
from inventory.models import Cluster, ResourceSlice
from inventory.models.cluster import QuarantineHow
from kube import claims
from kube.decoders import decoder
from quarantine import devices, sentinel
from quarantine.changes import EFFECT, commands
from quarantine.models import MARKED, Case, How
from quarantine.nodes import mirrored, waits_for
from quarantine.wish import OF_NODE, patch_of, was
from runtime.clock import database_now
from wording.said import sentence

_slice = decoder(claims.ResourceSlice)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """does: in sentences. commands: of kubectl, for a person. body: the patch of the node, or the object to create; None: neither.

    waits: why the launch worker would do it later, "" for at once. off: it does nothing there; a person runs the commands.
    """

    does: Sequence[str]
    commands: Sequence[str]
    body: dict[str, Any] | None = None
    waits: str = ""
    off: bool = False


def how_of(case: Case) -> str:
    """By which mark it is taken out unless the request says otherwise."""
    cluster: Cluster = case.cluster
    if cluster.quarantine_how == QuarantineHow.NVSENTINEL:
        return How.NVSENTINEL.value
    return How.DEVICE_TAINT.value if device_now(case) else str(cluster.quarantine_how)


def device_now(case: Case) -> dict[str, Any]:
    """The device that the card is by the mirror's slices; {} for a card that no DRA driver offers."""
    rows = ResourceSlice.objects.filter(cluster_id=case.cluster_id, node_name=case.node_name) if case.card_uuid else ()
    return devices.device_of((_slice.decode(row.facts) for row in rows), case.node_name, case.card_uuid)


def of_accepting(case: Case, how: str) -> Plan:
    off = not case.cluster.quarantine_kubeconfig
    if how == How.NVSENTINEL:
        body = sentinel.request(case.pk, case.node_name, case.reason)
        does = [sentence("Create the MaintenanceRequest {name}.", name=sentinel.request_name(case.pk))]
        return Plan(does=does, commands=[_create(body)], body=body, off=off)
    if how == How.DEVICE_TAINT:
        body = devices.rule(case.pk, device_now(case), devices.VERSIONS[0], devices.NO_SCHEDULE)
        does = [
            sentence(
                "Create the DeviceTaintRule {name} with the effect None, and keep the answer.",
                name=devices.rule_name(case.pk),
            ),
            sentence("Change its effect to NoSchedule."),
        ]
        return Plan(does=does, commands=[_create(body)], body=body, off=off)
    others = _others(case)
    now = mirrored(case.cluster_id, case.node_name)
    if now is None:
        return Plan(
            does=[], commands=[], waits=sentence("Node {node} is not in the cluster.", node=case.node_name), off=off
        )
    planned = copy(case)
    planned.how, planned.accepted_at = how, case.accepted_at or database_now()
    planned.was = case.was or was(now, others)
    made = patch_of(now, [*others, planned], ())
    does = [sentence("Taint the node with {taint}.", taint=f"{TAINT}={case.pk}:{EFFECT}")]
    if (made or {}).get("spec", {}).get("unschedulable"):
        does.append(sentence("Cordon the node."))
    return Plan(does=does, commands=commands(now.name, made), body=made, waits=waits_for(now), off=off)


def of_returning(case: Case) -> Plan:
    off = not case.cluster.quarantine_kubeconfig
    if case.how == How.NVSENTINEL:
        name = sentinel.request_name(case.pk)
        does = [sentence("Delete the MaintenanceRequest {name}.", name=name)]
        return Plan(does=does, commands=[f"kubectl delete {sentinel.RESOURCE}.{sentinel.GROUP} {name}"], off=off)
    if case.how == How.DEVICE_TAINT:
        name = devices.rule_name(case.pk)
        does = [sentence("Delete the DeviceTaintRule {name}.", name=name)]
        return Plan(does=does, commands=[f"kubectl delete devicetaintrule {name}"], off=off)
    others = _others(case)
    now = mirrored(case.cluster_id, case.node_name)
    made = patch_of(now, others, [case]) if now else None
    if now is None or made is None:
        return Plan(does=[sentence("Nothing: the mark is not there.")], commands=[], off=off)
    does = [sentence("Remove the mark of this case. Other marks of the node stay.")]
    if "unschedulable" in made.get("spec", {}):
        does.append(sentence("Uncordon the node."))
    return Plan(does=does, commands=commands(now.name, made), body=made, waits=waits_for(now), off=off)


def _others(case: Case) -> list[Case]:
    """Other cases by which the node is marked, or is to be."""
    rows = Case.objects.filter(cluster_id=case.cluster_id, node_name=case.node_name, state__in=MARKED, how__in=OF_NODE)
    return list(rows.exclude(pk=case.pk).order_by("pk"))


def _create(body: dict[str, Any]) -> str:
    return f"kubectl create -f - <<'END'\n{msgspec.json.encode(body).decode()}\nEND"
