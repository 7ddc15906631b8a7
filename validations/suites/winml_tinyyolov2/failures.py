"""The failure texts of WinMLRunner and what each means: a "no" of the adapter, or a test that was not carried out.

Texts are those of the tool's source and of the Windows messages for the HRESULTs that it prints.
"""

from __future__ import annotations

from typing import NamedTuple

from validations.suites.engine.figures import name
from validations.suites.engine.verdict import Reading, Verdict
from validations.suites.winml_tinyyolov2.log import Record


class _Phrase(NamedTuple):
    needle: str
    severity: Verdict
    code: str
    text: str


#: Looked for in every line that is no measurement and no step, lower case, first match wins.
_PHRASES = (
    _Phrase(
        "gpu device instance has been suspended", "failed", "device-removed", "The device was removed while it worked"
    ),
    _Phrase("getdeviceremovedreason", "failed", "device-removed", "The device was removed while it worked"),
    _Phrase(
        "gpu device instance has been removed", "failed", "device-removed", "The device was removed while it worked"
    ),
    _Phrase("gpu will not respond to more commands", "failed", "device-removed", "The device hung"),
    _Phrase("creating learningmodeldevice failed", "failed", "no-adapter", "No device could be made on an adapter"),
    _Phrase("no hardware adapters available", "failed", "no-adapter", "There is no hardware adapter"),
    _Phrase("creating commandlineargs failed", "errored", "bad-arguments", "The arguments were not understood"),
    _Phrase("unknown option", "errored", "bad-arguments", "An option is not known"),
    _Phrase("invalid parameter for", "errored", "bad-arguments", "An option has a wrong value"),
    _Phrase(
        "cannot create d3d12 device on client if cpu", "errored", "bad-arguments", "Two options exclude each other"
    ),
    _Phrase(
        "batch size override couldn't be set", "errored", "bad-arguments", "The batch size does not suit the model"
    ),
    _Phrase(
        "input type that isn't supported by winmlrunner",
        "errored",
        "model-load",
        "The model's input type is not supported",
    ),
    _Phrase("attempting to bind image but input feature", "errored", "model-load", "The model takes no image"),
    _Phrase("generating input features [failed]", "errored", "model-load", "The input could not be made"),
    _Phrase("load model:", "errored", "model-load", "The model could not be loaded"),
    _Phrase("dxgi module not found", "errored", "image", "The image has no DirectX libraries"),
    _Phrase("iteration time exceeded limit", "errored", "timeout", "One iteration took longer than the limit"),
    _Phrase("unknown exception occurred", "errored", "exception", "The runner ended with an unknown exception"),
    _Phrase("not enough memory resources", "errored", "out-of-memory", "Memory ran out"),
    _Phrase("not enough storage is available", "errored", "out-of-memory", "Memory ran out"),
    _Phrase("ran out of memory", "errored", "out-of-memory", "Memory ran out"),
    _Phrase("creating session [failed]", "failed", "session", "No session could be made on the device"),
)
_STEPS = frozenset({"session", "binding", "evaluating", "evaluation"})
_NEEDLES = tuple(phrase.needle for phrase in _PHRASES)


def report(record: Record, reading: Reading) -> None:
    """Write every failure of the record into the reading, in the order of the lines."""
    found = sorted([*_phrases(record), *_steps(record)], key=lambda one: one[0])
    # A bare [FAILED] stands for the step that follows it; it counts where nothing names a cause.
    if not found:
        found = [(line, "failed", "evaluation", f"Failed: {name(text)}") for line, text in record.failed[:1]]
    # Memory that others hold is not a "no" of the card, so the step that ran out of it is not one either.
    no_memory = any(code == "out-of-memory" for _, _, code, _ in found)
    told: set[str] = set()
    for line, severity, code, text in found:
        if code in told:
            continue
        told.add(code)
        if no_memory and code in _STEPS:
            reading.remark(code, text, line)
        else:
            (reading.errored if severity == "errored" else reading.failed)(code, text, line)


def _phrases(record: Record) -> list[tuple[int, Verdict, str, str]]:
    found: list[tuple[int, Verdict, str, str]] = []
    for line, text in record.messages:
        low = text.lower()
        if not any(needle in low for needle in _NEEDLES):
            continue
        phrase = next(phrase for phrase in _PHRASES if phrase.needle in low)
        if phrase.needle != "load model:" or "[failed]" in low:
            found.append((line, phrase.severity, phrase.code, f"{phrase.text}: {name(text)}"))
    return found


def _steps(record: Record) -> list[tuple[int, Verdict, str, str]]:
    return [
        (
            step.line,
            "failed",
            step.phase.lower(),
            f"{step.phase} failed on the {'GPU' if step.gpu else 'CPU'} in iteration {step.iteration}.",
        )
        for step in record.steps
        if not step.ok
    ]
