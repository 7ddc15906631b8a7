"""Codes of findings: title, severity, what each means and what to do.

The text of a finding itself carries the numbers; this says the same for all of its kind. A code that one stack alone
gives is declared by that system. The catalogue of the whole product is `inventory.catalogue`.
"""

from __future__ import annotations

from stacks.engine.base import ERROR, INFO, WARNING
from stacks.engine.registry import registry
from stacks.engine.stack import Entry
from wording.said import gettext_noop

#: Codes that the machinery gives, or several stacks.
_COMMON: dict[str, Entry] = {
    "card-over-committed": Entry(
        gettext_noop("Card overcommitted"),
        ERROR,
        gettext_noop("More memory is allocated than the card (or the node's cards) has."),
        gettext_noop(
            "Delete a pod that can run elsewhere. If the scheduler counts wrong, restart the scheduler extender."
        ),
    ),
    "card-promised-twice": Entry(
        gettext_noop("Card allocated twice"),
        ERROR,
        gettext_noop("The same card is allocated as a whole card and also by memory or share."),
        gettext_noop("Use only one stack per node."),
    ),
    "two-stacks-one-card": Entry(
        gettext_noop("Two stacks on the same cards"),
        WARNING,
        gettext_noop("Two independent device plugins offer the same cards of a node."),
        gettext_noop(
            "Exclude one device plugin from this node by its node label, or use separate nodes for each stack."
        ),
    ),
    "index-out-of-range": Entry(
        gettext_noop("Card index out of range"),
        ERROR,
        gettext_noop(
            "A pod is recorded on a card that the node does not have. The pod counts for the node, its card is unknown."
        ),
        gettext_noop("If cards were replaced, restart the scheduler extender. Then recreate the pod."),
    ),
    "bound-without-card": Entry(
        gettext_noop("Pod without a recorded card"),
        WARNING,
        gettext_noop("GPU memory of a node is allocated to a pod, but the scheduler recorded no card."),
        gettext_noop(
            "Check that kube-scheduler uses the scheduler extender and that no other scheduler bound the pod."
        ),
    ),
    "assumed-not-assigned": Entry(
        gettext_noop("Card assumed but not assigned"),
        WARNING,
        gettext_noop("The scheduler chose a card, but the device plugin did not confirm it in time."),
        gettext_noop(
            "Check the events of the pod and the device plugin log. Delete the pod if its containers do not start."
        ),
    ),
    "units-mixed": Entry(
        gettext_noop("Mixed memory units"),
        WARNING,
        gettext_noop("Nodes of one cluster count GPU memory in different units."),
        gettext_noop("Start all device plugins with the same --memory-unit."),
    ),
    "capacity-not-allocatable": Entry(
        gettext_noop("Allocatable below capacity"),
        WARNING,
        gettext_noop("The node has devices that are not allocatable."),
        gettext_noop("Check the device plugin log and the kernel log (Xid). Restart the plugin after the repair."),
    ),
    "label-without-resource": Entry(
        gettext_noop("GPU label without a GPU resource"),
        WARNING,
        gettext_noop("A label marks the node as a GPU node, but the node offers no GPU resource."),
        gettext_noop("Check that the driver is installed and that the device plugin runs on the node."),
    ),
    "software-not-ready": Entry(
        gettext_noop("GPU software not ready"),
        ERROR,
        gettext_noop(
            "A component that the cards need is missing, pending or failing, or offers nothing. The finding names the "
            "first cause, not the components that depend on it."
        ),
        gettext_noop("Follow the remedy in the finding. The page of the node or of the components shows all steps."),
    ),
    "plugin-not-ready": Entry(
        gettext_noop("Device plugin not ready"),
        ERROR,
        gettext_noop("The device plugin pod of the node is not ready."),
        gettext_noop("Check the log and the events of the plugin pod."),
    ),
    "request-annotation-mismatch": Entry(
        gettext_noop("Request and recorded allocation differ"),
        WARNING,
        gettext_noop("The request of a pod differs from the allocation that its scheduler or kubelet recorded."),
        gettext_noop("Recreate the pod. Do not edit requests or these annotations by hand."),
    ),
    "annotation-unreadable": Entry(
        gettext_noop("Invalid stack annotation"),
        WARNING,
        gettext_noop("An annotation of a stack is longer than 64 KiB or has an invalid format."),
        gettext_noop("Find the writer of the annotation. Recreate the pod."),
    ),
    "labels-disagree": Entry(
        gettext_noop("Labels do not match the capacity"),
        WARNING,
        gettext_noop("Labels or settings give a number of cards that does not match the capacity of the node."),
        gettext_noop("Restart the plugin that writes the labels, or set the annotation gpudash.io/card-count."),
    ),
    "visible-devices-by-hand": Entry(
        gettext_noop("NVIDIA_VISIBLE_DEVICES set in the pod"),
        WARNING,
        gettext_noop("A pod sets NVIDIA_VISIBLE_DEVICES itself. It may use cards that are allocated to other pods."),
        gettext_noop("Remove the variable from the pod spec. Request a card if the pod needs one."),
    ),
    "exporter-disagrees": Entry(
        gettext_noop("Exporter reports another card"),
        WARNING,
        gettext_noop(
            "The exporter reports a container on another card than the cluster records. gpudash uses the record of the cluster."
        ),
        gettext_noop(
            "Check the card inside the container. If the record is correct, check the exporter version and the "
            "relabelling in Prometheus."
        ),
    ),
    "device-unhealthy": Entry(
        gettext_noop("Unhealthy device allocated"),
        ERROR,
        gettext_noop("The kubelet reports an allocated device as unhealthy."),
        gettext_noop("Check the device plugin log and the kernel log (Xid). Move the pod to another card."),
    ),
    "cards-unknown": Entry(
        gettext_noop("Number of cards unknown"),
        INFO,
        gettext_noop(
            "The node offers devices that are not whole cards. No source reports how many cards the node has."
        ),
        gettext_noop("Set the annotation gpudash.io/card-count on the node."),
    ),
    "plugin-settings-unread": Entry(
        gettext_noop("Device plugin settings not readable"),
        INFO,
        gettext_noop(
            "A device plugin reads a setting from a ConfigMap that gpudash cannot read. Values that depend on the "
            "setting are unknown."
        ),
        gettext_noop("Check that the ConfigMap exists. `gpudash cluster check NAME` prints the missing RBAC rule."),
    ),
    "resource-not-understood": Entry(
        gettext_noop("Unsupported GPU resource"),
        INFO,
        gettext_noop(
            "A resource looks like a GPU resource that gpudash does not support. Its cards are excluded from totals."
        ),
        gettext_noop("The node is not faulty. Request support for this resource."),
    ),
    "override-unreadable": Entry(
        gettext_noop("Invalid gpudash.io annotation"),
        WARNING,
        gettext_noop("A gpudash.io/* annotation on a node has an invalid value. gpudash ignores it."),
        gettext_noop("Correct the value."),
    ),
    "quantity-unreadable": Entry(
        gettext_noop("Invalid quantity"),
        WARNING,
        gettext_noop("A node or pod has a resource quantity that is not a valid number. The amount is unknown."),
        gettext_noop("Find the writer of the quantity and correct it."),
    ),
}


def catalogue() -> dict[str, Entry]:
    """Every code that an account of a node, or of all nodes of a cluster, can have."""
    return _COMMON | registry.findings()
