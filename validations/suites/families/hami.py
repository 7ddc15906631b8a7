"""HAMi gives out parts of cards under the resource name of NVIDIA's plugin, and lets a pod say which card it takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from validations.suites.engine.family import Family, memory_mib
from validations.suites.engine.options import Values
from validations.suites.engine.target import Resource, Target

_MEMORY = "nvidia.com/gpumem"
#: HAMi's hint that a pod takes one card and no other.
_UUID = "nvidia.com/use-gpuuuid"
#: What HAMi's webhook adds by its own settings (pkg/util, TaskPriority and CoreLimitSwitch).
_VARIABLES = ("CUDA_TASK_PRIORITY", "GPU_CORE_UTILIZATION_POLICY")


def _also(values: Values) -> Mapping[str, str]:
    return {_MEMORY: str(memory_mib(values))}


def _names_card(resource: Resource, target: Target, cards: int) -> bool:
    return bool(target.card_uuid) and cards == 1


def _annotations(target: Target, units: int, moment: datetime | None) -> Mapping[str, str]:
    return {_UUID: target.card_uuid or ""}


FAMILIES = (
    Family(
        name="hami",
        os="linux",
        apis=("cuda",),
        rank=2,
        resources=("nvidia.com/gpu",),
        stack="hami",
        also=_also,
        names_card=_names_card,
        annotations=_annotations,
        variables=_VARIABLES,
    ),
)
