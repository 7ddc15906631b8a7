"""gpu-burn: matrix products on each card for minutes, each compared with the first one.

It exits with 0 where a card was faulty, and calls a card OK that computed nothing: so the list at its end counts only beside the
progress of that card. Not verified: CUDA and compute capabilities of the image. The author of the program publishes none.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import count, duration, name
from validations.suites.engine.options import common, image, linux
from validations.suites.engine.phrases import Phrase
from validations.suites.shared import cuda_texts
from wording.said import sentence

VERSION = 1
_CARD = re.compile(r"GPU (\d{1,4}): (.{1,200}?) \(UUID: (GPU-[0-9a-fA-F-]{1,64})\)\s*\Z")
_SECONDS = re.compile(r"(?:.{0,100}\. )?Burning for (\d{1,7}) seconds\.\s*\Z")
_STARTED = re.compile(r"Initialized device (\d{1,4}) with (\d{1,9}) MB of memory")
#: `10.4%  proc'd: 280 (14321 Gflop/s) - 282 (14402 Gflop/s)   errors: 0 - 0   temps: 61 C - 60 C`
_PROGRESS = ("%  proc'd: ", "  errors: ", "  temps: ")
_PERCENT = re.compile(r"\d{1,3}\.\d")
_DONE = re.compile(r"(-?\d{1,9}) \((\S{1,20}) Gflop/s\)")
_ERRORS = re.compile(r"(-?\d{1,16})(?: +\((WARNING|DIED)!\))?")
_TESTED = re.compile(r"Tested (\d{1,4}) GPUs:\s*\Z")
_ENDED = re.compile(r"\tGPU (\d{1,4}): (OK|FAULTY)\s*\Z")
_THROWN = re.compile(r"(?:Couldn't init a GPU test|Failure during compute|Couldn't init CUDA): (?P<message>.{1,300})")
_MOST = 64
_SOURCE = "wilicc/gpu-burn `gpu_burn-drv.cpp`"
_END = "Tested 1 GPUs:\n\tGPU 0: {}"


class _Progress(msgspec.Struct):
    """The last line of progress. done, speeds, errors: of each card, in turn."""

    percent: float
    done: list[int | None]
    speeds: list[float | None]
    errors: int
    line: int


class _Walk(msgspec.Struct):
    """State of one pass over a log. ended: number of a card → (what the end says, line)."""

    cards: dict[int, dict[str, Any]] = {}
    started: set[int] = set()
    progress: _Progress | None = None
    tested: tuple[int, int] | None = None
    ended: dict[int, tuple[str, int]] = {}
    mixed: int | None = None
    seconds: int | None = None


def read(lines: Lines) -> Reading:
    """Facts `devices`, `seconds`; the proof is the line of the last card in the list at the end."""
    reading = Reading(missing=sentence("The log has no complete gpu-burn run."))
    walk = _Walk()
    for line, text in lines:
        _line(walk, reading, text, line)
    reading.facts["devices"] = [{"index": index} | card for index, card in walk.cards.items()]
    if walk.seconds is not None:
        reading.facts["seconds"] = walk.seconds
    _conclude(walk, reading)
    return reading


def _line(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if _PROGRESS[0] in text:
        _progress(walk, reading, text, line)
    elif text.startswith("GPU ") and (match := _CARD.match(text)):
        if int(match[1]) in walk.cards or len(walk.cards) == _MOST:
            walk.mixed = walk.mixed or line
            return
        walk.cards[int(match[1])] = {"name": name(match[2]), "uuid": match[3]}
    elif text.startswith("Initialized ") and (match := _STARTED.match(text)):
        walk.started.add(int(match[1]))
    elif text.startswith("Tested ") and (match := _TESTED.match(text)):
        walk.mixed = walk.mixed or (line if walk.tested else None)
        walk.tested = (int(match[1]), line)
    elif text.startswith("\tGPU ") and (match := _ENDED.match(text)):
        _ended(walk, reading, int(match[1]), match[2], line)
    elif "Burning for " in text and (match := _SECONDS.match(text)):
        walk.mixed = walk.mixed or (line if walk.seconds is not None else None)
        walk.seconds = count(match[1])
    elif match := _THROWN.match(text) if text.startswith(("Couldn't init", "Failure during")) else None:
        cuda_texts.report(reading, match["message"], text, line)
    elif text.startswith("No CUDA devices"):
        reading.failed("no-device", sentence("No CUDA device in the container."), line)
    elif "Low mem for result" in text:
        reading.errored("out-of-memory", sentence("Not enough free card memory for the test."), line)
    elif text.startswith("No clients are alive!"):
        reading.errored("burn-aborted", sentence("No card came to the end."), line)


def _progress(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    percent, _, rest = text.partition(_PROGRESS[0])
    done, _, rest = rest.partition(_PROGRESS[1])
    said, whole, _ = rest.partition(_PROGRESS[2])
    if not whole or not _PERCENT.fullmatch(percent):
        return
    pairs, errors = _DONE.findall(done)[:_MOST], _ERRORS.findall(said)[:_MOST]
    if not reading.has("failed") and any(word == "DIED" for _, word in errors):
        reading.failed("card-died", sentence("The program of a card ended early: {text}", text=name(text)), line)
    elif not reading.has("failed") and any(wrong.strip("0") for wrong, _ in errors):
        reading.failed("verification", sentence("Wrong results: {text}", text=name(text)), line)
    walk.progress = _Progress(
        percent=float(percent),
        done=[count(done) for done, _ in pairs],
        speeds=[duration(speed) for _, speed in pairs],
        errors=len(errors),
        line=line,
    )


def _ended(walk: _Walk, reading: Reading, index: int, said: str, line: int) -> None:
    if index in walk.ended or walk.tested is None:
        walk.mixed = walk.mixed or line
    if said == "FAULTY" and len(walk.ended) < _MOST:
        reading.failed("verification", sentence("Wrong results on GPU {index}.", index=index), line)
    walk.ended[index] = (said, line)


def _conclude(walk: _Walk, reading: Reading) -> None:
    if walk.mixed is not None:
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), walk.mixed)
        return
    progress = walk.progress
    if walk.tested is None or progress is None:
        return
    tested, line = walk.tested
    every = set(range(tested))
    if tested < 1 or set(walk.ended) != every:
        reading.missing = sentence("The list of tested cards is incomplete.")
        return
    if not every <= set(walk.cards) or not every <= walk.started:
        reading.missing = sentence("The log does not name each card that was tested.")
        return
    if len(progress.done) != tested or progress.errors != tested:
        reading.missing = sentence("The last line of progress does not have each card.")
        return
    if idle := [index for index, done in enumerate(progress.done) if not done]:
        names = ", ".join(map(str, idle[:16]))
        text = sentence("GPU {names} computed nothing, though the program calls it OK.", names=names)
        reading.errored("not-every-card", text, progress.line)
        return
    if walk.seconds is None or progress.percent < 90 or progress.line > line:
        reading.missing = sentence("The run ended before the set duration.")
        return
    if all(speed is not None for speed in progress.speeds):
        reading.measure("gflops", min(speed for speed in progress.speeds if speed is not None), "GFLOP/s")
    reading.proof = max(at for _, at in walk.ended.values())


def _workload(target: Target, values: Values) -> Workload:
    """The program looks for its kernel in the folder where it is started; exec keeps its exit code."""
    return Workload(
        image=str(values["image"]),
        command=("/bin/sh", "-c", f"cd /app && exec ./gpu_burn {values['seconds']}"),
        host_memory=str(values["host_memory"]),
        cpus=2 + int(values["cards"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """What the program prints of each card. Its speed is that of the cores at 1.4 GHz."""
    speed, used = container.cores * 2.8, container.memory_mib * 9 // 10
    return {
        "burn_cards": "\n".join(f"GPU {card.place}: {container.gpu} (UUID: {card.uuid})" for card in container.cards),
        "burn_started": "\n".join(
            f"Initialized device {card.place} with {container.memory_mib} MB of memory ({container.memory_mib - 400} MB "
            f"available, using {used} MB of it), using FLOATS"
            for card in container.cards
        ),
        "burn_done": " - ".join(f"4120 ({speed:.0f} Gflop/s) " for _ in container.cards),
        "burn_errors": "- ".join("0 " for _ in container.cards),
        "burn_wrong": "- ".join("0 " if card.place else "5120  (WARNING!) " for card in container.cards),
        "burn_temps": "- ".join("64 C " for _ in container.cards),
        "burn_ended": "\n".join(f"\tGPU {card.place}: OK" for card in container.cards),
        "burn_faulty": "\n".join(f"\tGPU {card.place}: {'OK' if card.place else 'FAULTY'}" for card in container.cards),
    }


SUITE = Suite(
    id="gpu-burn",
    title="gpu-burn",
    proves=gettext_noop(
        "Each card computes matrix products for the given time, all with the same result. The speed is measured."
    ),
    level="checked",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    options=(
        image(
            "docker.io/oguzpastirmaci/gpu-burn:latest",
            gettext_noop("Container image with gpu_burn in /app, as its own Dockerfile builds it."),
        ),
        Option(
            name="seconds",
            help=gettext_noop("How long the cards compute."),
            default=300,
            kind="number",
            minimum=10,
            maximum=43_200,
        ),
        Option(
            name="cards", help=gettext_noop("Number of cards to test."), default=1, kind="number", minimum=1, maximum=16
        ),
        *linux(),
        *common(deadline_s=7200, host_memory="4Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(driver="450.80.02")},
    measures=True,
    demo=Demo(
        images=(Image(mark="gpu_burn", seconds=12, size=2_400_000_000),),
        nodes={"dgx-a100-02": "faulty"},
        values=_demo_values,
    ),
    proof="GPU 0: OK",
    source=_SOURCE,
    phrases=(
        Phrase("GPU 0: FAULTY", "verification", "Wrong results", example=_END.format("FAULTY")),
        Phrase(
            "errors: -1  (DIED!)",
            "card-died",
            "The program of a card ended early",
            example="50.0%  proc'd: -1 (0 Gflop/s)   errors: -1  (DIED!)  temps: 50 C ",
        ),
        Phrase("No CUDA devices", "no-device", "No CUDA device in the container"),
        Phrase("Low mem for result", "out-of-memory", "Not enough free card memory", "errored"),
        Phrase("No clients are alive!  Aborting", "burn-aborted", "No card came to the end", "errored"),
        *cuda_texts.phrases("Couldn't init a GPU test: Error in init (gpu_burn-drv.cpp:123): {}"),
    ),
    reasons=(
        ReasonWords(
            "burn-aborted",
            gettext_noop("no card finished"),
            "Read the lines before it: each card has its own error there.",
        ),
        ReasonWords(
            "card-died",
            gettext_noop("the program of a card ended early"),
            "Check the messages of the driver on the node (Xid), the temperature and the power supply of the card.",
            points_to="card",
        ),
    ),
)
