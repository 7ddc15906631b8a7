"""AMD's device plugin: whole cards, and the parts of cards of its naming strategy "mixed". The scheduler counts and chooses no card.

It gives a container /dev/kfd and the render node of its device, and no libraries: those of ROCm are the image's own.
Source: ROCm/k8s-device-plugin ed76468.
"""

from __future__ import annotations

import re

from validations.suites.engine.family import Family
from validations.suites.engine.target import Settings

_PARTITION = re.compile(r"amd\.com/[a-z]{1,2}px_nps[0-9]{1,2}")


def _partition(resource: str, settings: Settings) -> bool:
    return _PARTITION.fullmatch(resource) is not None


FAMILIES = (
    Family(name="amd-gpu", os="linux", apis=("hip",), rank=1, resources=("amd.com/gpu",)),
    Family(name="amd-partition", os="linux", apis=("hip",), rank=2, serves=_partition),
)
