"""nccl-tests all_reduce_perf on the cards of one node: they talk to each other, give right sums, and how fast.

Column layout and footer are those of nccl-tests 2.x. A run with the check switched off proves no sum and is a warning.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import count, duration, name, number
from validations.suites.engine.options import common, image, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.nccl_allreduce.failures import PHRASES, Failures
from wording.said import sentence

VERSION = 3
_RANK = re.compile(
    r"#\s{1,10}Rank\s{1,10}(\d{1,6}) (.{0,200}) device\s{1,10}(\d{1,4}) \[([0-9A-Fa-fx:.]{1,20})\] (.{1,200})\Z"
)
_BOUNDS = re.compile(r"# Out of bounds values\s{1,10}: (\d{1,16}) (OK|FAILED)\s*\Z")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s{1,10}: (\S{1,40})(?:\s{1,4}(OK|FAILED))?\s*\Z")
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


#: The end of a log, for the declaration of what it says.
_FOOTER = (
    "    33554432   8388608   float   sum   -1   2180.1   15.39   29.50   {wrong}   2285.2   14.68   28.14   {wrong}\n"
    "# Out of bounds values : {bounds}\n# Avg bus bandwidth    : {average}\n#"
)


class _Walk:
    """State of one pass: ranks, whether sums were checked, the footer lines."""

    def __init__(self) -> None:
        self.ranks: list[dict[str, Any]] = []
        self.places: list[tuple[str, ...]] = []
        self.layout: _Layout | None = None
        self.rows = 0
        self.unchecked = 0
        self.strange: int | None = None
        self.largest: float | None = None
        self.bounds: list[tuple[int, str, int]] = []
        self.averages: list[tuple[str, str, int]] = []


def read(lines: Lines) -> Reading:
    """The proof is the footer: no value out of bounds and an average bandwidth, after one checked row or more."""
    reading = Reading(missing=sentence("The log has no complete all_reduce_perf footer."))
    walk, failures = _Walk(), Failures()
    for line, text in lines:
        if text.startswith("#"):
            _comment(walk, text, line)
        elif (text[:1] == " " or text.partition(" ")[0].isdecimal()) and _row(walk, reading, text.split(), line):
            continue
        else:
            failures.add(reading, text, line)
    reading.facts |= {"ranks": len(walk.ranks), "devices": walk.ranks[:256]}
    reading.measure("bus_bandwidth_max", walk.largest, "GB/s")
    _conclude(reading, walk)
    failures.conclude(reading)
    return reading


def _comment(walk: _Walk, text: str, line: int) -> None:
    if "Rank" in text and (match := _RANK.match(text)):
        walk.ranks.append(
            {"rank": int(match[1]), "device": int(match[3]), "pci_bus_id": match[4], "name": name(match[5])}
        )
        walk.places.append((match[2].rpartition(" on ")[2].strip(), *_place(match[4], match[3])))
    elif text.startswith("# Out") and (match := _BOUNDS.match(text)):
        walk.bounds.append((int(match[1]), match[2], line))
    elif text.startswith("# Avg") and (match := _AVERAGE.match(text)):
        walk.averages.append((match[1], match[2] or "", line))
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


def _row(walk: _Walk, reading: Reading, words: list[str], line: int) -> bool:
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
    for at in layout.speeds:
        if (speed := duration(words[at])) is not None:
            walk.largest = max(speed, walk.largest or 0.0)
    for at in layout.sums:
        if words[at] != "0":
            _check(walk, reading, layout.counts, words[at], words[0], line)
    return True


def _check(walk: _Walk, reading: Reading, counts: bool, value: str, size: str, line: int) -> None:
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


def _conclude(reading: Reading, walk: _Walk) -> None:
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


def _workload(target: Target, values: Values) -> Workload:
    sizes = ("-b", "8", "-e", str(values["largest"]), "-f", "2", "-g", str(values["cards"]), "-c", "1")
    return Workload(
        image=str(values["image"]),
        command=("all_reduce_perf",),
        args=sizes,
        host_memory=str(values["host_memory"]),
        shared_memory="1Gi",
        cpus=2 + 2 * int(values["cards"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """The ranks that the program lists before its table."""
    ranks = [
        f"#  Rank {card.place:2d} Group  0 Pid  {13919 + card.place} on {container.node:>10} device {card.place:2d} "
        f"[0000:{0x1A + 4 * card.index:02x}:00] {container.gpu}"
        for card in container.cards
    ]
    return {"nccl_ranks": "\n".join(ranks)}


SUITE = Suite(
    id="nccl-allreduce",
    title="NCCL all-reduce",
    proves=gettext_noop("The cards of one node exchange data with the right sums. The bandwidth is measured."),
    level="checked",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    cards=2,
    options=(
        image(
            "nvcr.io/nvidia/pytorch:25.06-py3",
            gettext_noop("Container image with all_reduce_perf on its path. The default image has about 20 GB."),
        ),
        Option(
            name="cards",
            help=gettext_noop("Number of cards to use."),
            default=2,
            kind="number",
            minimum=2,
            maximum=16,
        ),
        Option(name="largest", help=gettext_noop("Largest transfer."), default="128M", pattern=r"[1-9][0-9]{0,5}[KMG]"),
        *linux(),
        *common(deadline_s=7200, host_memory="8Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.9", capability="5.0")},
    measures=True,
    demo=Demo(images=(Image(mark="all_reduce_perf", seconds=9, size=20_000_000_000),), values=_demo_values),
    proof="# Avg bus bandwidth    : 29.5",
    source="NVIDIA/nccl-tests `common.cu`, `util.cu`",
    phrases=(
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
        *PHRASES,
    ),
    reasons=(
        ReasonWords(
            "bandwidth",
            gettext_noop("bandwidth below the threshold"),
            "Check the links between the cards (NVLink, PCIe) and other workloads on them.",
        ),
        ReasonWords(
            "not-verified",
            gettext_noop("sums not checked"),
            "Use an image whose all_reduce_perf checks its sums (`-c 1`).",
        ),
        ReasonWords(
            "nccl-system",
            gettext_noop("NCCL failed on this system"),
            "Rerun it with NCCL_DEBUG=WARN in the image. Read the lines with NCCL WARN.",
        ),
        ReasonWords(
            "same-card",
            gettext_noop("two ranks used the same card"),
            "Run it on a node where each unit of the resource is a whole card: no time-slicing, MPS, MIG or vGPU.",
        ),
        ReasonWords(
            "shared-memory",
            gettext_noop("not enough shared memory in the container"),
            "Give the container more /dev/shm and more host memory.",
        ),
        ReasonWords(
            "single-rank",
            gettext_noop("fewer than two cards used"),
            "Set the option `cards` to two or more.",
        ),
    ),
)
