"""NVIDIA's device plugin: whole GPUs, MIG instances, and shares by time-slicing or MPS. The scheduler counts and chooses no card."""

from __future__ import annotations

from validations.suites.engine.family import Family
from validations.suites.engine.target import Settings

_MIG = "nvidia.com/mig-"


def _mig(resource: str, settings: Settings) -> bool:
    return resource.startswith(_MIG)


FAMILIES = (
    Family(name="nvidia-gpu", os="linux", apis=("cuda",), rank=1, resources=("nvidia.com/gpu",)),
    Family(name="nvidia-mig", os="linux", apis=("cuda",), rank=3, serves=_mig),
    Family(name="nvidia-shared", os="linux", apis=("cuda",), rank=5, resources=("nvidia.com/gpu.shared",)),
)
