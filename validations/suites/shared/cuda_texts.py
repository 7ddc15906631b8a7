"""CUDA error texts as the samples and tools print them, and which of them are a "no" of hardware or driver.

Source: the message strings and the names of the errors of the CUDA runtime; causes from the trackers of the device plugin and the
GPU Operator.
"""

from __future__ import annotations

import re

from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.verdict import Reading
from wording.said import sentence

_SOURCE = "CUDA runtime, `cudaGetErrorString`"
#: Words in lower case.
_PHRASES = (
    Phrase("out of memory", "out-of-memory", sentence("other processes use the card memory"), "errored"),
    Phrase(
        "no kernel image is available",
        "image-unsuited",
        sentence("image built for another GPU architecture"),
        "errored",
    ),
    Phrase(
        "device kernel image is invalid",
        "image-unsuited",
        sentence("image built for another GPU architecture"),
        "errored",
    ),
    Phrase("mps client failed to connect", "mps", sentence("cannot reach the MPS server of the node"), "errored"),
    Phrase("mps server", "mps", sentence("the MPS server of the node rejected the container"), "errored"),
    Phrase("mps client", "mps", sentence("the MPS server of the node rejected the container"), "errored"),
    Phrase(
        "driver version is insufficient",
        "cuda-error",
        sentence("no driver libraries in the container (check RuntimeClass nvidia), or driver too old"),
    ),
    Phrase(
        "unsupported toolchain",
        "image-unsuited",
        sentence("driver too old for the code in the image"),
        "errored",
    ),
    Phrase(
        "stub library", "driver-missing", sentence("CUDA toolkit stub instead of the driver library in the container")
    ),
    Phrase("no cuda-capable device", "no-device", sentence("no device in the container, or the device is faulty")),
    Phrase("no devices supporting cuda", "no-device", sentence("no device in the container, or the device is faulty")),
    Phrase("no device supporting cuda", "no-device", sentence("no device in the container, or the device is faulty")),
    Phrase("invalid device ordinal", "no-device", sentence("fewer devices available than requested")),
    Phrase("compute mode prohibited", "cuda-error", sentence("compute mode is Prohibited")),
    Phrase("busy or unavailable", "cuda-error", sentence("compute mode is Exclusive, or device not supported")),
    Phrase(
        "forward compatibility was attempted",
        "cuda-error",
        sentence("compatibility libraries in the image do not support the card"),
    ),
    Phrase("system not yet initialized", "cuda-error", sentence("Fabric Manager not running")),
    Phrase(
        "unsupported display driver",
        "cuda-error",
        sentence("driver library and kernel module have different versions"),
    ),
    Phrase("initialization error", "cuda-error", sentence("the injected libraries do not match the driver")),
    Phrase("uncorrectable ecc error", "cuda-error", sentence("card memory fault")),
    Phrase("uncorrectable nvlink error", "cuda-error", sentence("card link fault")),
)
#: Names of the errors, in lower case and without "cudaError", → the words of their message: helper_cuda.h prints the names.
_NAMES = {
    "memoryallocation": "out of memory",
    "nokernelimagefordevice": "no kernel image is available",
    "invalidkernelimage": "device kernel image is invalid",
    "mps": "mps server",
    "insufficientdriver": "driver version is insufficient",
    "unsupportedptxversion": "unsupported toolchain",
    "stublibrary": "stub library",
    "nodevice": "no cuda-capable device",
    "invaliddevice": "invalid device ordinal",
    "devicesunavailable": "busy or unavailable",
    "deviceunavailable": "busy or unavailable",
    "compatnotsupportedondevice": "forward compatibility was attempted",
    "systemnotready": "system not yet initialized",
    "systemdrivermismatch": "unsupported display driver",
    "initializationerror": "initialization error",
    "eccuncorrectable": "uncorrectable ecc error",
    "nvlinkuncorrectable": "uncorrectable nvlink error",
}
#: Numbers of the errors that a program older than the driver prints without their name.
_NUMBERS = {
    2: "out of memory",
    35: "driver version is insufficient",
    46: "busy or unavailable",
    100: "no cuda-capable device",
    101: "invalid device ordinal",
    200: "device kernel image is invalid",
    209: "no kernel image is available",
    214: "uncorrectable ecc error",
    220: "uncorrectable nvlink error",
    222: "unsupported toolchain",
    802: "system not yet initialized",
    803: "unsupported display driver",
    804: "forward compatibility was attempted",
    805: "mps client failed to connect",
    806: "mps server",
    807: "mps server",
    808: "mps client",
    809: "mps client",
    810: "mps client",
}
_NUMBER = re.compile(r"\bcode=(\d{1,5})\(")
_NAMED = "cudaerror"


def phrases(form: str) -> tuple[Phrase, ...]:
    """The table for a suite's declaration. form: a line of its program, with "{}" where the message stands."""
    return tuple(phrase._replace(source=_SOURCE, example=form.format(phrase.words)) for phrase in _PHRASES)


def cause(message: str) -> Phrase | None:
    """What is known of a message; None for one that is not in the table."""
    low = message.lower()
    if (phrase := first(_PHRASES, low)) is not None:
        return phrase
    rest = low.partition(_NAMED)[2]
    if (words := next((words for known, words in _NAMES.items() if rest.startswith(known)), None)) is None:
        number = _NUMBER.search(low)
        words = _NUMBERS.get(int(number[1])) if number and not rest else None
    return first(_PHRASES, words) if words else None


def report(reading: Reading, message: str, text: str, line: int | None) -> None:
    """Write a CUDA error into the reading. message: the error text alone; text: what is shown."""
    phrase = cause(message)
    if phrase is None:
        reading.failed("cuda-error", name(text), line)
    else:
        tell(reading, phrase, sentence("{text}: {meaning}.", text=name(text), meaning=phrase.meaning), line)
