"""ffmpeg with a hardware encoder (NVENC, AMF, Quick Sync) in a Windows container.

Progress comes on stderr with bare carriage returns. The stream mapping names the encoder before it was opened, so only the
output's own encoder tag and the last progress line (`Lsize=`) count.
"""

from __future__ import annotations

import re

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
from validations.suites.engine.figures import count, duration, name
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared.tensorworks import example, options, workload

VERSION = 1
_IMAGE = example("ffmpeg")
_FINAL = re.compile(
    r"frame=\s{0,20}(?P<frames>\d{1,12})\s{1,20}fps=\s{0,20}(?P<fps>[\d.]{1,12}) [^L]{0,120}Lsize=\s{0,20}\d{1,15}(?:kB|KiB)"
    r"\s{1,20}time=\S{1,20}\s{1,10}bitrate=\s{0,20}\S{1,20}\s{1,10}speed=\s{0,10}(?P<speed>[\d.e+]{1,12})x"
)
_ENCODER = re.compile(r"\s{1,20}encoder\s{1,20}: Lavc\S{1,20} (?P<encoder>\w{1,32})\s*\Z")
_DETECTED = re.compile(r"Detected an? (?P<vendor>\w{1,16}) GPU, using the")
_WRAPPER_EXIT = re.compile(r"FFmpeg terminated with exit code (-?\d{1,12})")
_HARDWARE = re.compile(r"(?:h264|hevc|av1)_(?:nvenc|amf|qsv)")
#: All are a "no" of driver or device.
_REFUSED = (
    Phrase("Cannot load nvcuda.dll", "driver-missing", "the device plugin mounted no NVIDIA runtime"),
    Phrase("Cannot load nvEncodeAPI64.dll", "driver-missing", "the device plugin mounted no NVIDIA encoder library"),
    Phrase("DLL amfrt64.dll failed to open", "driver-missing", "the device plugin mounted no AMD runtime"),
    Phrase("Error initializing an internal MFX session", "driver-missing", "there is no Intel runtime"),
    Phrase(
        "Driver does not support the required nvenc API version",
        "driver-too-old",
        "the driver is older than the encoder wants",
    ),
    Phrase(
        "The minimum required Nvidia driver for nvenc", "driver-too-old", "the driver is older than the encoder wants"
    ),
    Phrase("No capable devices found", "no-device", "no device can encode"),
    Phrase("No NVENC capable devices found", "no-device", "no device can encode"),
    Phrase("OpenEncodeSessionEx failed", "encoder", "no encoder session could be opened"),
    Phrase("InitializeEncoder failed", "encoder", "the encoder did not start"),
    Phrase(
        "Failed to detect the availability of a supported hardware", "no-adapter", "no hardware encoder was detected"
    ),
    Phrase("Error initializing output stream", "encoder", "the encoder could not be opened"),
    Phrase("Error while opening encoder", "encoder", "the encoder could not be opened"),
)


def read(lines: Lines) -> Reading:
    """The proof is a final progress line with frames, from a hardware encoder that the output names."""
    reading = Reading(missing="The log has no final progress line of a hardware encoder.")
    encoder, encoder_line = "", 0
    final: tuple[re.Match[str], int] | None = None
    for line, text in lines:
        if text.startswith("frame="):
            if "Lsize=" in text and (match := _FINAL.match(text)):
                final = (match, line)
        elif match := _ENCODER.match(text):
            encoder, encoder_line = match["encoder"], line
        elif text and text != " ":
            _failure(reading, text, line)
    if encoder:
        reading.facts["encoder"] = encoder
    if final is not None:
        _conclude(reading, final[0], final[1], encoder, encoder_line)
    return reading


def _failure(reading: Reading, text: str, line: int) -> None:
    low = text.lower()
    if "out of memory" in low:
        reading.errored("out-of-memory", f"{name(text)}: others hold the card's memory.", line)
        return
    for phrase in _REFUSED:
        if phrase.words in text:
            reading.failed(phrase.code, f"{name(text)}: {phrase.meaning}.", line)
            return
    if text.startswith("Conversion failed!"):
        reading.errored("conversion", "ffmpeg says that the conversion failed.", line)
    elif "No such file or directory" in text:
        reading.errored("bad-arguments", f"A file is missing: {name(text)}", line)
    elif (match := _WRAPPER_EXIT.search(text)) and match[1] != "0":
        reading.errored("exit-code", f"ffmpeg ended with exit code {match[1]}.", line)
    elif match := _DETECTED.match(text):
        reading.facts["vendor"] = match["vendor"]


def _conclude(reading: Reading, final: re.Match[str], line: int, encoder: str, encoder_line: int) -> None:
    frames = count(final["frames"])
    reading.facts["frames"] = frames
    reading.measure("fps", duration(final["fps"]), "1/s")
    reading.measure("speed", duration(final["speed"]), "x")
    if not encoder:
        reading.missing = "The log does not name the encoder of the output."
    elif not _HARDWARE.fullmatch(encoder):
        reading.failed("cpu-only", f"The encoder {encoder} is software.", encoder_line)
    elif not frames:
        reading.missing = "No frame was encoded."
    else:
        reading.proof = line


def _workload(target: Target, values: Values) -> Workload:
    """The example's own script picks an encoder; a named one is given to ffmpeg, the image's entry point."""
    encoder = str(values["encoder"])
    if encoder == "auto":
        script = ("-ExecutionPolicy", "Bypass", "-File", r"C:\autodetect-encoder.ps1")
        return workload(_IMAGE, values, ("powershell",), script)
    return workload(_IMAGE, values, args=("-i", r"C:\sample-video.mp4", "-c:v", f"h264_{encoder}", r"C:\output.mp4"))


SUITE = Suite(
    id="directx-ffmpeg",
    title="ffmpeg hardware encoding",
    proves=gettext_noop("The video encoder of an adapter encodes a clip to the end."),
    level="ran",
    os=("windows",),
    families=with_api("video", os="windows"),
    parser_version=VERSION,
    options=(
        *options(_IMAGE),
        Option(
            name="encoder",
            help=gettext_noop("Encoder: NVIDIA nvenc, AMD amf, Intel qsv; auto takes the first that there is."),
            default="auto",
            choices=("auto", "nvenc", "amf", "qsv"),
        ),
    ),
    read=read,
    workload=_workload,
    measures=True,
    demo=Demo(
        images=(Image(mark="example-ffmpeg", seconds=12, size=3_900_000_000),),
        exits={"no-encoder": 1},
    ),
    reasons=(
        ReasonWords(
            "conversion",
            gettext_noop("the conversion failed"),
            "Read the lines before it in the log.",
        ),
        ReasonWords(
            "driver-too-old",
            gettext_noop("the driver is too old"),
            "Install the driver version that the text names, or take an image with an older encoder.",
        ),
        ReasonWords(
            "encoder",
            gettext_noop("the encoder could not be opened"),
            "Look whether the card has an encoder and all of its sessions are taken.",
        ),
    ),
)
