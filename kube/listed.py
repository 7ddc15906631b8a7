"""A pod as lists and watches give it: what tells whether it is of interest is decoded, the rest only when it is.

Most pods of a cluster hold no GPU; their environment and status are two thirds of what there is to decode. They stay JSON here, and
`environment` and `status` read them. What does not decode in a pod of interest is named by `Unreadable`.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from kube.decoders import decoder
from kube.objects import EnvVar, Metadata, PodResourceClaim, PodStatus, Quantities, Resources

_T = TypeVar("_T")
_NOTHING = msgspec.Raw()


class Unreadable(ValueError):
    """A part of the pod does not decode. The text names the part and what is wrong with it."""


class Container(msgspec.Struct, gc=False):
    """As `objects.Container`, but env."""

    name: str = ""
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: msgspec.Raw = _NOTHING
    resources: Resources | None = None
    restartPolicy: str | None = None


class PodSpec(msgspec.Struct, gc=False):
    """As `objects.PodSpec`, of these containers. resources: of the pod as a whole (KEP-2837); overhead: of its runtime class."""

    nodeName: str | None = None
    containers: list[Container] | None = None
    initContainers: list[Container] | None = None
    resourceClaims: list[PodResourceClaim] | None = None
    runtimeClassName: str | None = None
    schedulerName: str | None = None
    priority: int | None = None
    resources: Resources | None = None
    overhead: Quantities | None = None


class Pod(msgspec.Struct, gc=False):
    """As `objects.Pod`, but status."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: PodSpec | None = None
    status: msgspec.Raw = _NOTHING


_environment: msgspec.json.Decoder[list[EnvVar] | None] = decoder(list[EnvVar] | None)
_status: msgspec.json.Decoder[PodStatus | None] = decoder(PodStatus | None)


def environment(container: Container) -> list[EnvVar] | None:
    """The variables of a container. Raises Unreadable."""
    return _read(container.env, _environment, f"env of the container {container.name[:63]}") if container.env else None


def status(pod: Pod) -> PodStatus | None:
    """The pod's status. Raises Unreadable."""
    return _read(pod.status, _status, "status") if pod.status else None


def _read(raw: msgspec.Raw, decoder: msgspec.json.Decoder[_T], what: str) -> _T:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Unreadable(f"{what}: {error}") from None
