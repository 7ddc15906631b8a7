"""What to do, by the keys that statements have, and who sources are. English; pages translate it."""

from __future__ import annotations

from collections.abc import Mapping

from exporters import conditions

#: Key → sentence.
ACTIONS: Mapping[str, str] = {
    **conditions.ACTIONS,
    "look-at-application": "Check the memory accesses and the log of the application. The card stays usable.",
    "reset-or-replace": "Reset the card as soon as it has no workload. If the error recurs, replace the card.",
    "reboot-or-replace": "Reboot the machine. If it is virtual, reboot its host. If the error recurs, replace the card.",
    "check-power-supply": "Check the power limits and the power cables of the machine.",
    "replace": "Stop using the card and replace it.",
    "check-plugin-log": "Check the device plugin log and the kernel log (Xid) on the node.",
    "read-taint": "Read the taint for the reason. The driver or administrator that added the taint removes it.",
    "check-driver": "Check the log of the driver pod on the node.",
    "wait-for-repair": "No action: the repair is automatic. If the state does not change, check the log of NVSentinel.",
    "repair-by-hand": "Automatic repair stopped. Repair the node, then uncordon it.",
    "check-exporter": "Check the health check result of the exporter and the kernel log of the node.",
}
#: Source → how it is called, where it is no name by itself.
SOURCES: Mapping[str, str] = {
    **{name: text for name, text in conditions.TELLERS.items() if name},
    "kubelet": "kubelet (allocatedResourcesStatus)",
    "device-plugin": "device plugin (capacity and allocatable)",
    "node-condition": "node condition",
    "device-taint-rule": "DeviceTaintRule",
}


def source_words(source: str) -> str:
    return SOURCES.get(source, source)


def action_words(action: str) -> str:
    """ "" for nothing to do, or a key that is not known any more."""
    return ACTIONS.get(action, "")
