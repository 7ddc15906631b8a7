"""Findings that ended: what the product's own rules say of a node when something is changed about its objects, or measured of a card.

Nothing is worded here: a node and its pods, as the mirror has them, are taken as they would have been then, and read as the node
reconciler reads them. What it says beyond what it says of them anyway was found then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from exporters.engine.readings import LAST
from fleetsim.clock import DAY, HOUR, MINUTE, rfc3339
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.seats import Seat
from inventory.health import judge, signs
from inventory.health.signs import Sign
from inventory.models import CardUsage, Cluster, DaemonSet, Finding, Node, Pod
from inventory.reconcile.columns import finding_columns
from inventory.stack_context import stack_context
from kube import objects as kube
from kube.decoders import decoder
from stacks.engine import base
from stacks.engine.node_report import node_report

#: Troubles a day.
A_DAY = 4
#: The exporter that tells errors, heat and lowered clocks.
_TELLS_ERRORS = "dcgm-exporter"

_node = decoder(kube.Node)
_pod = decoder(kube.Pod)
_daemonset = decoder(kube.DaemonSet)


class Scene(NamedTuple):
    """A node at the beginning of a trouble. at: unix seconds.

    formats: card id → the exporter that measures it. measured: what that says of cards beside what it says now.
    """

    node: kube.Node
    pods: tuple[kube.Pod, ...]
    at: float
    formats: Mapping[int, str]
    measured: tuple[judge.Measured, ...] = ()


class Trouble(NamedTuple):
    """lasts: seconds, from and to. change: what it is like then; None where the node cannot have it."""

    change: Callable[[Scene, Seat, Random], Scene | None]
    lasts: tuple[float, float]
    often: int = 1


def _signs(**found: Any) -> Callable[[Scene, Seat, Random], Scene | None]:
    """What an exporter reads of a card. found: name of a sign (`xid_48` for "xid/48") → its value."""

    def change(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
        if seat.card is None or scene.formats.get(seat.card.pk) != _TELLS_ERRORS:
            return None
        read = {name.replace("xid_", signs.XID): Sign(scene.at, value) for name, value in found.items()}
        said = judge.Measured(uuid=seat.card.uuid, format=_TELLS_ERRORS, signs=read, card=seat.card.key)
        return scene._replace(measured=(said,))

    return change


def _withheld(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
    """The device plugin gives out one card less."""
    status = scene.node.status
    offered = dict(status.allocatable or {}) if status is not None else {}
    number = str(offered.get(seat.resource, ""))
    if status is None or not number.isdigit() or int(number) < 2 or seat.machine.kind.units > 1:
        return None
    offered[seat.resource] = str(int(number) - 1)
    return scene._replace(
        node=msgspec.structs.replace(scene.node, status=msgspec.structs.replace(status, allocatable=offered))
    )


def _without_resource(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
    """The kubelet was started anew and the device plugin has not registered yet."""
    status = scene.node.status
    if status is None or not seat.resource:
        return None
    kept = [
        {name: number for name, number in (given or {}).items() if name not in seat.machine.supplies}
        for given in (status.capacity, status.allocatable)
    ]
    status = msgspec.structs.replace(status, capacity=kept[0], allocatable=kept[1])
    return scene._replace(node=msgspec.structs.replace(scene.node, status=status), pods=())


def _plugin_not_ready(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
    """The pod of the device plugin has not passed its probe."""
    pods = []
    for pod in scene.pods:
        owners = pod.metadata.ownerReferences or []
        if any(one.kind == "DaemonSet" and "device-plugin" in one.name for one in owners) and pod.status is not None:
            rows = [
                msgspec.structs.replace(one, status="False") if one.type == "Ready" else one
                for one in pod.status.conditions or ()
            ]
            pod = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, conditions=rows))
        pods.append(pod)
    return scene._replace(pods=tuple(pods))


def _twice(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
    """Pods were put on a card past its scheduler, by the annotations of another."""
    own = [pod for pod in scene.pods if pod.metadata.annotations]
    own = [pod for pod in own if any("IDX" in name or "allocation" in name for name in pod.metadata.annotations or ())]
    if not own:
        return None
    like = rng.choice(own)
    copies = tuple(
        msgspec.structs.replace(
            like,
            metadata=msgspec.structs.replace(
                like.metadata, name=f"{like.metadata.name}-restored-{number}", uid=f"{like.metadata.uid[:-2]}r{number}"
            ),
        )
        for number in range(6)
    )
    return scene._replace(pods=(*scene.pods, *copies))


def _condition(kind: str, message: str) -> Callable[[Scene, Seat, Random], Scene | None]:
    """A health check of the cluster has set a condition. message: with {card}, {uuid}."""

    def change(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
        status = scene.node.status
        if status is None or seat.machine.kind.windows or not seat.machine.kind.operator:
            return None
        said = message.format(card=seat.spot.card, uuid=seat.machine.uuids[seat.spot.card])
        made = kube.Condition(
            type=kind,
            status="True",
            reason=f"{kind}IsNotHealthy",
            message=said,
            lastTransitionTime=rfc3339(scene.at),
        )
        others = [one for one in status.conditions or () if one.type != kind]
        status = msgspec.structs.replace(status, conditions=[*others, made])
        return scene._replace(node=msgspec.structs.replace(scene.node, status=status))

    return change


def _labelled(label: str, value: str) -> Callable[[Scene, Seat, Random], Scene | None]:
    def change(scene: Scene, seat: Seat, rng: Random) -> Scene | None:
        if not seat.machine.kind.operator:
            return None
        metadata = msgspec.structs.replace(
            scene.node.metadata, labels=dict(scene.node.metadata.labels or {}) | {label: value}
        )
        return scene._replace(node=msgspec.structs.replace(scene.node, metadata=metadata))

    return change


#: As NVSentinel writes it.
_TOO_WARM = "ErrorCode:DCGM_FR_CLOCK_THROTTLE_THERMAL GPU:{card} GPU_UUID:{uuid} Clocks are lowered by heat Recommended Action=NONE;"
_HEAT = f"{signs.THROTTLE}hw_thermal"
TROUBLES = (
    Trouble(_plugin_not_ready, (4 * MINUTE, 40 * MINUTE), 3),
    Trouble(_without_resource, (10 * MINUTE, 50 * MINUTE), 2),
    Trouble(_withheld, (2 * HOUR, 20 * HOUR), 2),
    Trouble(_twice, (30 * MINUTE, 5 * HOUR), 3),
    Trouble(_signs(xid_31=LAST), (1 * HOUR, 9 * HOUR), 3),
    Trouble(_signs(xid_43=LAST), (1 * HOUR, 6 * HOUR)),
    # What comes after it: the driver wants a reset, which also takes the rows out of use.
    Trouble(
        _signs(xid_48=LAST, **{signs.REMAP_PENDING: None, signs.ECC: 2, signs.RECOVERY: 1}), (3 * HOUR, 15 * HOUR), 2
    ),
    Trouble(_signs(xid_79=LAST, **{signs.RECOVERY: 2}), (5 * HOUR, 26 * HOUR)),
    Trouble(_signs(**{signs.HOT: "limit", _HEAT: None}), (20 * MINUTE, 3 * HOUR), 3),
    Trouble(_condition("GpuThermalWatch", _TOO_WARM), (1 * HOUR, 6 * HOUR), 2),
    Trouble(_labelled("nvidia.com/gpu-driver-upgrade-state", "drain-required"), (12 * MINUTE, 55 * MINUTE), 2),
)


def ended(cluster: Cluster, seats: Sequence[Seat], times: Times, seed: int) -> list[Finding]:
    """Rows not written yet, the newest first."""
    rng, mirror = Random(seed), _Mirror(cluster, {seat.node for seat in seats})
    choice = [one for one in TROUBLES for _ in range(one.often)]
    found: list[Finding] = []
    taken: dict[tuple[str, str, str], float] = {}
    for _ in range(times.days * A_DAY if seats else 0):
        at = rng.uniform(times.since, times.until - HOUR)
        trouble = rng.choice(choice)
        until = min(at + rng.uniform(*trouble.lasts), times.until - MINUTE)
        rows = _rows(cluster, trouble, mirror, rng.sample(seats, min(12, len(seats))), rng, at)
        for row in rows:
            key = (row.code, row.node_name, row.card_key)
            row.first_seen_at, row.ended_at = utc(at), utc(until)
            if key not in taken or abs(taken[key] - at) > DAY:
                taken[key] = at
                found.append(row)
    return sorted(found, key=lambda row: row.first_seen_at, reverse=True)


def _rows(
    cluster: Cluster, trouble: Trouble, mirror: _Mirror, seats: Sequence[Seat], rng: Random, at: float
) -> list[Finding]:
    """Of the first node that can have it."""
    for seat in seats:
        scene = mirror.scene(seat.node, at)
        changed = trouble.change(scene, seat, rng) if scene is not None else None
        if scene is None or changed is None:
            continue
        before = {(one.code, one.card, one.pod) for one in mirror.read(scene)}
        news = [one for one in mirror.read(changed) if (one.code, one.card, one.pod) not in before]
        if news:
            return [Finding(cluster=cluster, node_name=seat.node, **finding_columns(one)) for one in news]
    return []


class _Mirror:
    """Some nodes of a cluster with their pods, decoded."""

    def __init__(self, cluster: Cluster, nodes: set[str]) -> None:
        rows = Node.objects.filter(cluster=cluster, name__in=nodes).values_list("name", "facts")
        self._nodes = {name: _node.decode(facts) for name, facts in rows}
        self._pods: dict[str, list[kube.Pod]] = defaultdict(list)
        pods = Pod.objects.filter(cluster=cluster, node_name__in=nodes).order_by("id")
        for node, facts in pods.values_list("node_name", "facts"):
            self._pods[node].append(_pod.decode(facts))
        usage = CardUsage.objects.filter(cluster=cluster, card__isnull=False)
        self._formats = dict(usage.values_list("card_id", "format"))
        sets = DaemonSet.objects.filter(cluster=cluster).order_by("id").values_list("facts", flat=True)
        self._context = msgspec.structs.replace(
            stack_context(), daemonsets=tuple(_daemonset.decode(facts) for facts in sets)
        )

    def scene(self, node: str, at: float) -> Scene | None:
        """As it is now, with the pods of now that were there then. None for a node that is gone."""
        if node not in self._nodes:
            return None
        there = rfc3339(at)
        pods = tuple(pod for pod in self._pods[node] if (pod.metadata.creationTimestamp or "") <= there)
        return Scene(self._nodes[node], pods, at, self._formats)

    def read(self, scene: Scene) -> tuple[base.Finding, ...]:
        """What the node reconciler makes of it."""
        context = msgspec.structs.replace(self._context, now=scene.at)
        report = node_report(scene.node, list(scene.pods), context)
        return judge.judged(report, scene.node, context, scene.measured).report.findings
