"""MIG profiles: what their names say, how many fit on a card, how much memory a slice has.

A slice (MIG instance) is given out by itself. Its memory is in a label where GPU Feature Discovery runs; the name only rounds it.
Must not know nodes or pods. Sources: NVIDIA's MIG user guide (geometry), labels of recorded nodes (memory), and for Google's plugin
GoogleCloudPlatform/container-engine-accelerators 992db812, pkg/gpu/nvidia/mig (slices per card).
"""

from __future__ import annotations

import re

from stacks.engine.labels import GIB, MIB

#: "1g.5gb", "1c.3g.20gb"; attributes such as "+me" are ".me" in names of resources.
_PROFILE = r"(?:[1-7]c\.)?([1-7])g\.([0-9]{1,3})gb(?:[.+-](?!shared)[a-z]{1,8}(?:\.(?!shared)[a-z]{1,8})?)?"
_NAME = re.compile(_PROFILE)
_RESOURCE = re.compile(rf"nvidia\.com/mig-(?P<profile>{_PROFILE})(?P<shared>\.shared)?")
#: Compute slices of a card: none has more, so a sum of slices that is larger needs another card.
_MOST_SLICES = 7

#: (what the model has in its name, profile) → MiB, where a label of a node has been seen to say it.
_MEASURED = (
    ("A100", "40GB", "1g.5gb", 4864),
    ("A100", "80GB", "1g.10gb", 9728),
    ("H100", "80GB", "1g.10gb", 9984),
)

#: How many slices of a size Google's plugin makes of a card.
GKE_SLICES = {
    **{f"1g.{size}gb": 7 for size in (5, 10, 18, 23)},
    **{f"1g.{size}gb": 4 for size in (20, 35, 45, 47)},
    **{f"2g.{size}gb": 3 for size in (10, 20, 35, 45, 47)},
    **{f"3g.{size}gb": 2 for size in (20, 40, 71, 90, 93)},
    **{f"4g.{size}gb": 1 for size in (71, 90, 93)},
    **{f"7g.{size}gb": 1 for size in (40, 80, 141, 180, 186)},
    **dict.fromkeys(("1g.24gb", "1g.24gb+gfx", "1g.24gb-me"), 4),
    **dict.fromkeys(("1g.24gb+me", "1g.24gb+me.all"), 1),
    **dict.fromkeys(("2g.48gb", "2g.48gb+gfx", "2g.48gb-me"), 2),
    **dict.fromkeys(("2g.48gb+me.all", "4g.96gb", "4g.96gb+gfx"), 1),
}


def profile_of(resource: str) -> str | None:
    """The profile that a resource of the mixed strategy stands for; None when it is none of them."""
    match = _RESOURCE.fullmatch(resource)
    return match["profile"] if match else None


def is_shared(resource: str) -> bool:
    """Whether the name says that slices are shared in turns."""
    match = _RESOURCE.fullmatch(resource)
    return match is not None and match["shared"] is not None


def is_profile(text: str) -> bool:
    """Whether a text is the name of a profile."""
    return _NAME.fullmatch(text) is not None


def memory_of(profile: str, model: str | None) -> tuple[int, str] | None:
    """(bytes of a slice, how that is known), where no label says it. The size in the name is rounded up."""
    match = _NAME.fullmatch(profile)
    if match is None or not int(match[2]):
        return None
    for family, size, name, mebibytes in _MEASURED:
        if name == profile and _is(model, family, size):
            return mebibytes * MIB, f"MIG profile {profile} of {family} {size}"
    return int(match[2]) * GIB, f"name of the MIG profile {profile}, which rounds up"


def _is(model: str | None, family: str, size: str) -> bool:
    name = (model or "").upper()
    # Google names the card of 40 GB without its size.
    return family in name and (size in name or (size == "40GB" and name == "NVIDIA-TESLA-A100"))


def cards_needed(slices: dict[str, int]) -> int:
    """The least number of cards that so many slices of each profile need."""
    parts = sum(int(match[1]) * number for name, number in slices.items() if (match := _NAME.fullmatch(name)))
    return -(-parts // _MOST_SLICES)
