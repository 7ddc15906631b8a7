"""NVIDIA's nvbandwidth: copies between host and card and within the card, and how fast.

It prints a matrix for each test, one column for each card, and its sum. It exits with 0 where a test was waived or threw an error, so
only the text says what ran. No bandwidth is too low here: that is for a floor to say. Not verified: that the image can be run without
`mpirun`; it is NVIDIA's build for several nodes, whose list of cards names only the one of its own process.
"""

from __future__ import annotations

import re

import msgspec

from validations.suites.engine.base import (
    Campaign,
    Demo,
    Image,
    Lines,
    Needs,
    Past,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import count, duration, name
from validations.suites.engine.options import common, image, linux
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.shared import cuda_texts
from wording.said import sentence

VERSION = 1
#: Tests that the workload asks for, and that a pass needs.
TESTS = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_local_copy")
_TOOL = re.compile(r"nvbandwidth Version: (\S{1,40})\s*\Z")
_DRIVER = re.compile(r"Driver Version: ([\d.]{1,20})\s*\Z")
_DEVICE = re.compile(
    r"(?:Process [\d ]{1,6} \([^()]{1,200}\): d|D)evice (\d{1,4}): (.{1,200}) \(([0-9A-Fa-f:]{5,20})\)\s*\Z"
)
_RUNNING = re.compile(r"Running ([a-z0-9_]{1,80})\.\s*\Z")
_SUM = re.compile(r"SUM ([a-z0-9_]{1,80}) (\S{1,40})\s*\Z")
_CUDA = re.compile(r"\[(?:CUDA_ERROR_|cudaError)\w{1,80}\] (?P<message>.{1,300}?) in expression ")
_MOST = 64
_SOURCE = "NVIDIA/nvbandwidth `output.cpp`, `error_handling.h`"
_PHRASES = (
    Phrase(
        "NVML_ERROR: [Driver Not Loaded]", "driver", sentence("The driver is not loaded"), "failed", _SOURCE,
        "NVML_ERROR: [Driver Not Loaded] in expression nvmlInit() in main() : nvbandwidth.cpp:266",
    ),
    Phrase(
        "NVML_ERROR: [Driver/library version mismatch]", "driver",
        sentence("Driver library and kernel module have different versions"), "failed", _SOURCE,
        "NVML_ERROR: [Driver/library version mismatch] in expression nvmlInit() in main() : nvbandwidth.cpp:266",
    ),
    Phrase("ERROR: Invalid Arguments", "bad-arguments", sentence("Invalid arguments"), "errored", _SOURCE),
    Phrase("ERROR: Testcase ", "bad-arguments", sentence("The program has no such test"), "errored", _SOURCE),
    Phrase("Error: ", "test-error", sentence("A test ended with an error"), "errored", _SOURCE, "Error: some text"),
    Phrase("ASSERT in expression", "test-error", sentence("A test ended with an error"), "errored", _SOURCE),
)  # fmt: skip
_BEGINS = ("NVML_", "ERROR", "Error", "ASSERT", "[")
#: Printed by the kernel that compares what was copied.
_WRONG = " Invalid value when checking the pattern at "


class _Test(msgspec.Struct):
    """One test: its matrix as printed. columns: numbers of the cards. done: line of its sum."""

    line: int
    columns: list[int] = []
    rows: list[list[str]] = []
    total: float | None = None
    done: int | None = None


class _Walk(msgspec.Struct):
    """State of one pass over a log."""

    versions: list[int] = []
    devices: dict[int, dict[str, str]] = {}
    tests: dict[str, _Test] = {}
    open: _Test | None = None
    waived: int | None = None
    mixed: int | None = None
    closed: bool = False


def read(lines: Lines) -> Reading:
    """Facts `devices`; a measurement for each test: that of the slowest card. The proof is the sum of the last needed test."""
    reading = Reading(missing=sentence("The log does not have all tests of nvbandwidth."))
    walk = _Walk()
    for line, text in lines:
        _line(walk, reading, text, line)
    reading.facts["devices"] = [{"index": index} | device for index, device in walk.devices.items()]
    _conclude(walk, reading)
    return reading


def _line(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if text.startswith(_WRONG):
        reading.failed("verification", sentence("Copied data is wrong: {text}", text=name(text)), line)
    elif walk.open is not None and text[:1] in (" ", *"0123456789"):
        _row(walk.open, text.split())
    elif text.startswith("Running ") and (match := _RUNNING.match(text)):
        if match[1] in walk.tests or len(walk.tests) == _MOST:
            walk.mixed = walk.mixed or line
            return
        walk.open = walk.tests[match[1]] = _Test(line)
    elif text.startswith("SUM ") and (match := _SUM.match(text)):
        test = walk.tests.get(match[1])
        if test is None or test is not walk.open:
            walk.mixed = walk.mixed or line
            return
        test.total, test.done, walk.open = duration(match[2]), line, None
    elif text.startswith(("Waived", "WAIVED")):
        walk.waived, walk.open = walk.waived or line, None
    elif text.startswith("Performance can vary"):
        walk.closed = True
    else:
        _about(walk, reading, text, line)


def _about(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    """What the program says of itself, of its cards and of errors."""
    if text.startswith("nvbandwidth V") and (match := _TOOL.match(text)):
        walk.versions.append(line)
        reading.facts["tool_version"] = match[1]
    elif text.startswith("Driver V") and (match := _DRIVER.match(text)):
        reading.facts["driver_version"] = match[1]
    elif text.startswith(("Device ", "Process ")) and (match := _DEVICE.match(text)):
        index = int(match[1])
        if index in walk.devices:
            walk.mixed = walk.mixed or line
        elif len(walk.devices) < _MOST:
            walk.devices[index] = {"name": name(match[2]), "pci_bus_id": match[3]}
    elif text.startswith(_BEGINS):
        if match := _CUDA.match(text):
            cuda_texts.report(reading, match["message"], text, line)
        elif (phrase := first(_PHRASES, text)) is not None:
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
        elif text.startswith("NVML_ERROR"):
            reading.failed("driver", name(text), line)


def _row(test: _Test, words: list[str]) -> None:
    """The row of the numbers of the cards, then a row for each source: its number and the values."""
    if not test.columns:
        numbers = [count(word) for word in words[:_MOST]]
        test.columns = [number for number in numbers if number is not None]
    elif len(test.rows) < _MOST and len(words) <= _MOST + 1:
        test.rows.append(words[1:])


def _conclude(walk: _Walk, reading: Reading) -> None:
    mixed = walk.versions[1] if len(walk.versions) > 1 else walk.mixed
    if mixed is not None:
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), mixed)
        return
    sound = [key for key, test in walk.tests.items() if test.done is not None and _sound(walk, reading, key, test)]
    if walk.waived is not None:
        reading.skipped("test-waived", sentence("The program waived a test: it cannot run on this card."), walk.waived)
    if not walk.versions or not walk.devices:
        reading.missing = sentence("The log does not name a card.")
        return
    if set(TESTS) <= set(sound) and walk.open is None:
        # Before 0.7 nothing marks the end: then only the exit code says that it was reached.
        reading.proof, reading.stands_alone = walk.tests[TESTS[-1]].done, walk.closed


def _sound(walk: _Walk, reading: Reading, key: str, test: _Test) -> bool:
    """Whether each card has its own value and the sum is theirs. Only tests with one row count the cards in their columns."""
    values = [duration(word) for row in test.rows for word in row]
    known = [value for value in values if value is not None]
    if test.total is None or abs(sum(known) - test.total) > 0.01 * len(values) + 1e-5 * test.total:
        reading.errored("mixed-log", sentence("The values of {test} do not add up to its sum.", test=key), test.done)
        return False
    if key in TESTS:
        done = {
            card
            for row in test.rows
            for card, word in zip(test.columns, row, strict=False)
            if duration(word) is not None
        }
        if left := sorted({*walk.devices, *test.columns} - done):
            names = ", ".join(map(str, left[:16]))
            reading.errored(
                "not-every-card", sentence("{test} has no value for card {names}.", test=key, names=names), test.done
            )
            return False
        if unnamed := sorted(set(test.columns) - set(walk.devices)):
            reading.missing = sentence("The log does not name card {names}.", names=", ".join(map(str, unnamed[:16])))
            return False
    if known:
        reading.measure(key, min(known), "GB/s")
    return bool(known)


def _workload(target: Target, values: Values) -> Workload:
    return Workload(
        image=str(values["image"]),
        command=("nvbandwidth", "-t", *TESTS),
        host_memory=str(values["host_memory"]),
        # Open MPI, which the image is built with, keeps its segments there.
        shared_memory="256Mi",
    )


def _demo_values(container: Container) -> dict[str, str]:
    cards = [
        f"Device {card.place}: {container.gpu} (00000000:{0x1A + 4 * card.index:02x}:00)" for card in container.cards
    ]
    # PCIe of the fifth generation, or the fourth; cards differ a little.
    to, back, local = (55.21, 55.64, 2471.3) if container.compute >= "9.0" else (24.98, 26.17, 1502.38)
    part = 1 - 0.002 * (container.cards[0].index if container.cards else 0)
    figures = {"nvb_to": to, "nvb_back": back, "nvb_local": local}
    return {"nvb_host": container.node, "nvb_devices": "\n".join(cards)} | {
        name: f"{value * part:.2f}" for name, value in figures.items()
    }


SUITE = Suite(
    id="nvbandwidth",
    title="nvbandwidth",
    proves=gettext_noop(
        "The card copies data from and to the host and within its memory. The bandwidth is measured, not judged."
    ),
    level="ran",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    options=(
        image("ghcr.io/nvidia/k8s-samples:nvbandwidth-v0.7-8d103163"),
        *linux(),
        *common(deadline_s=3600, host_memory="2Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12")},
    measures=True,
    demo=Demo(
        images=(Image(mark="nvbandwidth", seconds=8, size=900_000_000),),
        values=_demo_values,
        past=Past(campaigns=(Campaign(name="Bandwidth of the DGX nodes", nodes=("dgx-",), ago=4),)),
    ),
    proof="SUM device_local_copy 1502.38",
    source=_SOURCE,
    phrases=(
        *_PHRASES,
        Phrase(_WRONG, "verification", "Copied data is wrong", "failed", "NVIDIA/nvbandwidth `kernels.cu`"),
        Phrase(
            "Waived: ",
            "test-waived",
            "The program did not run a test: this card does not support it",
            "skipped",
            _SOURCE,
        ),
        *cuda_texts.phrases("[CUDA_ERROR_UNKNOWN] {} in expression cuInit(0) in main() : nvbandwidth.cpp:265"),
    ),
    reasons=(
        ReasonWords(
            "test-error",
            gettext_noop("a test ended with an error"),
            "Read the line of the log. Rerun it with an image of another version.",
        ),
        ReasonWords(
            "test-waived",
            gettext_noop("a test was not run"),
            "The program waives a test that the card or the number of cards does not support: choose another suite.",
        ),
    ),
)
