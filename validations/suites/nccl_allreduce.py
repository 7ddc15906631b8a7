"""nccl-tests all_reduce_perf on the cards of one node: they talk to each other, give right sums, and how fast.

Column layout and footer are those of nccl-tests 2.x. A run with the check switched off proves no sum and is a warning.
"""

from __future__ import annotations

import re
from typing import Any

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
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
from validations.suites.shared import cuda_texts

VERSION = 1
_RANK = re.compile(
    r"#\s{1,10}Rank\s{1,10}(\d{1,6}) .{0,200} device\s{1,10}(\d{1,4}) \[([0-9A-Fa-fx:.]{1,20})\] (.{1,200})\Z"
)
_BOUNDS = re.compile(r"# Out of bounds values : (\d{1,16}) (OK|FAILED)\s*\Z")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s{1,10}: (\S{1,40})(?:\s{1,4}(OK|FAILED))?\s*\Z")
_COLUMNS = 13
_FAILURES = ("Test NCCL failure", "Test CUDA failure", "NCCL failure", "CUDA failure")


class _Walk:
    """State of one pass: ranks, whether sums were checked, the two footer lines."""

    def __init__(self) -> None:
        self.ranks: list[dict[str, Any]] = []
        self.rows = 0
        self.unchecked = 0
        self.largest: float | None = None
        self.bounds: tuple[int, str, int] | None = None
        self.average: tuple[str, str, int] | None = None


def read(lines: Lines) -> Reading:
    """The proof is the footer: no value out of bounds and an average bandwidth, after one checked row or more."""
    reading = Reading(missing="The log has no complete footer of all_reduce_perf.")
    walk = _Walk()
    for line, text in lines:
        if text.startswith("#"):
            _comment(walk, text, line)
        elif text[:1] == " " or text[:1].isdigit():
            _row(walk, reading, text.split(), line)
        elif any(words in text for words in _FAILURES):
            cuda_texts.report(reading, text, text, line)
    reading.facts |= {"ranks": len(walk.ranks), "devices": walk.ranks[:256]}
    reading.measure("bus_bandwidth_max", walk.largest, "GB/s")
    _conclude(reading, walk)
    return reading


def _comment(walk: _Walk, text: str, line: int) -> None:
    if match := _RANK.match(text):
        walk.ranks.append(
            {"rank": int(match[1]), "device": int(match[2]), "pci_bus_id": match[3], "name": name(match[4])}
        )
    elif match := _BOUNDS.match(text):
        walk.bounds = (int(match[1]), match[2], line)
    elif match := _AVERAGE.match(text):
        walk.average = (match[1], match[2] or "", line)


def _row(walk: _Walk, reading: Reading, words: list[str], line: int) -> None:
    """size count type redop root, then time algbw busbw #wrong for out-of-place and for in-place."""
    if len(words) != _COLUMNS or count(words[0]) is None or count(words[1]) is None:
        return
    walk.rows += 1
    for busbw, wrong in ((words[7], words[8]), (words[11], words[12])):
        speed = duration(busbw)
        if speed is not None:
            walk.largest = max(speed, walk.largest or 0.0)
        if wrong == "N/A":
            walk.unchecked += 1
        elif (number(wrong) or 0) != 0:
            reading.failed("verification", f"{name(wrong)} sums of {words[0]} bytes are wrong.", line)


def _conclude(reading: Reading, walk: _Walk) -> None:
    if walk.bounds is None or walk.average is None:
        return
    out, state, line = walk.bounds
    speed, threshold, average_line = walk.average
    reading.measure("bus_bandwidth_average", number(speed), "GB/s")
    if out or state != "OK":
        reading.failed("verification", f"{out} values are out of bounds.", line)
    if threshold == "FAILED":
        reading.failed(
            "bandwidth", f"The average of {name(speed)} GB/s is below the threshold of the test.", average_line
        )
    if not walk.rows:
        reading.missing = "The log has the footer and no row."
        return
    if number(speed) is None:
        reading.missing = f"The average bandwidth is {name(speed)}, which is no measurement."
        return
    reading.proof = average_line
    if walk.unchecked:
        reading.lower("ran", "The sums were not checked.")
        reading.warning("not-verified", "The sums were not checked (#wrong is N/A).", average_line)
    if len(walk.ranks) < 2:
        reading.lower("ran", "Fewer than two cards took part.")
        reading.warning(
            "single-rank", "Fewer than two cards took part: no transfer between cards is proven.", average_line
        )


def _workload(target: Target, values: Values) -> Workload:
    sizes = ("-b", "8", "-e", str(values["largest"]), "-f", "2", "-g", str(values["cards"]), "-c", "1")
    return Workload(
        image=str(values["image"]),
        command=("all_reduce_perf",),
        args=sizes,
        host_memory=str(values["host_memory"]),
        shared_memory="1Gi",
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
    proves=gettext_noop("The cards of one node exchange data, the sums are right, and how fast."),
    level="right",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    cards=2,
    options=(
        image(
            "nvcr.io/nvidia/pytorch:25.06-py3",
            gettext_noop("Container image. It must have all_reduce_perf on its path; the default has about 20 GB."),
        ),
        Option(
            name="cards",
            help=gettext_noop("How many cards take part."),
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
    workload=_workload,
    measures=True,
    demo=Demo(images=(Image(mark="all_reduce_perf", seconds=9, size=20_000_000_000),), values=_demo_values),
    reasons=(
        ReasonWords(
            "bandwidth",
            gettext_noop("the bandwidth is below the threshold"),
            "Look at the links between the cards (NVLink, PCIe) and at other work on them.",
        ),
        ReasonWords(
            "not-verified",
            gettext_noop("the sums were not checked"),
            "Take an image whose all_reduce_perf checks its sums (`-c 1`).",
        ),
        ReasonWords(
            "single-rank",
            gettext_noop("fewer than two cards took part"),
            "Set the option `cards` to two or more.",
        ),
    ),
)
