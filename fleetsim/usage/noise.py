"""Numbers that look like chance and are a function of a seed and a place: the same in each process and each version of Python."""

from __future__ import annotations

from zlib import crc32

_ALL = (1 << 64) - 1
_FIRST, _SECOND, _STEP = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15
_PARTS = float(1 << 53)


def seed_of(*parts: object) -> int:
    """A seed from names and numbers."""
    return crc32("/".join(map(str, parts)).encode())


def at(seed: int, place: int) -> float:
    """0 to 1 (without it), evenly spread. The finalizer of splitmix64."""
    bits = (seed + place * _STEP) & _ALL
    bits = ((bits ^ (bits >> 30)) * _FIRST) & _ALL
    bits = ((bits ^ (bits >> 27)) * _SECOND) & _ALL
    return ((bits ^ (bits >> 31)) >> 11) / _PARTS


def smooth(seed: int, moment: float, period_s: float) -> float:
    """0 to 1, with a new level each period and an even way from one to the next."""
    place = moment / period_s
    whole = int(place)
    part = place - whole
    before = at(seed, whole)
    return before + (at(seed, whole + 1) - before) * part * part * (3 - 2 * part)
