"""The names of a card, in a form in which two sources can be compared. Pure text; it knows no exporter.

A UUID is written "GPU-…" by NVIDIA's tools, without that by others, in upper case by some; a PCI address with a domain of four or
eight digits. These forms are for comparing only: what is shown is what the source wrote.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Longest text that is a card's name.
NAME_CHARS = 128
#: Cards are numbered from 0; no node has more.
MOST_INDEX = 4096

_NO_NAME = "GPUMIgpumi-0"
_PREFIX = re.compile(r"^(?:gpu-|mig-)+")
#: Domain (optional), bus, device, function (optional: messages of the driver leave it out).
_PCI = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?")
#: A number, or the name of a device file that ends with it.
_INDEX = re.compile(r"[a-z]{0,16}([0-9]{1,4})")


def normal_uuid(text: str | None) -> str | None:
    """In lower case and without "GPU-" and "MIG-"; None when there is nothing left, or it is all zeros: that names no card."""
    if not text or len(text) > NAME_CHARS:
        return None
    bare = _PREFIX.sub("", text.strip().lower())
    return bare if bare.strip("0-") else None


def names_a_card(uuid: str) -> bool:
    """Whether a UUID is one: that of no card is all zeros, or empty."""
    return len(uuid) <= NAME_CHARS and uuid.strip(_NO_NAME) != ""


@lru_cache(maxsize=8192)
def normal_pci(text: str | None) -> str | None:
    """ "00000000:00:1E.0" → "0000:00:1e.0". A domain that is left out is 0, as is a function; None when it is no address."""
    match = _PCI.fullmatch(text.strip().lower()) if text and len(text) <= NAME_CHARS else None
    if match is None:
        return None
    domain, bus, device, function = match.groups()
    slot = int(device, 16)
    return f"{int(domain or '0', 16):04x}:{int(bus, 16):02x}:{slot:02x}.{function or '0'}" if slot < 32 else None


def index_of(text: str | None) -> int | None:
    """ "3", "card3" → 3; None when it is no number of a card."""
    match = _INDEX.fullmatch(text) if text else None
    number = int(match[1]) if match is not None else None
    return number if number is not None and number < MOST_INDEX else None
