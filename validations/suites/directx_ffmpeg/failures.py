"""The failure texts of ffmpeg's hardware encoders and what each means: a "no" of device or driver, or a test that did not happen.

ffmpeg says the cause first and then, line by line, what follows from it: that no device was left, that the stream could not be
opened, that the conversion failed. What follows counts only where no cause says that the encoder was asked for what it cannot do.
"""

from __future__ import annotations

from validations.suites.engine.figures import name
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.engine.verdict import Reading
from wording.said import sentence

_NVENC = "FFmpeg `libavcodec/nvenc.c`"
_AMF = "FFmpeg `libavcodec/amfenc.c`"
_QSV = "FFmpeg `libavcodec/qsvenc.c`"
_FFMPEG = "FFmpeg `fftools`"
#: Looked for in this order: what an argument is to blame for stands before the step in which it came out.
_CAUSES = (
    Phrase("out of memory", "out-of-memory", sentence("other processes use the card memory"), "errored", _NVENC),
    Phrase(
        "invalid param (8)",
        "bad-arguments",
        sentence("the encoder does not support this picture format"),
        "errored",
        _NVENC,
    ),
    Phrase(
        "unsupported param (12)",
        "bad-arguments",
        sentence("the encoder does not support this picture format"),
        "errored",
        _NVENC,
    ),
    Phrase(
        "YUV444P not supported",
        "bad-arguments",
        sentence("the encoder does not support this picture format"),
        "errored",
        _NVENC,
    ),
    Phrase(
        "10 bit encode not supported",
        "bad-arguments",
        sentence("the encoder does not support this picture format"),
        "errored",
        _NVENC,
    ),
    Phrase(
        "Lossless encoding not supported",
        "bad-arguments",
        sentence("the encoder does not support this mode"),
        "errored",
        _NVENC,
    ),
    Phrase("Requested GPU ", "bad-arguments", sentence("no such GPU"), "errored", _NVENC),
    Phrase("Unknown encoder '", "bad-arguments", sentence("ffmpeg was built without this encoder"), "errored", _FFMPEG),
    Phrase("Unrecognized option '", "bad-arguments", sentence("unknown option"), "errored", _FFMPEG),
    Phrase("Error splitting the argument list", "bad-arguments", sentence("invalid arguments"), "errored", _FFMPEG),
    Phrase("Unable to parse option value", "bad-arguments", sentence("invalid option value"), "errored", _FFMPEG),
    Phrase("Error setting option ", "bad-arguments", sentence("invalid option value"), "errored", _FFMPEG),
    Phrase("Unable to find a suitable output format", "bad-arguments", sentence("invalid output"), "errored", _FFMPEG),
    Phrase(
        "At least one output file must be specified",
        "bad-arguments",
        sentence("no output"),
        "errored",
        _FFMPEG,
    ),
    Phrase(
        "Invalid data found when processing input",
        "conversion",
        sentence("the clip cannot be read"),
        "errored",
        _FFMPEG,
    ),
    Phrase("No such file or directory", "bad-arguments", sentence("file missing"), "errored", _FFMPEG),
    Phrase("Permission denied", "bad-arguments", sentence("a file cannot be written"), "errored", _FFMPEG),
    Phrase(
        "Cannot load nvcuda.dll",
        "driver-missing",
        sentence("the device plugin mounted no NVIDIA runtime"),
        source=_NVENC,
    ),
    Phrase(
        "Cannot load nvEncodeAPI64.dll",
        "driver-missing",
        sentence("the device plugin mounted no NVIDIA encoder library"),
        source=_NVENC,
    ),
    Phrase(
        "DLL amfrt64.dll failed to open",
        "driver-missing",
        sentence("the device plugin mounted no AMD runtime"),
        source=_AMF,
    ),
    Phrase(
        "Error initializing an internal MFX session",
        "driver-missing",
        sentence("no Intel runtime"),
        source=_QSV,
    ),
    Phrase("Error creating a MFX session", "driver-missing", sentence("no Intel runtime"), source=_QSV),
    Phrase(
        "Driver does not support the required nvenc API version",
        "driver-too-old",
        sentence("driver too old for the encoder"),
        source=_NVENC,
    ),
    Phrase(
        "The minimum required Nvidia driver for nvenc",
        "driver-too-old",
        sentence("driver too old for the encoder"),
        source=_NVENC,
    ),
    Phrase(
        "CUDA_ERROR_NO_DEVICE",
        "no-device",
        sentence("no device in the container, or the device is faulty"),
        source=_NVENC,
    ),
    Phrase("No CUDA capable devices found", "no-device", sentence("no device in the container"), source=_NVENC),
    Phrase("cuInit(0) failed", "driver", sentence("the driver did not start"), source=_NVENC),
    Phrase("OpenEncodeSessionEx failed", "encoder", sentence("no encoder session could be opened"), source=_NVENC),
    Phrase("InitializeEncoder failed", "encoder", sentence("the encoder did not start"), source=_NVENC),
    Phrase("Codec not supported", "encoder", sentence("the device has no encoder of this kind"), source=_NVENC),
    Phrase(
        "EncodePicture failed",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_NVENC,
    ),
    Phrase(
        "Failed locking bitstream buffer",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_NVENC,
    ),
    Phrase(
        "CreateInputBuffer failed",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_NVENC,
    ),
    Phrase(
        "CreateBitstreamBuffer failed",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_NVENC,
    ),
    Phrase("CreateComponent(", "encoder", sentence("the device has no encoder of this kind"), source=_AMF),
    Phrase("encoder->Init() failed with error", "encoder", sentence("the encoder did not start"), source=_AMF),
    Phrase(
        "SubmitInput() failed with error",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_AMF,
    ),
    Phrase(
        "QueryOutput() failed with error",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_AMF,
    ),
    Phrase(
        "Error during encoding: ",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_QSV,
    ),
    Phrase("Error initializing the encoder: ", "encoder", sentence("the encoder did not start"), source=_QSV),
    Phrase(
        "Failed to detect the availability of a supported hardware",
        "no-adapter",
        sentence("no hardware encoder detected"),
        source="TensorWorks example `autodetect-encoder.ps1`",
    ),
)
#: What follows from a cause, or stands alone.
_THEN = (
    Phrase("No capable devices found", "no-device", sentence("no device supports encoding"), source=_NVENC),
    Phrase("No NVENC capable devices found", "no-device", sentence("no device supports encoding"), source=_NVENC),
    Phrase(
        "Provided device doesn't support required NVENC features",
        "encoder",
        sentence("not supported by the device"),
        source=_NVENC,
    ),
    Phrase("Error initializing output stream", "encoder", sentence("the encoder could not be opened"), source=_FFMPEG),
    Phrase("Error while opening encoder", "encoder", sentence("the encoder could not be opened"), source=_FFMPEG),
    Phrase(
        "Video encoding failed",
        "encoder",
        sentence("the device rejected a call of the encoder"),
        source=_FFMPEG,
    ),
    Phrase(
        "Error submitting video frame to the encoder",
        "encoder",
        sentence("the encoder accepted no picture"),
        source=_FFMPEG,
    ),
    Phrase("Conversion failed!", "conversion", sentence("ffmpeg did not finish"), "errored", _FFMPEG),
)
PHRASES = (*_CAUSES, *_THEN)


def _may_fail(text: str) -> bool:
    """Whether one of the words is in the text of which each phrase has one: most lines have none."""
    return (
        "ailed" in text
        or "rror" in text
        or "upport" in text
        or "annot" in text
        or "nvalid" in text
        or "nknown" in text
        or "nrecog" in text
        or "nable" in text
        or "No " in text
        or "NO_" in text
        or "GPU " in text
        or "required" in text
        or "memory" in text
        or "least one" in text
        or "denied" in text
        or "param (" in text
        or "Component(" in text
    )


class Failures:
    """What one log says went wrong, in the order of its lines."""

    def __init__(self) -> None:
        self.then: list[tuple[Phrase, str, int]] = []

    def add(self, reading: Reading, text: str, line: int) -> bool:
        """Look at a line that is no progress. Whether it tells of a failure."""
        if not _may_fail(text):
            return False
        phrase = first(_CAUSES, text)
        if phrase is None and "ut of memory" in text:
            phrase = _CAUSES[0]
        if phrase is not None:
            tell(reading, phrase, sentence("{text}: {meaning}.", text=name(text), meaning=phrase.meaning), line)
            return True
        if (phrase := first(_THEN, text)) is not None:
            if len(self.then) < len(_THEN):
                self.then.append((phrase, text, line))
            return True
        return False

    def conclude(self, reading: Reading) -> None:
        """After the last line: what follows from a cause that is not the device's is none of the device's either."""
        not_the_device = reading.has("errored") and not reading.has("failed")
        for phrase, text, line in self.then:
            words = sentence("{text}: {meaning}.", text=name(text), meaning=phrase.meaning)
            if not_the_device:
                reading.remark(phrase.code, words, line)
            else:
                tell(reading, phrase, words, line)
