"""The console text of WinMLRunner 1.0 to 1.3 as records: devices, evaluations, results blocks, failures.

Only collects; what it means is judged in the package. Line formats are those of the tool's source. Records that a
console wrapped at its width are joined again; a record is never made of lines that start records of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from validations.suites.engine.figures import count, name
from validations.suites.engine.log import Lines

_START = re.compile(
    r"(?:Binding|Evaluating|Results) \(device|Created LearningModelDevice|Creating "
    r"|Loading model|Load Model|Using adapter|GPU: |\[gpudash: "
)
_WHOLE = re.compile(r"\[(?:SUCCESS|FAILED)\]|\):\s*\Z")
_STEP = re.compile(
    r"(?P<phase>Binding|Evaluating) \(device = (?P<device>\w{1,32}), iteration = (?P<iteration>\d{1,9}), inputBinding = \w{1,16},"
    r" inputDataType = \w{1,32}, deviceCreationLocation = \w{1,32}\)\.\.\.\[(?P<state>SUCCESS|FAILED)\]"
)
_RESULTS = re.compile(
    r"Results \(device = (?P<device>\w{1,32}), numIterations = (?P<iterations>\d{1,9}), inputBinding = \w{1,16},"
    r" inputDataType = \w{1,32}, deviceCreationLocation = \w{1,32}\):\s*\Z"
)
_VALUE = re.compile(r"  (?P<label>[A-Z][^:]{1,120}): (?P<value>\S{1,40}) ms\s*\Z")
_DEVICE = re.compile(
    r"(?:Creat(?:ed LearningModelDevice|ing Session) with )(?:GPU: ?(?P<gpu>.*)|(?P<cpu>CPU device\s*\Z)|(?P<other>\w{1,32}))"
    r"|Using adapter : ?(?P<used>.*)|GPU: (?P<old>.*)"
)
#: Kinds of devices as the tool writes them. Others are told, and count as neither processor nor GPU.
_GPU_KINDS = frozenset(("GPU", "GPU_Min_Power", "GPU_High_Performance"))
_KINDS = _GPU_KINDS | {"CPU"}
_TORN_FAILED = re.compile(r"\[(?:F(?:A(?:I(?:L(?:ED?)?)?)?)?)?\Z")
_LONGEST_WRAP = 6


class Device(msgspec.Struct, frozen=True):
    """A device line. adapter: the DXGI description, "" when the line ends before it; None for the CPU device."""

    adapter: str | None
    line: int
    #: The adapter joined with the next line, for a name that a console broke.
    wrapped: str = ""


class Step(msgspec.Struct, frozen=True):
    """A Binding or Evaluating line. kind: of the device, as it is written."""

    phase: str
    kind: str
    iteration: int
    ok: bool
    line: int

    @property
    def gpu(self) -> bool:
        return self.kind in _GPU_KINDS

    @property
    def cpu(self) -> bool:
        return self.kind == "CPU"


class Block(msgspec.Struct):
    """A results block (`-Perf`). values: label → text of a time in ms, the first of each label."""

    kind: str
    iterations: int | None
    line: int
    values: dict[str, tuple[str, int]] = {}

    @property
    def gpu(self) -> bool:
        return self.kind in _GPU_KINDS

    @property
    def cpu(self) -> bool:
        return self.kind == "CPU"


class Record(msgspec.Struct):
    """All records of one log. failed: lines with `[FAILED]` in any form, with their text. strange: kinds of devices that are not
    known, each with its first line.
    """

    devices: list[Device] = []
    steps: list[Step] = []
    blocks: list[Block] = []
    failed: list[tuple[int, str]] = []
    messages: list[tuple[int, str]] = []
    strange: dict[str, int] = {}
    terse: bool = False
    model: str = ""
    path: str = ""


def collect(lines: Lines) -> Record:
    """Walk the log once."""
    record = Record()
    for number, text, after in _joined(lines):
        head = text[:7]
        if head in ("Binding", "Evaluat") and (step := _STEP.match(text)):
            _step(record, step, number)
        elif head == "Results" and (match := _RESULTS.match(text)):
            record.blocks.append(Block(_kind(record, match["device"], number), count(match["iterations"]), number))
        elif head[:2] == "  " and record.blocks:
            _value(record.blocks[-1], text, number)
        elif text and not text.isspace():
            _other(record, number, text, after)
        if "[F" in text and "[FAILED]" in text:
            record.failed.append((number, text))
    return record


def _kind(record: Record, kind: str, number: int) -> str:
    if kind not in _KINDS:
        record.strange.setdefault(kind, number)
    return kind


def _joined(lines: Lines) -> Iterator[tuple[int, str, str]]:
    """(number, text, next text), with wrapped records put together and given the number of their first line."""
    texts, numbers = lines.texts, lines.numbers
    at, end = 0, len(texts)
    while at < end:
        text, number = texts[at], numbers[at]
        at += 1
        if text[:7] in ("Binding", "Evaluat", "Results") and not _WHOLE.search(text) and _START.match(text):
            text, at = _rejoin(texts, at, text)
        after = texts[at] if at < end else ""
        if text[-8:].find("[") >= 0 and _TORN_FAILED.search(text) and _whole_failed(text, after):
            text += after
        yield number, text, after


def _rejoin(texts: list[str], at: int, text: str) -> tuple[str, int]:
    """Add the next lines until the record is whole; give the line back alone when it never gets whole."""
    whole = text
    for step in range(at, min(at + _LONGEST_WRAP, len(texts))):
        if not texts[step] or _START.match(texts[step]):
            break
        whole += texts[step]
        if _WHOLE.search(whole):
            return whole, step + 1
    return text, at


def _whole_failed(text: str, after: str) -> bool:
    torn = text[text.rindex("[") :]
    return after.startswith("[FAILED]"[len(torn) :])


def _step(record: Record, match: re.Match[str], number: int) -> None:
    record.steps.append(
        Step(
            match["phase"],
            _kind(record, match["device"], number),
            int(match["iteration"]),
            match["state"] == "SUCCESS",
            number,
        )
    )


def _value(block: Block, text: str, number: int) -> None:
    if (match := _VALUE.match(text)) and match["label"] not in block.values:
        block.values[match["label"]] = (match["value"], number)


def _other(record: Record, number: int, text: str, after: str) -> None:
    record.messages.append((number, text))
    record.terse = record.terse or text.startswith("Binding and Evaluating ")
    if (match := _DEVICE.match(text)) is not None:
        adapter = next((match[part] for part in ("gpu", "used", "old") if match[part] is not None), None)
        if match["other"] is not None:
            _kind(record, match["other"], number)
        elif adapter is None:
            record.devices.append(Device(None, number))
        else:
            record.devices.append(Device(name(adapter), number, name(adapter + after)))
    elif text.startswith("Loading model (path = ") and not record.path:
        record.path = name(text[22:].removesuffix("...").removesuffix(")"))
    elif text.startswith("Name: ") and record.path and not record.model:
        record.model = name(text[6:])
