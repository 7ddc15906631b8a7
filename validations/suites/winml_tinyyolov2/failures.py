"""The failure texts of WinMLRunner and what each means: a "no" of the adapter, or a test that was not carried out.

Texts are those of the tool's source and of the Windows messages for the HRESULTs that it prints.
"""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from validations.suites.engine.adapters import is_software
from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.verdict import Reading, Verdict
from validations.suites.winml_tinyyolov2.log import Record
from wording.said import sentence


class _Failure(NamedTuple):
    """A failure that the log tells of."""

    line: int
    severity: Verdict
    code: str
    text: str


#: Looked for in every line that is no measurement and no step, lower case, first match wins.
PHRASES = (
    Phrase(
        "no matching adapter with given adapter name",
        "bad-arguments",
        sentence("No adapter has the requested name"),
        "errored",
    ),
    Phrase("gpu device instance has been suspended", "device-removed", sentence("Device removed during the run")),
    Phrase("getdeviceremovedreason", "device-removed", sentence("Device removed during the run")),
    Phrase("gpu device instance has been removed", "device-removed", sentence("Device removed during the run")),
    Phrase("gpu will not respond to more commands", "device-removed", sentence("The device hung")),
    Phrase("creating learningmodeldevice failed", "no-adapter", sentence("No device created on an adapter")),
    Phrase("no hardware adapters available", "no-adapter", sentence("No hardware adapter")),
    Phrase("creating commandlineargs failed", "bad-arguments", sentence("Invalid arguments"), "errored"),
    Phrase("unknown option", "bad-arguments", sentence("Unknown option"), "errored"),
    Phrase("invalid parameter for", "bad-arguments", sentence("Invalid option value"), "errored"),
    Phrase(
        "cannot create d3d12 device on client if cpu",
        "bad-arguments",
        sentence("Two options exclude each other"),
        "errored",
    ),
    Phrase(
        "batch size override couldn't be set",
        "bad-arguments",
        sentence("The batch size does not match the model"),
        "errored",
    ),
    Phrase(
        "input type that isn't supported by winmlrunner",
        "model-load",
        sentence("The model's input type is not supported"),
        "errored",
    ),
    Phrase(
        "attempting to bind image but input feature",
        "model-load",
        sentence("The model does not accept images"),
        "errored",
    ),
    Phrase("generating input features [failed]", "model-load", sentence("The input could not be created"), "errored"),
    Phrase(
        "load model:",
        "model-load",
        sentence("The model could not be loaded"),
        "errored",
        example=r"Load Model: c:\model.onnx [FAILED]",
    ),
    Phrase("dxgi module not found", "image", sentence("The image has no DirectX libraries"), "errored"),
    Phrase("iteration time exceeded limit", "timeout", sentence("One iteration took longer than the limit"), "errored"),
    Phrase(
        "unknown exception occurred", "exception", sentence("The runner ended with an unknown exception"), "errored"
    ),
    Phrase("not enough memory resources", "out-of-memory", sentence("Out of memory"), "errored"),
    Phrase("not enough storage is available", "out-of-memory", sentence("Out of memory"), "errored"),
    Phrase("ran out of memory", "out-of-memory", sentence("Out of memory"), "errored"),
    Phrase("creating session [failed]", "session", sentence("No session created on the device")),
)
#: The name was asked for by the arguments; whether it is wrong or the adapter is away, the list of adapters says.
_NO_MATCH = PHRASES[0]
_LIST = "Printing available adapters"
_LISTED = "Description: "
_STEPS = frozenset({"session", "binding", "evaluating", "evaluation"})
_NEEDLES = tuple(phrase.words for phrase in PHRASES)


def report(record: Record, reading: Reading) -> None:
    """Write every failure of the record into the reading, in the order of the lines."""
    found = sorted([*_phrases(record), *_steps(record)], key=lambda one: one.line)
    # A bare [FAILED] stands for the step that follows it; it counts where nothing names a cause.
    if not found:
        found = [
            _Failure(line, "failed", "evaluation", sentence("Failed: {text}", text=name(text)))
            for line, text in record.failed[:1]
        ]
    # Memory that others hold is not a "no" of the card, so the step that ran out of it is not one either.
    no_memory = any(one.code == "out-of-memory" for one in found)
    no_match = any(one.code == _NO_MATCH.code for one in found)
    told: set[str] = set()
    for one in found:
        if one.code in told:
            continue
        told.add(one.code)
        if (no_memory and one.code in _STEPS) or (no_match and one.code == "session"):
            reading.remark(one.code, one.text, one.line)
        elif one.severity == "errored":
            reading.errored(one.code, one.text, one.line)
        else:
            reading.failed(one.code, one.text, one.line)


def _phrases(record: Record) -> list[_Failure]:
    found: list[_Failure] = []
    for line, text in record.messages:
        low = text.lower()
        if not any(needle in low for needle in _NEEDLES):
            continue
        phrase = next(phrase for phrase in PHRASES if phrase.words in low)
        if phrase is _NO_MATCH and _no_hardware(record):
            said = sentence("No hardware adapter in the container: {text}", text=name(text))
            found.append(_Failure(line, "failed", "no-adapter", said))
        elif phrase.words != "load model:" or "[failed]" in low:
            found.append(
                _Failure(
                    line,
                    phrase.severity,
                    phrase.code,
                    sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)),
                )
            )
    return found


def _no_hardware(record: Record) -> bool:
    """Whether the runner listed the adapters and none of them is hardware."""
    texts = [text for _, text in record.messages]
    start = next((at for at, text in enumerate(texts) if text.startswith(_LIST)), None)
    if start is None:
        return False
    listed = list(takewhile(lambda text: text.startswith(_LISTED), texts[start + 1 :]))
    return all(is_software(text.removeprefix(_LISTED)) for text in listed)


def _steps(record: Record) -> list[_Failure]:
    return [
        _Failure(
            step.line,
            "failed",
            "binding" if step.phase == "Binding" else "evaluating",
            sentence(
                "{phase} failed on the {device} in iteration {iteration}.",
                phase=step.phase,
                device="GPU" if step.gpu else step.kind,
                iteration=step.iteration,
            ),
        )
        for step in record.steps
        if not step.ok
    ]
