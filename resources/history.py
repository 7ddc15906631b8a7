"""The history of a subject: what its columns are called for programs, in REST and in CSV."""

from __future__ import annotations

from inventory.history import packed

#: Column of REST and CSV → column of the history.
COLUMNS = {
    "memory_allocated_bytes": packed.ALLOCATED,
    "memory_used_bytes": packed.USED,
    "memory_used_peak_bytes": packed.USED_MOST,
    "memory_total_bytes": packed.TOTAL,
    "utilization_ratio": packed.UTILIZATION,
    "activity_ratio": packed.ACTIVITY,
    "cards": packed.CARDS,
    "cards_measured": packed.MEASURED,
    "unknown": packed.UNKNOWN,
}
