"""What a resource family declares: how a run is given a card by one sharing system.

A *family* is those extended resources of a system that are asked for in the same way: whole GPUs of NVIDIA's plugin are one, its
MIG instances another. Suites and REST name families; each system's stand in its module in `validations.suites.families`. All of it is
pure: what needs tables (`validations.attribution`, `validations.lifecycle.room`) asks these functions and reads the tables itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from kube.objects import Pod
from validations.suites.engine.needs import Needs
from validations.suites.engine.options import Values
from validations.suites.engine.target import Resource, Settings, Target


def one_for_each_card(resource: Resource, values: Values, cards: int) -> int | None:
    """Units of a counted device: as many as cards."""
    return cards


def nothing_else(values: Values) -> Mapping[str, str]:
    """No further resources."""
    return {}


def names_no_card(resource: Resource, target: Target, cards: int) -> bool:
    """A pod of the family cannot say which card it is to get."""
    return False


def no_annotations(target: Target, units: int, moment: datetime | None) -> Mapping[str, str]:
    """A pod of the family is not annotated."""
    return {}


def memory_mib(values: Values) -> int:
    """Card memory that a run asks for, in MiB. values: settled options."""
    return int(values.get("gpu_memory_mib", 1024))


def no_mounts(target: Target) -> tuple[Mount, ...]:
    """The device plugin of the family puts into the container what it needs."""
    return ()


def nothing_lacking(target: Target) -> str:
    """A container of the family gets the driver's libraries wherever the resource is."""
    return ""


class Mount(msgspec.Struct, frozen=True):
    """A folder of the node that a container gets, for reading."""

    name: str
    host_path: str
    path: str


class PodRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How to read what a system writes on a pod of its card, where the device plugin finds the pod by its request alone.

    The kubelet's Allocate call names no pod, so two pods of one request that wait on one node may get each other's cards.
    evidence: what the inventory calls a card that is known by this record. waiting: units that the pod waits for with a card written
    on it, None when it does not wait. assigned_at: until when it waited, None when that is not written. doubt: (pod, key of the
    card that is written on it, settings) → why it may not be the card that it has, "" when the record does not speak against it.
    """

    evidence: tuple[str, ...]
    waiting: Callable[[Pod, Settings], int | None]
    assigned_at: Callable[[Pod, Settings], datetime | None]
    doubt: Callable[[Pod, str, Settings], str]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One resource family. Suites that name it can run wherever a node has a resource of it.

    name: stands in suites and REST. os: "linux" or "windows". apis: programming interfaces of the GPU whose driver files a container
    gets: cuda, directx, opencl, vulkan, video … rank: which family of an API is the best to ask for, least first.
    resources: names of its extended resources. serves: (resource, settings) → whether it is one of them, where names alone do not
    tell. stack: it serves these resources only on nodes of this sharing system, there before all others; "": on all nodes.
    counts_memory: units are card memory, of a size that the node decides, and not devices.
    units: (resource, options, cards) → how much to ask for; None for memory units of a size that is not known. also: further
    resources to ask for, with their quantities.
    names_card: (resource, target, cards) → whether the pod says which card it takes. annotations: (target, units of the whole pod,
    now or None) → how it says so. binds: a pod that names its card brings its node too, and no scheduler sees it: gpudash itself
    looks whether there is room before it is created. record: what the system writes on the pods, where it may be doubted.
    mounts: what the pod must bring into its container by itself. lacking: why a container on the target would have no driver, ""
    when it has one. os_label: whether its nodes have the label kubernetes.io/os. disk_limit: whether their Kubernetes knows limits
    of ephemeral storage. variables: names of environment variables that the system's webhook may add to a container.
    needs: what a node must have for a container to get the devices, whatever runs in it.
    """

    name: str
    os: str
    apis: tuple[str, ...]
    rank: int = 0
    resources: tuple[str, ...] = ()
    serves: Callable[[str, Settings], bool] | None = None
    stack: str = ""
    counts_memory: bool = False
    units: Callable[[Resource, Values, int], int | None] = one_for_each_card
    also: Callable[[Values], Mapping[str, str]] = nothing_else
    names_card: Callable[[Resource, Target, int], bool] = names_no_card
    annotations: Callable[[Target, int, datetime | None], Mapping[str, str]] = no_annotations
    binds: bool = False
    record: PodRecord | None = None
    mounts: Callable[[Target], tuple[Mount, ...]] = no_mounts
    lacking: Callable[[Target], str] = nothing_lacking
    os_label: bool = True
    disk_limit: bool = True
    needs: Needs = Needs()
    variables: tuple[str, ...] = ()

    def has(self, resource: str, settings: Settings) -> bool:
        """Whether this extended resource is one of the family."""
        return resource in self.resources or (self.serves is not None and self.serves(resource, settings))
