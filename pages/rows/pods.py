"""A pending pod on its page: the closest nodes, and who would have to move, as a template prints them. Asks no table."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from inventory.placement.pending.asked import Ask
from inventory.placement.pending.blockers import Blocked, Blocker
from inventory.placement.pending.detail import Closest
from inventory.placement.pending.words import lack_text
from kube.unschedulable import Unschedulable
from pages.frame import amounts
from pages.frame.links import card_url, node_url, pod_url
from pages.rows.cards import card_name

#: Pods that are linked in a row; the node's page has all.
PODS_SHOWN = 3


@dataclass(frozen=True)
class PodLink:
    """url: "" for a pod of a namespace that is not seen."""

    name: str
    url: str
    words: str


@dataclass(frozen=True)
class Moving:
    """Pods that would have to move. card: on which card; "" for any. number: of all, of which the first are linked.

    enough: they hold what is missing.
    """

    card: str
    card_url: str
    pods: list[PodLink]
    number: int
    enough: bool

    @property
    def more(self) -> bool:
        return self.number > len(self.pods)


@dataclass(frozen=True)
class NearLine:
    """A node that comes close. free: what of each resource is left, in words; lacks: what is missing, as sentences."""

    node: str
    url: str
    model: str
    free: list[str]
    gap: int | None
    lacks: list[str]
    moving: list[Moving]


@dataclass(frozen=True)
class AskLine:
    """A requested resource. memory: it in bytes, in words; "" for what is no memory."""

    resource: str
    quantity: str
    memory: str
    system: str


def ask_line(ask: Ask, units: set[str]) -> AskLine:
    """units: that nodes with the system count in."""
    sizes = {size for unit in units if (size := ask.bytes_by(unit)) is not None}
    memory = " / ".join(amounts.gib(size) for size in sorted(sizes))
    return AskLine(ask.resource, amounts.count(ask.quantity), memory, ask.label)


def near_line(cluster: str, one: Closest) -> NearLine:
    offer, counted = one.near.offer, one.near.counted
    return NearLine(
        node=offer.node,
        url=node_url(cluster, offer.node),
        model=offer.model,
        free=[
            _("%(n)s of %(all)s") % {"n": amounts.count(max(0, number.free)), "all": amounts.count(number.there)}
            for _name, number in sorted(counted.items())
        ],
        gap=offer.gap,
        lacks=[lack_text(lack) for lack in one.near.lacks],
        moving=[moving(cluster, found) for found in one.blocked if found.pods],
    )


def moving(cluster: str, found: Blocked) -> Moving:
    """Pods that hold what is missing of a node of this cluster."""
    shown = [_pod_link(cluster, one) for one in found.pods[:PODS_SHOWN]]
    card = found.card
    return Moving(
        card=card_name(card) if card is not None else "",
        card_url=card_url(card.pk) if card is not None else "",
        pods=shown,
        number=len(found.pods),
        enough=found.enough,
    )


def _pod_link(cluster: str, one: Blocker) -> PodLink:
    row = one.row
    if row.foreign:
        return PodLink(row.who, "", "")
    return PodLink(row.pod, pod_url(cluster, row.namespace, row.pod), row.who)


def selector_is_silent(told: Unschedulable) -> bool:
    """Whether the selector or affinity of the pod refuses nodes: which, the mirror does not know."""
    return any("affinity" in one.text or "satisfy plugin" in one.text for one in told.reasons)
