"""What a run needs of its node, and what of that the node is known not to have. Pure: versions come and go as text.

A version that is not known, or known too roughly ("525" beside a floor of 525.60), is below no floor: it is not checked.
Sources: NVIDIA's CUDA compatibility table and the release notes of its toolkits; the manuals of the device plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from kube.images import parsed
from wording.said import sentence

#: CUDA of an image → oldest driver on Linux. From 11 on a driver runs every CUDA of its major version, so the major version decides.
_DRIVERS = {
    "13": "580",
    "12": "525.60",
    "11": "450.80.02",
    # 11.0 came before NVIDIA promised that, 8.0 with two drivers: the older one is enough.
    "11.0": "450.36.06",
    "10.2": "440.33",
    "10.1": "418.39",
    "10.0": "410.48",
    "9.2": "396.26",
    "9.1": "390.46",
    "9.0": "384.81",
    "8.0": "367.48",
}
_COMPATIBLE_SINCE = 11
_VERSION = re.compile(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,7})(?![0-9])")
_BUILD_PARTS = 3
#: A tag that says its CUDA: "vectoradd-cuda12.5.0". "cuda118" may be 11.8 or 118.
_IN_TAG = re.compile(r"(?<![A-Za-z0-9])cuda[-_]?([0-9]{1,2}(?:\.[0-9]{1,2})?)(?![0-9])", re.IGNORECASE)
#: The images of CUDA itself have its version as their tag: "12.4.1-base-ubuntu22.04".
_OF_CUDA = re.compile(r"([0-9]{1,2}\.[0-9]{1,2})(?![0-9])")


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a node must have. "" and (): it does not matter, or is not known.

    cuda: CUDA of the image, from which the oldest driver follows. driver: oldest NVIDIA driver, where the program decides.
    capability: least compute capability ("7.5") that the image has code for. builds: Windows builds ("10.0.20348") that the image
    is for. containerd, kubernetes: oldest versions with which a container gets the devices.
    """

    cuda: str = ""
    driver: str = ""
    capability: str = ""
    builds: tuple[str, ...] = ()
    containerd: str = ""
    kubernetes: str = ""

    @property
    def oldest_driver(self) -> str:
        """The oldest NVIDIA driver that will do."""
        return self.driver or driver_for(self.cuda)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a node; "" where nothing is.

    driver: NVIDIA's. cuda: newest CUDA that the driver supports. capability: compute capability of its cards, where all have one.
    windows_build: with or without its last part. runtime, kubelet: as its status has them ("containerd://1.7.2", "v1.31.1").
    """

    driver: str = ""
    cuda: str = ""
    capability: str = ""
    windows_build: str = ""
    runtime: str = ""
    kubelet: str = ""


class Unmet(msgspec.Struct, frozen=True):
    """A need that a node does not meet. found: what it has; "" where that is not known."""

    code: str
    text: str
    needed: str
    found: str


def unmet(needs: Needs, facts: Facts) -> list[Unmet]:
    """What the node is known not to have, each with both values in one sentence."""
    return [one for one in _all(needs, facts) if one.found]


def unchecked(needs: Needs, facts: Facts) -> list[Unmet]:
    """What is not known of the node though the run needs it."""
    return [one for one in _all(needs, facts) if not one.found]


def driver_for(cuda: str) -> str:
    """The oldest driver for an image with this CUDA; "" where the table has none."""
    major, minor = (*cuda.split("."), "", "")[:2]
    return _DRIVERS.get(f"{major}.{minor}") or _DRIVERS.get(major, "")


def cuda_of(image: str) -> str:
    """The CUDA that the tag of an image says: "12.5", "12", or "" where it says none. Beside a digest a tag says nothing."""
    name = parsed(image)
    if name is None or name.digest:
        return ""
    if name.name.endswith("/nvidia/cuda"):
        found = _OF_CUDA.match(name.tag)
        return found[1] if found else ""
    said = set(_IN_TAG.findall(name.tag))
    return said.pop() if len(said) == 1 else ""


def below(found: str, floor: str) -> bool | None:
    """Whether a version is older than another; None where it is no version, or has too few parts to tell."""
    one, other = _parts(found), _parts(floor)
    if one is None or other is None:
        return None
    common = min(len(one), len(other))
    if one[:common] != other[:common]:
        return one[:common] < other[:common]
    return False if len(one) >= len(other) else None


def _parts(version: str) -> tuple[int, ...] | None:
    """Its leading numbers: what is added to a version ("-gke.100", "+azure") counts for nothing."""
    found = _VERSION.match(version.strip()) if version.isascii() else None
    return tuple(map(int, found[1].split("."))) if found else None


def _number(version: str) -> str:
    """The version as a sentence has it, without what is added to it."""
    found = _VERSION.match(version.strip())
    return found[1] if found else version


def _all(needs: Needs, facts: Facts) -> Iterator[Unmet]:
    if floor := driver_for(needs.cuda):
        yield from _cuda(needs.cuda, floor, facts)
    if needs.driver:
        yield from _driver(needs.driver, facts)
    if needs.capability:
        yield from _capability(needs.capability, facts)
    if needs.builds:
        yield from _build(needs.builds, facts)
    if needs.containerd:
        yield from _containerd(needs.containerd, facts)
    if needs.kubernetes:
        yield from _kubernetes(needs.kubernetes, facts)


def _compared(code: str, older: bool | None, needed: str, found: str, low: str, unknown: str) -> Iterator[Unmet]:
    """low, unknown: what is said when what was found is too old, and when nobody knows."""
    if older is None:
        yield Unmet(code, unknown, needed, "")
    elif older:
        yield Unmet(code, low, needed, found)


def _cuda(cuda: str, floor: str, facts: Facts) -> Iterator[Unmet]:
    """By the driver; where its version is not known, by the CUDA that it supports."""
    older, found = below(facts.driver, floor), _number(facts.driver)
    if older is None and (newest := _supported(cuda, facts)) is not None:
        yield from newest
        return
    low = sentence(
        "Driver {found} is too old: CUDA {cuda} of the image needs {needed}.", found=found, needed=floor, cuda=cuda
    )
    unknown = sentence("Driver version unknown: CUDA {cuda} of the image needs {needed}.", cuda=cuda, needed=floor)
    yield from _compared("driver-below", older, floor, found, low, unknown)


def _supported(cuda: str, facts: Facts) -> list[Unmet] | None:
    """The same by the newest CUDA of the driver; None where that is not known either."""
    major = int(cuda.split(".")[0])
    needed, found = f"{major}.0" if major >= _COMPATIBLE_SINCE else cuda, _number(facts.cuda)
    older = below(facts.cuda, needed)
    if older is None:
        return None
    low = sentence("The driver supports CUDA {found}, the image needs {needed}.", found=found, needed=needed)
    return list(_compared("cuda-below", older, needed, found, low, ""))


def _driver(floor: str, facts: Facts) -> Iterator[Unmet]:
    found = _number(facts.driver)
    low = sentence("Driver {found} is too old: the image needs {needed}.", found=found, needed=floor)
    unknown = sentence("Driver version unknown: the image needs {needed}.", needed=floor)
    yield from _compared("driver-below", below(facts.driver, floor), floor, found, low, unknown)


def _capability(floor: str, facts: Facts) -> Iterator[Unmet]:
    found = _number(facts.capability)
    low = sentence("Compute capability {found} is too low: the image needs {needed}.", found=found, needed=floor)
    unknown = sentence("Compute capability unknown: the image needs {needed}.", needed=floor)
    yield from _compared("compute-capability", below(facts.capability, floor), floor, found, low, unknown)


def _build(builds: tuple[str, ...], facts: Facts) -> Iterator[Unmet]:
    """A Windows container in process isolation needs the build of its host."""
    needed, parts = ", ".join(builds), _parts(facts.windows_build) or ()
    found = ".".join(map(str, parts[:_BUILD_PARTS]))
    other = found not in builds if len(parts) >= _BUILD_PARTS else None
    low = sentence("The image needs Windows build {needed}, the node has {found}.", needed=needed, found=found)
    unknown = sentence("Windows build unknown: the image needs {needed}.", needed=needed)
    yield from _compared("windows-build", other, needed, found, low, unknown)


def _containerd(floor: str, facts: Facts) -> Iterator[Unmet]:
    """Another runtime has another way, of which nothing is known here."""
    name, _, version = facts.runtime.partition("://")
    found = _number(version)
    low = sentence("containerd {found} is too old: the devices of the node need {needed}.", found=found, needed=floor)
    unknown = sentence("containerd version unknown: the devices of the node need {needed}.", needed=floor)
    older = below(version, floor) if name == "containerd" else None
    yield from _compared("containerd-below", older, floor, found, low, unknown)


def _kubernetes(floor: str, facts: Facts) -> Iterator[Unmet]:
    found = _number(facts.kubelet)
    low = sentence("Kubelet {found} is too old: the devices of the node need {needed}.", found=found, needed=floor)
    unknown = sentence("Kubelet version unknown: the devices of the node need {needed}.", needed=floor)
    yield from _compared("kubelet-below", below(facts.kubelet, floor), floor, found, low, unknown)
