"""The labels of GPU Feature Discovery that say how cards are divided. Must not know what the node offers.

Source: NVIDIA/k8s-device-plugin v0.20.0, internal/lm. With the strategy single they speak of slices, with mixed the count takes in
cards in MIG mode, and each profile has labels of its own.
"""

from __future__ import annotations

import msgspec

from kube.quantity import count
from stacks.engine.labels import mebibytes
from stacks.engine.stack import Labels as NodeLabels
from stacks.nvidia import mig
from wording.said import sentence, series

PREFIX = "nvidia.com/gpu"
MIG_CONFIG, MIG_STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
_MIG_STRATEGY = "nvidia.com/mig.strategy"
#: Ends the product where the strategy single does not allow the layout.
INVALID = "INVALID"


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one kind of device. prefix: of the labels; all: the node's labels.

    slice_profile: what the product of the strategy single says, INVALID too. memory: bytes. place: the ConfigMap of the plugin that
    says in their place how cards are shared; "" where labels do.
    """

    prefix: str
    all: NodeLabels
    count: int | None
    replicas: int | None
    strategy: str
    product: str
    mig: str
    slice_profile: str
    memory: int | None
    place: str = ""

    @property
    def any(self) -> bool:
        """Whether they say anything of how many devices there are."""
        return self.count is not None or self.replicas is not None or bool(self.strategy)

    @property
    def discovered(self) -> bool:
        """Whether it is GPU Feature Discovery that says it."""
        return self.any and not self.place

    @property
    def shared(self) -> bool:
        """Whether devices are given out several times."""
        return self.strategy in ("time-slicing", "mps") or (self.replicas or 0) > 1 or self.product.endswith("-SHARED")

    @property
    def unshared(self) -> bool:
        """Whether the labels say that they are not."""
        return not self.shared and (self.replicas == 1 or self.strategy == "none")

    @property
    def cards(self) -> int | None:
        """The number of devices behind the plain resource; None where the labels do not say.

        Under the mixed MIG strategy the count takes in cards in MIG mode, which are not under that resource.
        """
        return self.count if self.mig != "mixed" else None

    def counts(self, cards: int) -> bool:
        """Whether the labels allow this number."""
        return self.cards in (None, cards)

    def of_profile(self, resource: str) -> Labels:
        """What the labels of a MIG profile say (strategy mixed)."""
        return _read(self.all, resource, mixed=False, place=self.place)

    def said(self, cards: int | None = None, source: str = "") -> str:
        """The labels in words. cards, source: what others than GPU Feature Discovery say of the number of cards."""
        known = {".count": self.count, ".replicas": self.replicas, ".sharing-strategy": self.strategy or None}
        said: list[str] = [f"{self.prefix}{name}={value}" for name, value in known.items() if value is not None]
        if said and self.place:
            said = [sentence("{labels} in the ConfigMap {place}", labels=", ".join(said), place=self.place)]
        said += [sentence("{cards} cards in the {source}", cards=cards, source=source)] if cards is not None else []
        return series(said, ", ") if said else sentence("no labels of GPU Feature Discovery")


def read(labels: NodeLabels, place: str = "") -> Labels:
    """What is said of the node's devices as a whole. place: the ConfigMap of the plugin that says how they are shared."""
    return _read(labels, PREFIX, mixed=True, place=place)


def _read(labels: NodeLabels, prefix: str, mixed: bool, place: str) -> Labels:
    product = labels.get(f"{prefix}.product", "")
    return Labels(
        prefix=prefix,
        all=labels,
        count=count(labels.get(f"{prefix}.count")),
        replicas=count(labels.get(f"{prefix}.replicas")),
        strategy=labels.get(f"{prefix}.sharing-strategy", ""),
        product=product,
        mig=labels.get(_MIG_STRATEGY, "") if mixed else "",
        slice_profile=_slice(product) if mixed else "",
        memory=mebibytes(labels.get(f"{prefix}.memory", "")),
        place=place,
    )


def _slice(product: str) -> str:
    _, found, profile = product.removesuffix("-SHARED").rpartition("-MIG-")
    return profile if found and (profile == INVALID or mig.is_profile(profile)) else ""
