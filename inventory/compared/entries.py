"""Codes of findings that come from promises and measurements together."""

from __future__ import annotations

from stacks.engine.base import INFO, WARNING
from stacks.engine.stack import Entry
from wording.said import gettext_noop

IDLE = "idle-allocation"
OVERUSED = "uses-more-than-allocated"
NOT_ALLOCATED = "unallocated-memory-in-use"
SILENT = "exporter-silent"
MISSING = "exporter-missing"
COUNT = "exporter-card-count-differs"
MEMORY = "card-memory-differs"
NOT_READ = "exporters-not-read"

FINDINGS = {
    IDLE: Entry(
        gettext_noop("Idle allocation"),
        INFO,
        gettext_noop(
            "Allocated cards showed no GPU activity for GPUDASH_IDLE_MINUTES. One finding per node lists the allocations."
        ),
        gettext_noop(
            "Ask the owners whether they still need the cards. The tab Idle of Allocations lists all of them, largest first."
        ),
    ),
    OVERUSED: Entry(
        gettext_noop("Uses more memory than allocated"),
        WARNING,
        gettext_noop(
            "One pod on a shared card uses more memory than allocated, or all pods together do. Memory is not isolated: "
            "when the card is full, other pods run out of memory."
        ),
        gettext_noop("Set the memory limit of the stack for the container, or request as much memory as it uses."),
    ),
    NOT_ALLOCATED: Entry(
        gettext_noop("Memory in use without an allocation"),
        WARNING,
        gettext_noop("More memory is in use than driver and firmware need, but no pod has this card."),
        gettext_noop(
            "List the processes with the tool of the vendor on the node. Typical: a process that outlived its pod, one "
            "started outside Kubernetes, or a container with NVIDIA_VISIBLE_DEVICES=all."
        ),
    ),
    SILENT: Entry(
        gettext_noop("Exporter stopped reporting"),
        WARNING,
        gettext_noop("The exporter stopped reporting cards of this node. It still reports other cards of the cluster."),
        gettext_noop("Check the exporter pod on the node, the scrape in Prometheus, and the driver."),
    ),
    MISSING: Entry(
        gettext_noop("No exporter on the node"),
        WARNING,
        gettext_noop("No exporter has ever reported a card of this node, but other cards of the cluster are reported."),
        gettext_noop(
            "Check that the exporter DaemonSet runs on the node (node selector, tolerations, labels) and that Prometheus "
            "scrapes it."
        ),
    ),
    COUNT: Entry(
        gettext_noop("Exporter card count differs"),
        WARNING,
        gettext_noop("The exporter reports more or fewer cards than the node has in gpudash."),
        gettext_noop(
            "Compare the tool of the vendor with the resources of the device plugin. A card may have fallen off the bus, "
            "or the plugin may not offer it."
        ),
    ),
    MEMORY: Entry(
        gettext_noop("Card memory sizes differ"),
        WARNING,
        gettext_noop(
            "Labels or records give another memory size than the card reports. ECC and driver do not explain the difference."
        ),
        gettext_noop(
            "Check that the label or setting belongs to this card. The value that the card reports is usable memory."
        ),
    ),
    NOT_READ: Entry(
        gettext_noop("Exporters not being read"),
        WARNING,
        gettext_noop(
            "gpudash did not read the exporters of the cluster for more than 5 min, or they report no card of it."
        ),
        gettext_noop(
            "Read the reason. Run `gpudash cluster check NAME` on the host of the usage worker to list the exporters."
        ),
    ),
}
#: Of a node or its cards. Those of a cluster are written by `inventory.discrepancies` itself.
CODES = frozenset(FINDINGS) - {NOT_READ}
