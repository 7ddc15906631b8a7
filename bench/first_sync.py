"""The first sync of the large cluster into empty databases, beside kubectl in the same run; then a sync of what is unchanged."""

from __future__ import annotations

from bench.bed import Bed
from bench.report import MIB, Measured, emit, progress
from tests.processes import Processes

RATIO, RAW_RATIO, PEAK = 0.18, 4.0, 300 * MIB
#: Kinds that every cluster has.
ALWAYS_READ = frozenset(("nodes", "pods", "daemonsets", "cards"))


def run(bed: Bed) -> None:
    progress("first-sync: kubectl get pods -A -o json")
    kubectl = bed.kubectl()
    emit("kubectl", seconds=kubectl.seconds, cpu_s=kubectl.cpu_s, peak_mib=kubectl.peak_bytes / MIB)
    raw = bed.raw_list()
    emit("raw-list", seconds=raw)
    postgres = bed.database("first")
    _first(bed, "postgresql", postgres, kubectl, raw)
    _unchanged(bed, "postgresql", postgres)
    bed.remember_synced(postgres)
    sqlite = bed.database("sqlite")
    _first(bed, "sqlite", sqlite, kubectl, raw)
    _unchanged(bed, "sqlite", sqlite)


def _first(bed: Bed, name: str, processes: Processes, kubectl: Measured, raw: float) -> None:
    progress(f"first-sync: into {name}")
    done = bed.sync_once(processes)
    ratio = done.seconds / kubectl.seconds
    emit(
        "first-sync",
        database=name,
        seconds=done.seconds,
        cpu_s=done.cpu_s,
        times_kubectl=ratio,
        times_raw_list=done.seconds / raw,
        peak_mib=done.peak_bytes / MIB,
        stored_mib=bed.stored_bytes(processes) / MIB,
        target_times_kubectl=RATIO,
        target_times_raw_list=RAW_RATIO,
        target_peak_mib=PEAK // MIB,
        ok=ratio <= RATIO and done.seconds <= RAW_RATIO * raw and done.peak_bytes <= PEAK,
        said=done.output.splitlines(),
    )


def _unchanged(bed: Bed, name: str, processes: Processes) -> None:
    progress(f"first-sync: again, unchanged, {name}")
    done = bed.sync_once(processes)
    written = sum(rows_written(done.output))
    emit(
        "unchanged-sync",
        database=name,
        seconds=done.seconds,
        cpu_s=done.cpu_s,
        rows_written=written,
        peak_mib=done.peak_bytes / MIB,
        target_rows_written=0,
        ok=written == 0,
    )


def rows_written(output: str) -> list[int]:
    """The counts of `sync --once`, one for each kind that was read. Raises ValueError when it says none of one that always is."""
    counts = {}
    for line in output.splitlines():
        said, found, _ = line.partition(" rows written")
        if found:
            counts[said.partition(":")[0].rsplit(" ", 1)[-1]] = int(said.rsplit(" ", 1)[1])
    if missing := ALWAYS_READ - counts.keys():
        raise ValueError(f"sync --once said nothing of {', '.join(sorted(missing))}:\n{output}")
    return list(counts.values())
