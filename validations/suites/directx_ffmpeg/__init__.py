"""ffmpeg with a hardware encoder (NVENC, AMF, Quick Sync) in a Windows container.

Progress comes on stderr with bare carriage returns. The stream mapping names the encoder before it was opened, so only the
output's own encoder tag and the last progress line (`Lsize=`) count.
"""

from __future__ import annotations

import re

from validations.suites.directx_ffmpeg.failures import PHRASES, Failures
from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import count, duration
from validations.suites.engine.placement import with_api
from validations.suites.shared.tensorworks import NEEDS, example, options, workload
from wording.said import sentence

VERSION = 2
_IMAGE = example("ffmpeg")
_FINAL = re.compile(
    r"frame=\s{0,20}(?P<frames>\d{1,12})\s{1,20}fps=\s{0,20}(?P<fps>[\d.]{1,12}) [^L]{0,120}Lsize=\s{0,20}\d{1,15}(?:kB|KiB)"
    r"\s{1,20}time=\S{1,20}\s{1,10}bitrate=\s{0,20}\S{1,20}\s{1,10}speed=\s{0,10}(?P<speed>[\d.e+]{1,12})x"
)
_ENCODER = re.compile(r"\s{1,20}encoder\s{1,20}: Lavc\S{1,20} (?P<encoder>\w{1,32})\s*\Z")
_DETECTED = re.compile(r"Detected an? (?P<vendor>\w{1,16}) GPU, using the")
_WRAPPER_EXIT = re.compile(r"FFmpeg terminated with exit code (-?\d{1,12})")
_HARDWARE = re.compile(r"(?:h264|hevc|av1)_(?:nvenc|amf|qsv)")
_STREAM = re.compile(r"\s{1,20}Stream #\d{1,4}:\d{1,4}.{0,100}?: (?P<kind>Video|Audio|Subtitle|Data|Attachment): ")


class _Walk:
    """State of one pass. inside: of the description of an output, where its encoders are; kind: of the stream that is described."""

    def __init__(self) -> None:
        self.inside = True
        self.kind = "Video"
        self.encoder = ""
        self.encoder_line = 0
        self.final: tuple[re.Match[str], int] | None = None


def read(lines: Lines) -> Reading:
    """The proof is a final progress line with frames, from a hardware encoder that the output names for its picture."""
    reading = Reading(missing=sentence("The log has no final progress line of a hardware encoder."))
    walk, failures = _Walk(), Failures()
    for line, text in lines:
        if text.startswith("frame="):
            if "Lsize=" in text and (match := _FINAL.match(text)):
                walk.final = (match, line)
        elif text.startswith(("Input #", "Output #")):
            walk.inside, walk.kind = text.startswith("Output"), "Video"
        elif text[:1] == " " and _described(walk, text, line):
            continue
        elif text and text != " ":
            _other(reading, failures, text, line)
    if walk.encoder:
        reading.facts["encoder"] = walk.encoder
    failures.conclude(reading)
    if walk.final is not None:
        _conclude(reading, *walk.final, walk.encoder, walk.encoder_line)
    return reading


def _described(walk: _Walk, text: str, line: int) -> bool:
    """A line of the description of inputs and outputs: a clip with sound has an encoder for that too."""
    if "Stream #" in text and (match := _STREAM.match(text)):
        walk.kind = match["kind"]
    elif match := _ENCODER.match(text):
        if walk.inside and walk.kind == "Video" and not walk.encoder:
            walk.encoder, walk.encoder_line = match["encoder"], line
    else:
        return False
    return True


def _other(reading: Reading, failures: Failures, text: str, line: int) -> None:
    if failures.add(reading, text, line):
        return
    if (match := _WRAPPER_EXIT.search(text)) and match[1] != "0":
        reading.errored("exit-code", sentence("ffmpeg ended with exit code {code}.", code=match[1]), line)
    elif match := _DETECTED.match(text):
        reading.facts["vendor"] = match["vendor"]


def _conclude(reading: Reading, final: re.Match[str], line: int, encoder: str, encoder_line: int) -> None:
    frames = count(final["frames"])
    reading.facts["frames"] = frames
    reading.measure("fps", duration(final["fps"]), "1/s")
    reading.measure("speed", duration(final["speed"]), "x")
    if not encoder:
        reading.missing = sentence("No output encoder in the log.")
    elif not _HARDWARE.fullmatch(encoder):
        reading.failed("cpu-only", sentence("The encoder {encoder} is software.", encoder=encoder), encoder_line)
    elif not frames:
        reading.missing = sentence("No frame was encoded.")
    else:
        reading.proof = line


def _workload(target: Target, values: Values) -> Workload:
    """The example's own script picks an encoder; a named one is given to ffmpeg, the image's entry point."""
    encoder = str(values["encoder"])
    if encoder == "auto":
        script = ("-ExecutionPolicy", "Bypass", "-File", r"C:\autodetect-encoder.ps1")
        return workload(values, ("powershell",), script)
    return workload(values, args=("-i", r"C:\sample-video.mp4", "-c:v", f"h264_{encoder}", r"C:\output.mp4"))


SUITE = Suite(
    id="directx-ffmpeg",
    title=gettext_noop("ffmpeg hardware encoding"),
    proves=gettext_noop("The video encoder of an adapter encodes a complete clip."),
    level="ran",
    os=("windows",),
    families=with_api("video", os="windows"),
    parser_version=VERSION,
    options=(
        *options(_IMAGE),
        Option(
            name="encoder",
            help=gettext_noop("Encoder: NVIDIA nvenc, AMD amf or Intel qsv. auto: the first one available."),
            default="auto",
            choices=("auto", "nvenc", "amf", "qsv"),
        ),
    ),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": NEEDS},
    measures=True,
    demo=Demo(
        images=(Image(mark="example-ffmpeg", seconds=12, size=3_900_000_000),),
        exits={"no-encoder": 1},
    ),
    proof="frame= 5551 fps=437 q=27.0 Lsize=   61613kB time=00:03:51.31 bitrate=2182.0kbits/s speed=18.2x",
    source="FFmpeg `fftools/ffmpeg.c`",
    phrases=PHRASES,
    reasons=(
        ReasonWords(
            "conversion",
            gettext_noop("the conversion failed"),
            "Read the preceding lines in the log.",
        ),
        ReasonWords(
            "driver-too-old",
            gettext_noop("driver too old"),
            "Install the driver version in the text, or use an image with an older encoder.",
            points_to="driver or runtime",
        ),
        ReasonWords(
            "encoder",
            gettext_noop("the encoder could not be opened"),
            "Check that the card has an encoder and a free encoder session.",
        ),
    ),
)
