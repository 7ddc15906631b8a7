"""Codes of findings: title, severity, what each means and what to do.

The text of a finding itself carries the numbers; this says the same for all of its kind. A code that one sharing system alone
gives is declared by that system. The catalogue of the whole product is `inventory.catalogue`.
"""

from __future__ import annotations

from inventory.stacks.engine.base import ERROR, INFO, WARNING
from inventory.stacks.engine.registry import registry
from inventory.stacks.engine.stack import Entry

#: Codes that the machinery gives, or several sharing systems.
_COMMON: dict[str, Entry] = {
    "card-over-committed": Entry(
        "Card over-committed",
        ERROR,
        "More of a card (or of a node's cards) is promised to pods than it has.",
        "Delete a pod that can be placed again, and look for a scheduler that has lost count (restart the extender).",
    ),
    "card-promised-twice": Entry(
        "Card double-allocated",
        ERROR,
        "The same card is given out by memory or share and as a whole.",
        "Let one sharing system only give out the cards of a node.",
    ),
    "two-stacks-one-card": Entry(
        "Two sharing systems on the same cards",
        WARNING,
        "A node offers the same cards through two device plugins that do not know of each other.",
        "Keep one of the plugins off this node with its node label, or give each system its own nodes.",
    ),
    "index-out-of-range": Entry(
        "Card index out of range",
        ERROR,
        "A pod is recorded on a card that the node does not have; it is counted on the node, its card is unknown.",
        "Restart the scheduler extender if cards were swapped, then delete the pod so that it is placed again.",
    ),
    "bound-without-card": Entry(
        "Bound pod without a card",
        WARNING,
        "A pod holds GPU memory on a node, but its scheduler has not recorded a card.",
        "Look whether the scheduler extender is wired in, and whether the pod was bound by another scheduler.",
    ),
    "assumed-not-assigned": Entry(
        "Assumed and never assigned",
        WARNING,
        "The scheduler chose a card long ago, but the device plugin has not confirmed it.",
        "Look at the pod's events and the device plugin's log; delete the pod if its containers do not start.",
    ),
    "units-mixed": Entry(
        "Memory units mixed",
        WARNING,
        "Nodes of one cluster count GPU memory in different units.",
        "Start all device plugins with the same --memory-unit.",
    ),
    "capacity-not-allocatable": Entry(
        "Capacity differs from allocatable",
        WARNING,
        "The node has devices that it does not give out.",
        "Look at the device plugin's log and the driver's messages (XID); restart the plugin after the repair.",
    ),
    "label-without-resource": Entry(
        "GPU label without a GPU resource",
        WARNING,
        "A label says that the node has a GPU, but it offers none.",
        "Look whether the driver is installed and the device plugin runs on the node.",
    ),
    "plugin-not-ready": Entry(
        "Device plugin not ready",
        ERROR,
        "The pod that gives out the cards of a node is not ready.",
        "Look at the log and the events of the plugin pod.",
    ),
    "request-annotation-mismatch": Entry(
        "Request and record differ",
        WARNING,
        "What a pod asks for differs from what its scheduler or kubelet has recorded for it.",
        "Delete the pod so that it is placed again; do not edit requests or these annotations by hand.",
    ),
    "annotation-unreadable": Entry(
        "Annotation cannot be read",
        WARNING,
        "An annotation of a sharing system is longer than 64 KiB or not of its form.",
        "Look who has written it; delete the pod so that it is placed again.",
    ),
    "labels-disagree": Entry(
        "Labels disagree with the capacity",
        WARNING,
        "What labels or settings say about the number of cards does not fit the capacity of the node.",
        "Restart the plugin that writes the labels, or state the number in gpudash.io/card-count.",
    ),
    "visible-devices-by-hand": Entry(
        "NVIDIA_VISIBLE_DEVICES set by hand",
        WARNING,
        "A pod sets NVIDIA_VISIBLE_DEVICES itself, so it may use cards that the scheduler has given to others.",
        "Take the variable out of the pod's specification; ask for a card where it needs one.",
    ),
    "exporter-disagrees": Entry(
        "Exporter names another card",
        WARNING,
        "The exporter's labels name a container at another card than the one that the cluster records for it; the record counts.",
        "Look in the container which card it sees. Where the record is right, look at the exporter's version and at relabelling.",
    ),
    "device-unhealthy": Entry(
        "Unhealthy device held",
        ERROR,
        "The kubelet calls a device unhealthy that a pod holds.",
        "Look at the device plugin's log and the driver's messages (XID), and move the pod.",
    ),
    "cards-unknown": Entry(
        "Number of cards not known",
        INFO,
        "A node gives out devices that are no cards one by one, and nothing says how many cards they are.",
        "State the number in the annotation gpudash.io/card-count on the node.",
    ),
    "plugin-settings-unread": Entry(
        "Settings of a plugin not read",
        INFO,
        "A device plugin takes a setting from a ConfigMap that the mirror does not have, so what depends on it is not known.",
        "Look whether the ConfigMap exists. manage.py cluster check prints the rule that lets it be read.",
    ),
    "resource-not-understood": Entry(
        "Resource not understood",
        INFO,
        "A resource looks like a GPU, but its cards are not in the totals.",
        "Nothing is wrong with the node; ask for support of this resource.",
    ),
    "override-unreadable": Entry(
        "Setting on the node cannot be read",
        WARNING,
        "An annotation gpudash.io/* on a node has a value that cannot be read; it is ignored.",
        "Correct the value.",
    ),
    "quantity-unreadable": Entry(
        "Quantity cannot be read",
        WARNING,
        "A node or a pod states a quantity that is none; what it stands for is unknown.",
        "Look who has written it.",
    ),
}


def catalogue() -> dict[str, Entry]:
    """Every code that an account of a node, or of all nodes of a cluster, can have."""
    return _COMMON | registry.findings()
