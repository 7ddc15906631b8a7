"""Words of the findings and of the stacks for translation: what declares them is pure and knows no languages.

Tests hold the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TITLES = (
    _("Device pool incomplete"),
    _("Allocated device no longer exists"),
    _("Too many devices on the node"),
    _("Unused ResourceClaim"),
    _("ResourceClaim stuck in deletion"),
    _("Device tainted"),
    _("Invalid stack annotation"),
    _("Launching disabled: this database is a copy"),
    _("Card assumed but not assigned"),
    _("Pod without a recorded card"),
    _("Allocatable below capacity"),
    _("Card index out of range"),
    _("Card overcommitted"),
    _("Card allocated twice"),
    _("Cluster unreachable"),
    _("Device plugin not ready"),
    _("GPU label without a GPU resource"),
    _("GPU software not ready"),
    _("GPU memory reported without cards"),
    _("Labels do not match the capacity"),
    _("Memory unit unknown"),
    _("Mixed memory units"),
    _("NVIDIA_VISIBLE_DEVICES set in the pod"),
    _("Cluster not reporting"),
    _("Cluster not watched"),
    _("Synced data differed from the cluster"),
    _("Invalid quantity"),
    _("Request and recorded allocation differ"),
    _("Unsupported GPU resource"),
    _("Invalid gpudash.io annotation"),
    _("Several GPU containers in one pod"),
    _("Two stacks on the same cards"),
    _("Driver upgrade not finished"),
    _("MIG layout not ready"),
    _("Number of cards unknown"),
    _("Unhealthy device allocated"),
    _("Exporter reports another card"),
    _("Xid error (hardware)"),
    _("Xid error (application)"),
    _("Unknown Xid code"),
    _("Uncorrectable ECC errors"),
    _("Memory repair pending: reset needed"),
    _("Memory repair failed: replace the card"),
    _("Driver requests recovery"),
    _("Card throttled"),
    _("Card overheating"),
    _("Exporter health check not passed"),
    _("Unknown health check result"),
    _("Card marked unhealthy by its stack"),
    _("Node condition reports a GPU fault"),
    _("Chip fault reported"),
    _("Device plugin settings not readable"),
    _("Idle allocation"),
    _("Uses more memory than allocated"),
    _("Memory in use without an allocation"),
    _("Exporter stopped reporting"),
    _("No exporter on the node"),
    _("Exporter card count differs"),
    _("Card memory sizes differ"),
    _("Exporters not being read"),
)
MEANINGS = (
    _(
        "ResourceSlices of a pool are missing. The scheduler allocates no devices from an incomplete pool. gpudash "
        "does not count them."
    ),
    _(
        "A ResourceClaim has a device that no driver offers any more. Its pod may still run on the device or may have lost it."
    ),
    _("DRA drivers offer more devices on this node than gpudash reads. The cards of the node are unknown."),
    _("A device is allocated to a ResourceClaim that no pod uses. Other claims cannot get the device."),
    _("A deleted ResourceClaim still has its device. A finalizer is waiting for the driver or the pod."),
    _("The driver or an administrator tainted the device. New claims do not get it."),
    _("A label marks the node as a GPU node, but the node offers no GPU resource."),
    _(
        "A component that the cards need is missing, pending or failing, or offers nothing. The finding names the "
        "first cause, not the components that depend on it."
    ),
    _("The node reports GPU memory without cards, or cards without GPU memory."),
    _("Two independent device plugins offer the same cards of a node."),
    _("A node or pod has a resource quantity that is not a valid number. The amount is unknown."),
    _("The device plugin reports a fault of a chip, or has taken the chip out of service."),
    _(
        "A device plugin reads a setting from a ConfigMap that gpudash cannot read. Values that depend on the "
        "setting are unknown."
    ),
    _("GPU memory of a node is allocated to a pod, but the scheduler recorded no card."),
    _("A pod is recorded on a card that the node does not have. The pod counts for the node, its card is unknown."),
    _("The node offers devices that are not whole cards. No source reports how many cards the node has."),
    _("A pod sets NVIDIA_VISIBLE_DEVICES itself. It may use cards that are allocated to other pods."),
    _("The GPU Operator is upgrading the driver of the node, or the upgrade failed. The device plugin is paused."),
    _("The kubelet reports an allocated device as unhealthy."),
    _(
        "The exporter reports a container on another card than the cluster records. gpudash uses the record of the cluster."
    ),
    _(
        "The MIG layout of the node is changing, could not be applied, or does not fit the strategy of the device plugin."
    ),
    _("A resource looks like a GPU resource that gpudash does not support. Its cards are excluded from totals."),
    _("A gpudash.io/* annotation on a node has an invalid value. gpudash ignores it."),
    _("An annotation of a stack is longer than 64 KiB or has an invalid format."),
    _("More memory is allocated than the card (or the node's cards) has."),
    _("gpudash has never read a complete list from this cluster. There is no data for it."),
    _("Nodes of one cluster count GPU memory in different units."),
    _("No source reports whether the node counts GPU memory in GiB or MiB. Its memory is shown as unknown."),
    _("No update for more than 90 s. Pages show last known data."),
    _(
        "An audit found differences between the synced data and the cluster, and corrected them. The finding ends "
        "with the next audit without differences."
    ),
    _("No watch worker holds the lease. Data is not being updated."),
    _("The node has devices that are not allocatable."),
    _("The open-source gpushare plugin cannot match pods with more than one GPU container."),
    _("The device plugin pod of the node is not ready."),
    _("The same card is allocated as a whole card and also by memory or share."),
    _("The scheduler chose a card, but the device plugin did not confirm it in time."),
    _(
        "This database is a copy or was moved. Another database is the launcher. gpudash launches and deletes nothing from here."
    ),
    _("The request of a pod differs from the allocation that its scheduler or kubelet recorded."),
    _("Labels or settings give a number of cards that does not match the capacity of the node."),
    _("The driver reported an Xid error that points to a hardware fault: memory, links or firmware."),
    _("The driver reported an Xid error that is usually caused by the application. The card stays usable."),
    _("The driver reported an Xid error with a code that gpudash does not know."),
    _("The card had uncorrectable memory errors (double bit) since its driver was loaded."),
    _("The next reset retires or remaps faulty memory rows or pages."),
    _("Row remapping failed, too many memory pages are retired, or the SRAM has too many errors."),
    _("The driver reports that the card needs a reset, a reboot or another recovery."),
    _("Heat, the power brake or the hardware lowers the clocks of the card. Workloads on it run slower."),
    _("The card is at or close to its slowdown temperature."),
    _("A health check of the exporter warns or fails for this card."),
    _("A health check of the exporter reports an unknown value for this card."),
    _("The stack of the node marks the card as unhealthy and does not allocate it."),
    _("A health check in the cluster set a node condition that reports a fault of cards, links or drivers."),
    _("Allocated cards showed no GPU activity for GPUDASH_IDLE_MINUTES. One finding per node lists the allocations."),
    _(
        "One pod on a shared card uses more memory than allocated, or all pods together do. Memory is not isolated: "
        "when the card is full, other pods run out of memory."
    ),
    _("More memory is in use than driver and firmware need, but no pod has this card."),
    _("The exporter stopped reporting cards of this node. It still reports other cards of the cluster."),
    _("No exporter has ever reported a card of this node, but other cards of the cluster are reported."),
    _("The exporter reports more or fewer cards than the node has in gpudash."),
    _(
        "Labels or records give another memory size than the card reports. ECC and driver do not explain the difference."
    ),
    _("gpudash did not read the exporters of the cluster for more than 5 min, or they report no card of it."),
)
ACTIONS = (
    _("Follow the remedy in the finding. The page of the node or of the components shows all steps."),
    _("Check the log of the DRA driver pod on the node. The driver publishes the slices."),
    _("Check the driver log and the card. If the card was removed, delete the pod and its claim."),
    _("Check the ResourceSlices of the node and the drivers that publish them."),
    _("Delete the claim, or start the pod that needs it."),
    _("Check that the pod is deleted and that the driver pod runs on the node. The driver has to release the device."),
    _("Read the taint. It names the reason, often the health of the card."),
    _("Nothing to do on a copy. If the other database is permanently lost, run `manage.py cluster take-over NAME`."),
    _("Request the memory in one container, or split the pod."),
    _("Correct the value."),
    _("Delete a pod that can run elsewhere. If the scheduler counts wrong, restart the scheduler extender."),
    _("Recreate the pod. Do not edit requests or these annotations by hand."),
    _("Exclude one device plugin from this node by its node label, or use separate nodes for each stack."),
    _("Use only one stack per node."),
    _("Check the device plugin log and the kernel log (Xid). Restart the plugin after the repair."),
    _("Check the log and the events of the plugin pod."),
    _("Check the events of the pod and the device plugin log. Delete the pod if its containers do not start."),
    _("Check that the driver is installed and that the device plugin runs on the node."),
    _("Check that kube-scheduler uses the scheduler extender and that no other scheduler bound the pod."),
    _("Check that the API server runs, that the watch host can reach it, and that the credentials are valid."),
    _(
        "Check for other programs that write into the tables of gpudash. If there are none, report a bug with the log of "
        "the watch workers."
    ),
    _("Find the writer of the quantity and correct it."),
    _("Find the writer of the annotation. Recreate the pod."),
    _("The node is not faulty. Request support for this resource."),
    _("Read the reason. Run `manage.py cluster check NAME` on the watch host to see what is missing."),
    _(
        "Restart the gpushare device plugin. With many cards, use GiB instead of MiB: one gRPC message is limited to 4 MiB."
    ),
    _("Restart the plugin that writes the labels, or set the annotation gpudash.io/card-count."),
    _("If cards were replaced, restart the scheduler extender. Then recreate the pod."),
    _("Set the annotation gpudash.io/memory-unit (GiB or MiB) on the node."),
    _("Start all device plugins with the same --memory-unit."),
    _("Start the watch workers and the schedule, or `manage.py sync`. Check their logs."),
    _("Remove the variable from the pod spec. Request a card if the pod needs one."),
    _("Check the device plugin log and the kernel log (Xid). Move the pod to another card."),
    _(
        "Check the card inside the container. If the record is correct, check the exporter version and the "
        "relabelling in Prometheus."
    ),
    _("Check the log of the MIG manager, the label nvidia.com/mig.config and the MIG strategy of the plugin."),
    _("Set the annotation gpudash.io/card-count on the node."),
    _(
        "Wait until the upgrade is done. If it failed or is stuck, check the driver pod and the log of the GPU Operator."
    ),
    _("Drain the card, then follow the Xid action: reset, reboot; replace it if the error recurs."),
    _("Look up the code in the Xid catalogue of NVIDIA."),
    _(
        "Check the memory accesses and the log of the application. If many applications have the same error, the "
        "card is faulty."
    ),
    _("Drain and reset the card. Then check for rows with pending or failed remapping."),
    _("Reset the card as soon as it has no workload."),
    _("Stop using the card and replace it."),
    _("Drain the card, then carry out the recovery that the driver requests."),
    _("Check cooling and power supply of the machine."),
    _("Check the cooling of the machine."),
    _("Read the result of the check. Check the kernel log of the node."),
    _("Read the result of the check. Look up the value in the documentation of the exporter."),
    _("Check the device plugin log and the kernel log (Xid) on the node."),
    _("Follow the message of the condition. It names the health check."),
    _(
        "Look up the fault code in the table of the vendor. To put a chip back into service, remove its name from "
        "ManuallySeparateNPU."
    ),
    _("Check that the ConfigMap exists. `manage.py cluster check NAME` prints the missing RBAC rule."),
    _(
        "Ask the owners whether they still need the cards. The tab Idle of Allocations lists all of them, largest first."
    ),
    _("Set the memory limit of the stack for the container, or request as much memory as it uses."),
    _(
        "List the processes with the tool of the vendor on the node. Typical: a process that outlived its pod, one "
        "started outside Kubernetes, or a container with NVIDIA_VISIBLE_DEVICES=all."
    ),
    _("Check the exporter pod on the node, the scrape in Prometheus, and the driver."),
    _(
        "Check that the exporter DaemonSet runs on the node (node selector, tolerations, labels) and that Prometheus scrapes it."
    ),
    _(
        "Compare the tool of the vendor with the resources of the device plugin. A card may have fallen off the bus, "
        "or the plugin may not offer it."
    ),
    _("Check that the label or setting belongs to this card. The value that the card reports is usable memory."),
    _("Read the reason. Run `manage.py cluster check NAME` on the host of the usage worker to list the exporters."),
)

#: What stacks say of themselves (`daemonsets_for`, `devices_for`, `terminating`, `config_maps.read_for`).
SYSTEMS = (
    _("the memory unit of the Cambricon plugin"),
    _("the memory unit of gpushare"),
    _("the number of shares per card of the Intel plugin"),
    _("the cards that the Koordinator agents report, and their health"),
    _("The gpushare scheduler already counts it as free."),
    _("unhealthy Ascend chips and the reasons"),
    _("the number of cards behind the devices of the TensorWorks DirectX plugins"),
    _("cards that the gpushare scheduler excludes as unhealthy"),
    _("the resource names of HAMi, and the real memory of cards whose memory HAMi scales"),
    _("the number of shares per card of the NVIDIA plugin, if no label reports it"),
    _("the memory unit of Volcano, if no label reports the memory of the cards"),
)

#: What schedulers of stacks say of nodes that do not take a pod (`refusals`).
REFUSALS = (
    _("No single card of these nodes has that much free memory. Free memory of several cards does not add up."),
    _("Request at most the largest free block of one card, or wait until an allocation ends."),
    _("These nodes do not offer card memory as a resource."),
    _("This is normal. The pod needs a node whose device plugin offers the requested resource."),
    _("No card of these nodes has the requested memory, cores or slot."),
    _("Check the events of the pod (FilteringFailed). They list what each node lacks."),
    _("These nodes have registered no cards with this scheduler."),
    _(
        "Check that the device plugin runs there and has registered the cards. For nodes without such cards this is normal."
    ),
    _("No single card of these nodes has that much free memory."),
    _("Request less memory per card, or wait until an allocation ends."),
    _("No single card of these nodes has that many free cores."),
    _("Request fewer cores, or wait until an allocation ends."),
    _("All slots of the cards of these nodes are allocated."),
    _("Wait until an allocation ends, or increase the split count of the device plugin."),
    _("The cards of these nodes do not match the card type or UUID in the annotations of the pod."),
    _("Compare the card type and UUID in the annotations of the pod with the cards of the node."),
    _("Cards of these nodes are unhealthy."),
    _("Check the health of the cards on the pages of these nodes."),
    _("These nodes have fewer cards, or fewer fitting cards, than one container requests."),
    _("Request fewer cards, or choose nodes with more cards."),
    _("The pod requests a card of its own, but all cards of these nodes are already shared."),
    _("Wait until a card is free, or request less than all cores of a card."),
    _("The fitting cards are not on one NUMA node, as the pod requests."),
    _("Remove the annotation that requires one NUMA node, or wait."),
    _("The ResourceQuota of the namespace has too little card memory or cores left."),
    _("Run `kubectl describe resourcequota` in the namespace. Request less, or request a larger quota."),
)
