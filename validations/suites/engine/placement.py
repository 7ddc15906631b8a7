"""Which extended resource a run asks for, how much of it, and whether it can name a card.

One table of resource families. The scheduler and the device plugin make the allocation; only on a card of gpushare that was asked
for does the manifest do what its scheduler would.
"""

from __future__ import annotations

from datetime import datetime

from validations.suites.engine import gpushare
from validations.suites.engine.options import Values
from validations.suites.engine.target import Resource, Target

NVIDIA = ("nvidia-gpu", "hami", "nvidia-mig", "gpushare", "nvidia-shared", "nvidia-alpha")
DIRECTX = ("directx-alibaba", "directx-compute", "directx-display", "directx-microsoft")
#: TensorWorks mounts the drivers' CUDA, OpenCL, Vulkan and encoder files; the other plugins mount DirectX alone.
DIRECTX_RUNTIMES = ("directx-compute", "directx-display")
DISPLAY = ("directx-display",)

_EXACT = {
    "alpha.kubernetes.io/nvidia-gpu": "nvidia-alpha",
    "nvidia.com/gpu.shared": "nvidia-shared",
    "windows.alibabacloud.com/directx": "directx-alibaba",
    "directx.microsoft.com/compute": "directx-compute",
    "directx.microsoft.com/display": "directx-display",
    "microsoft.com/directx": "directx-microsoft",
}
_HAMI_MEMORY = "nvidia.com/gpumem"
#: HAMi's hint that a pod takes one card and no other.
_HAMI_UUID = "nvidia.com/use-gpuuuid"
_MIB = 2**20


def family_of(resource: str, target: Target) -> str:
    """The family of a resource of the target, "" when it is none that a suite can ask for."""
    if resource == target.memory_resource:
        return "gpushare"
    if resource == "nvidia.com/gpu":
        return "hami" if target.stack.lower() == "hami" else "nvidia-gpu"
    if resource.startswith("nvidia.com/mig-"):
        return "nvidia-mig"
    return _EXACT.get(resource, "")


def candidates(families: tuple[str, ...], target: Target, wanted: str = "") -> list[Resource]:
    """Resources of the target that a suite can use, best first: what has something free, then the order of families."""
    suiting = [
        resource
        for resource in target.resources
        if family_of(resource.name, target) in families
        and resource.allocatable != 0
        and (not wanted or resource.name == wanted)
    ]
    return sorted(suiting, key=lambda one: (one.free == 0, families.index(family_of(one.name, target)), one.name))


def pick(families: tuple[str, ...], target: Target, values: Values) -> Resource:
    """The resource that a run asks for. Raises ValueError when the target has none that suits."""
    found = candidates(families, target, str(values.get("resource", "")))
    if not found:
        raise ValueError(f"node {target.node} has no resource that this suite can use")
    return found[0]


def units(resource: Resource, target: Target, values: Values, cards: int) -> int | None:
    """How much to ask for, in the resource's unit; None for memory units of a size that is not known."""
    if family_of(resource.name, target) != "gpushare":
        return cards
    if not resource.unit_bytes or resource.unit_bytes < 0:
        return None
    return -(-int(values.get("gpu_memory_mib", 1024)) * _MIB // resource.unit_bytes)


def limits(resource: Resource, target: Target, values: Values, cards: int) -> dict[str, str]:
    """The extended resources of the container. Raises ValueError where `units` knows no answer."""
    needed = units(resource, target, values, cards)
    if needed is None:
        raise ValueError(f"the memory unit of {resource.name} on node {target.node} is not known")
    asked = {resource.name: str(needed)}
    if family_of(resource.name, target) == "hami":
        asked[_HAMI_MEMORY] = str(values.get("gpu_memory_mib", 1024))
    return asked


def hints(resource: Resource, target: Target, values: Values, cards: int, moment: datetime | None) -> dict[str, str]:
    """Annotations by which the pod gets the card that was asked for; {} where none does. moment: now."""
    if _names_card(resource, target, cards):
        return {_HAMI_UUID: target.card_uuid or ""}
    if binds(resource, target, cards):
        return gpushare.assumption(target, units(resource, target, values, cards) or 0, moment)
    return {}


def _names_card(resource: Resource, target: Target, cards: int) -> bool:
    """HAMi lets a pod say which card it takes."""
    return family_of(resource.name, target) == "hami" and bool(target.card_uuid) and cards == 1


def binds(resource: Resource, target: Target, cards: int) -> bool:
    """Whether the pod brings its node and its card, so that no scheduler sees it."""
    return family_of(resource.name, target) == "gpushare" and gpushare.chooses(resource, target, cards)


def card_exact(families: tuple[str, ...], target: Target, wanted: str = "") -> bool:
    """Whether a run of these families on the target asks for one card only: the only one, or the one that it names.

    wanted: the resource that the run is told to ask for, "" for the best.
    """
    if target.cards_total == 1:
        return True
    found = candidates(families, target, wanted)
    return bool(found) and (_names_card(found[0], target, 1) or binds(found[0], target, 1))
