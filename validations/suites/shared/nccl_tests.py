"""What nccl-tests all_reduce_perf prints, on one node or on several: ranks, table, footer and what went wrong.

Column layout and footer are those of nccl-tests 2.x. A run with the check switched off proves no sum and is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from validations.suites.engine.figures import count, duration, name, number
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.verdict import Reading
from validations.suites.shared.nccl_failures import PHRASES as FAILURES
from validations.suites.shared.nccl_failures import Failures
from validations.suites.shared.nccl_transport import Transport
from wording.said import sentence

_RANK = re.compile(
    r"#\s{1,10}Rank\s{1,10}(\d{1,6}) (.{0,200}) device\s{1,10}(\d{1,4}) \[([0-9A-Fa-fx:.]{1,20})\] (.{1,200})\Z"
)
_BOUNDS = re.compile(r"# Out of bounds values\s{1,10}: (\d{1,16}) (OK|FAILED)\s*\Z")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s{1,10}: (\S{1,40})(?:\s{1,4}(OK|FAILED))?\s*\Z")
_ASKED = re.compile(
    r"# nThread (\d{1,4}) nGpus (\d{1,4}) minBytes (\d{1,16}) maxBytes (\d{1,16}) step: (\d{1,16})\((factor|bytes)\)"
)
_REDUCED = re.compile(r"# Reducing maxBytes to (\d{1,16}) due to memory limitation")
_PCI = re.compile(r"(?P<domain>[0-9A-Fa-f]{4,8}):(?P<bus>[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?")


class _Layout(NamedTuple):
    """Where a table has what is read of it. speeds, sums: places of columns. counts: whether those of sums count wrong ones."""

    columns: int
    speeds: tuple[int, ...]
    sums: tuple[int, ...]
    counts: bool


def _layout(columns: list[str]) -> _Layout:
    return _Layout(
        len(columns),
        tuple(at for at, column in enumerate(columns) if column == "busbw"),
        tuple(at for at, column in enumerate(columns) if column in ("#wrong", "error")),
        "error" not in columns,
    )


_MEASURED = ("time", "algbw", "busbw")
#: The columns of a table whose header is not there: with "root" since 2.12, without it before.
_COLUMNS = {
    13: _layout(["size", "count", "type", "redop", "root", *_MEASURED, "#wrong", *_MEASURED, "#wrong"]),
    12: _layout(["size", "count", "type", "redop", *_MEASURED, "error", *_MEASURED, "error"]),
}
#: Words of a date and a time.
_STAMP_WORDS = 2
#: Words of the shortest row.
_FEWEST = min(_COLUMNS)


#: Sizes that are counted; no table has more.
_MOST_SIZES = 4096


class Asked(NamedTuple):
    """What the program was started with: cards, and sizes from least to most bytes.

    step: by which a size is multiplied (factor), or which is added to it.
    """

    line: int
    cards: int
    least: int
    most: int
    step: int
    factor: bool

    def sizes(self, reduced: int | None) -> int:
        """How many it was to measure. reduced: the largest one for which the card had the memory."""
        size, found = self.least, 0
        most = self.most if reduced is None else min(reduced, self.most)
        while size <= most and found < _MOST_SIZES:
            found += 1
            size = size * max(self.step, 2) if self.factor else size + max(self.step, 1)
        return found


class Table:
    """State of one pass: ranks, whether sums were checked, the footer lines.

    asked: what each table was started with. reduced: the largest size for which the memory was enough, where it was not for all.
    places: host and place on its bus of each rank. speeds: busbw out of place, by size in bytes, the last one of each size.
    """

    def __init__(self) -> None:
        self.transport = Transport()
        self.asked: list[Asked] = []
        self.reduced: int | None = None
        self.ranks: list[dict[str, Any]] = []
        self.places: list[tuple[str, ...]] = []
        self.speeds: dict[int, float | None] = {}
        self.layout: _Layout | None = None
        self.rows = 0
        self.unchecked = 0
        self.strange: int | None = None
        self.fastest: float | None = None
        self.message = 0
        self.bounds: list[tuple[int, str, int]] = []
        self.averages: list[tuple[str, str, int]] = []


def read_table(lines: Iterable[tuple[int, str]]) -> tuple[Reading, Table]:
    """The proof is the footer: no value out of bounds and an average bandwidth, after one checked row or more."""
    reading = Reading(missing=sentence("The log has no complete all_reduce_perf footer."))
    walk, failures = Table(), Failures()
    for line, text in lines:
        if text.startswith("#"):
            _comment(walk, text, line)
        elif (text[:1] == " " or text.partition(" ")[0].isdecimal()) and _row(walk, reading, text.split(), line):
            continue
        else:
            walk.transport.add(text, line)
            failures.add(reading, text, line)
    reading.facts |= {"ranks": len(walk.ranks), "devices": walk.ranks[:256]}
    reading.measure("bus_bandwidth_max", walk.fastest, "GB/s")
    if walk.message:
        reading.facts["largest_message_bytes"] = walk.message
    _conclude(reading, walk)
    failures.conclude(reading)
    return reading, walk


def _comment(walk: Table, text: str, line: int) -> None:
    if "Rank" in text and (match := _RANK.match(text)):
        walk.ranks.append(
            {"rank": int(match[1]), "device": int(match[3]), "pci_bus_id": match[4], "name": name(match[5])}
        )
        walk.places.append((match[2].rpartition(" on ")[2].strip(), *_place(match[4], match[3])))
    elif text.startswith("# Out") and (match := _BOUNDS.match(text)):
        walk.bounds.append((int(match[1]), match[2], line))
    elif text.startswith("# Avg") and (match := _AVERAGE.match(text)):
        walk.averages.append((match[1], match[2] or "", line))
    elif text.startswith("# nThread") and (match := _ASKED.match(text)):
        threads, gpus, least, most, step = map(int, match.groups()[:5])
        walk.asked.append(Asked(line, threads * gpus, least, most, step, match[6] == "factor"))
    elif text.startswith("# Reducing") and (match := _REDUCED.match(text)):
        walk.reduced = int(match[1])
    elif "count" in text and (words := text[1:].split())[:2] == ["size", "count"]:
        # A row may end in a date and a time, which the header calls one column.
        walk.layout = _layout([word for word in words if word != "timestamp"])


def _place(address: str, device: str) -> tuple[str, ...]:
    """What two ranks of one host have in common where they have one card.

    Before 2.13 only the bus is printed, `[0x1a]`: hosts with a PCI domain for each card have 0 for all of them.
    """
    if match := _PCI.fullmatch(address):
        return (f"{int(match['domain'], 16):x}:{match['bus'].lower()}",)
    bus = address.lower()
    return (bus, device) if not bus.removeprefix("0x").strip("0") else (bus,)


def _row(walk: Table, reading: Reading, words: list[str], line: int) -> bool:
    """A row of the table: size and count first, then what the header says, for out-of-place and for in-place."""
    if len(words) < _FEWEST or count(words[0]) is None or count(words[1]) is None:
        return False
    layout = walk.layout
    if layout is None or len(words) not in (layout.columns, layout.columns + _STAMP_WORDS):
        layout = _COLUMNS.get(len(words))
    if layout is None:
        walk.strange = walk.strange or line
        return True
    walk.rows += 1
    walk.message = max(walk.message, count(words[0]) or 0)
    for at in layout.speeds:
        if (speed := duration(words[at])) is not None:
            walk.fastest = max(speed, walk.fastest or 0.0)
    walk.speeds[int(words[0])] = duration(words[layout.speeds[0]]) if layout.speeds else None
    for at in layout.sums:
        if words[at] != "0":
            _check(walk, reading, layout.counts, words[at], words[0], line)
    return True


def _check(walk: Table, reading: Reading, counts: bool, value: str, size: str, line: int) -> None:
    """A cell of sums that is not 0. "#wrong" counts them; "error", before 2.13, is how far they are off.

    Whether that is too far the footer says; but a difference that is no number the old program did not count.
    """
    if value == "N/A":
        walk.unchecked += 1
        return
    wrong = number(value)
    if wrong is None:
        reading.failed(
            "verification", sentence("Sums of {size} bytes are wrong by {value}.", size=size, value=name(value)), line
        )
    elif counts and wrong != 0 and "e-" not in value:
        reading.failed(
            "verification", sentence("{value} sums of {size} bytes are wrong.", value=name(value), size=size), line
        )


def _conclude(reading: Reading, walk: Table) -> None:
    if not walk.bounds or not walk.averages:
        return
    for out, state, line in walk.bounds:
        if out or state != "OK":
            reading.failed("verification", sentence("{out} values are out of bounds.", out=out), line)
    for speed, threshold, line in walk.averages:
        if threshold == "FAILED":
            reading.failed(
                "bandwidth",
                sentence(
                    "The average bandwidth of {speed} GB/s is below the threshold of the test.", speed=name(speed)
                ),
                line,
            )
    speed, _, line = walk.averages[-1]
    reading.measure("bus_bandwidth_average", number(speed), "GB/s")
    if walk.strange is not None:
        reading.missing = sentence("The row in line {strange} does not match the table header.", strange=walk.strange)
        return
    if not walk.rows:
        reading.missing = sentence("The log has a footer but no rows.")
        return
    # One card alone moves nothing over a bus: its bandwidth is 0.
    if number(speed) is None or (len(walk.ranks) != 1 and duration(speed) is None):
        reading.missing = sentence("Invalid average bandwidth: {speed}.", speed=name(speed))
        return
    reading.proof = line
    if walk.unchecked:
        reading.lower("ran", sentence("The sums were not checked."))
        reading.warning("not-verified", sentence("The sums were not checked (#wrong is N/A)."), line)
    if len(walk.ranks) < 2:
        reading.lower("ran", sentence("Fewer than two cards were used."))
        reading.warning(
            "single-rank", sentence("Fewer than two cards were used: this proves no transfer between cards."), line
        )
    elif len(set(walk.places)) < len(walk.places):
        reading.lower("ran", sentence("Several ranks used the same card."))
        reading.warning(
            "same-card", sentence("Two ranks used the same card: this proves no transfer between cards."), line
        )


#: The end of a log, for the declaration of what it says.
_FOOTER = (
    "    33554432   8388608   float   sum   -1   2180.1   15.39   29.50   {wrong}   2285.2   14.68   28.14   {wrong}\n"
    "# Out of bounds values : {bounds}\n# Avg bus bandwidth    : {average}\n#"
)
#: Of the lines of NCCL_DEBUG=INFO.
TRANSPORT = Phrase(
    "via SHM, or NET/Socket, where NVLink or InfiniBand is there",
    "transport",
    "The cards use a slower transport than the log shows to be available",
    "warning",
    example="node-a:195:201 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 12, bw 20.0/20.0, type NVL/PIX, sameChannels 1\n"
    "node-a:195:201 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n"
    + _FOOTER.format(bounds="0 OK", average="28.8", wrong="0"),
)
PHRASES = (
    Phrase(
        "# Out of bounds values : 1 FAILED",
        "verification",
        "Sums are wrong",
        example=_FOOTER.format(bounds="1 FAILED", average="28.8", wrong="0"),
    ),
    Phrase(
        "a number above 0 under #wrong",
        "verification",
        "Sums are wrong",
        example=_FOOTER.format(bounds="0 OK", average="28.8", wrong="50"),
    ),
    Phrase(
        "# Avg bus bandwidth    : 1.5 FAILED",
        "bandwidth",
        "The bandwidth is below the threshold of the test",
        example=_FOOTER.format(bounds="0 OK", average="1.5 FAILED", wrong="0"),
    ),
    Phrase(
        "N/A under #wrong",
        "not-verified",
        "The sums were not checked",
        "warning",
        example=_FOOTER.format(bounds="0 OK", average="28.8", wrong="N/A"),
    ),
    Phrase(
        "[0000:04:00], or [0x04], of two ranks of one host",
        "same-card",
        "Two ranks used the same card",
        "warning",
        example="".join(
            f"#  Rank  {rank} Group  0 Pid  1{rank} on  node-a device  0 [0x04] Tesla T4\n" for rank in (0, 1)
        )
        + _FOOTER.format(bounds="0 OK", average="28.8", wrong="0"),
    ),
    *FAILURES,
)
