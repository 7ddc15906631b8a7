"""How the slots of NVIDIA's device plugin map to cards: whole, time-sliced, or in MPS parts.

Capacity is the truth for slots; the labels of GPU Feature Discovery say how many slots a card has. They are checked against
each other. Must not know pods.
"""

from __future__ import annotations

import msgspec

from inventory.stacks.engine.base import PARTS, SHARES, WARNING, WHOLE, Finding
from inventory.stacks.engine.names import MAX_CARDS, labels_of
from inventory.stacks.engine.offers import Offer, offer, states
from inventory.stacks.engine.overrides import Overrides
from inventory.stacks.nvidia.declared import PRODUCT
from kube.objects import Node
from kube.quantity import count

GPU = "nvidia.com/gpu"
SHARED = "nvidia.com/gpu.shared"
RESOURCES = (GPU, SHARED)

_COUNT = "nvidia.com/gpu.count"
_REPLICAS = "nvidia.com/gpu.replicas"
_STRATEGY = "nvidia.com/gpu.sharing-strategy"
_MIG = "nvidia.com/mig.strategy"


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The cards behind one resource name.

    cards: how many, None when it cannot be known. replicas: slots per card (1 for whole cards), None when not known.
    stated: whether the node names the resource, readably or not.
    """

    resource: str
    offer: Offer
    mode: str
    cards: int | None
    replicas: int | None
    stated: bool
    findings: tuple[Finding, ...] = ()


class _Labels(msgspec.Struct, frozen=True):
    count: int | None
    replicas: int | None
    strategy: str
    shared_suffix: bool
    mig: str

    @property
    def shared(self) -> bool:
        return self.strategy in ("time-slicing", "mps") or (self.replicas or 0) > 1 or self.shared_suffix

    def counts(self, cards: int) -> bool:
        """Whether the label's count allows this number of cards.

        Under the mixed MIG strategy it counts cards in MIG mode too, which are not under the plugin's plain resource.
        """
        return self.count in (None, cards) or self.mig == "mixed"

    def __str__(self) -> str:
        known = {
            _COUNT: self.count,
            _REPLICAS: self.replicas,
            _STRATEGY: self.strategy or None,
        }
        said = [f"{name}={value}" for name, value in known.items() if value is not None]
        return ", ".join(said) or "no labels of GPU Feature Discovery"


def groups(node: Node, given: Overrides) -> list[Group]:
    """One group per resource of the plugin that the node states or that is asked of it."""
    labels = _read(node)
    plain, renamed = offer(node, GPU), offer(node, SHARED)
    # With renamed shares, what is left under the plain name is whole cards (often 0).
    both = bool(renamed.slots)
    found = [_group(GPU, plain, labels, given, labels.shared and not both, alone=not both)]
    if states(node, SHARED):
        found.append(_group(SHARED, renamed, labels, given, shared=True, alone=not plain.slots))
    return [msgspec.structs.replace(group, stated=states(node, group.resource)) for group in found]


def _read(node: Node) -> _Labels:
    labels = labels_of(node)
    return _Labels(
        count=count(labels.get(_COUNT)),
        replicas=count(labels.get(_REPLICAS)),
        strategy=labels.get(_STRATEGY, ""),
        shared_suffix=labels.get(PRODUCT, "").endswith("-SHARED"),
        mig=labels.get(_MIG, ""),
    )


def _group(resource: str, found: Offer, labels: _Labels, given: Overrides, shared: bool, alone: bool) -> Group:
    """alone: this is the only resource with slots, so labels and override speak of it."""
    slots = found.slots
    if given.cards and alone and slots:
        cards, replicas, agreed = _stated(slots, given.cards)
    elif not shared:
        agreed = not alone or slots is None or labels.counts(slots)
        cards, replicas = slots, 1
    else:
        cards, replicas, agreed = _divided(slots, labels, alone)
    if cards is not None and cards > MAX_CARDS:
        cards, agreed = None, False
    mode = _mode(labels, replicas) if shared or replicas != 1 else WHOLE
    findings = () if agreed else (_disagree(resource, slots, labels, cards),)
    return Group(
        resource=resource, offer=found, mode=mode, cards=cards, replicas=replicas, stated=True, findings=findings
    )


def _stated(slots: int, cards: int) -> tuple[int | None, int | None, bool]:
    """The administrator's count; never more cards than there are slots, and a count that does not divide them is flagged."""
    if slots % cards == 0:
        return cards, slots // cards, True
    return min(cards, slots), None, False


def _divided(slots: int | None, labels: _Labels, alone: bool) -> tuple[int | None, int | None, bool]:
    """(cards, slots per card, whether the labels agree with the capacity and with each other)."""
    if slots is None:
        return None, None, True
    if slots == 0:
        return 0, labels.replicas, True
    each, physical = labels.replicas, labels.count
    consistent = labels.strategy in ("", "time-slicing", "mps")
    if each is not None and each > 1 and slots % each == 0:
        cards = slots // each
        return cards, each, consistent and (not alone or labels.counts(cards))
    if alone and physical and slots % physical == 0:
        return physical, slots // physical, consistent and each is None
    # Shares under their own name and not one label: nothing disagrees, the number of cards is just not known.
    return None, None, each is None and physical is None


def _mode(labels: _Labels, replicas: int | None) -> str:
    if replicas == 1:
        return WHOLE
    return PARTS if labels.strategy == "mps" else SHARES


def _disagree(resource: str, slots: int | None, labels: _Labels, cards: int | None) -> Finding:
    held = "the number of cards is not known" if cards is None else f"{cards} cards are shown"
    text = (
        f"{resource}: capacity {slots}, but {labels}. Capacity counts, so {held}. Restart GPU Feature Discovery on this "
        "node, or state the number of cards in the annotation gpudash.io/card-count."
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)
