"""The failure texts of NCCL and nccl-tests and what each means: a "no" of card or link, or a test that was not carried out.

NCCL warns of much that it then does in another way, so what a warning says counts only where the run did not come to its end; there
it is the cause, and the error code that nccl-tests prints after it says less.
"""

from __future__ import annotations

import re

from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.verdict import Reading
from validations.suites.shared import cuda_texts
from wording.said import sentence

_TESTS = "NVIDIA/nccl-tests `common.cu`, `util.cu`"
_NCCL = "NVIDIA/nccl"
_WARN = "node-a:195:201 [0] misc/file.cc:97 NCCL WARN {}"
_FAILURE = "node-a: Test NCCL failure common.cu:958 '{} (run with NCCL_DEBUG=WARN for details)'"
#: In warnings of NCCL, and in texts of PyTorch, whose image has the program.
_CAUSES = (
    Phrase("Duplicate GPU detected", "same-card", sentence("Two ranks use the same card"), "errored", _NCCL),
    Phrase(
        "Error while creating shared memory segment",
        "shared-memory",
        sentence("Not enough shared memory in the container"),
        "errored",
        _NCCL,
    ),
    Phrase(
        "insufficient shared memory (shm)",
        "shared-memory",
        sentence("Not enough shared memory in the container"),
        "errored",
        "PyTorch",
    ),
    Phrase(
        "No space left on device",
        "shared-memory",
        sentence("Not enough shared memory in the container"),
        "errored",
        _NCCL,
    ),
    Phrase(
        "no socket interface found",
        "bad-arguments",
        sentence("No network adapter has the given name"),
        "errored",
        _NCCL,
    ),
    Phrase(
        "No socket interface found",
        "bad-arguments",
        sentence("No network adapter has the given name"),
        "errored",
        _NCCL,
    ),
)
_CUDA_WARNING = re.compile(r"NCCL WARN .{0,100}Cuda failure (?:\d{1,4} )?'(?P<message>.{1,200})'")
#: The codes of NCCL, as nccl-tests prints them after "NCCL failure".
_CODES = (
    Phrase("invalid usage", "bad-arguments", sentence("Invalid use of NCCL"), "errored"),
    Phrase("invalid argument", "bad-arguments", sentence("Invalid NCCL argument"), "errored"),
    Phrase(
        "unhandled system error",
        "nccl-system",
        sentence("The system rejected a call of NCCL: network or shared memory"),
        "errored",
    ),
    Phrase("internal error", "nccl-system", sentence("Internal NCCL error"), "errored"),
    Phrase("remote process exited", "nccl-system", sentence("Another rank ended early"), "errored"),
)
_CUDA_CODE = "unhandled cuda error"
#: What nccl-tests itself says.
_TEXTS = (
    Phrase("Invalid number of GPUs:", "no-device", sentence("Fewer cards available than requested"), "failed", _TESTS),
    Phrase(": Test timeout (", "timeout", sentence("The cards did not finish in time"), "errored", _TESTS),
    Phrase(
        "Incompatible NCCL versions",
        "image",
        sentence("The image has a different NCCL version than its program needs"),
        "errored",
        _TESTS,
    ),
    Phrase("invalid option '", "bad-arguments", sentence("Unknown option"), "errored", _TESTS),
    Phrase("invalid size specified for '", "bad-arguments", sentence("Invalid size"), "errored", _TESTS),
    Phrase(
        "invalid sizes for 'minbytes' and 'maxbytes'",
        "bad-arguments",
        sentence("Invalid sizes"),
        "errored",
        _TESTS,
    ),
    Phrase("Device implementation ", "bad-arguments", sentence("Invalid option value"), "errored", _TESTS),
)
_FAILURES = ("Test NCCL failure", "Test CUDA failure", "NCCL failure", "CUDA failure")
#: Of what nccl-tests says on stderr.
_BEGINS = ("Invalid ", "invalid ", "Device implementation ")

PHRASES = (
    *_TEXTS,
    *(phrase._replace(source=_TESTS, example=_FAILURE.format(phrase.words)) for phrase in _CODES),
    Phrase(
        _CUDA_CODE,
        "cuda-error",
        sentence("CUDA rejected a call of NCCL"),
        source=_TESTS,
        example=_FAILURE.format(_CUDA_CODE),
    ),
    *(
        phrase._replace(example=f"{_WARN.format(phrase.words)}\n{_FAILURE.format('unhandled system error')}")
        for phrase in _CAUSES
    ),
    *cuda_texts.phrases("node-a: Test CUDA failure common.cu:892 '{}'"),
)


class Failures:
    """What one log says went wrong, in the order of its lines."""

    def __init__(self) -> None:
        self.causes: list[tuple[Phrase | None, str, int]] = []
        self.cuda: tuple[str, int] | None = None

    def add(self, reading: Reading, text: str, line: int) -> None:
        """Look at a line that is no row and no comment."""
        # Each text that is looked for has one of these.
        if not (
            "NCCL" in text or "failure" in text or ": Test " in text or "(shm)" in text or text.startswith(_BEGINS)
        ):
            return
        if (phrase := first(_CAUSES, text)) is not None:
            self.causes.append((phrase, text, line))
        elif "NCCL WARN" in text:
            if match := _CUDA_WARNING.search(text):
                self.causes.append((cuda_texts.cause(match["message"]), text, line))
        elif (phrase := first(_TEXTS, text)) is not None:
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
        elif _CUDA_CODE in text and "NCCL failure" in text:
            self.cuda = (text, line)
        elif "NCCL failure" in text and (phrase := first(_CODES, text)) is not None:
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
        elif any(words in text for words in _FAILURES):
            cuda_texts.report(reading, text, text, line)

    def conclude(self, reading: Reading) -> None:
        """After the last line: warnings count where there is no proof, and then before the code that follows from them."""
        if reading.proof is not None and self.cuda is None:
            return
        found = reading.observations
        reading.observations = []
        for phrase, text, line in self.causes[:8]:
            if self.cuda is None and (phrase is None or phrase.severity == "failed"):
                continue  # without NCCL's own failure it may have gone another way
            if phrase is None:
                reading.failed("cuda-error", name(text), line)
            else:
                tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
        if self.cuda is not None and not reading.has("errored"):
            reading.failed("cuda-error", name(self.cuda[0]), self.cuda[1])
        elif self.cuda is not None:
            reading.remark("cuda-error", name(self.cuda[0]), self.cuda[1])
        reading.observations += found
