"""Codes of findings that come from promises and measurements together."""

from __future__ import annotations

from inventory.stacks.engine.base import INFO, WARNING
from inventory.stacks.engine.stack import Entry

IDLE = "held-idle"
OVERUSED = "uses-more-than-given"
UNHELD = "used-without-holder"
SILENT = "exporter-silent"
MISSING = "exporter-missing"
COUNT = "exporter-counts-otherwise"
MEMORY = "memory-disagrees"
NOT_READ = "exporters-not-read"

FINDINGS = {
    IDLE: Entry(
        "Held but idle",
        INFO,
        "Pods hold cards of a node on which no work was seen for GPUDASH_IDLE_MINUTES. One for a node; it names the holds.",
        "Ask the owners whether they still need the cards; Allocations, idle, has all of them, the largest first.",
    ),
    OVERUSED: Entry(
        "Uses more than it was given",
        WARNING,
        "On a card that several pods share, one uses more memory than it was given, or all together use more than is allocated. "
        "Nothing isolates them: when the card is full, the allocation of a neighbour fails.",
        "Set the limit that the sharing system has for its containers, or ask for as much memory as is used.",
    ),
    UNHELD: Entry(
        "Used though nobody holds it",
        WARNING,
        "Memory of a card is in use, more than driver and firmware need, and by what the cluster records nobody holds the card.",
        "Look on the node with the vendor's tool whose processes these are: one that outlived its pod, one started "
        "past the scheduler, or a container with NVIDIA_VISIBLE_DEVICES=all.",
    ),
    SILENT: Entry(
        "Exporter silent",
        WARNING,
        "Cards of a node were measured, and their exporter says nothing of them any more, while others of the cluster are measured.",
        "Look at the exporter's pod on the node, whether it is scraped, and whether the driver still answers.",
    ),
    MISSING: Entry(
        "Exporter missing",
        WARNING,
        "No card of a node was ever measured, while others of the cluster are.",
        "Look whether the exporter's DaemonSet runs on the node (node selector, tolerations, labels) and is scraped.",
    ),
    COUNT: Entry(
        "Exporter counts other cards",
        WARNING,
        "The exporter names more cards of a node, or fewer, than the mirror has.",
        "Compare the vendor's tool with what the device plugin offers; a card may have fallen off its bus, or not be given out.",
    ),
    MEMORY: Entry(
        "Memory of a card disagrees",
        WARNING,
        "What labels or records say that a card has and what the card itself says differ by more than ECC and driver explain.",
        "Look whether the label or setting that it comes from is of this card; the card's own figure is what can be used.",
    ),
    NOT_READ: Entry(
        "Exporters are not read",
        WARNING,
        "The exporters of a cluster were not read for more than five minutes, or no card is measured by what they say.",
        "Read the reason; `manage.py cluster check NAME` on the host of the usage worker says what is found.",
    ),
}
#: Of a node or its cards. Those of a cluster are written by `inventory.discrepancies` itself.
CODES = frozenset(FINDINGS) - {NOT_READ}
