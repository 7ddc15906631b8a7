"""Codes of findings: title, severity, what each means and what to do.

The text of a finding itself carries the numbers; this says the same for all of its kind. A code that one stack alone
gives is declared by that system. The catalogue of the whole product is `inventory.catalogue`.
"""

from __future__ import annotations

from stacks.engine.base import ERROR, INFO, WARNING
from stacks.engine.registry import registry
from stacks.engine.stack import Entry

#: Codes that the machinery gives, or several stacks.
_COMMON: dict[str, Entry] = {
    "card-over-committed": Entry(
        "Card overcommitted",
        ERROR,
        "More memory is allocated than the card (or the node's cards) has.",
        "Delete a pod that can run elsewhere. If the scheduler counts wrong, restart the scheduler extender.",
    ),
    "card-promised-twice": Entry(
        "Card allocated twice",
        ERROR,
        "The same card is allocated as a whole card and also by memory or share.",
        "Use only one stack per node.",
    ),
    "two-stacks-one-card": Entry(
        "Two stacks on the same cards",
        WARNING,
        "Two independent device plugins offer the same cards of a node.",
        "Exclude one device plugin from this node by its node label, or use separate nodes for each stack.",
    ),
    "index-out-of-range": Entry(
        "Card index out of range",
        ERROR,
        "A pod is recorded on a card that the node does not have. The pod counts for the node, its card is unknown.",
        "If cards were replaced, restart the scheduler extender. Then recreate the pod.",
    ),
    "bound-without-card": Entry(
        "Pod without a recorded card",
        WARNING,
        "GPU memory of a node is allocated to a pod, but the scheduler recorded no card.",
        "Check that kube-scheduler uses the scheduler extender and that no other scheduler bound the pod.",
    ),
    "assumed-not-assigned": Entry(
        "Card assumed but not assigned",
        WARNING,
        "The scheduler chose a card, but the device plugin did not confirm it in time.",
        "Check the events of the pod and the device plugin log. Delete the pod if its containers do not start.",
    ),
    "units-mixed": Entry(
        "Mixed memory units",
        WARNING,
        "Nodes of one cluster count GPU memory in different units.",
        "Start all device plugins with the same --memory-unit.",
    ),
    "capacity-not-allocatable": Entry(
        "Allocatable below capacity",
        WARNING,
        "The node has devices that are not allocatable.",
        "Check the device plugin log and the kernel log (Xid). Restart the plugin after the repair.",
    ),
    "label-without-resource": Entry(
        "GPU label without a GPU resource",
        WARNING,
        "A label marks the node as a GPU node, but the node offers no GPU resource.",
        "Check that the driver is installed and that the device plugin runs on the node.",
    ),
    "software-not-ready": Entry(
        "GPU software not ready",
        ERROR,
        "A component that the cards need is missing, pending or failing, or offers nothing. The finding names the "
        "first cause, not the components that depend on it.",
        "Follow the remedy in the finding. The page of the node or of the components shows all steps.",
    ),
    "plugin-not-ready": Entry(
        "Device plugin not ready",
        ERROR,
        "The device plugin pod of the node is not ready.",
        "Check the log and the events of the plugin pod.",
    ),
    "request-annotation-mismatch": Entry(
        "Request and recorded allocation differ",
        WARNING,
        "The request of a pod differs from the allocation that its scheduler or kubelet recorded.",
        "Recreate the pod. Do not edit requests or these annotations by hand.",
    ),
    "annotation-unreadable": Entry(
        "Invalid stack annotation",
        WARNING,
        "An annotation of a stack is longer than 64 KiB or has an invalid format.",
        "Find the writer of the annotation. Recreate the pod.",
    ),
    "labels-disagree": Entry(
        "Labels do not match the capacity",
        WARNING,
        "Labels or settings give a number of cards that does not match the capacity of the node.",
        "Restart the plugin that writes the labels, or set the annotation gpudash.io/card-count.",
    ),
    "visible-devices-by-hand": Entry(
        "NVIDIA_VISIBLE_DEVICES set in the pod",
        WARNING,
        "A pod sets NVIDIA_VISIBLE_DEVICES itself. It may use cards that are allocated to other pods.",
        "Remove the variable from the pod spec. Request a card if the pod needs one.",
    ),
    "exporter-disagrees": Entry(
        "Exporter reports another card",
        WARNING,
        "The exporter reports a container on another card than the cluster records. gpudash uses the record of the cluster.",
        "Check the card inside the container. If the record is correct, check the exporter version and the "
        "relabelling in Prometheus.",
    ),
    "device-unhealthy": Entry(
        "Unhealthy device allocated",
        ERROR,
        "The kubelet reports an allocated device as unhealthy.",
        "Check the device plugin log and the kernel log (Xid). Move the pod to another card.",
    ),
    "cards-unknown": Entry(
        "Number of cards unknown",
        INFO,
        "The node offers devices that are not whole cards. No source reports how many cards the node has.",
        "Set the annotation gpudash.io/card-count on the node.",
    ),
    "plugin-settings-unread": Entry(
        "Device plugin settings not readable",
        INFO,
        "A device plugin reads a setting from a ConfigMap that gpudash cannot read. Values that depend on the "
        "setting are unknown.",
        "Check that the ConfigMap exists. `manage.py cluster check NAME` prints the missing RBAC rule.",
    ),
    "resource-not-understood": Entry(
        "Unsupported GPU resource",
        INFO,
        "A resource looks like a GPU resource that gpudash does not support. Its cards are excluded from totals.",
        "The node is not faulty. Request support for this resource.",
    ),
    "override-unreadable": Entry(
        "Invalid gpudash.io annotation",
        WARNING,
        "A gpudash.io/* annotation on a node has an invalid value. gpudash ignores it.",
        "Correct the value.",
    ),
    "quantity-unreadable": Entry(
        "Invalid quantity",
        WARNING,
        "A node or pod has a resource quantity that is not a valid number. The amount is unknown.",
        "Find the writer of the quantity and correct it.",
    ),
}


def catalogue() -> dict[str, Entry]:
    """Every code that an account of a node, or of all nodes of a cluster, can have."""
    return _COMMON | registry.findings()
