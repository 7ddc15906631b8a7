"""Words of the findings and of the sharing systems for translation: what declares them is pure and knows no languages.

Tests hold the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TITLES = (
    _("Pool of devices incomplete"),
    _("Claimed device gone"),
    _("Too many devices"),
    _("Claim that nobody uses"),
    _("Claim does not end"),
    _("Device tainted"),
    _("Annotation cannot be read"),
    _("Another database is the launcher"),
    _("Assumed and never assigned"),
    _("Bound pod without a card"),
    _("Capacity differs from allocatable"),
    _("Card index out of range"),
    _("Card over-committed"),
    _("Card double-allocated"),
    _("Cluster never reached"),
    _("Device plugin not ready"),
    _("GPU label without a GPU resource"),
    _("GPU memory without cards"),
    _("Labels disagree with the capacity"),
    _("Memory unit unknown"),
    _("Memory units mixed"),
    _("NVIDIA_VISIBLE_DEVICES set by hand"),
    _("No word from the cluster"),
    _("Nobody watches the cluster"),
    _("Audit found differences"),
    _("Quantity cannot be read"),
    _("Request and record differ"),
    _("Resource not understood"),
    _("Setting on the node cannot be read"),
    _("Several GPU containers in one pod"),
    _("Two sharing systems on the same cards"),
    _("Driver upgrade under way"),
    _("MIG layout"),
    _("Number of cards not known"),
    _("Unhealthy device held"),
    _("Exporter names another card"),
    _("Xid error of the card"),
    _("Xid error of an application"),
    _("Unknown Xid code"),
    _("Memory errors not corrected"),
    _("Memory waits for a reset"),
    _("Memory cannot be mended"),
    _("Driver asks for a recovery"),
    _("Card throttled"),
    _("Card too hot"),
    _("Health check of an exporter"),
    _("Card called unhealthy by its sharing system"),
    _("Condition of the node speaks of its cards"),
    _("Chip fault reported"),
    _("Settings of a plugin not read"),
    _("Held but idle"),
    _("Uses more than it was given"),
    _("Used though nobody holds it"),
    _("Exporter silent"),
    _("Exporter missing"),
    _("Exporter counts other cards"),
    _("Memory of a card disagrees"),
    _("Exporters are not read"),
)
MEANINGS = (
    _(
        "Not all ResourceSlices of a pool are there. The scheduler gives out nothing of such a pool, so its devices are not counted."
    ),
    _("A claim holds a device that no driver offers any more. Its pod may work on with it, or have lost its card."),
    _("DRA drivers offer more devices on one node than gpudash reads, so its cards are not known."),
    _("A claim holds a device and no pod uses the claim. The device is not free for others."),
    _("A claim that was deleted still holds its device, since a finalizer waits for the driver or the pod."),
    _("The driver, or an administrator, has put a taint on the device: new claims do not get it."),
    _("A label says that the node has a GPU, but it offers none."),
    _("A node offers GPU memory, or cards, but the other of the two is 0 or missing."),
    _("A node offers the same cards through two device plugins that do not know of each other."),
    _("A node or a pod states a quantity that is none; what it stands for is unknown."),
    _("The device plugin of the node reports a fault of a chip, or has set it apart."),
    _(
        "A device plugin takes a setting from a ConfigMap that the mirror does not have, so what depends on it is not known."
    ),
    _("A pod holds GPU memory on a node, but its scheduler has not recorded a card."),
    _("A pod is recorded on a card that the node does not have; it is counted on the node, its card is unknown."),
    _("A node gives out devices that are no cards one by one, and nothing says how many cards they are."),
    _("A pod sets NVIDIA_VISIBLE_DEVICES itself, so it may use cards that the scheduler has given to others."),
    _("The GPU Operator is replacing the driver of a node, or has failed to: the device plugin is paused meanwhile."),
    _("The kubelet calls a device unhealthy that a pod holds."),
    _(
        "The exporter's labels name a container at another card than the one that the cluster records for it; the record counts."
    ),
    _("The MIG layout of a node is being changed, could not be applied, or is none that the device plugin gives out."),
    _("A resource looks like a GPU, but its cards are not in the totals."),
    _("An annotation gpudash.io/* on a node has a value that cannot be read; it is ignored."),
    _("An annotation of a sharing system is longer than 64 KiB or not of its form."),
    _("More of a card (or of a node's cards) is promised to pods than it has."),
    _("No list of this cluster was ever complete; nothing is known of it."),
    _("Nodes of one cluster count GPU memory in different units."),
    _("Nothing says whether a node counts GPU memory in GiB or MiB, so its memory is shown as unknown."),
    _("The cluster was read before, but has said nothing for too long; its numbers are what was last known."),
    _(
        "The mirror did not hold what the cluster has; it was mended. The finding ends with the next audit that finds nothing."
    ),
    _("The leases of its watchers have run out and nobody has taken them; its numbers do not change any more."),
    _("The node has devices that it does not give out."),
    _("The open-source gpushare plugin cannot match pods with more than one GPU container."),
    _("The pod that gives out the cards of a node is not ready."),
    _("The same card is given out by memory or share and as a whole."),
    _("The scheduler chose a card long ago, but the device plugin has not confirmed it."),
    _("This database is a copy, or was moved: another one is the launcher. Nothing is launched or deleted from here."),
    _("What a pod asks for differs from what its scheduler or kubelet has recorded for it."),
    _("What labels or settings say about the number of cards does not fit the capacity of the node."),
    _("The driver reported an Xid error that puts the card itself in doubt: its memory, its links, its firmware."),
    _("The driver reported an Xid error that a program mostly causes itself; the card stays usable."),
    _("The driver reported an Xid error with a code that gpudash does not know."),
    _("The card has had memory errors (double bit) that could not be corrected since its driver was loaded."),
    _("Rows or pages of the card's memory are to be taken out of use, which the next reset does."),
    _("Rows could not be remapped, too many pages are retired, or the SRAM has too many errors."),
    _("The driver says that the card needs a reset, a restart or another recovery."),
    _("The card's clocks are lowered by heat, by the power brake or by its hardware, so what runs on it is slower."),
    _("The card is at, or close to, the temperature at which it slows down."),
    _("An exporter's own health check of the card warns or fails."),
    _("The record that a sharing system keeps on the node calls the card unhealthy; it is given to nobody."),
    _(
        "A health check that runs in the cluster has set a condition of the node: its cards, links or drivers are not well."
    ),
    _(
        "Pods hold cards of a node on which no work was seen for GPUDASH_IDLE_MINUTES. One for a node; it names the holds."
    ),
    _(
        "On a card that several pods share, one uses more memory than it was given, or all together use more than is allocated. "
        "Nothing isolates them: when the card is full, the allocation of a neighbour fails."
    ),
    _(
        "Memory of a card is in use, more than driver and firmware need, and by what the cluster records nobody holds the card."
    ),
    _(
        "Cards of a node were measured, and their exporter says nothing of them any more, while others of the cluster are measured."
    ),
    _("No card of a node was ever measured, while others of the cluster are."),
    _("The exporter names more cards of a node, or fewer, than the mirror has."),
    _(
        "What labels or records say that a card has and what the card itself says differ by more than ECC and driver explain."
    ),
    _("The exporters of a cluster were not read for more than five minutes, or no card is measured by what they say."),
)
ACTIONS = (
    _("Look at the log of the DRA driver's pod on the node; it publishes the slices."),
    _("Look at the driver's log and at the card; delete the pod and its claim when the card is gone."),
    _("Look at the ResourceSlices of the node, and which driver has published them."),
    _("Delete the claim, or start the pod that is to use it."),
    _("Look whether its pod is gone and the driver's pod runs on the node; it has to let go of the device."),
    _("Read the taint: it names what is wrong, often the health of the card."),
    _("On a copy, nothing. If the other is gone for good: `manage.py cluster take-over NAME`."),
    _("Ask for the memory in one container, or split the pod."),
    _("Correct the value."),
    _("Delete a pod that can be placed again, and look for a scheduler that has lost count (restart the extender)."),
    _("Delete the pod so that it is placed again; do not edit requests or these annotations by hand."),
    _("Keep one of the plugins off this node with its node label, or give each system its own nodes."),
    _("Let one sharing system only give out the cards of a node."),
    _("Look at the device plugin's log and the driver's messages (XID); restart the plugin after the repair."),
    _("Look at the log and the events of the plugin pod."),
    _("Look at the pod's events and the device plugin's log; delete the pod if its containers do not start."),
    _("Look whether the driver is installed and the device plugin runs on the node."),
    _("Look whether the scheduler extender is wired in, and whether the pod was bound by another scheduler."),
    _("Look whether its API server is up and reached from the watchers, and whether the credentials still hold."),
    _("Find out who writes into gpudash's tables. If nobody does, please report it with the log of the watchers."),
    _("Look who has written it."),
    _("Look who has written it; delete the pod so that it is placed again."),
    _("Nothing is wrong with the node; ask for support of this resource."),
    _("Read the reason; then `manage.py cluster check NAME` on the host of the watchers says what is missing."),
    _("Restart the gpushare device plugin; in MiB mode with many cards, use GiB (limit of 4 MiB a message)."),
    _("Restart the plugin that writes the labels, or state the number in gpudash.io/card-count."),
    _("Restart the scheduler extender if cards were swapped, then delete the pod so that it is placed again."),
    _("Set the annotation gpudash.io/memory-unit (GiB or MiB) on the node."),
    _("Start all device plugins with the same --memory-unit."),
    _("Start the watch workers and the schedule (or `manage.py sync`), and look at their logs."),
    _("Take the variable out of the pod's specification; ask for a card where it needs one."),
    _("Look at the device plugin's log and the driver's messages (XID), and move the pod."),
    _(
        "Look in the container which card it sees. Where the record is right, look at the exporter's version and at relabelling."
    ),
    _("Look at the log of the MIG manager, and at nvidia.com/mig.config and the plugin's MIG strategy."),
    _("State the number in the annotation gpudash.io/card-count on the node."),
    _("Wait for its end. Where it failed or stands still, look at the driver pod and the operator's log."),
    _(
        "Free the card and do what the error asks for: reset, restart of the machine, or another card when it comes again."
    ),
    _("Look the code up in NVIDIA's Xid catalogue."),
    _(
        "Look at the application that ran: its memory accesses and its log. The same on many programs is the card's fault."
    ),
    _("Free and reset the card; then look whether rows wait to be remapped or could not be."),
    _("Reset the card as soon as nothing runs on it."),
    _("Take the card out of use and have it replaced."),
    _("Free the card and do what the driver asks for."),
    _("Look at cooling and power of the machine."),
    _("Look at the cooling of the machine."),
    _("Look at what the check names, and at the driver's messages on the node."),
    _("Look at the device plugin's log and the driver's messages (XID) on the node."),
    _("Do what the condition asks for; it says which check it is."),
    _(
        "Look the fault code up in the vendor's table; a chip that was set apart comes back when its name is taken out of "
        "ManuallySeparateNPU."
    ),
    _("Look whether the ConfigMap exists. manage.py cluster check prints the rule that lets it be read."),
    _("Ask the owners whether they still need the cards; Allocations, idle, has all of them, the largest first."),
    _("Set the limit that the sharing system has for its containers, or ask for as much memory as is used."),
    _(
        "Look on the node with the vendor's tool whose processes these are: one that outlived its pod, one started "
        "past the scheduler, or a container with NVIDIA_VISIBLE_DEVICES=all."
    ),
    _("Look at the exporter's pod on the node, whether it is scraped, and whether the driver still answers."),
    _("Look whether the exporter's DaemonSet runs on the node (node selector, tolerations, labels) and is scraped."),
    _(
        "Compare the vendor's tool with what the device plugin offers; a card may have fallen off its bus, or not be given out."
    ),
    _(
        "Look whether the label or setting that it comes from is of this card; the card's own figure is what can be used."
    ),
    _("Read the reason; `manage.py cluster check NAME` on the host of the usage worker says what is found."),
)

#: What sharing systems say of themselves (`daemonsets_for`, `devices_for`, `terminating`, `config_maps.read_for`).
SYSTEMS = (
    _("the memory unit of Cambricon's plugin"),
    _("the memory unit of gpushare"),
    _("how often Intel's plugin offers each card"),
    _("the cards that Koordinator's agents report, and their health"),
    _("The gpushare scheduler counts it free already."),
    _("which Ascend chips are not healthy, and why"),
    _("how many cards lie behind the devices of TensorWorks' DirectX plugins"),
    _("which cards gpushare's scheduler leaves out as unhealthy"),
    _("what HAMi's resources are called, and how much memory the cards have that it stretches"),
    _("how often NVIDIA's plugin gives out each card, where no label says it"),
    _("in which unit Volcano counts the memory of cards, where no label says how much they have"),
)

#: What schedulers of sharing systems say of nodes that do not take a pod (`refusals`).
REFUSALS = (
    _("No single card of these nodes has that much memory free: what is free on several cards is not added up."),
    _("Ask for no more than the largest free piece of one card, or wait until a holder of one card ends."),
    _("These nodes do not give out card memory in units."),
    _("Nothing is wrong with them. The pod needs a node whose device plugin gives out what it asks for."),
    _("No card of these nodes has what one container asks for: memory, cores or a place."),
    _("Look at the events of the pod (FilteringFailed): they say which of these is missing on which node."),
    _("These nodes have registered no cards with this scheduler."),
    _(
        "Look whether the device plugin runs there and has written its register. Nodes without such cards are meant to be here."
    ),
    _("No single card of these nodes has that much memory free."),
    _("Ask for less memory per card, or wait until a holder of one card ends."),
    _("No single card of these nodes has that share of its cores free."),
    _("Ask for a smaller share of cores, or wait until a holder of one card ends."),
    _("The cards of these nodes have as many holders as they admit."),
    _("Wait until a holder ends, or let more pods share a card (the plugin's split count)."),
    _("The cards of these nodes are not of the kind, or not those, that annotations of the pod ask for."),
    _("Compare the pod's annotations for the type and the UUID of cards with the cards of the node."),
    _("Cards of these nodes are not healthy."),
    _("Look at the health of the cards on the pages of these nodes."),
    _("These nodes have fewer cards, or fewer that fit, than one container asks for."),
    _("Ask for fewer cards, or choose nodes with more."),
    _("A card is wanted for one pod alone, and the cards of these nodes are shared already."),
    _("Wait until a card has no holder, or ask for less than all cores of a card."),
    _("The cards that fit are not of one NUMA node, which the pod asks for."),
    _("Take the annotation that binds the cards to one NUMA node away, or wait."),
    _("The quota of the namespace leaves too little memory or cores of cards."),
    _("Look at kubectl describe resourcequota of the namespace; ask for less or for a larger quota."),
)
