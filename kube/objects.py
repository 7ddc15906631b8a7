"""The few fields of Kubernetes objects that gpudash reads, as small typed structs.

Field names are those of the Kubernetes API (core/v1, apps/v1), so a struct decodes straight from API bytes and
encodes back to the same names. Everything may be missing or null. Nothing here knows of Django, stacks or tables.
Source: the API reference of Kubernetes 1.36; `allocatedResourcesStatus` is KEP-4680.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

#: Labels and annotations: always strings in a valid object.
StringMap: TypeAlias = dict[str, str]
#: Resource name → quantity as the API writes it ("2", "16Gi"); see `quantity.parse`.
Quantities: TypeAlias = dict[str, str | int]


class _Object(msgspec.Struct, omit_defaults=True, gc=False):
    """Base of all API structs: defaults are left out when encoded, unknown fields are ignored when decoded."""


class OwnerReference(_Object):
    kind: str = ""
    name: str = ""
    controller: bool | None = None
    uid: str = ""


class Metadata(_Object):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    labels: StringMap | None = None
    annotations: StringMap | None = None
    ownerReferences: Sequence[OwnerReference] | None = None


class Resources(_Object):
    limits: Quantities | None = None
    requests: Quantities | None = None


class ConfigMapKey(_Object):
    """One text of a ConfigMap in the same namespace. optional: it may be missing."""

    name: str = ""
    key: str = ""
    optional: bool | None = None


class EnvSource(_Object):
    """Where a variable has its value from; other sources are not read."""

    configMapKeyRef: ConfigMapKey | None = None


class EnvVar(_Object):
    name: str = ""
    value: str | None = None
    valueFrom: EnvSource | None = None


class Container(_Object):
    name: str = ""
    image: str | None = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[EnvVar] | None = None
    resources: Resources | None = None
    #: "Always" on an init container makes it a sidecar.
    restartPolicy: str | None = None


class PodResourceClaim(_Object):
    name: str = ""
    resourceClaimName: str | None = None
    resourceClaimTemplateName: str | None = None


class PodSpec(_Object):
    nodeName: str | None = None
    containers: list[Container] | None = None
    initContainers: list[Container] | None = None
    resourceClaims: list[PodResourceClaim] | None = None
    runtimeClassName: str | None = None
    schedulerName: str | None = None


class ResourceHealth(_Object):
    resourceID: str = ""
    health: str | None = None


class ResourceStatus(_Object):
    name: str = ""
    resources: list[ResourceHealth] | None = None


class Waiting(_Object):
    reason: str | None = None
    message: str | None = None


class Terminated(_Object):
    exitCode: int | None = None
    reason: str | None = None
    message: str | None = None
    finishedAt: str | None = None


class Running(_Object):
    startedAt: str | None = None


class ContainerState(_Object):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Object):
    name: str = ""
    ready: bool | None = None
    restartCount: int | None = None
    imageID: str | None = None
    state: ContainerState | None = None
    lastState: ContainerState | None = None
    allocatedResourcesStatus: list[ResourceStatus] | None = None


class Condition(_Object):
    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None


class RequestMapping(_Object):
    """A container's extended resource that a claim serves."""

    containerName: str = ""
    resourceName: str = ""


class ExtendedClaim(_Object):
    resourceClaimName: str = ""
    requestMappings: list[RequestMapping] | None = None


class ResourceClaimStatus(_Object):
    """The claim that was made for the pod from a template; name: what the pod calls it."""

    name: str = ""
    resourceClaimName: str | None = None


class PodStatus(_Object):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    conditions: list[Condition] | None = None
    #: A sequence, so that `kube.workloads` can narrow it; what is decoded is a list.
    containerStatuses: Sequence[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None
    startTime: str | None = None
    extendedResourceClaimStatus: ExtendedClaim | None = None
    resourceClaimStatuses: list[ResourceClaimStatus] | None = None


class Pod(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: PodSpec | None = None
    status: PodStatus | None = None


class Taint(_Object):
    key: str = ""
    value: str | None = None
    effect: str = ""
    timeAdded: str | None = None


class NodeSpec(_Object):
    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class NodeAddress(_Object):
    type: str = ""
    address: str = ""


class NodeInfo(_Object):
    bootID: str | None = None
    machineID: str | None = None
    systemUUID: str | None = None
    osImage: str | None = None
    operatingSystem: str | None = None
    kernelVersion: str | None = None
    kubeletVersion: str | None = None
    containerRuntimeVersion: str | None = None
    architecture: str | None = None


class NodeStatus(_Object):
    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    addresses: list[NodeAddress] | None = None
    nodeInfo: NodeInfo | None = None


class NodeMetadata(Metadata):
    """managedFields: who wrote which field last, as it came; read only of nodes that are cordoned."""

    managedFields: msgspec.Raw = msgspec.Raw()


class Node(_Object):
    metadata: NodeMetadata = msgspec.field(default_factory=NodeMetadata)
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class ConfigMapRef(_Object):
    """A ConfigMap in the same namespace."""

    name: str = ""


class EnvFrom(_Object):
    """All texts of a ConfigMap as variables; where it is none, they are of something that is not read."""

    prefix: str | None = None
    configMapRef: ConfigMapRef | None = None


class VolumeMount(_Object):
    name: str = ""
    mountPath: str = ""
    subPath: str | None = None


class Volume(_Object):
    """configMap: None for a volume of another kind."""

    name: str = ""
    configMap: ConfigMapRef | None = None


class TemplateContainer(Container):
    """A container of a DaemonSet, with what it has of ConfigMaps. Of pods that is not read: there are many."""

    envFrom: list[EnvFrom] | None = None
    volumeMounts: list[VolumeMount] | None = None


class NodeRequirement(_Object):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeTerm(_Object):
    matchExpressions: list[NodeRequirement] | None = None
    matchFields: list[NodeRequirement] | None = None


class NodeSelector(_Object):
    nodeSelectorTerms: list[NodeTerm] | None = None


class NodeAffinity(_Object):
    requiredDuringSchedulingIgnoredDuringExecution: NodeSelector | None = None


class Affinity(_Object):
    nodeAffinity: NodeAffinity | None = None


class Toleration(_Object):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class TemplateSpec(_Object):
    """The specification of the pods of a DaemonSet or Deployment."""

    containers: list[TemplateContainer] | None = None
    initContainers: list[TemplateContainer] | None = None
    volumes: list[Volume] | None = None
    nodeName: str | None = None
    nodeSelector: StringMap | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    hostNetwork: bool | None = None


class PodTemplate(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: TemplateSpec | None = None


class UpdateStrategy(_Object):
    """type: "OnDelete": a pod is replaced when somebody deletes it."""

    type: str | None = None


class DaemonSetSpec(_Object):
    template: PodTemplate | None = None
    updateStrategy: UpdateStrategy | None = None


class DaemonSetStatus(_Object):
    desiredNumberScheduled: int | None = None
    numberReady: int | None = None
    numberUnavailable: int | None = None


class DaemonSet(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: DaemonSetSpec | None = None
    status: DaemonSetStatus | None = None
