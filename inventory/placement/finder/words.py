"""Codes of the finder in words, after a number of nodes: "27 nodes: taint not tolerated (key:NoSchedule)". Pages translate them."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from inventory.placement.finder import nodes
from stacks.engine import fitting

REASONS = {
    nodes.STALE: _("cluster data is not in sync, free cards unknown"),
    nodes.NOT_COUNTED: _("not counted yet"),
    nodes.NODE_UNKNOWN: _("node status unknown"),
    nodes.NOT_READY: _("not ready"),
    nodes.READINESS_UNKNOWN: _("readiness unknown"),
    nodes.CORDONED: _("cordoned"),
    nodes.TAINT: _("taint not tolerated"),
    nodes.SELECTOR: _("node selector label missing or different"),
    nodes.SELECTOR_UNKNOWN: _("node selector label is not synced, match unknown"),
    nodes.OTHER_MODEL: _("another card model"),
    nodes.MODEL_UNKNOWN: _("card model unknown"),
    nodes.OTHER_STACK: _("no cards of the requested stack"),
    nodes.NO_RULE: _("no placement rule for its stack"),
    nodes.LITTLE_CPU: _("too little free CPU"),
    nodes.LITTLE_HOST_MEMORY: _("too little free host memory"),
    fitting.NOT_OFFERED: _("allocatable is 0: no device plugin or no healthy card"),
    fitting.FEW_CARDS: _("fewer cards than requested"),
    fitting.TOO_SMALL: _("cards smaller than requested"),
    fitting.TOO_FEW_FREE: _("too few free cards (whole cards only)"),
    fitting.NO_BLOCK: _("too few cards with a large enough free block"),
    fitting.UNHEALTHY_CARDS: _("enough cards, but some are unhealthy or unavailable"),
    fitting.MIXED_CARDS: _("mixed cards: a smaller or other model may be allocated"),
    fitting.NO_SLOTS: _("memory is free, but no pod slots are left on the cards"),
    fitting.NO_CORES: _("memory is free, but all cores of the cards are allocated"),
    fitting.ONE_CARD: _("a pod can get a part of one card only"),
    fitting.NOT_METERED: _("memory not metered"),
    fitting.MEMORY_UNKNOWN: _("card memory unknown"),
    fitting.OCCUPANCY_UNKNOWN: _("free memory unknown: unidentified allocations on the node"),
    fitting.CARDS_UNKNOWN: _("number of cards unknown"),
    fitting.UNIT_UNKNOWN: _("memory unit of requests unknown"),
    fitting.LAYOUT_UNKNOWN: _("cards are partitioned on demand, remaining slices unknown"),
}

NOTES = {
    fitting.CARD_NOT_KNOWN: _("free cards unidentified (count only)"),
    fitting.MAY_BE_UNHEALTHY: _("cards reported unhealthy by other sources may be allocated"),
    fitting.NOT_ISOLATED: _("memory requests are not enforced"),
    fitting.SELECTORS: _("only if the selectors of the claim and its class match these devices"),
    fitting.PART_OF_CARD: _("parts of cards: the claim must request parts"),
    nodes.HOST_UNKNOWN: _("free CPU or host memory of the node unknown"),
}

#: What the finder does not look at, since the mirror does not keep it.
NOT_LOOKED_AT = (
    _("CPU and host memory of pods that request no card: these are not synced"),
    _("pod count of nodes, namespace quotas"),
    _("affinity, topology spread, volumes, priority and preemption"),
    _("pending pods, which may be scheduled first"),
)
