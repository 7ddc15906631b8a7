"""Which numbers are not believed, and why; units.

Sources: NVIDIA's dcgm_fields.h (blank values of 32 and 64 bit and of doubles), NVML (all ones), MindCluster (-1, all ones).
"""

from __future__ import annotations

import math

KIB, MIB = 2.0**10, 2.0**20
MEGA, MILLI, MICRO, PERCENT = 1e6, 1e-3, 1e-6, 0.01

#: The lowest number above 0 by which a tool says that it has none.
FIRST_SENTINEL = 2147483632.0
#: First and last of each run of numbers by which tools say: not known, not supported, not permitted, failed. A memory in bytes
#: is never one of them, since it comes in pages.
_SENTINELS = (
    (FIRST_SENTINEL, 2147483647.0),  # 0x7ffffff0 …: DCGM's blanks of 32 bits; 0x7fffffff: MindCluster's "failed"
    (4294967280.0, 4294967295.0),  # all ones of 32 bits: NVML, MindCluster
    (140737488355328.0, 140737488355343.0),  # DCGM's blanks of doubles
    (9.2233720368547e18, 9.2233720368549e18),  # 0x7ffffffffffffff0 …: DCGM's blanks of 64 bits
    (1.84467440737095e19, 1.84467440737097e19),  # all ones of 64 bits
    (-1.0, -1.0),
)


def is_sentinel(value: float) -> bool:
    """Whether a raw number, in the exporter's own unit, is one of those that stand for no value."""
    return any(first <= value <= last for first, last in _SENTINELS)


def reason(raw: float) -> str:
    """The code of why a raw value that is out of range is not believed."""
    if not math.isfinite(raw):
        return "not-a-number"
    return "sentinel" if is_sentinel(raw) else "implausible"
