"""What the suites for AMD cards have in common: images, options, and the error texts of HIP.

The device files of a card belong to root and to the groups `video` and `render`, whose numbers differ from node to node: so the
programs run as root, without capabilities. Source: the texts of `hipGetErrorString`, ROCm/clr `hipamd/src/hip_error.cpp`. Not
verified: that the images run as they are started here; no AMD card was there.
"""

from __future__ import annotations

from validations.suites.engine.base import Option
from validations.suites.engine.figures import name
from validations.suites.engine.options import common, run_as_user
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.verdict import Reading
from wording.said import sentence

#: Compiler, libraries and tools of ROCm. The driver of a node runs the ROCm of two years before and after it.
DEV = "docker.io/rocm/dev-ubuntu-22.04:6.4.1"
_SOURCE = "ROCm/clr `hip_error.cpp`"
#: In lower case.
_PHRASES = (
    Phrase("no rocm-capable device", "no-device", sentence("no device in the container, or the device is faulty")),
    Phrase("invalid device ordinal", "no-device", sentence("fewer devices available than requested")),
    Phrase("out of memory", "out-of-memory", sentence("other processes use the card memory"), "errored"),
    Phrase(
        "device kernel image is invalid",
        "image-unsuited",
        sentence("image built for another GPU architecture"),
        "errored",
    ),
    Phrase(
        "no kernel image is available",
        "image-unsuited",
        sentence("image built for another GPU architecture"),
        "errored",
    ),
    Phrase(
        "invalid device function", "image-unsuited", sentence("image built for another GPU architecture"), "errored"
    ),
    Phrase("uncorrectable ecc error", "hip-error", sentence("card memory fault")),
    Phrase("driver version is insufficient", "hip-error", sentence("driver too old for the code in the image")),
)


def options(*, deadline_s: int, host_memory: str) -> tuple[Option, ...]:
    """The options that all have beside their image. A pod for an AMD card has no RuntimeClass and no share of a card's memory."""
    return (run_as_user(0), *common(deadline_s=deadline_s, host_memory=host_memory))


def phrases(form: str) -> tuple[Phrase, ...]:
    """The table for a suite's declaration. form: a line of its program, with "{}" where the message stands."""
    return tuple(phrase._replace(source=_SOURCE, example=form.format(phrase.words)) for phrase in _PHRASES)


def report(reading: Reading, message: str, text: str, line: int | None) -> None:
    """Write a HIP error into the reading. message: the error text alone; text: what is shown."""
    phrase = first(_PHRASES, message.lower())
    if phrase is None:
        reading.failed("hip-error", name(text), line)
    else:
        tell(reading, phrase, sentence("{text}: {meaning}.", text=name(text), meaning=phrase.meaning), line)
