"""The first sync of the large cluster into empty databases, beside kubectl in the same run; then a sync of what is unchanged."""

from __future__ import annotations

from bench.answers import Answers
from bench.bed import Bed
from bench.large import written
from bench.report import MIB, Measured, emit, note, progress
from tests.processes import Processes

#: Kinds that every cluster has.
ALWAYS_READ = frozenset(("nodes", "pods", "daemonsets", "cards"))


def run(bed: Bed) -> None:
    progress("first-sync: kubectl get pods -A -o json")
    kubectl = bed.kubectl()
    note("kubectl", seconds=kubectl.seconds, cpu_s=kubectl.cpu_s, peak_mib=kubectl.peak_bytes / MIB)
    raw = bed.raw_list()
    note("raw-list", seconds=raw)
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
    emit(
        "first-sync",
        stored(bed, processes),
        database=name,
        seconds=done.seconds,
        cpu_s=done.cpu_s,
        times_kubectl=done.seconds / kubectl.seconds,
        times_raw_list=done.seconds / raw,
        peak_mib=done.peak_bytes / MIB,
        stored_mib=bed.stored_bytes(processes) / MIB,
        said=done.output.splitlines(),
    )


def stored(bed: Bed, processes: Processes) -> Answers:
    """The rows of each table beside what was put into etcd: nodes, their cards, pods that the mirror keeps, and allocations."""
    answers, wanted = Answers(), written(bed.scale)
    for what, count in bed.counts(processes).items():
        answers.expect(f"rows of {what}", count, wanted[what])
    return answers


def _unchanged(bed: Bed, name: str, processes: Processes) -> None:
    progress(f"first-sync: again, unchanged, {name}")
    done = bed.sync_once(processes)
    emit(
        "unchanged-sync",
        stored(bed, processes),
        database=name,
        seconds=done.seconds,
        cpu_s=done.cpu_s,
        rows_written=sum(rows_written(done.output)),
        peak_mib=done.peak_bytes / MIB,
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
