"""Words for a pending pod on its page: what nodes lack, and what is probably a mistake, in words. Asks no table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from inventory.models import Pod
from inventory.placement.pending import closest, mistakes
from inventory.placement.pending.asked import Ask
from inventory.placement.pending.closest import Lack, Near
from inventory.placement.pending.mistakes import Mistake
from kube.unschedulable import Unschedulable
from pages.frame import amounts
from pages.frame.links import node_url


@dataclass(frozen=True)
class NearLine:
    """A node that comes close. free: what of each resource is left, in words; lacks: what is missing, in words."""

    node: str
    url: str
    model: str
    free: list[str]
    gap: int | None
    lacks: list[str]


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


def near_line(near: Near) -> NearLine:
    totals = near.totals
    return NearLine(
        node=totals.node_name,
        url=node_url(totals.cluster.name, totals.node_name),
        model=totals.model,
        free=[_left(name, near) for name in sorted(near.free)],
        gap=totals.largest_gap_bytes,
        lacks=[lack_words(one) for one in near.lacks],
    )


def _left(resource: str, near: Near) -> str:
    told = {"n": amounts.count(max(0, near.free[resource])), "all": amounts.count(near.offers[resource])}
    return _("%(resource)s: %(n)s of %(all)s") % (told | {"resource": resource})


def lack_words(lack: Lack) -> str:
    told = {"what": lack.what, "wanted": amounts.count(lack.wanted), "there": amounts.count(lack.there)}
    if lack.code == closest.BLOCK:
        told |= {"wanted": amounts.gib(lack.wanted), "there": amounts.gib(lack.there)}
        return _("largest free block on one card %(there)s, requested %(wanted)s") % told
    words: Mapping[str, str] = {
        closest.NOT_READY: _("not ready"),
        closest.CORDONED: _("cordoned"),
        closest.TAINT: _("taint %(what)s"),
        closest.NOT_OFFERED: _("no %(what)s on this node"),
        closest.SHORT: _("%(what)s: %(there)s free, requested %(wanted)s"),
    }
    return words[lack.code] % told


def mistake_words(one: Mistake) -> str:
    told = {"resource": one.resource, "wanted": amounts.count(one.wanted), "other": one.other}
    most = {"most": amounts.gib(one.most)}
    words: Mapping[str, Callable[[], str]] = {
        mistakes.MIB_MEANT: lambda: (
            _(
                "%(resource)s: the unit is GiB here, so %(wanted)s means %(wanted)s GiB. Use GiB if MiB was intended. "
                "The largest card of this stack has %(most)s."
            )
            % (told | most)
        ),
        mistakes.GIB_MEANT: lambda: (
            _("%(resource)s: the unit is MiB here, so %(wanted)s means %(wanted)s MiB. Use MiB if GiB was intended.")
            % told
        ),
        mistakes.LARGER_THAN_ANY: lambda: (
            _("%(resource)s: %(size)s requested. The largest card of this stack has %(most)s.")
            % (told | most | {"size": amounts.gib(one.wanted)})
        ),
        mistakes.MORE_THAN_ANY: lambda: (
            _("%(resource)s: %(wanted)s requested. No node has more than %(most)s.")
            % (told | {"most": amounts.count(one.most)})
        ),
        mistakes.NOBODY_OFFERS: lambda: _nobody_offers(one) % told,
        mistakes.NOT_TOGETHER: lambda: (
            _("No checked node offers both %(resource)s and %(other)s. They belong to different stacks.") % told
        ),
    }
    return words[one.code]()


def _nobody_offers(one: Mistake) -> str:
    if one.other:
        return _("No node of the cluster offers %(resource)s. A similar resource is %(other)s.")
    return _("No node of the cluster offers %(resource)s. Check the name and whether its device plugin runs.")


def selector_is_silent(pod: Pod, told: Unschedulable) -> bool:
    """Whether the selector or affinity of the pod refuses nodes: which, the mirror does not know."""
    return any("affinity" in one.text or "satisfy plugin" in one.text for one in told.reasons)
