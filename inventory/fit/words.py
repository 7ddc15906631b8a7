"""Codes of the finder in words, after a number of nodes: "27 nodes: taint not tolerated (key:NoSchedule)". Pages translate them."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from inventory.fit import nodes
from inventory.stacks.engine import fitting

REASONS = {
    nodes.STALE: _("the mirror of the cluster is not in sync: what is free now is not known"),
    nodes.NOT_COUNTED: _("not counted yet"),
    nodes.NODE_UNKNOWN: _("what the node says of itself is not known"),
    nodes.NOT_READY: _("not ready"),
    nodes.READINESS_UNKNOWN: _("not known whether it is ready"),
    nodes.CORDONED: _("cordoned"),
    nodes.TAINT: _("taint not tolerated"),
    nodes.SELECTOR: _("label of the node selector is missing or has another value"),
    nodes.SELECTOR_UNKNOWN: _("label of the node selector is not mirrored, so it is not known"),
    nodes.OTHER_MODEL: _("another card model"),
    nodes.MODEL_UNKNOWN: _("card model not known"),
    nodes.OTHER_SYSTEM: _("cards cannot be asked for in this way there"),
    nodes.NO_RULE: _("not known how its sharing system places a request"),
    fitting.NOT_OFFERED: _("gives out none now: the device plugin is gone, or calls no card healthy"),
    fitting.FEW_CARDS: _("fewer cards than are asked for"),
    fitting.TOO_SMALL: _("cards are smaller than what is asked for"),
    fitting.TOO_FEW_FREE: _("cards are given as a whole, and too few are free"),
    fitting.NO_BLOCK: _("too few cards with so much free memory in one piece"),
    fitting.UNHEALTHY_CARDS: _("there would be enough, were cards not unhealthy or set apart"),
    fitting.MIXED_CARDS: _("cards differ, and one may be given that is smaller or of another model"),
    fitting.NO_SLOTS: _("memory is free, and the cards take no further holder"),
    fitting.NO_CORES: _("memory is free, and the cores of the cards are all held"),
    fitting.ONE_CARD: _("a pod gets a part of one card only"),
    fitting.NOT_METERED: _("cards are shared, and nobody meters their memory"),
    fitting.MEMORY_UNKNOWN: _("memory of the cards not known"),
    fitting.OCCUPANCY_UNKNOWN: _("not known what is free: something is held, not known on which card or how much"),
    fitting.CARDS_UNKNOWN: _("number of cards not known"),
    fitting.UNIT_UNKNOWN: _("not known in which unit memory is asked for"),
    fitting.LAYOUT_UNKNOWN: _("cards are cut as pods come, and what fits beside what is there is not known"),
}

NOTES = {
    fitting.CARD_NOT_KNOWN: _("how many are free is known, not which"),
    fitting.MAY_BE_UNHEALTHY: _("cards that others call unhealthy may be given out too"),
    fitting.NOT_ISOLATED: _("nothing holds a pod to what it asked for"),
    fitting.SELECTORS: _("if the selectors of the claim and its class choose these devices"),
    fitting.PART_OF_CARD: _("as parts of cards: the claim must ask for parts"),
}

#: What the finder does not look at, since the mirror does not keep it.
NOT_LOOKED_AT = (
    _("CPU, memory and the number of pods of a node, and quotas of namespaces"),
    _("affinity, topology spread, volumes, priority and preemption"),
    _("pods that wait already: they may come first"),
)
