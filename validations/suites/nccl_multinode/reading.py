"""The log of a group: which hosts took part, how they were connected, and whether the group broke.

A break while the table was printed is a failure of the group. Hosts that the log names beside it are suspects, no more: "remote
process exited" is said by those that are well.
Source: NVIDIA/nccl-tests `util.cu`, `common.cu`; NCCL `net.cc`; Open MPI's mpirun and prterun.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from validations.suites.engine.base import Lines, Reading
from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase, first
from validations.suites.shared.nccl_tests import Table, read_table
from wording.said import sentence, series

#: What mpirun puts before a line with --tag-output: job and rank, and which of both streams it was.
_TAG = re.compile(r"\[[^\]\s]{1,100}\]<(?:stdout|stderr|stddiag)>: ?")
_SIGNAL = re.compile(r"process rank (\d{1,6}) with PID \d{1,10} on node (\S{1,253})")
_PROCESS = re.compile(r"Process name: \[.{1,120}, ?(\d{1,6})\]")
_LOST_NODE = re.compile(r"gpudash: lost (\S{1,253})")
_SPEAKER = re.compile(r"(\S{1,253}): Test (?:NCCL|CUDA|HIP) failure")
#: Said on hosts that are well: of another one.
_OF_ANOTHER = "remote process exited"

NOT_FORMED = tuple(
    Phrase(words, "group-not-formed", meaning, "errored", source, example=example)
    for words, meaning, source, example in (
        (
            "gpudash: not joined",
            sentence("Some nodes did not join in time"),
            "the suite",
            "gpudash: not joined: gpudash-a-1",
        ),
        (
            "gpudash: cannot reach",
            sentence("The first pod of the group did not answer"),
            "the suite",
            "gpudash: cannot reach gpudash-a-0",
        ),
        (
            "Could not resolve hostname",
            sentence("A host name was not found"),
            "OpenSSH",
            "ssh: Could not resolve hostname nccl-worker-1: Name or service not known",
        ),
        (
            "Permission denied (publickey",
            sentence("A node rejected the ssh key"),
            "OpenSSH",
            "root@nccl-worker-1: Permission denied (publickey).",
        ),
        (
            "was unable to reliably start one or more daemons",
            sentence("mpirun could not start on a node"),
            "Open MPI",
            "ORTE was unable to reliably start one or more daemons.",
        ),
        (
            "There are not enough slots available",
            sentence("mpirun has fewer slots than ranks"),
            "Open MPI",
            "There are not enough slots available in the system to satisfy the 16 slots",
        ),
    )
)
_RANK_0 = "#  Rank  0 Group  0 Pid  1 on  node-a device  0 [0000:0f:00] NVIDIA H100\n"
LOST = tuple(
    Phrase(words, "group-broken", meaning, "failed", source, example=_RANK_0 + example)
    for words, meaning, source, example in (
        ("gpudash: lost ", sentence("A node left the group"), "the suite", "gpudash: lost gpudash-a-1"),
        (
            "exited on signal",
            sentence("A rank was ended by a signal"),
            "Open MPI",
            "mpirun noticed that process rank 9 with PID 7 on node node-b exited on signal 9 (Killed).",
        ),
        (
            "Process name: [",
            sentence("A rank ended with an error"),
            "Open MPI",
            "  Process name: [prterun-node-a-1@1,9] Exit code: 3",
        ),
        (
            "lost communication with a remote daemon",
            sentence("mpirun lost a node"),
            "Open MPI",
            "ORTE has lost communication with a remote daemon.",
        ),
        (
            "Got completion from peer",
            sentence("A transfer over InfiniBand or RoCE failed"),
            "NVIDIA/nccl",
            "node-a:1:2 [0] NCCL WARN NET/IB: Got completion from peer 10.0.0.2<4711> with status=12",
        ),
    )
)


def read(lines: Lines) -> Reading:
    """The proof is that of the table, where it has all rows, and names the hosts of all ranks, of which there are two or more."""
    notes = _Notes()
    reading, table = read_table(notes.passing(lines))
    hosts = _hosts(table)
    reading.facts["hosts"] = hosts
    table.transport.conclude(reading, one_host=False)
    _measure(reading, table)
    notes.conclude(reading, table, hosts)
    if reading.proof is not None and (missing := _missing(table, hosts)):
        reading.proof, reading.missing = None, missing
    return reading


class _Notes:
    """What the log says besides ranks and table, noted while its lines pass."""

    def __init__(self) -> None:
        self.unformed: list[tuple[Phrase, str, int]] = []
        self.lost: list[tuple[Phrase, str, int]] = []
        self.lost_ranks: set[int] = set()
        self.speakers: set[str] = set()

    def passing(self, lines: Lines) -> Iterator[tuple[int, str]]:
        """The lines without mpirun's tags."""
        for number, whole in lines:
            text = whole[tag.end() :] if whole.startswith("[") and (tag := _TAG.match(whole)) else whole
            if not text.startswith("#"):
                self._note(text, number)
            yield number, text

    def _note(self, text: str, number: int) -> None:
        if (phrase := first(NOT_FORMED, text)) is not None:
            self.unformed.append((phrase, text, number))
        elif (phrase := first(LOST, text)) is not None:
            self.lost.append((phrase, text, number))
        for pattern in (_SIGNAL, _PROCESS):
            if match := pattern.search(text):
                self.lost_ranks.add(int(match[1]))
        if _OF_ANOTHER not in text and (match := _LOST_NODE.match(text) or _SPEAKER.match(text)):
            self.speakers.add(match[1].partition(".")[0])

    def conclude(self, reading: Reading, table: Table, hosts: list[dict[str, object]]) -> None:
        """A group that was not formed has no result; one that broke has failed, whatever table was printed before."""
        for phrase, text, line in self.unformed[:4]:
            told = sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text.strip()))
            reading.errored(phrase.code, told, line)
        if not (self.lost and table.ranks):
            return
        suspects = sorted({str(one["host"]) for one in hosts if self._is_suspect(one)})
        reading.facts["suspects"] = suspects
        phrase, text, line = self.lost[0]
        told = sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text.strip()))
        reading.failed("group-broken", told, line)
        if suspects:
            named = sentence("Hosts in the log, not necessarily the cause: {hosts}.", hosts=series(suspects, ", "))
            reading.remark("group-broken", named, line)

    def _is_suspect(self, host: dict[str, object]) -> bool:
        ranks = host["ranks"]
        return host["host"] in self.speakers or (isinstance(ranks, list) and not self.lost_ranks.isdisjoint(ranks))


def _hosts(table: Table) -> list[dict[str, object]]:
    """Hosts in the order of their ranks, with these."""
    found: dict[str, list[int]] = {}
    for rank, place in zip(table.ranks, table.places, strict=True):
        found.setdefault(place[0], []).append(rank["rank"])
    return [{"host": name(host), "ranks": ranks[:64]} for host, ranks in list(found.items())[:256]]


def _measure(reading: Reading, table: Table) -> None:
    """Of the largest size, out of place: averages of sweeps of different sizes are not comparable."""
    if table.speeds:
        reading.measure("bus_bandwidth_largest", table.speeds[max(table.speeds)], "GB/s")


def _missing(table: Table, hosts: list[dict[str, object]]) -> str:
    if any(not one["host"] for one in hosts):
        return sentence("The log does not name the host of each rank.")
    if sorted(one["rank"] for one in table.ranks) != list(range(len(table.ranks))):
        return sentence("The log does not list each rank once.")
    if len(hosts) < 2:
        return sentence("The log names fewer than two hosts.")
    if len(set(Counter(place[0] for place in table.places).values())) > 1:
        # The suite starts as many on each host; which rank is the last the log does not say.
        return sentence("The log does not name each card that was used.")
    if not table.asked:
        return sentence("The log does not name the requested sizes.")
    asked = max(one.sizes(table.reduced) for one in table.asked)
    # The program may go through all sizes several times.
    wanted = max(1, -(-table.rows // max(asked, 1))) * asked
    if len(table.speeds) < asked or table.rows != wanted:
        there = len(table.speeds) if len(table.speeds) < asked else table.rows
        return sentence("The table has {there} of {size_count} requested sizes.", there=there, size_count=wanted)
    return ""
