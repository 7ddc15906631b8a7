"""What to do, by the keys that statements have, and who sources are. English; pages translate it."""

from __future__ import annotations

from collections.abc import Mapping

from inventory.usage import conditions

#: Key → sentence.
ACTIONS: Mapping[str, str] = {
    **conditions.ACTIONS,
    "look-at-application": "Look at the application that ran: its memory accesses and its log. The card stays usable.",
    "reset-or-replace": "Reset the card as soon as nothing runs on it; when the error comes again, have the card replaced.",
    "reboot-or-replace": "Restart the machine, of a virtual one its host; when the error comes again, have the card replaced.",
    "check-power-supply": "Look at the power supply of the machine: its limits and its cables.",
    "replace": "Take the card out of use and have it replaced.",
    "check-plugin-log": "Look at the device plugin's log and the driver's messages (XID) on the node.",
    "read-taint": "Read the taint: it names what is wrong. Who put it takes it away.",
    "check-driver": "Look at the log of the driver's pod on the node.",
    "wait-for-repair": "Wait: the repair runs by itself. Look at its log where the state stays for long.",
    "repair-by-hand": "Nobody repairs the node any more: do by hand what the fault asks for, then give it out again.",
    "check-exporter": "Look at what the exporter's health check found, and at the driver's messages on the node.",
}
#: Source → how it is called, where it is no name by itself.
SOURCES: Mapping[str, str] = {
    **{name: text for name, text in conditions.TELLERS.items() if name},
    "kubelet": "kubelet (allocatedResourcesStatus)",
    "device-plugin": "device plugin (capacity and allocatable)",
    "node-condition": "condition of the node",
    "device-taint-rule": "DeviceTaintRule",
}


def source_words(source: str) -> str:
    return SOURCES.get(source, source)


def action_words(action: str) -> str:
    """ "" for nothing to do, or a key that is not known any more."""
    return ACTIONS.get(action, "")
