"""What to do, by the keys that statements have, and who sources are. English; pages translate it."""

from __future__ import annotations

from collections.abc import Mapping

from exporters import conditions
from wording.said import gettext_noop

#: Key → sentence.
ACTIONS: Mapping[str, str] = {
    **conditions.ACTIONS,
    "look-at-application": gettext_noop(
        "Check the memory accesses and the log of the application. The card stays usable."
    ),
    "reset-or-replace": gettext_noop(
        "Reset the card as soon as it has no workload. If the error recurs, replace the card."
    ),
    "reboot-or-replace": gettext_noop(
        "Reboot the machine. If it is virtual, reboot its host. If the error recurs, replace the card."
    ),
    "check-power-supply": gettext_noop("Check the power limits and the power cables of the machine."),
    "replace": gettext_noop("Stop using the card and replace it."),
    "check-plugin-log": gettext_noop("Check the device plugin log and the kernel log (Xid) on the node."),
    "read-taint": gettext_noop(
        "Read the taint for the reason. The driver or administrator that added the taint removes it."
    ),
    "check-driver": gettext_noop("Check the log of the driver pod on the node."),
    "wait-for-repair": gettext_noop(
        "No action: the repair is automatic. If the state does not change, check the log of NVSentinel."
    ),
    "repair-by-hand": gettext_noop("Automatic repair stopped. Repair the node, then uncordon it."),
    "check-exporter": gettext_noop("Check the health check result of the exporter and the kernel log of the node."),
}
#: Source → how it is called, where it is no name by itself.
SOURCES: Mapping[str, str] = {
    **{name: text for name, text in conditions.TELLERS.items() if name},
    "kubelet": gettext_noop("kubelet (allocatedResourcesStatus)"),
    "device-plugin": gettext_noop("device plugin (capacity and allocatable)"),
    "node-condition": gettext_noop("node condition"),
    "device-taint-rule": gettext_noop("DeviceTaintRule"),
}


def source_words(source: str) -> str:
    return SOURCES.get(source, source)


def action_words(action: str) -> str:
    """ "" for nothing to do, or a key that is not known any more."""
    return ACTIONS.get(action, "")
