"""Names of Enflame's resources, and how numbers of cards are written in its annotations."""

from __future__ import annotations

import re

import msgspec

from stacks.engine.names import too_long

NAME = "enflame"
DOMAIN = "enflame.com/"
#: How many cards have slices.
COUNT = f"{DOMAIN}gcu-count"
#: Slices of the hardware, and of time.
DRS, SHARED = f"{DOMAIN}drs-gcu", f"{DOMAIN}shared-gcu"
#: What a pod asks another scheduler for, which makes slices of it: MiB and percent of a card, or cards and percent.
WISHES = (f"{DOMAIN}gcu-memory", f"{DOMAIN}gcu-core", f"{DOMAIN}vgcu", f"{DOMAIN}vgcu-percentage")
OF_SLICES = (COUNT, DRS, SHARED, *WISHES)
_SMALL = re.compile(r"[0-9]{1,4}")


def small(value: object) -> str | None:
    """A number of a card as a card's key; None where it is none."""
    digits = str(value) if type(value) is int else value
    return str(int(digits)) if isinstance(digits, str) and _SMALL.fullmatch(digits) else None


def mapping(value: str) -> dict[str, object] | None:
    """The JSON object of an annotation; None when it is no such."""
    if too_long(value):
        return None
    try:
        decoded = msgspec.json.decode(value)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    return decoded if isinstance(decoded, dict) else None
