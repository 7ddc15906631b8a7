"""Types of conditions whose meaning is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from exporters.conditions.statement import DEGRADED, UNHEALTHY


class Known(NamedTuple):
    """teller: a key of TELLERS. headline: what it means when it is bad; fine: when it is good. state: how the cards are then.
    action: what to do, where neither the teller nor the Xid says it. bad, good: statuses.
    """

    teller: str
    headline: str
    fine: str
    state: str
    action: str = "check-node"
    bad: str = "True"
    good: str = "False"


def _nvsentinel(what: str, state: str = UNHEALTHY, action: str = "check-node") -> Known:
    return Known("nvsentinel", f"NVSentinel: {what}", "NVSentinel reports no fault", state, action)


_MEMORY, _NVLINK, _SWITCH = "the memory of a card is faulty", "an NVLink is faulty", "an NVSwitch is faulty"
#: By the names of NVSentinel's checks. Further names are recognised by their reason.
NVSENTINEL: Mapping[str, Known] = {
    "GpuMemWatch": _nvsentinel(_MEMORY),
    "GpuThermalWatch": _nvsentinel("a card is too hot", action="check-cooling"),
    "GpuThermalMarginWatch": _nvsentinel("a card is close to its maximum temperature", DEGRADED, "check-cooling"),
    "GpuPcieWatch": _nvsentinel("the PCIe link of a card is faulty"),
    "GpuPowerWatch": _nvsentinel("GPU power fault", action="check-power"),
    "GpuInforomWatch": _nvsentinel("the InfoROM of a card is damaged"),
    "GpuSmWatch": _nvsentinel("a multiprocessor of a card is faulty"),
    "GpuNvlinkWatch": _nvsentinel(_NVLINK, action="check-links"),
    "GpuMcuWatch": _nvsentinel("the controller of a card is faulty"),
    "GpuPmuWatch": _nvsentinel("the power management of a card is faulty"),
    "GpuDriverWatch": _nvsentinel("the driver is faulty"),
    "GpuCpusetWatch": _nvsentinel("CPU affinity of a card is wrong"),
    "GpuDcgmConnectivityFailure": _nvsentinel("DCGM cannot be reached", DEGRADED, "check-monitoring"),
    "GpuDcgmUnresponsive": _nvsentinel("DCGM does not answer", DEGRADED, "check-monitoring"),
    "SysLogsXIDError": _nvsentinel("Xid errors in the kernel log"),
    "SysLogsSXIDError": _nvsentinel("NVSwitch errors in the kernel log", action="check-links"),
    "SysLogsGPUFallenOff": _nvsentinel("a card has fallen off the bus", action="reboot"),
    "GpuNvswitchFatalWatch": _nvsentinel(_SWITCH, action="check-links"),
    "GpuNvswitchNonfatalWatch": _nvsentinel(_SWITCH, DEGRADED, "check-links"),
    "GpuDcgmFieldWatch": _nvsentinel("DCGM field out of range"),
    "GpuAllWatch": _nvsentinel("a card is faulty"),
    "CSPMaintenance": _nvsentinel("the provider plans maintenance", DEGRADED, "plan-maintenance"),
}
#: Those that say that DCGM, which most of the others ask, is away.
DCGM_AWAY = frozenset(("GpuDcgmConnectivityFailure", "GpuDcgmUnresponsive"))


def _aks(headline: str, fine: str, state: str, action: str = "check-node") -> Known:
    return Known("aks", headline, fine, state, action)


#: By the type, of all but NVSentinel.
KNOWN: Mapping[str, Known] = {
    "GPUMissing": _aks("The number of cards does not match the machine type", "All cards are present", UNHEALTHY),
    "NVLinkStatusInactive": _aks("An NVLink is not active", "All NVLinks are active", DEGRADED, "check-links"),
    "XIDErrors": _aks("Xid errors in the kernel log", "No Xid errors in the kernel log", DEGRADED),
    "GPUXIDErrors": _aks("Xid errors in the kernel log", "No Xid errors in the kernel log", DEGRADED),
    "IBLinkFlapping": _aks("An InfiniBand link is flapping", "InfiniBand links are stable", DEGRADED, "check-network"),
    "GPUClockThrottling": _aks(
        "A card is throttled by heat, power or hardware",
        "No card is throttled",
        DEGRADED,
        "check-cooling",
    ),
    "UnhealthyNvidiaDevicePlugin": _aks(
        "The device plugin does not run", "The device plugin runs", DEGRADED, "check-plugin"
    ),
    "AcceleratedHardwareReady": Known(
        "eks",
        "The accelerators of the node are not ready",
        "The accelerators are ready",
        UNHEALTHY,
        bad="False",
        good="True",
    ),
    "XidCriticalError": Known("gke", "A critical Xid error occurred since the node was started", "", UNHEALTHY),
    "AMDGPUProblem": Known("node-problem-detector", "An AMD card is faulty", "The AMD cards are healthy", UNHEALTHY),
}
EKS_UNKNOWN = "The accelerators of the node are not ready, unknown reason"
#: Reasons of AcceleratedHardwareReady: (pattern, headline, state, action). Those of warnings stand in events only.
EKS_REASONS: tuple[tuple[re.Pattern[str], str, str, str], ...] = tuple(
    (re.compile(pattern), headline, state, action)
    for pattern, headline, state, action in (
        (r"NvidiaXID[0-9]{1,4}Error", "A critical Xid error occurred", UNHEALTHY, "check-node"),
        (r"NvidiaDoubleBitError", "A card has uncorrectable memory errors", UNHEALTHY, "reset-and-check"),
        (r"NvidiaNVLinkError", "An NVLink is faulty", UNHEALTHY, "check-links"),
        (r"NvidiaFabricError", "The NVLink fabric is faulty", UNHEALTHY, "check-links"),
        (r"NvidiaDeviceCountMismatch", "The node has fewer cards than expected", UNHEALTHY, "check-node"),
        (r"FabricManagerNotRunning", "The fabric manager does not run", UNHEALTHY, "check-links"),
        (r"DCGMError", "DCGM cannot be reached", DEGRADED, "check-monitoring"),
        (r"DCGMDiagnosticFailure", "A DCGM diagnostic test failed", UNHEALTHY, "check-node"),
        (r"DCGMHealthCode[0-9]{1,6}", "A health check of DCGM failed", UNHEALTHY, "check-node"),
        (r"DCGMFieldError[0-9]{1,6}", "DCGM field out of range", UNHEALTHY, "check-node"),
        (r"Neuron[A-Za-z]{1,40}Error", "A Neuron device has errors", UNHEALTHY, "check-node"),
    )
)
