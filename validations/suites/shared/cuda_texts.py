"""CUDA error texts as the samples and tools print them, and which of them are a "no" of hardware or driver.

Source: the message strings of the CUDA runtime; causes from the trackers of the device plugin and the GPU Operator.
"""

from __future__ import annotations

from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.verdict import Reading

#: Parts of the message, lower case.
_FAILED = (
    Phrase(
        "driver version is insufficient",
        "cuda-error",
        "no driver libraries in the container (RuntimeClass nvidia?) or the driver is too old",
    ),
    Phrase("no cuda-capable device", "no-device", "no device was given to the container, or it is broken"),
    Phrase("busy or unavailable", "cuda-error", "the device is in exclusive mode or is not supported"),
    Phrase(
        "forward compatibility was attempted",
        "cuda-error",
        "the image carries compatibility libraries that the card does not take",
    ),
    Phrase("system not yet initialized", "cuda-error", "the Fabric Manager is not running"),
    Phrase("unsupported display driver", "cuda-error", "driver library and kernel module are of different versions"),
    Phrase("initialization error", "cuda-error", "the injected libraries do not match the driver"),
)


def report(reading: Reading, message: str, text: str, line: int | None) -> None:
    """Write a CUDA error into the reading. message: the error text alone; text: what is shown."""
    low = message.lower()
    if "out of memory" in low or "memoryallocation" in low:
        reading.errored("out-of-memory", f"{name(text)}: others hold the card's memory.", line)
        return
    for phrase in _FAILED:
        if phrase.words in low:
            reading.failed(phrase.code, f"{name(text)}: {phrase.meaning}.", line)
            return
    reading.failed("cuda-error", name(text), line)
