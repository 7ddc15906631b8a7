"""AMD's ROCm Validation Suite, its stress test of the cards (GST): matrix products that must reach the speed of a configuration.

It exits with 0 where a card missed its target, so each card's own line of each action decides. The list of cards (`rvs -g`) comes
first: it has the number by which those lines name a card. Later releases print a table of the actions at the end; before, only the
exit code says that the end was reached. Source: ROCm/ROCmValidationSuite `gst_worker.cpp`, `rvs_util.cpp`, `rvsexec_do_yaml.cpp`.
Not verified: the image, which AMD's GPU operator runs by a program of its own.
"""

from __future__ import annotations

import math
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
from validations.suites.engine.figures import duration, name, rounded
from validations.suites.engine.options import image
from validations.suites.engine.phrases import Phrase, first, tell
from validations.suites.shared import rocm
from wording.said import sentence

VERSION = 1
#: `0000:05:00.0 - GPU[ 2 - 50599] AMD Instinct MI300X (Device 29857)`
_CARD = re.compile(
    r"([0-9A-Fa-f:.]{7,20}) - GPU\[ {0,4}(\d{1,6}) - {1,6}(\d{1,6})\] (.{1,200}) \(Device \d{1,6}\)\s*\Z"
)
_VERSION = re.compile(r"ROCm Validation Suite \(version (\S{1,40})\)\s*\Z")
#: `[RESULT] [ 34567.123456] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 50599] …`
_RESULT = re.compile(
    r"\[RESULT\] \[ {0,6}\d{1,10}\.\d{1,6} {0,6}\] \[(.{1,100}?)\] \[GPU:: {1,5}(\d{1,6})\] (.{1,300})\Z"
)
_MET = re.compile(r"GFLOPS (\d{1,12}) Target GFLOPS: (\d{1,12}) met: (TRUE|FALSE)\s*\Z")
_CHECK = re.compile(r"(?:self|accu)-check error (\S{1,40})\s*\Z")
_ERROR = re.compile(r"\[ERROR \] \[ {0,6}\d{1,10}\.\d{1,6} {0,6}\] (.{1,300})\Z")
_ROW = re.compile(r"\| (\S.{0,99}?) {1,100}\| (\S{1,14}) {1,14}\| (PASS|FAIL) {1,20}\|\s*\Z")
_START, _HEAD = "Start of GPU ramp up", "ROCm Validation Suite (RVS) Summary"
_MOST = 64
_MOST_ACTIONS = 256
_GST = "ROCm/ROCmValidationSuite `gst_worker.cpp`"
_EXEC = "ROCm/ROCmValidationSuite `rvsexec.cpp`"
_LINE = "[RESULT] [ 34567.123456] [gst] [GPU:: 50599] {}"
_PHRASES = (
    Phrase(
        "No supported GPUs available.",
        "no-device",
        sentence("No card in the container"),
        "failed",
        "ROCm/ROCmValidationSuite `rvs_util.cpp`",
    ),
    Phrase("no GPU detected !", "no-device", sentence("No card in the container"), "failed", _EXEC),
    Phrase("No AMD compatible GPU found!", "no-device", sentence("No card in the container"), "failed", _GST),
    Phrase(
        "No devices match criteria",
        "rvs-unsupported",
        sentence("The configuration is for other cards"),
        "errored",
        _GST,
    ),
    Phrase("file is missing.", "bad-arguments", sentence("The image has no such configuration"), "errored", _EXEC),
    Phrase("Action failed to run successfully.", "rvs-action", sentence("An action did not run"), "errored", _EXEC),
    Phrase("RVS-ERROR", "rvs-action", sentence("The program reports an error"), "errored", _EXEC),
)


class _Action(msgspec.Struct):
    """One action. started, met: cards that began it and that met its target, by number. least: of their speeds, as share of it."""

    line: int
    started: set[str] = set()
    met: set[str] = set()
    least: float | None = None


class _Walk(msgspec.Struct):
    """State of one pass over a log. cards: by the number that lines name them by. rows: of the table at the end."""

    cards: dict[str, dict[str, Any]] = {}
    actions: dict[str, _Action] = {}
    rows: dict[str, bool] = {}
    table: int | None = None
    mixed: int | None = None


def read(lines: Lines) -> Reading:
    """Facts `devices`, `actions`; the proof is the last line by which a card met the target of an action."""
    reading = Reading(missing=sentence("The log has no complete stress test."))
    walk, last = _Walk(), None
    for line, text in lines:
        if text.startswith("[RESULT]") and (match := _RESULT.match(text)):
            last = line if _result(walk, reading, match, line) else last
        else:
            _other(walk, reading, text, line)
    reading.facts["devices"] = list(walk.cards.values())
    reading.facts["actions"] = list(walk.actions)
    _conclude(walk, reading, last)
    return reading


def _result(walk: _Walk, reading: Reading, match: re.Match[str], line: int) -> bool:
    """A line of an action on a card; whether it says that the card met the target."""
    key, card, text = match[1], match[2], match[3]
    if key not in walk.actions and len(walk.actions) == _MOST_ACTIONS:
        walk.mixed = walk.mixed or line
        return False
    action = walk.actions.setdefault(key, _Action(line))
    if text.startswith(_START):
        # A card may begin an action once.
        walk.mixed = walk.mixed or (line if card in action.started else None)
        action.started.add(card)
    elif check := _CHECK.match(text):
        words = sentence(
            "Wrong result of GPU {card} in {action}: error {value}.", card=card, action=name(key), value=name(check[1])
        )
        reading.failed("verification", words, line)
    elif met := _MET.match(text):
        if met[3] == "FALSE":
            words = sentence(
                "GPU {card} reached {speed} of {target} GFLOP/s in {action}.",
                card=card,
                speed=met[1],
                target=met[2],
                action=name(key),
            )
            reading.failed("below-target", words, line)
            return False
        walk.mixed = walk.mixed or (line if card in action.met else None)
        action.met.add(card)
        speed, target = duration(met[1]), duration(met[2])
        if speed is not None and target is not None:
            action.least = min(speed / target, action.least or math.inf)
        return True
    return False


def _other(walk: _Walk, reading: Reading, text: str, line: int) -> None:
    if " - GPU[" in text and (match := _CARD.match(text)):
        if match[3] in walk.cards or len(walk.cards) == _MOST:
            walk.mixed = walk.mixed or line
            return
        walk.cards[match[3]] = {"name": name(match[4]), "pci_bus_id": match[1], "gpu_id": int(match[3])}
    elif text.startswith("ROCm V") and (match := _VERSION.match(text)):
        reading.facts["tool_version"] = match[1]
    elif text.startswith("|"):
        if _HEAD in text:
            walk.mixed = walk.mixed or (line if walk.table is not None else None)
            walk.table = line
        elif walk.table is not None and (match := _ROW.match(text)):
            walk.rows[match[1]] = match[3] == "PASS" and walk.rows.get(match[1], True)
    elif text.startswith("[ERROR ]") and (match := _ERROR.match(text)):
        if (phrase := first(_PHRASES, text)) is not None:
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(match[1])), line)
        else:
            rocm.report(reading, match[1], match[1], line)
    elif text.startswith("RVS-ERROR") or "No supported GPUs" in text:
        phrase = first(_PHRASES, text)
        if phrase is not None and not (phrase.code == "rvs-action" and reading.has("failed", "errored")):
            tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)


def _conclude(walk: _Walk, reading: Reading, last: int | None) -> None:
    if walk.mixed is not None:
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), walk.mixed)
        return
    if not walk.actions or last is None:
        return
    if not walk.cards:
        reading.missing = sentence("The log does not name a card.")
        return
    for key, action in walk.actions.items():
        # Each card has begun each action, and each that has begun it met its target: no card stands for another.
        left = sorted((set(walk.cards) | action.started) - (action.met & action.started))
        if left and not reading.has("failed"):
            names = ", ".join(left[:16])
            text = sentence("{action} has no result for GPU {names}.", action=name(key), names=names)
            reading.errored("not-every-card", text, action.line)
            return
        if unnamed := sorted(action.started - set(walk.cards)):
            reading.missing = sentence("The log does not name GPU {names}.", names=", ".join(unnamed[:16]))
            return
    if failed := [key for key, passed in walk.rows.items() if not passed]:
        reading.errored(
            "rvs-action", sentence("An action did not run: {names}.", names=", ".join(failed[:16])), walk.table
        )
        return
    if walk.table is not None and set(walk.actions) != set(walk.rows):
        reading.missing = sentence("The table of actions is incomplete.")
        return
    if shares := [action.least for action in walk.actions.values() if action.least is not None]:
        reading.measure("speed_by_target", rounded(min(shares)), "x")
    reading.proof, reading.stands_alone = last, walk.table is not None


def _workload(target: Target, values: Values) -> Workload:
    """The list of cards first, then the test; exec keeps its exit code."""
    folder = "/opt/rocm/share/rocm-validation-suite/conf"
    script = f"/opt/rocm/bin/rvs -g && exec /opt/rocm/bin/rvs -c {folder}/{values['configuration']}"
    return Workload(
        image=str(values["image"]),
        command=("/bin/sh", "-c", script),
        env={"HOME": "/tmp"},  # noqa: S108 (the only folder that can be written to)
        host_memory=str(values["host_memory"]),
        cpus=2 + 2 * int(values["cards"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """The cards, then an action: its lines by card. The speed is that of an MI210."""
    cards = [
        (f"0000:{0x05 + 0x20 * card.index % 0x100:02x}:00.0", 41_000 + 977 * card.index) for card in container.cards
    ]
    head = "[RESULT] [ {second}.420917] [gpustress-9000-sgemm-false] [GPU:: {gpu:5d}] "
    texts = ("Start of GPU ramp up", "End of GPU ramp up", "GFLOPS 17904", "GFLOPS 17911 Target GFLOPS: 9000 met: TRUE")
    slow = (*texts[:2], "GFLOPS 6120", "GFLOPS 6204 Target GFLOPS: 9000 met: FALSE")

    def lines(bad: bool) -> str:
        return "\n".join(
            head.format(second=34_567 + 3 * at, gpu=gpu) + text
            for place, (_, gpu) in enumerate(cards)
            for at, text in enumerate(slow if bad and place == 0 else texts)
        )

    return {
        "rvs_cards": "\n".join(
            f"{bus} - GPU[{at + 2:2d} - {gpu:5d}] {container.gpu} (Device 29711)" for at, (bus, gpu) in enumerate(cards)
        ),
        "rvs_lines": lines(False),
        "rvs_slow": lines(True),
    }


SUITE = Suite(
    id="rocm-validation-suite",
    title="ROCm Validation Suite",
    proves=gettext_noop(
        "Each AMD card sustains matrix products at the speed that AMD's configuration demands. Results are not checked."
    ),
    level="ran",
    os=("linux",),
    families=("amd-gpu",),
    parser_version=VERSION,
    options=(
        image("docker.io/rocm/test-runner:v1.4.1", gettext_noop("Container image with rvs in /opt/rocm/bin.")),
        Option(
            name="configuration",
            help=gettext_noop("Stress test of the image, such as MI300X/gst_single.conf. The default test is light."),
            default="gst_single.conf",
            pattern=r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,30}/){0,3}gst[A-Za-z0-9_-]{0,60}\.conf",
        ),
        Option(
            name="cards", help=gettext_noop("Number of cards to test."), default=1, kind="number", minimum=1, maximum=16
        ),
        *rocm.options(deadline_s=7200, host_memory="8Gi"),
    ),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"linux": Needs()},
    measures=True,
    demo=Demo(
        images=(Image(mark="/opt/rocm/bin/rvs", seconds=11, size=6_000_000_000),),
        nodes={"gpu-mi210-01": "slow"},
        values=_demo_values,
    ),
    proof="[RESULT] [ 34576.420917] [gpustress-9000-sgemm-false] [GPU:: 41000] GFLOPS 17911 Target GFLOPS: 9000 met: TRUE",
    source=_GST,
    phrases=(
        Phrase(
            "met: FALSE",
            "below-target",
            "The card missed the target",
            example=_LINE.format("GFLOPS 6204 Target GFLOPS: 9000 met: FALSE"),
        ),
        Phrase(
            "self-check error", "verification", "Wrong result", example=_LINE.format("self-check error 0.0312500000")
        ),
        *(phrase._replace(example=f"RVS-ERROR [CLI] {phrase.words}") for phrase in _PHRASES),
        *rocm.phrases("[ERROR ] [ 34567.123456] [gst] gst 50599 {}"),
    ),
    reasons=(
        ReasonWords(
            "below-target",
            gettext_noop("target of the test missed"),
            "Check temperature, power limit and other workloads of the card. Check that the configuration is for its model.",
            points_to="card",
        ),
        ReasonWords(
            "rvs-action",
            gettext_noop("an action did not run"),
            "Read the error before it in the log. Rerun it with another configuration.",
        ),
        ReasonWords(
            "rvs-unsupported",
            gettext_noop("configuration for other cards"),
            "Set the option `configuration` to one for the model of the card.",
            points_to="configuration",
        ),
    ),
)
