"""What a stack declares of its software: the components that it needs on nodes and in the cluster, and what is said of each.

A component is one piece of software that a stack needs: a device plugin, a driver, a scheduler extender. Each stack's own module
lists its components in the order of blame: the first that is not ready explains those behind it. `inventory.components` evaluates
the list; it knows no stack by name. Pure: no Django, no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from kube.objects import DaemonSet, Node, Pod, TemplateSpec
from kube.software import (
    ClusterPolicy,
    Deployment,
    DeviceConfig,
    GPUCluster,
    GpuDevicePlugin,
    NVIDIADriver,
    Service,
)

READY, OUTDATED, WAITING, PENDING, NOT_READY, CRASH_LOOPING, PAUSED, DISABLED, MISSING, NOT_NEEDED, UNKNOWN = STATES = (
    *("ready", "outdated", "waiting", "pending", "not ready", "crash-looping"),
    *("paused", "disabled", "missing", "not needed", "unknown"),
)
#: States that may explain why others are not ready.
CAUSES = frozenset((PENDING, NOT_READY, CRASH_LOOPING, MISSING))
#: A reason besides the kubelet's own words: a plugin runs, and the node states nothing that it offers.
OFFERS_NOTHING = "OffersNothing"
#: A pod that starts, and a kubelet that was restarted, are not ready for a moment.
PATIENCE_S = {PENDING: 60, NOT_READY: 60}
#: A change of drivers or of MIG that stands still for longer is stuck.
STUCK_S = 15 * 60


class Statement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is true of one component, on one node or in the cluster.

    state: one of STATES. version: that runs, without "v", operating system and registry; "" where nothing says it. wanted: the
    version that should run, where it is another. waiting_for: the component that an init container waits for. container, exit_code:
    of what failed. reason: the kubelet's word for it ("ErrImagePull"), or OFFERS_NOTHING. why: one sentence.
    warnings: sentences beside a good state. remedy: a command, or a sentence with what to do.
    since: unix seconds, where the objects say it. source: the object that says it ("pod ns/name", "label k", "DaemonSet ns/name").
    step: the value of the label of an upgrade or a change under way. explains: it is the cause of what others lack, although it is
    itself ready. patience_s: seconds that it may last before a finding says it; None: as its state (PATIENCE_S).
    """

    state: str
    version: str = ""
    wanted: str = ""
    waiting_for: str = ""
    container: str = ""
    exit_code: int | None = None
    reason: str = ""
    why: str = ""
    warnings: tuple[str, ...] = ()
    remedy: str = ""
    since: float | None = None
    source: str = ""
    step: str = ""
    explains: bool = False
    patience_s: int | None = None

    @property
    def patience(self) -> int:
        """Seconds that it may last before a finding says it."""
        return PATIENCE_S.get(self.state, 0) if self.patience_s is None else self.patience_s


class Software(msgspec.Struct, frozen=True, kw_only=True):
    """What the synced data have of the software of one cluster.

    now: unix seconds. daemonsets, deployments: by component. owners: uid of a DaemonSet → component. pods: of components that are not
    of one node's DaemonSet (schedulers, operators), by component. read: kinds that the cluster lets be read; of others nothing is
    known. nodes: all nodes, read when asked for.
    """

    now: float = 0.0
    daemonsets: Mapping[str, tuple[DaemonSet, ...]] = {}
    owners: Mapping[str, str] = {}
    deployments: Mapping[str, tuple[Deployment, ...]] = {}
    services: tuple[Service, ...] = ()
    policies: tuple[ClusterPolicy, ...] = ()
    drivers: tuple[NVIDIADriver, ...] = ()
    gpuclusters: tuple[GPUCluster, ...] = ()
    deviceconfigs: tuple[DeviceConfig, ...] = ()
    gpudeviceplugins: tuple[GpuDevicePlugin, ...] = ()
    pods: Mapping[str, tuple[Pod, ...]] = {}
    read: frozenset[str] = frozenset()
    nodes: Callable[[], Iterable[Node]] = tuple


#: WANTED: it should run here. LEFT_OUT: nothing is to be said of it.
Expected: TypeAlias = "Statement | Literal['wanted', 'left-out']"
WANTED: Literal["wanted"] = "wanted"
LEFT_OUT: Literal["left-out"] = "left-out"


class Here(msgspec.Struct, frozen=True, kw_only=True):
    """One component on one node. pod: of its DaemonSet, None: none is there. template: of that DaemonSet. pods: all of the node.

    published: driver of dynamic resource allocation → how many devices its slices have on the node.
    """

    node: Node
    pod: Pod | None
    template: TemplateSpec | None
    daemonset: DaemonSet | None
    pods: tuple[Pod, ...]
    software: Software
    published: Mapping[str, int] = {}


def always(node: Node, software: Software) -> Expected:
    """Wanted on each node."""
    return WANTED


@dataclass(frozen=True, kw_only=True)
class Component:
    """A component that runs on nodes.

    name: stands in tables, addresses and metrics. expected: whether it should run on a node, or what is true of it whatever runs.
    main: containers whose image has the version, the first that is there. waits: init container → the component that it waits for.
    offers: resources of the node by which it proves that it works; the node must state more than 0 of one of them. None: running is
    all that it can prove.
    refine: changes what was found, knowing more of the stack (a better reason, a remedy, a warning).
    optional: nothing on the node waits for it.
    """

    name: str
    expected: Callable[[Node, Software], Expected] = always
    main: tuple[str, ...] = ()
    waits: Mapping[str, str] = field(default_factory=dict)
    offers: Callable[[str], bool] | None = None
    refine: Callable[[Statement, Here], Statement] | None = None
    optional: bool = False


def nothing_in_cluster(software: Software) -> dict[str, Statement]:
    """Of a stack without components in the cluster."""
    return {}


def as_found(found: dict[str, Statement]) -> dict[str, Statement]:
    """No change."""
    return found


@dataclass(frozen=True, kw_only=True)
class SoftwareOf:
    """The software of one stack.

    node: components of nodes, in the order of blame. concerns: whether the stack has to do with a node at all. without: what is true
    of all of them on a node that has no card of the stack; an unknown one is said of the device plugin alone, `plugin`.
    expected: of several components at once, where they share what decides it; else each component says it.
    cluster: components that the cluster has once → what is true of them. schedulers: of these, those without which no pod gets a card
    of the stack. services: (namespace, name) of Services that it looks at,
    and served_by: components without which there are none. together: a last look at all statements of a node.
    """

    node: tuple[Component, ...] = ()
    concerns: Callable[[Node, Software], bool] = lambda node, software: False
    without: Callable[[Node, Software], Statement | None] = lambda node, software: None
    plugin: str = "device-plugin"
    expected: Callable[[Node, Software], Mapping[str, Expected]] = lambda node, software: {}
    cluster: Callable[[Software], dict[str, Statement]] = nothing_in_cluster
    schedulers: tuple[str, ...] = ()
    services: tuple[tuple[str, str], ...] = ()
    served_by: tuple[str, ...] = ()
    together: Callable[[dict[str, Statement]], dict[str, Statement]] = as_found
