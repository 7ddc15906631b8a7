"""Jobs, their pods and events, as who launches them reads them: decoded object by object.

A pod is that of `kube.objects` and says more: how its container ended and who holds up its deletion. The mirror stores its structs
as they are, so each field more would be in 150,000 rows, while a launcher wants to know of a few pods why they wait and how they
ended. Field names are those of the Kubernetes API (batch/v1, core/v1). What does not decode is not missing: its name is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from kube import objects
from kube.decoders import decoder
from kube.objects import Condition
from wording.said import sentence


class _Object(msgspec.Struct, gc=False):
    """Unknown fields are ignored; everything may be missing or null."""


class Metadata(objects.Metadata):
    finalizers: list[str] | None = None


class JobStatus(_Object):
    active: int | None = None
    failed: int | None = None
    conditions: list[Condition] | None = None


class Job(_Object):
    """spec: as it came, to be compared with what was posted."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: Any = None
    status: JobStatus | None = None


class Terminated(objects.Terminated):
    signal: int | None = None
    startedAt: str | None = None


class ContainerState(objects.ContainerState):
    terminated: Terminated | None = None


class ContainerStatus(objects.ContainerStatus):
    state: ContainerState | None = None
    lastState: ContainerState | None = None


class PodStatus(objects.PodStatus):
    containerStatuses: Sequence[ContainerStatus] | None = None


class Pod(objects.Pod):
    """whole_spec: its spec as it came, to be compared with what was posted (`read_list` fills it in)."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: PodStatus | None = None
    whole_spec: Any = None


class Event(_Object):
    reason: str | None = None
    message: str | None = None
    lastTimestamp: str | None = None
    eventTime: str | None = None


class _Meta(_Object):
    continue_: str | None = msgspec.field(default=None, name="continue")


class _RawList(_Object):
    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[msgspec.Raw] | None = None


class _Named(_Object):
    metadata: Metadata | None = None


class _Spec(_Object):
    spec: Any = None


T = TypeVar("T", Job, Pod, Event)

_BAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_raw_list = decoder(_RawList)
_named = decoder(_Named)
_spec = decoder(_Spec)


class NotAList(Exception):
    """A 200 answer that is no list of the wanted kind."""


class Listed(msgspec.Struct, Generic[T]):
    """objects: what decoded. strange: names of what did not; "" for one without a readable name."""

    objects: list[T]
    strange: set[str]
    continue_token: str = ""


def read_list(body: bytes, kind: type[T]) -> Listed[T]:
    """One page of a list. Raises NotAList."""
    try:
        raw = _raw_list.decode(body)
    except _BAD:
        raise NotAList(
            sentence(
                "expected {kind}List, received {came}",
                kind=kind.__name__,
                came=f"{body[:80].decode('utf-8', 'replace')!r}",
            )
        ) from None
    if raw.kind != f"{kind.__name__}List":
        raise NotAList(
            sentence(
                "received {came} instead of a {kind}List",
                came=raw.kind[:60] or sentence("an object without a kind"),
                kind=kind.__name__,
            )
        )
    objects = decoder(kind)
    found: Listed[T] = Listed([], set(), raw.metadata.continue_ or "")
    for item in raw.items or []:
        try:
            one = objects.decode(item)
            if isinstance(one, Pod):
                one.whole_spec = _spec.decode(item).spec
            found.objects.append(one)
        except _BAD:
            found.strange.add(_name(item))
    return found


def read_job(body: bytes) -> Job | None:
    """One Job; None when the answer is none that can be read."""
    try:
        job = decoder(Job).decode(body)
    except _BAD:
        return None
    return job if job.metadata.name and job.metadata.uid else None


def _name(item: msgspec.Raw) -> str:
    try:
        metadata = _named.decode(item).metadata
    except _BAD:
        return ""
    return metadata.name if metadata else ""
