"""What a node's condition says of its cards, as a statement: how they are, who says so, since when, what to do."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from exporters import xid
from wording.said import gettext_noop

#: How the cards are, by this condition alone. NOT_TOLD: it says nothing that can be relied on.
HEALTHY, DEGRADED, UNHEALTHY, NOT_TOLD = "healthy", "degraded", "unhealthy", "not-told"

#: Who sets conditions → how they are called.
TELLERS: Mapping[str, str] = {
    "nvsentinel": gettext_noop("NVSentinel"),
    "aks": gettext_noop("AKS (node problem detector)"),
    "eks": gettext_noop("EKS node monitoring agent"),
    "gke": gettext_noop("GKE (GPU device plugin)"),
    "node-problem-detector": gettext_noop("node problem detector"),
    "": "not known",
}
#: What to do → how it is said: as for Xid errors, and more.
ACTIONS: Mapping[str, str] = {
    **xid.ACTIONS,
    "replace-machine": gettext_noop("Replace the virtual machine."),
    "check-node": gettext_noop("Check the driver, the cards and the kernel log of the node."),
    "check-plugin": gettext_noop("Check the device plugin of the node. Its cards cannot be allocated."),
    "check-monitoring": gettext_noop("Check DCGM on the node. Until it answers, the health of the cards is unknown."),
    "check-cooling": gettext_noop("Check temperatures, cooling and power supply of the node."),
    "check-network": gettext_noop("Check the InfiniBand links of the node."),
    "run-diagnostic": gettext_noop("Run the NVIDIA field diagnostic on the card."),
    "plan-maintenance": gettext_noop("The cloud provider plans maintenance of the machine. Drain the node before."),
}
#: Longest text of a condition that is kept; most entries of one condition.
TEXT_CHARS = 2048
MOST_ENTRIES = 256


class NamedCard(msgspec.Struct, frozen=True, kw_only=True):
    """A card as a condition names it. pci: normalised, see `engine.identity`; its function is often not told, and taken for 0."""

    uuid: str | None = None
    pci: str | None = None
    index: int | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One of the things that a condition lists. codes: as they are written. parts: other entities, "TYPE:VALUE".

    action: a key of ACTIONS; "" where none is named.
    """

    text: str
    codes: tuple[str, ...] = ()
    xids: tuple[int, ...] = ()
    cards: tuple[NamedCard, ...] = ()
    parts: tuple[str, ...] = ()
    action: str = ""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What one condition says.

    type, status, reason, message: as they are written, cut. state: HEALTHY, DEGRADED, UNHEALTHY or NOT_TOLD. said_by: a key of
    TELLERS. headline: what it means, in English. since: unix seconds; None where it is not told. action: a key of ACTIONS, ""
    for nothing; action_by: who names it: said_by's key, "nvidia" (its Xid catalogue) or "gpudash". cut: the message was cut, so
    there may be more cards. No card in the entries: the condition does not say which of the node's cards it means.
    """

    type: str
    status: str
    state: str
    said_by: str
    headline: str
    reason: str = ""
    message: str = ""
    since: float | None = None
    action: str = ""
    action_by: str = ""
    entries: tuple[Entry, ...] = ()
    cut: bool = False

    @property
    def xids(self) -> tuple[int, ...]:
        """Codes of all entries, in order, each once."""
        return tuple(dict.fromkeys(code for entry in self.entries for code in entry.xids))

    @property
    def cards(self) -> tuple[NamedCard, ...]:
        """Cards of all entries, each once."""
        return tuple(dict.fromkeys(card for entry in self.entries for card in entry.cards))
