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
    Phrase("out of memory", "out-of-memory", sentence("others hold the card's memory"), "errored"),
    Phrase(
        "no kernel image is available",
        "image-unsuited",
        sentence("the image has no code for this kind of card"),
        "errored",
    ),
    Phrase(
        "device kernel image is invalid",
        "image-unsuited",
        sentence("the image has no code for this kind of card"),
        "errored",
    ),
    Phrase("mps client failed to connect", "mps", sentence("the MPS server of the node was not reached"), "errored"),
    Phrase("mps server", "mps", sentence("the MPS server of the node did not take the container"), "errored"),
    Phrase("mps client", "mps", sentence("the MPS server of the node did not take the container"), "errored"),
    Phrase(
        "driver version is insufficient",
        "cuda-error",
        sentence("no driver libraries in the container (RuntimeClass nvidia?) or the driver is too old"),
    ),
    Phrase(
        "unsupported toolchain",
        "image-unsuited",
        sentence("the image's code is for a newer driver than the node has"),
        "errored",
    ),
    Phrase(
        "stub library", "driver-missing", sentence("the container has the CUDA toolkit's stub and no driver library")
    ),
    Phrase("no cuda-capable device", "no-device", sentence("no device was given to the container, or it is broken")),
    Phrase(
        "no devices supporting cuda", "no-device", sentence("no device was given to the container, or it is broken")
    ),
    Phrase("no device supporting cuda", "no-device", sentence("no device was given to the container, or it is broken")),
    Phrase("invalid device ordinal", "no-device", sentence("fewer devices are there than were asked for")),
    Phrase("compute mode prohibited", "cuda-error", sentence("the compute mode of the card is Prohibited")),
    Phrase("busy or unavailable", "cuda-error", sentence("the device is in exclusive mode or is not supported")),
    Phrase(
        "forward compatibility was attempted",
        "cuda-error",
        sentence("the image carries compatibility libraries that the card does not take"),
    ),
    Phrase("system not yet initialized", "cuda-error", sentence("the Fabric Manager is not running")),
    Phrase(
        "unsupported display driver",
        "cuda-error",
        sentence("driver library and kernel module are of different versions"),
    ),
    Phrase("initialization error", "cuda-error", sentence("the injected libraries do not match the driver")),
    Phrase("uncorrectable ecc error", "cuda-error", sentence("the memory of the card is broken")),
    Phrase("uncorrectable nvlink error", "cuda-error", sentence("a link of the card is broken")),
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
