"""Objects that say how GPU software is set up: Deployments, Services, and the custom resources of operators.

Only the fields that are read, under the names of the API: apps/v1, core/v1; nvidia.com/v1 (ClusterPolicy), nvidia.com/v1alpha1
(NVIDIADriver, GPUCluster); amd.com/v1alpha1 (DeviceConfig); deviceplugin.intel.com/v1 (GpuDevicePlugin). Environments are read for
the names of their variables only. Sources: NVIDIA/gpu-operator v26.7.0 api/, ROCm/gpu-operator v1.5.1,
intel/intel-device-plugins-for-kubernetes v0.36.0.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kube.objects import Condition, Metadata, PodTemplate, StringMap


class _Object(msgspec.Struct, omit_defaults=True, gc=False):
    """Base: defaults are left out when encoded, unknown fields are ignored when decoded."""


# Deployments and Services.


class DeploymentSpec(_Object):
    replicas: int | None = None
    template: PodTemplate | None = None


class DeploymentStatus(_Object):
    readyReplicas: int | None = None
    conditions: list[Condition] | None = None


class Deployment(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: DeploymentSpec | None = None
    status: DeploymentStatus | None = None


class ServicePort(_Object):
    port: int | None = None
    nodePort: int | None = None
    targetPort: int | str | None = None


class ServiceSpec(_Object):
    type: str | None = None
    ports: list[ServicePort] | None = None
    selector: StringMap | None = None


class Service(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: ServiceSpec | None = None


# Custom resources.


class VariableName(_Object):
    name: str = ""


class UpgradePolicy(_Object):
    """maxUnavailable: a number or a percentage."""

    autoUpgrade: bool | None = None
    maxParallelUpgrades: int | None = None
    maxUnavailable: int | str | None = None


class Operand(_Object):
    """One part of a ClusterPolicy. enabled: None: the operator's default."""

    enabled: bool | None = None
    repository: str | None = None
    image: str | None = None
    version: str | None = None
    useNvidiaDriverCRD: bool | None = None
    upgradePolicy: UpgradePolicy | None = None
    env: list[VariableName] | None = None


class Sandbox(_Object):
    enabled: bool | None = None
    defaultWorkload: str | None = None
    mode: str | None = None


class ClusterPolicySpec(_Object):
    driver: Operand | None = None
    toolkit: Operand | None = None
    devicePlugin: Operand | None = None
    dcgm: Operand | None = None
    dcgmExporter: Operand | None = None
    gfd: Operand | None = None
    migManager: Operand | None = None
    nodeStatusExporter: Operand | None = None
    validator: Operand | None = None
    vfioManager: Operand | None = None
    sandboxDevicePlugin: Operand | None = None
    vgpuManager: Operand | None = None
    vgpuDeviceManager: Operand | None = None
    kataManager: Operand | None = None
    ccManager: Operand | None = None
    kataSandboxDevicePlugin: Operand | None = None
    sandboxWorkloads: Sandbox | None = None


class PolicyStatus(_Object):
    state: str | None = None
    namespace: str | None = None
    conditions: list[Condition] | None = None


class ClusterPolicy(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: ClusterPolicySpec | None = None
    status: PolicyStatus | None = None


class NvidiaDriverSpec(_Object):
    driverType: str | None = None
    version: str | None = None
    nodeSelector: StringMap | None = None


class NVIDIADriver(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: NvidiaDriverSpec | None = None
    status: PolicyStatus | None = None


class GPUCluster(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: PolicyStatus | None = None


class Count(_Object):
    """Pods of one part of a DeviceConfig."""

    nodesMatchingSelectorNumber: int | None = None
    desiredNumber: int | None = None
    availableNumber: int | None = None


class ModuleStatus(_Object):
    """The driver on one node. status: the state of its upgrade."""

    containerImage: str | None = None
    status: str | None = None
    upgradeStartTime: str | None = None


class DeviceConfigStatus(_Object):
    driver: Count | None = None
    devicePlugin: Count | None = None
    metricsExporter: Count | None = None
    nodeModuleStatus: dict[str, ModuleStatus] | None = None
    conditions: list[Condition] | None = None


class AmdDriver(_Object):
    enable: bool | None = None
    version: str | None = None


class AmdPart(_Object):
    enable: bool | None = None
    enableDevicePlugin: bool | None = None
    enableNodeLabeller: bool | None = None


class DeviceConfigSpec(_Object):
    driver: AmdDriver | None = None
    devicePlugin: AmdPart | None = None
    metricsExporter: AmdPart | None = None
    selector: StringMap | None = None


class DeviceConfig(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: DeviceConfigSpec | None = None
    status: DeviceConfigStatus | None = None


class GpuDevicePluginSpec(_Object):
    image: str | None = None
    sharedDevNum: int | None = None
    nodeSelector: StringMap | None = None


class GpuDevicePluginStatus(_Object):
    desiredNumberScheduled: int | None = None
    numberReady: int | None = None


class GpuDevicePlugin(_Object):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: GpuDevicePluginSpec | None = None
    status: GpuDevicePluginStatus | None = None


SoftwareObject: TypeAlias = (
    Deployment | Service | ClusterPolicy | NVIDIADriver | GPUCluster | DeviceConfig | GpuDevicePlugin
)
