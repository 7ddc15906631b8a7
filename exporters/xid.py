"""What the codes of NVIDIA's Xid errors mean: whose fault, how bad, what to do now, and who says so. Pure data.

What to do is the bucket ("immediate action") of NVIDIA's Xid catalogue as of 2025-10-29, read from leptonai/gpud at 4a8de33
(components/accelerator/nvidia/xid/catalog_generated.go). Titles are our words. Cause and severity are our judgement: the
catalogue has neither. Tools disagree on some codes, so what each of them does with a code is kept beside it (`SAID`):
NVIDIA/DCGM at 72fa3fe (modules/health), NVIDIA/k8s-device-plugin at 1b826ac (internal/rm/health.go), eks-node-monitoring-agent
at 51af549, container-engine-accelerators at 992db81, nvidia_gpu_exporter at e656cd8 (its alert rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from wording.said import gettext_noop

#: Whose fault an error is. EITHER: the code alone does not say. FOLLOWS: it reports or follows another error.
APPLICATION, DRIVER, HARDWARE, EITHER, FOLLOWS = "application", "driver", "hardware", "either", "follows"
#: From good to bad. PROCESS: it ends the program that ran; the card is usable. UNKNOWN: nothing is known of the code.
INFORMATION, PROCESS, UNKNOWN, WARNING, CRITICAL = "information", "process", "unknown", "warning", "critical"
SEVERITIES = (INFORMATION, PROCESS, UNKNOWN, WARNING, CRITICAL)

#: What to do now → how it is said. Keys are stable; sentences are English and the keys of translation.
ACTIONS = {
    "ignore": gettext_noop("No immediate action is needed."),
    "restart-process": gettext_noop("Restart the application. The card stays usable."),
    "reset": gettext_noop("Reset the card as soon as it has no workload."),
    "reset-and-check": gettext_noop(
        "Reset the card. Then check for pending row remapping and an exceeded SRAM threshold."
    ),
    "reboot": gettext_noop("Reboot the machine. If it is virtual, reboot its host."),
    "restart-vm": gettext_noop("Reboot the virtual machine."),
    "update": gettext_noop("Update the driver and the vGPU software. Guest and host must match."),
    "check-power": gettext_noop("Check that the card's power cables are connected."),
    "check-links": gettext_noop("Check the NVLinks at both ends. Reset the cards or reboot the machine."),
    "decode-link": gettext_noop("Check the sub-code of the error. Some sub-codes are harmless."),
    "look-at-others": gettext_noop("Check the other errors at that time. They caused this one."),
    "follow-message": gettext_noop("Follow the message of the driver."),
    "check-memory-errors": gettext_noop(
        "Check for unified memory errors at that time. If there are none, contact support."
    ),
    "drain-peers": gettext_noop("Stop the workloads on the card and its NVLink peers."),
    "drain-and-reset": gettext_noop("Stop the workloads on the card and its NVLink peers. Then reset the card."),
    "recover-domain": gettext_noop("Recover the NVLink domain (IMEX)."),
    "support": gettext_noop("Contact support."),
    "not-said": gettext_noop("The Xid catalogue of NVIDIA has no action for this code."),
    "look-up-code": gettext_noop("Look up the code in the Xid catalogue of NVIDIA."),
    "reset-bus": gettext_noop("Drain the card, then reset its PCIe bus."),
    "unknown-recovery": gettext_noop(
        "Read the recovery action of the card from the driver on the node, for example with `nvidia-smi -q`."
    ),
}
#: NVIDIA's bucket → what to do.
_OF_BUCKET = {
    "IGNORE": "ignore",
    "RESTART_APP": "restart-process",
    "RESET_GPU": "reset",
    "WORKFLOW_XID_48": "reset-and-check",
    "RESTART_BM": "reboot",
    "RESTART_VM": "restart-vm",
    "UPDATE_SWFW": "update",
    "CHECK_MECHANICALS": "check-power",
    "WORKFLOW_NVLINK_ERR": "check-links",
    "WORKFLOW_NVLINK5_ERR": "decode-link",
    "WORKFLOW_XID_45": "look-at-others",
    "XID_154": "follow-message",
    "CHECK_UVM": "check-memory-errors",
    "CONTACT_SUPPORT": "support",
    "": "not-said",
}
#: The driver's own recovery action (NVML up to 615, the measure `recovery_action`) → what to do; None for nothing.
RECOVERIES: Mapping[int, str | None] = {
    0: None,
    1: "reset",
    2: "reboot",
    3: "drain-peers",
    4: "drain-and-reset",
    5: "recover-domain",
    6: "reset-bus",
    7: "reboot",
}
#: Names of those that NVML has added, beside their number.
RECOVERY_NAMES: Mapping[int, str] = {6: "BUS_RESET", 7: "SYSTEM_REBOOT"}


class Xid(msgspec.Struct, frozen=True, kw_only=True):
    """One code.

    action: a key of ACTIONS. nvidia: the bucket of NVIDIA's catalogue, "" where it names none. replace: the card is to be
    replaced when the error comes again after that. known: the catalogue has the code.
    """

    code: int
    title: str
    cause: str
    severity: str
    action: str
    nvidia: str = ""
    replace: bool = False
    known: bool = True

    @property
    def hits_card(self) -> bool:
        """Whether the card itself is in doubt, and not just what ran on it."""
        return self.severity in (WARNING, CRITICAL)


_RESTART, _RESET, _IGNORE, _SUPPORT = "RESTART_APP", "RESET_GPU", "IGNORE", "CONTACT_SUPPORT"
#: (codes, title, cause, severity, NVIDIA's bucket, replaced when it comes again).
_ROWS: tuple[tuple[Iterable[int], str, str, str, str, bool], ...] = (
    ((8,), gettext_noop("The card stopped processing"), EITHER, PROCESS, _RESTART, False),
    ((11, 25, 32), gettext_noop("Invalid or corrupted commands sent to the card"), EITHER, PROCESS, _RESTART, False),
    (
        (13,),
        gettext_noop("Graphics engine exception, usually an invalid memory access of an application"),
        APPLICATION,
        PROCESS,
        _RESTART,
        False,
    ),
    ((14,), gettext_noop("No longer used"), FOLLOWS, INFORMATION, _IGNORE, False),
    (
        (31,),
        gettext_noop("Memory page fault, usually an invalid memory access of an application"),
        APPLICATION,
        PROCESS,
        _RESTART,
        False,
    ),
    ((37, 38), gettext_noop("Firmware method error or timeout"), DRIVER, INFORMATION, _IGNORE, False),
    ((39, 40, 41, 70, 71, 72, 75, 76, 77, 85), gettext_noop("Copy engine exception"), EITHER, PROCESS, _RESTART, False),
    (range(126, 136), gettext_noop("Copy engine exception"), EITHER, PROCESS, _RESTART, False),
    ((43,), gettext_noop("The channel of an application was reset"), APPLICATION, INFORMATION, _IGNORE, False),
    ((44,), gettext_noop("Context switch fault"), DRIVER, INFORMATION, _IGNORE, False),
    (
        (45,),
        gettext_noop("An application was stopped after another error"),
        FOLLOWS,
        INFORMATION,
        "WORKFLOW_XID_45",
        False,
    ),
    ((46,), gettext_noop("The card stopped processing and did not recover in time"), EITHER, CRITICAL, _RESET, False),
    ((48,), gettext_noop("Uncorrectable memory error (double bit)"), HARDWARE, CRITICAL, "WORKFLOW_XID_48", True),
    ((54,), gettext_noop("Auxiliary power is not connected"), HARDWARE, CRITICAL, "CHECK_MECHANICALS", False),
    ((60,), gettext_noop("Video processor exception"), EITHER, PROCESS, _RESTART, False),
    ((62,), gettext_noop("The internal microcontroller halted"), EITHER, CRITICAL, _RESET, True),
    ((63,), gettext_noop("The next reset remaps a memory row"), HARDWARE, WARNING, _IGNORE, False),
    ((64,), gettext_noop("Row remapping failed"), HARDWARE, CRITICAL, _RESET, True),
    ((66, 67), gettext_noop("Invalid access by the driver"), DRIVER, INFORMATION, _IGNORE, False),
    ((68, 83, 84, 88, 89, 96, 97, 98), gettext_noop("Video decoder exception"), EITHER, PROCESS, _RESTART, False),
    ((69,), gettext_noop("Graphics engine class error"), APPLICATION, PROCESS, _RESTART, False),
    ((74,), gettext_noop("NVLink error"), HARDWARE, CRITICAL, "WORKFLOW_NVLINK_ERR", True),
    ((78,), gettext_noop("A vGPU did not start"), DRIVER, WARNING, "UPDATE_SWFW", False),
    ((79,), gettext_noop("The card has fallen off the bus"), HARDWARE, CRITICAL, "RESTART_BM", True),
    ((80,), gettext_noop("Data to the card was corrupted"), EITHER, PROCESS, _RESTART, False),
    ((82, *range(99, 106)), gettext_noop("JPEG decoder exception"), EITHER, PROCESS, _RESTART, False),
    ((86, 139), gettext_noop("Optical flow engine exception"), EITHER, PROCESS, _RESTART, False),
    ((92,), gettext_noop("Many memory errors, all corrected"), HARDWARE, WARNING, _IGNORE, False),
    ((93,), gettext_noop("The InfoROM was written too often"), HARDWARE, INFORMATION, _IGNORE, False),
    ((94,), gettext_noop("Contained memory error: one application affected"), HARDWARE, WARNING, _RESTART, False),
    (
        (95,),
        gettext_noop("Uncontained memory error: all applications on the card may be affected"),
        HARDWARE,
        CRITICAL,
        _RESET,
        True,
    ),
    ((106, 107), gettext_noop("Management bus test message"), FOLLOWS, INFORMATION, _IGNORE, False),
    (
        (108, 137),
        gettext_noop("Access over NVLink denied, usually an application error"),
        APPLICATION,
        PROCESS,
        _IGNORE,
        False,
    ),
    ((109,), gettext_noop("Context switch timeout"), EITHER, CRITICAL, _RESET, False),
    ((110,), gettext_noop("Security fault"), DRIVER, CRITICAL, _RESET, False),
    ((119,), gettext_noop("GPU system processor (GSP) timeout"), DRIVER, CRITICAL, _RESET, False),
    ((120,), gettext_noop("GPU system processor (GSP) error"), DRIVER, CRITICAL, _RESET, False),
    ((121,), gettext_noop("Corrected error on the link between chips"), HARDWARE, WARNING, _IGNORE, False),
    ((136,), gettext_noop("A link could not be trained"), HARDWARE, CRITICAL, _RESET, True),
    ((140,), gettext_noop("Memory error without recovery"), HARDWARE, CRITICAL, _RESET, True),
    ((141,), gettext_noop("CUDA fast path error"), DRIVER, INFORMATION, _IGNORE, False),
    ((142,), gettext_noop("Video encoder exception"), HARDWARE, WARNING, _SUPPORT, False),
    ((143,), gettext_noop("The card failed to initialize"), EITHER, CRITICAL, _RESET, True),
    (
        range(144, 151),
        gettext_noop("NVLink error, severity given by its sub-code"),
        HARDWARE,
        WARNING,
        "WORKFLOW_NVLINK5_ERR",
        False,
    ),
    ((151,), gettext_noop("Key rotation of confidential computing failed"), DRIVER, CRITICAL, "RESTART_VM", False),
    ((152, 153), gettext_noop("Deep learning accelerator error"), EITHER, INFORMATION, _IGNORE, False),
    ((154,), gettext_noop("The requested recovery action changed"), FOLLOWS, WARNING, "XID_154", False),
    ((155,), gettext_noop("Software-defined NVLink error"), DRIVER, CRITICAL, _RESET, False),
    ((156,), gettext_noop("The next reset retires a part of the card"), HARDWARE, CRITICAL, _RESET, False),
    ((157,), gettext_noop("Retirement of a part of the card failed"), HARDWARE, WARNING, _IGNORE, True),
    ((158,), gettext_noop("The card did not answer in time and is lost"), HARDWARE, CRITICAL, _RESET, True),
    ((159,), gettext_noop("Error on the path to CPU memory"), EITHER, WARNING, "CHECK_UVM", False),
    ((160, 161), gettext_noop("Memory channel retirement pending or failed"), HARDWARE, WARNING, _IGNORE, True),
    ((162,), gettext_noop("Power smoothing enabled again"), HARDWARE, INFORMATION, "", False),
    ((163,), gettext_noop("Power smoothing disabled"), HARDWARE, WARNING, "", False),
    ((164,), gettext_noop("Power smoothing is close to the end of its lifetime"), HARDWARE, WARNING, "", False),
    ((165,), gettext_noop("Power smoothing reached the end of its lifetime"), HARDWARE, WARNING, "", False),
    ((166, 170), gettext_noop("Unexpected traffic or interrupt on a secure NVLink"), EITHER, WARNING, "", False),
    ((167,), gettext_noop("PCIe bus timeout"), HARDWARE, CRITICAL, "", True),
    (
        (168,),
        gettext_noop("Less memory than expected: a protected region is damaged"),
        HARDWARE,
        CRITICAL,
        "",
        True,
    ),
    ((169,), gettext_noop("The security processor halted"), EITHER, CRITICAL, "", True),
    ((171,), gettext_noop("Uncorrectable memory error, details: DRAM"), HARDWARE, CRITICAL, "", True),
    ((172,), gettext_noop("Uncorrectable memory error, details: SRAM"), HARDWARE, CRITICAL, "", True),
)
#: The catalogue's last code.
LAST_CODE = 172
_NOT_USED = gettext_noop("Not used by current drivers")


def _catalogue() -> dict[int, Xid]:
    found = {
        code: Xid(
            code=code, title=_NOT_USED, cause=EITHER, severity=WARNING, action=_OF_BUCKET[_SUPPORT], nvidia=_SUPPORT
        )
        for code in range(1, LAST_CODE + 1)
    }
    for codes, title, cause, severity, bucket, replace in _ROWS:
        for code in codes:
            found[code] = Xid(
                code=code,
                title=title,
                cause=cause,
                severity=severity,
                action=_OF_BUCKET[bucket],
                nvidia=bucket,
                replace=replace,
            )
    return found


#: All codes of the catalogue.
XIDS: Mapping[int, Xid] = _catalogue()

#: What a tool makes of a code: FATAL (the card or node is taken out or alerted), WARNED, IGNORED.
FATAL, WARNED, IGNORED = "fatal", "warned", "ignored"
#: Tool → what it makes of codes. A code that is not named is none that it speaks of, but for the device plugin: it ignores
#: those and takes a card out for all others.
SAID: Mapping[str, Mapping[str, frozenset[int]]] = {
    "dcgm": {
        FATAL: frozenset((48, 64, 74, 79, 95, 119, 120, 140)),
        WARNED: frozenset((31, 32, 38, 39, 42, 43, 54, 56, 57, 58, 60, 61, 62, 63, 67, 73, 78, 94, 121, 137)),
    },
    "nvidia-device-plugin": {IGNORED: frozenset((13, 31, 43, 45, 68, 109))},
    "eks": {
        FATAL: frozenset(
            (46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158)
        )
    },
    "gke": {FATAL: frozenset((48, 63, 64, 79, 119, 120, 123, 140))},
    "nvidia-gpu-exporter": {FATAL: frozenset((48, 62, 64, 74, 79, 95, 119, 120)), WARNED: frozenset((94,))},
}


def xid(code: int) -> Xid:
    """What is known of a code; of one that the catalogue does not have, that nothing is."""
    return XIDS.get(code) or Xid(
        code=code,
        title=gettext_noop("Unknown code"),
        cause=EITHER,
        severity=UNKNOWN,
        action="look-up-code",
        known=False,
    )


def recovery(number: int) -> str | None:
    """What to do for a recovery action of the driver, also for one that is newer than this table; None for nothing."""
    return RECOVERIES.get(number, "unknown-recovery")


def said(code: int) -> dict[str, str]:
    """Tool → FATAL, WARNED or IGNORED, of those that speak of this code."""
    return {tool: verdict for tool, verdicts in SAID.items() for verdict, codes in verdicts.items() if code in codes}


def severest(codes: Iterable[int]) -> Xid | None:
    """The worst of several codes, of equals the lowest; None for none."""
    found = [xid(code) for code in sorted(set(codes))]
    return max(found, key=lambda item: SEVERITIES.index(item.severity), default=None)
