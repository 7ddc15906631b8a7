"""Which drivers of dynamic resource allocation give out accelerators, and how each names what it gives.

Network cards, compute domains and the like are claimed in the same way and are no cards.
"""

from __future__ import annotations

from typing import NamedTuple

from kube.claims import DeviceRequest, ResourceClaim, ResourceSlice


class Driver(NamedTuple):
    """How a driver names what it gives out.

    shared: whether other stacks here may give out the same cards.
    parts: values of the attribute `type` of devices that are parts of a card.
    passed: of those that are a card under another name, to be given to a virtual machine.
    parents: attributes of a part that name its card; identities: those of the card, in the same order.
    cuda: whether the driver version of its devices is that of NVIDIA's driver.
    part_class: the device class of parts in the driver's chart; "" where it is that of cards, which has the driver's name.
    """

    shared: bool = False
    parts: tuple[str, ...] = ("mig",)
    passed: tuple[str, ...] = ("vfio",)
    parents: tuple[str, ...] = ("parentUUID",)
    identities: tuple[str, ...] = ("uuid",)
    cuda: bool = False
    part_class: str = ""


#: Sources: kubernetes-sigs/dra-driver-nvidia-gpu 9593204, ROCm/k8s-gpu-dra-driver 2622427,
#: intel/intel-resource-drivers-for-kubernetes gpu-v0.11, Project-HAMi/k8s-dra-driver v0.1.0.
DRIVERS = {
    "gpu.nvidia.com": Driver(shared=True, cuda=True, part_class="mig.nvidia.com"),
    "hami-core-gpu.project-hami.io": Driver(shared=True),
    "gpu.amd.com": Driver(
        False, ("amdgpu-partition",), (), ("parentPciAddr", "parentDeviceID"), ("pciAddr", "deviceID")
    ),
    "gpu.intel.com": Driver(False, ()),
}
_OTHER = Driver()
#: Parts of a driver's name by which one that is not in the table is taken for a driver of accelerators.
_WORDS = ("gpu", "npu", "xpu", "accelerator", "neuron", "tpu", "gaudi")
#: Parts of a class's name by which it is taken for one of network cards and the like.
_OTHER_WORDS = ("compute-domain", "rdma", "roce", "infiniband", "sriov", "dranet", "nic.", "-nic", "fpga", "cpu.")
#: Drivers of other things that have such a word in their names.
_NOT = ("compute-domain.nvidia.com",)


def driver(name: str) -> Driver:
    """What is known of a driver."""
    return DRIVERS.get(name, _OTHER)


def vendor(name: str) -> str:
    """Whose cards a driver gives out, by its domain; "" where other systems here may give out the same."""
    parts = name.split(".")
    return "" if driver(name).shared or len(parts) < 2 else parts[-2]


def drives_cards(name: str) -> bool:
    """Whether a driver (or a device class of its name) gives out accelerators."""
    if name in DRIVERS:
        return True
    words = name.lower()
    return name not in _NOT and not words.startswith("compute-domain") and any(word in words for word in _WORDS)


def gives_cards(found: ResourceSlice) -> bool:
    return drives_cards(found.spec.driver)


def asks_for_cards(claim: ResourceClaim) -> bool:
    """By what it was given. While it waits only the names of classes are known, which administrators choose as they like, so
    it may be for cards unless a class is known to be of other devices."""
    allocation = claim.status.allocation if claim.status else None
    if allocation is not None:
        results = (allocation.devices.results if allocation.devices else None) or ()
        return any(drives_cards(result.driver) for result in results)
    wanted = (claim.spec.devices.requests if claim.spec and claim.spec.devices else None) or ()
    return any(not _is_other(name) for request in wanted for name in classes(request))


def classes(request: DeviceRequest) -> list[str]:
    """The device classes that a request would take."""
    exact = [request.exactly] if request.exactly else []
    found = [one.deviceClassName for one in (request, *exact, *(request.firstAvailable or ()))]
    return [name for name in found if name]


def _is_other(name: str) -> bool:
    words = name.lower()
    return not drives_cards(name) and any(word in words for word in _OTHER_WORDS)
