"""Koordinator: what koordlet measures of cards, in the NodeMetric of each node. Its /metrics page has no figure of a card.

Used memory is the sum over the processes that NVML names, of the card and of each pod: no driver, no process of another kind.
It is a mean over the time that `spec.metricCollectPolicy` sets (5 minutes by default). Source: koordinator-sh/koordinator at
a7a1b76: pkg/koordlet/statesinformer/impl/states_nodemetric.go, metricsadvisor/devices/gpu; apis/slo/v1alpha1/resources.go.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Identity, Row, Special
from exporters.engine.reader import Reader
from exporters.engine.readings import POD
from exporters.engine.samples import LABEL_CHARS, Sample
from exporters.engine.values import PERCENT
from kube.decoders import decoder
from kube.quantity import parse

CORE, MEMORY = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory"


class _Device(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    minor: int | None = None
    resources: dict[str, str | int] | None = None


class _Usage(msgspec.Struct):
    devices: list[_Device] | None = None


class _OfNode(msgspec.Struct):
    nodeUsage: _Usage | None = None


class _OfPod(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    podUsage: _Usage | None = None


class _Status(msgspec.Struct):
    updateTime: str | None = None
    nodeMetric: _OfNode | None = None
    podsMetric: list[_OfPod] | None = None


class _Metadata(msgspec.Struct):
    name: str = ""


class _NodeMetric(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: _Status | None = None


_decoder = decoder(_NodeMetric)


def samples(body: bytes, reader: Reader) -> list[Sample]:
    """A NodeMetric (slo.koordinator.sh/v1alpha1) as samples, with the names of its resources. What is none is told and gives
    none.
    """
    try:
        found = _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reader.told.tell("not-an-answer", f"{error}")
        return []
    status = found.status
    if status is None:
        return []
    node, at = found.metadata.name[:LABEL_CHARS], _seconds(status.updateTime)
    made = _of(status.nodeMetric.nodeUsage if status.nodeMetric else None, {"node": node}, at)
    for pod in status.podsMetric or ():
        labels = {"node": node, "namespace": pod.namespace[:LABEL_CHARS], "pod": pod.name[:LABEL_CHARS]}
        made += _of(pod.podUsage, labels, at)
    return made


def _of(usage: _Usage | None, labels: dict[str, str], at: float | None) -> list[Sample]:
    made: list[Sample] = []
    for device in (usage.devices if usage else None) or ():
        if device.type not in (None, "gpu") or not device.id:
            continue
        named = {**labels, "uuid": device.id[:LABEL_CHARS]}
        if device.minor is not None:
            named["minor"] = str(device.minor)
        for name, quantity in (device.resources or {}).items():
            number = parse(quantity)
            if name in (CORE, MEMORY) and number is not None:
                made.append(Sample(name, named, float(number), at))
    return made


def _seconds(text: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
        return moment.timestamp() if moment is not None and moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _memory(row: Row) -> None:
    """Of a pod it is the holder's own, over all its containers; of the node it is that of all processes on the card."""
    if "pod" in row.labels:
        _of_pod.take(row)
        return
    memory = takes.believed(row, m.PROCESS_MEMORY)
    if memory is not None and row.card is not None:
        row.card.put(m.PROCESS_MEMORY, memory, row.at)


def _core(row: Row) -> None:
    """The sum of the processes' shares, in percent."""
    if "pod" in row.labels or row.card is None:
        return
    share = takes.believed(row, m.UTILIZATION, PERCENT)
    if share is not None:
        row.card.put(m.UTILIZATION, min(share, 1.0), row.at)


_of_pod = takes.holder_memory(of=POD)

FORMAT = Format(
    name="koordlet",
    label="Koordinator koordlet",
    metrics={MEMORY: Special(_memory, (m.PROCESS_MEMORY,)), CORE: Special(_core, (m.UTILIZATION,))},
    identity=Identity(uuid=("uuid",), index=("minor",)),
    marks=frozenset((MEMORY, CORE)),
    bare=True,
    from_object=samples,
    verified="koordinator at a7a1b76 (source)",
    not_verified="an object of a live cluster",
)
