"""Which adapter names are hardware. Windows and Vulkan fall back to software silently, and then everything "succeeds"."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Microsoft makes no GPU: its adapters are the Basic Render Driver, the Basic Display Adapter, Hyper-V Video, the Remote
#: Display Adapter. Then CPU implementations of Vulkan, OpenGL and OpenCL, and adapters that only show a picture: those of
#: virtual machines, remote desktops and virtual monitors.
_SOFTWARE = re.compile(
    r"microsoft\b|.{0,64}\b(?:basic (?:render|display)|hyper-v video|(?:remote|virtual|indirect) display"
    r"|llvmpipe|lavapipe|swiftshader|softpipe|warp\b|pocl\b"
    r"|standard vga|vmware svga|virtualbox graphics|qxl\b|virtio gpu|parallels display|rdpudd\b|displaylink\b)",
    re.IGNORECASE,
)
#: Mesa's drivers on top of Direct3D 12 (Dozen, d3d12) name the adapter below them in brackets.
_ON_DIRECT3D = re.compile(r"(?:Microsoft Direct3D12|D3D12) \((?P<adapter>.{1,200})\)")
_WINDOWS = (
    "Microsoft Basic Render Driver",
    "Microsoft Basic Display Adapter",
    "Microsoft Hyper-V Video",
    "Microsoft Remote Display Adapter",
)
#: GRID and vGPU profile names: card, slice in GiB, kind (Q workstation, C compute, A applications, B desktop).
_VGPU = re.compile(
    r"(?:GRID |NVIDIA (?:GRID )?)?(?P<profile>(?P<card>[A-Z]{1,4}\d{1,5}[A-Z]{0,4})-(?P<gib>\d{1,3})(?P<kind>[QCAB]))"
)


class Vgpu(NamedTuple):
    """A vGPU profile: `T4-8Q` is a slice of 8 GiB of a T4."""

    profile: str
    card: str
    gib: int


def software_name(text: str) -> str | None:
    """The full name of a software adapter of Windows that the text has, also where a console broke the line."""
    return next((known for known in _WINDOWS if known.lower() in text.lower()), None)


def is_software(adapter: str) -> bool:
    """Whether the name is that of no GPU: a software fallback, or an adapter that only shows a picture."""
    adapter = adapter.strip()
    layered = _ON_DIRECT3D.fullmatch(adapter)
    return _SOFTWARE.match(layered["adapter"] if layered else adapter) is not None


def on_direct3d(adapter: str) -> bool:
    """Whether the name is that of a Mesa driver on top of Direct3D 12."""
    return _ON_DIRECT3D.match(adapter.strip()) is not None


def vgpu(adapter: str) -> Vgpu | None:
    """The vGPU profile that the name of an adapter says, None for a whole card."""
    match = _VGPU.fullmatch(adapter.strip())
    return Vgpu(match["profile"], match["card"], int(match["gib"])) if match else None
