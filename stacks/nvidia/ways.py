"""How NVIDIA's plugin is asked for cards: whole ones, MIG slices, and shares of cards.

Sources: NVIDIA/k8s-device-plugin v0.20.0 (internal/rm, api/config/v1: requests of more than one share are refused under MPS, and
under time-slicing where failRequestsGreaterThanOne is set; else they may be of one card).
"""

from __future__ import annotations

from stacks.engine import fitting
from stacks.engine.base import WHOLE, Context
from stacks.engine.fitting import Answer, Piece, Spot, Want, Way
from stacks.nvidia import mig
from stacks.nvidia.layout import GPU, RESOURCES
from stacks.shared.ways import best, counted, offered, shares_of_cards, whole_cards
from wording.said import gettext_noop

_SLICES = gettext_noop(
    "The Kubernetes scheduler counts slices: the node needs as many free slices of one profile as requested. gpudash "
    "picks the smallest profile with enough memory. Slices that a new MIG layout could create do not count."
)
_SHARES = gettext_noop(
    "A share is one of several on the same card. Several shares may be on one card, so request only one. With MPS "
    "each share has an equal part of the memory. With time-slicing memory is not metered and cannot be requested."
)


def _slices(want: Want, spot: Spot) -> Answer | None:
    cut = [card for card in spot.cards if card.profile and card.mode == WHOLE]
    if not cut:
        return None
    kinds: dict[str, list[Piece]] = {}
    for card in cut:
        kinds.setdefault(card.profile, []).append(card)
    ordered = sorted(kinds.items(), key=lambda kind: (min(card.total or 0 for card in kind[1]), kind[0]))
    answers = [counted(want, spot, cards, one) for profile, cards in ordered for one in _resources(spot, profile)]
    # What comes nearest is said: of a profile that is large enough that too few are free, not of a smaller one that it is small.
    near = [one for one in answers if one.why not in (fitting.TOO_SMALL, fitting.FEW_CARDS, fitting.NOT_OFFERED)]
    return best([*near, *answers]) or Answer(why=fitting.NOT_OFFERED)


def _resources(spot: Spot, profile: str) -> list[str]:
    """Of the profile alone where the strategy is mixed; of whole cards where all slices are alike."""
    found = offered(
        spot.node, lambda name: mig.profile_of(name) == profile.replace("+", ".") and not mig.is_shared(name)
    )
    return found or offered(spot.node, lambda name: name == GPU)


def _shared(resource: str, context: Context) -> bool:
    return resource in RESOURCES or mig.is_shared(resource) or mig.profile_of(resource) is not None


WAYS: tuple[Way, ...] = (
    whole_cards(gettext_noop("NVIDIA device plugin, whole cards"), "nvidia", (GPU,)),
    Way("nvidia-mig", gettext_noop("NVIDIA device plugin, MIG slices"), _SLICES, _slices),
    shares_of_cards(gettext_noop("NVIDIA device plugin, shares of a card"), "nvidia-shared", _shared, _SHARES),
)
