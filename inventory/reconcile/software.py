"""The software of one cluster: read from the mirror, and what is true of its components written.

Components of nodes are written with the chunk of their nodes (`difference`). What the cluster has once is written here, when an
object of it changed; where that changes what is true of nodes, all nodes become dirty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from inventory import stated
from inventory.components import NodeComponents, of_cluster, of_node, software_of
from inventory.mirror.values import Columns, digest, plain
from inventory.models import Component, ComponentChange, Finding, SoftwareObject, Watch
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models.cluster import JUDGED_BY, Kind, WatchState
from kube import software as structs
from kube.claims import ResourceSlice
from kube.decoders import decoder
from kube.objects import DaemonSet, Node, Pod
from runtime import bulk
from stacks.engine import base
from stacks.engine.registry import registry
from stacks.engine.software.base import CAUSES, READY, Software, Statement
from wording.said import sentence, series, stored

#: Code of the finding of a node, or a cluster, whose GPU software has a cause that must be mended.
NOT_READY = "software-not-ready"

_DECODERS: dict[str, msgspec.json.Decoder[structs.SoftwareObject]] = {
    Kind.DEPLOYMENTS.value: decoder(structs.Deployment),
    Kind.SERVICES.value: decoder(structs.Service),
    Kind.CLUSTERPOLICIES.value: decoder(structs.ClusterPolicy),
    Kind.NVIDIADRIVERS.value: decoder(structs.NVIDIADriver),
    Kind.GPUCLUSTERS.value: decoder(structs.GPUCluster),
    Kind.DEVICECONFIGS.value: decoder(structs.DeviceConfig),
    Kind.GPUDEVICEPLUGINS.value: decoder(structs.GpuDevicePlugin),
}
_daemonset = decoder(DaemonSet)
_node = decoder(Node)
_pod = decoder(Pod)


def read_software(cluster_id: int, now: datetime, daemonsets: tuple[DaemonSet, ...] | None = None) -> Software:
    """What the mirror has of it. daemonsets: where they are read already, for components of nodes: pods are left out then."""
    return software_of(
        now=now.timestamp(),
        daemonsets=read_daemonsets(cluster_id) if daemonsets is None else daemonsets,
        objects=_objects(cluster_id),
        pods=_pods(cluster_id) if daemonsets is None else (),
        read=_kinds_read(cluster_id),
        nodes=lambda: read_nodes(cluster_id),
    )


def read_daemonsets(cluster_id: int) -> tuple[DaemonSet, ...]:
    rows = DaemonSetRow.objects.filter(cluster_id=cluster_id).order_by("id")
    return tuple(_daemonset.decode(facts) for facts in rows.values_list("facts", flat=True))


def _objects(cluster_id: int) -> Iterator[structs.SoftwareObject]:
    rows = SoftwareObject.objects.filter(cluster_id=cluster_id).order_by("id").values_list("kind", "facts")
    for kind, facts in rows:
        if (decoder := _DECODERS.get(kind)) is not None:
            yield decoder.decode(facts)


def _pods(cluster_id: int) -> list[Pod]:
    """Of components that no node has by itself: schedulers, operators."""
    rows = PodRow.objects.filter(cluster_id=cluster_id).exclude(component="")
    rows = rows.exclude(component__in=registry.node_components).order_by("id")
    return [_pod.decode(facts) for facts in rows.values_list("facts", flat=True)]


def read_nodes(cluster_id: int) -> Iterator[Node]:
    rows = NodeRow.objects.filter(cluster_id=cluster_id).order_by("id").values_list("facts", flat=True)
    return (_node.decode(facts) for facts in rows.iterator(2000))


def _kinds_read(cluster_id: int) -> frozenset[str]:
    """Kinds of which it is known what there is: a cluster that does not serve one has none of it."""
    rows = Watch.objects.filter(cluster_id=cluster_id, kind__in=JUDGED_BY).values_list("kind", "state", "synced_at")
    known = (WatchState.NOT_SERVED, WatchState.NOT_NEEDED)
    return frozenset(kind for kind, state, synced in rows if synced is not None or state in known)


def components_of(
    node: Node | None, pods: Iterable[Pod], software: Software, slices: Iterable[ResourceSlice]
) -> NodeComponents:
    """What is true of the GPU software of a node. node: None where it is gone. slices: of its pools, so other nodes' too."""
    if node is None:
        return NodeComponents()
    published: Counter[str] = Counter()
    for one in slices:
        if one.spec.nodeName == node.metadata.name:
            published[one.spec.driver] += len(one.spec.devices or ())
    return of_node(node, tuple(pods), software, published)


# Rows.


class StoredComponent(msgspec.Struct, frozen=True):
    """Of a component, what a difference needs."""

    node_name: str
    id: int
    name: str
    state: str
    version: str
    step: str
    digest: int
    state_since: datetime
    step_since: datetime | None


def columns_of(name: str, stack: str, found: Statement, position: int, first_cause: bool) -> Columns:
    """The columns of a component; `digest` is over all of them."""
    texts = {
        "why": stored(found.why),
        "remedy": stored(found.remedy),
        "warnings": [stored(one) for one in found.warnings],
    }
    columns: Columns = {
        "name": plain(name, 320),
        "stack": plain(stack, 63),
        "position": position,
        "state": found.state,
        "version": plain(found.version, 64),
        "wanted": plain(found.wanted, 64),
        "waiting_for": plain(found.waiting_for, 63),
        "container": plain(found.container, 63),
        "exit_code": found.exit_code if found.exit_code is not None and abs(found.exit_code) < 2**31 else None,
        "why": plain(found.why, 4000),
        "warnings": [plain(one, 1000) for one in found.warnings],
        "remedy": plain(found.remedy, 2000),
        "wording": texts,
        "step": plain(found.step, 63),
        "source": plain(found.source, 600),
        "first_cause": first_cause,
        "since": _moment(found.since),
    }
    return columns | {"digest": digest(columns)}


def _moment(seconds: float | None) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None


class Components:
    """Differences of components, collected and then written in a number of statements that does not depend on how many there are."""

    def __init__(self, cluster_id: int, now: datetime) -> None:
        self.cluster_id, self.now = cluster_id, now
        self._new: list[Columns] = []
        self._changed: list[Columns] = []
        self._gone: list[int] = []
        self._changes: list[Columns] = []

    def compare(self, node: str, wanted: dict[str, Columns], there: Iterable[StoredComponent]) -> None:
        """wanted: columns by name."""
        known = {one.name: one for one in there}
        for name, columns in wanted.items():
            before = known.pop(name, None)
            if before is None:
                times = {"state_since": self.now, "step_since": self.now if columns["step"] else None}
                self._new.append({"node_name": node} | columns | times)
                self._note(node, columns, None)
            elif before.digest != columns["digest"]:
                moved = before.step != columns["step"]
                times = {
                    "state_since": before.state_since if before.state == columns["state"] else self.now,
                    "step_since": (self.now if columns["step"] else None) if moved else before.step_since,
                }
                self._changed.append({"node_name": node} | columns | times)
                if moved or (before.state, before.version) != (columns["state"], columns["version"]):
                    self._note(node, columns, before)
        for gone in known.values():
            self._gone.append(gone.id)
            self._note(node, {"name": gone.name, "stack": "", "state": "", "version": "", "step": ""}, gone)

    def _note(self, node: str, columns: Columns, before: StoredComponent | None) -> None:
        self._changes.append(
            {
                "node_name": node,
                "name": columns["name"],
                "stack": columns["stack"],
                "state_before": before.state if before else "",
                "state_after": columns["state"],
                "version_before": before.version if before else "",
                "version_after": columns["version"],
                "step_before": before.step if before else "",
                "step_after": columns["step"],
                "at": self.now,
            }
        )

    def write(self, first: bool = False) -> int:
        """first: nothing was known before, so that nothing has changed. Returns the number of rows of components."""
        if self._gone:
            Component.objects.filter(id__in=self._gone).delete()
        if self._new:
            bulk.insert(Component, _names(self._new), self._values(self._new))
        if self._changed:
            unique = ("cluster_id", "node_name", "name")
            bulk.upsert(Component, _names(self._changed), self._values(self._changed), unique)
        if self._changes and not first:
            bulk.insert(ComponentChange, _names(self._changes), self._values(self._changes))
        return len(self._new) + len(self._changed) + len(self._gone)

    def _values(self, rows: list[Columns]) -> list[tuple[Any, ...]]:
        return [(self.cluster_id, *columns.values()) for columns in rows]


def _names(rows: list[Columns]) -> tuple[str, ...]:
    return ("cluster_id", *rows[0])


# What the cluster has once.


def write_cluster_software(cluster_id: int, software: Software, now: datetime) -> None:
    """Rows and findings of components that the cluster has once. Inside the caller's transaction."""
    found = of_cluster(software)
    wanted = {
        columns["name"]: columns
        for position, (name, (stack, one)) in enumerate(found.items())
        for columns in (columns_of(name, stack, one, position, False),)
    }
    rows = Component.objects.filter(cluster_id=cluster_id, node_name="")
    there = [StoredComponent(*values) for values in rows.values_list(*StoredComponent.__struct_fields__)]
    difference = Components(cluster_id, now)
    difference.compare("", wanted, there)
    difference.write(first=not there)
    texts = {name: finding_text(name, one) for name, (_, one) in found.items() if one.state in CAUSES}
    _write_finding(cluster_id, series(texts.values(), " ") if texts else "", now)


def _write_finding(cluster_id: int, text: str, now: datetime) -> None:
    """One for the cluster, as long as something of it is to be mended."""
    rows = Finding.objects.filter(cluster_id=cluster_id, code=NOT_READY, node_name="", ended_at=None)
    if not text:
        rows.update(ended_at=now)
    elif not rows.update(**stated.columns(text)):
        Finding.objects.create(
            cluster_id=cluster_id, code=NOT_READY, severity=base.ERROR, first_seen_at=now, **stated.columns(text)
        )


def finding_text(name: str, found: Statement) -> str:
    """What a finding says of a component: name, state, why, what to do."""
    why = found.why or (found.warnings[0] if found.warnings else sentence("The API does not report the reason."))
    head = (
        sentence("{component} blocks other components.", component=name)
        if found.state == READY
        else sentence("{component} is {state}.", component=name, state=STATE_WORDS.get(found.state, found.state))
    )
    parts = [head, why]
    if found.remedy:
        ended = found.remedy.endswith(".")
        parts.append(
            sentence("Remedy: {remedy}", remedy=found.remedy)
            if ended
            else sentence("Remedy: {remedy}.", remedy=found.remedy)
        )
    return series(parts, " ")


STATE_WORDS = {
    "pending": sentence("pending"),
    "not ready": sentence("not ready"),
    "crash-looping": sentence("crash-looping"),
    "missing": sentence("missing"),
    "ready": sentence("ready"),
    "paused": sentence("paused"),
    "waiting": sentence("waiting"),
    "outdated": sentence("outdated"),
}


def node_key(software: Software) -> int:
    """A hash of what of the cluster decides on the components of nodes: when it changes, all nodes are looked at again."""
    release = [
        (name, [(one.metadata.labels, one.spec.template if one.spec else None) for one in several])
        for name, several in sorted(software.deployments.items())
    ]
    policies = [(one.metadata.name, one.metadata.labels, one.spec) for one in software.policies]
    drivers = [(one.metadata.name, one.spec) for one in software.drivers]
    devices = [(one.metadata.name, one.spec, one.status) for one in software.deviceconfigs]
    sets = [(name, list(several)) for name, several in sorted(software.daemonsets.items())]
    parts = [sets, release, policies, drivers, len(software.gpuclusters), devices, sorted(software.read)]
    return digest({"": msgspec.json.encode(parts)})
