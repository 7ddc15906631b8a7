"""Types of conditions whose meaning is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from exporters.conditions.statement import DEGRADED, UNHEALTHY
from wording.said import gettext_noop


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


def _nvsentinel(headline: str, state: str = UNHEALTHY, action: str = "check-node") -> Known:
    return Known("nvsentinel", headline, gettext_noop("NVSentinel reports no fault"), state, action)


_MEMORY = gettext_noop("NVSentinel: the memory of a card is faulty")
_NVLINK = gettext_noop("NVSentinel: an NVLink is faulty")
_SWITCH = gettext_noop("NVSentinel: an NVSwitch is faulty")
#: By the names of NVSentinel's checks. Further names are recognised by their reason.
NVSENTINEL: Mapping[str, Known] = {
    "GpuMemWatch": _nvsentinel(_MEMORY),
    "GpuThermalWatch": _nvsentinel(gettext_noop("NVSentinel: a card is too hot"), action="check-cooling"),
    "GpuThermalMarginWatch": _nvsentinel(
        gettext_noop("NVSentinel: a card is close to its maximum temperature"), DEGRADED, "check-cooling"
    ),
    "GpuPcieWatch": _nvsentinel(gettext_noop("NVSentinel: the PCIe link of a card is faulty")),
    "GpuPowerWatch": _nvsentinel(gettext_noop("NVSentinel: GPU power fault"), action="check-power"),
    "GpuInforomWatch": _nvsentinel(gettext_noop("NVSentinel: the InfoROM of a card is damaged")),
    "GpuSmWatch": _nvsentinel(gettext_noop("NVSentinel: a multiprocessor of a card is faulty")),
    "GpuNvlinkWatch": _nvsentinel(_NVLINK, action="check-links"),
    "GpuMcuWatch": _nvsentinel(gettext_noop("NVSentinel: the controller of a card is faulty")),
    "GpuPmuWatch": _nvsentinel(gettext_noop("NVSentinel: the power management of a card is faulty")),
    "GpuDriverWatch": _nvsentinel(gettext_noop("NVSentinel: the driver is faulty")),
    "GpuCpusetWatch": _nvsentinel(gettext_noop("NVSentinel: CPU affinity of a card is wrong")),
    "GpuDcgmConnectivityFailure": _nvsentinel(
        gettext_noop("NVSentinel: DCGM cannot be reached"), DEGRADED, "check-monitoring"
    ),
    "GpuDcgmUnresponsive": _nvsentinel(gettext_noop("NVSentinel: DCGM does not answer"), DEGRADED, "check-monitoring"),
    "SysLogsXIDError": _nvsentinel(gettext_noop("NVSentinel: Xid errors in the kernel log")),
    "SysLogsSXIDError": _nvsentinel(
        gettext_noop("NVSentinel: NVSwitch errors in the kernel log"), action="check-links"
    ),
    "SysLogsGPUFallenOff": _nvsentinel(gettext_noop("NVSentinel: a card has fallen off the bus"), action="reboot"),
    "GpuNvswitchFatalWatch": _nvsentinel(_SWITCH, action="check-links"),
    "GpuNvswitchNonfatalWatch": _nvsentinel(_SWITCH, DEGRADED, "check-links"),
    "GpuDcgmFieldWatch": _nvsentinel(gettext_noop("NVSentinel: DCGM field out of range")),
    "GpuAllWatch": _nvsentinel(gettext_noop("NVSentinel: a card is faulty")),
    "CSPMaintenance": _nvsentinel(
        gettext_noop("NVSentinel: the provider plans maintenance"), DEGRADED, "plan-maintenance"
    ),
}
#: Those that say that DCGM, which most of the others ask, is away.
DCGM_AWAY = frozenset(("GpuDcgmConnectivityFailure", "GpuDcgmUnresponsive"))


def _aks(headline: str, fine: str, state: str, action: str = "check-node") -> Known:
    return Known("aks", headline, fine, state, action)


#: By the type, of all but NVSentinel.
KNOWN: Mapping[str, Known] = {
    "GPUMissing": _aks(
        gettext_noop("The number of cards does not match the machine type"),
        gettext_noop("All cards are present"),
        UNHEALTHY,
    ),
    "NVLinkStatusInactive": _aks(
        gettext_noop("An NVLink is not active"), gettext_noop("All NVLinks are active"), DEGRADED, "check-links"
    ),
    "XIDErrors": _aks(
        gettext_noop("Xid errors in the kernel log"), gettext_noop("No Xid errors in the kernel log"), DEGRADED
    ),
    "GPUXIDErrors": _aks(
        gettext_noop("Xid errors in the kernel log"), gettext_noop("No Xid errors in the kernel log"), DEGRADED
    ),
    "IBLinkFlapping": _aks(
        gettext_noop("An InfiniBand link is flapping"),
        gettext_noop("InfiniBand links are stable"),
        DEGRADED,
        "check-network",
    ),
    "GPUClockThrottling": _aks(
        gettext_noop("A card is throttled by heat, power or hardware"),
        gettext_noop("No card is throttled"),
        DEGRADED,
        "check-cooling",
    ),
    "UnhealthyNvidiaDevicePlugin": _aks(
        gettext_noop("The device plugin does not run"), gettext_noop("The device plugin runs"), DEGRADED, "check-plugin"
    ),
    "AcceleratedHardwareReady": Known(
        "eks",
        gettext_noop("The accelerators of the node are not ready"),
        gettext_noop("The accelerators are ready"),
        UNHEALTHY,
        bad="False",
        good="True",
    ),
    "XidCriticalError": Known(
        "gke", gettext_noop("A critical Xid error occurred since the node was started"), "", UNHEALTHY
    ),
    "AMDGPUProblem": Known(
        "node-problem-detector",
        gettext_noop("An AMD card is faulty"),
        gettext_noop("The AMD cards are healthy"),
        UNHEALTHY,
    ),
}
EKS_UNKNOWN = gettext_noop("The accelerators of the node are not ready, unknown reason")
#: Reasons of AcceleratedHardwareReady: (pattern, headline, state, action). Those of warnings stand in events only.
EKS_REASONS: tuple[tuple[re.Pattern[str], str, str, str], ...] = tuple(
    (re.compile(pattern), headline, state, action)
    for pattern, headline, state, action in (
        (r"NvidiaXID[0-9]{1,4}Error", gettext_noop("A critical Xid error occurred"), UNHEALTHY, "check-node"),
        (r"NvidiaDoubleBitError", gettext_noop("A card has uncorrectable memory errors"), UNHEALTHY, "reset-and-check"),
        (r"NvidiaNVLinkError", gettext_noop("An NVLink is faulty"), UNHEALTHY, "check-links"),
        (r"NvidiaFabricError", gettext_noop("The NVLink fabric is faulty"), UNHEALTHY, "check-links"),
        (r"NvidiaDeviceCountMismatch", gettext_noop("The node has fewer cards than expected"), UNHEALTHY, "check-node"),
        (r"FabricManagerNotRunning", gettext_noop("The fabric manager does not run"), UNHEALTHY, "check-links"),
        (r"DCGMError", gettext_noop("DCGM cannot be reached"), DEGRADED, "check-monitoring"),
        (r"DCGMDiagnosticFailure", gettext_noop("A DCGM diagnostic test failed"), UNHEALTHY, "check-node"),
        (r"DCGMHealthCode[0-9]{1,6}", gettext_noop("A health check of DCGM failed"), UNHEALTHY, "check-node"),
        (r"DCGMFieldError[0-9]{1,6}", gettext_noop("DCGM field out of range"), UNHEALTHY, "check-node"),
        (r"Neuron[A-Za-z]{1,40}Error", gettext_noop("A Neuron device has errors"), UNHEALTHY, "check-node"),
    )
)
