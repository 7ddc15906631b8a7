"""rccl-tests all_reduce_perf on the AMD cards of one node: they talk to each other, give right sums, and how fast.

A fork of nccl-tests with the same table and footer; what tells it is its own line `rccl-tests: Version …`. Not verified: the texts of
HIP errors, which the port makes out of those of CUDA, and that the image, made for several nodes, runs without `mpirun`.
"""

from __future__ import annotations

import re

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import name
from validations.suites.engine.options import image
from validations.suites.engine.phrases import Phrase
from validations.suites.shared import rocm
from validations.suites.shared.nccl_tests import PHRASES, Table, read_table
from wording.said import sentence

VERSION = 1
_VERSION = re.compile(r"rccl-tests: Version (.{0,80})\Z")
_HIP = re.compile(r"(?:.{0,300}: Test (?:CUDA|HIP) failure .{1,300}:\d{1,6} |Hip error: )'(?P<message>.{1,200})'")
_FEWER = "[ERROR] The number of requested GPUs"
_REJECTED = "unhandled cuda error"
_ROOT = "/root"
_SOURCE = "ROCm/rccl-tests `common.cu`"
_FAILURE = "node-a: Test CUDA failure common.cu:1143 '{}'"


def read(lines: Lines) -> Reading:
    """The proof is the footer, of a log that names the program and as many cards as it was started with."""
    versions: list[tuple[str, int]] = []
    errors: list[tuple[str, int]] = []
    kept: list[tuple[int, str]] = []
    for line, text in lines:
        if text.startswith("rccl-tests: ") and (match := _VERSION.match(text)):
            versions.append((match[1], line))
        elif _of_hip(text):
            errors.append((text, line))
        else:
            kept.append((line, text))
    reading, table = read_table(kept)
    for text, line in errors[:8]:
        _error(reading, text, line)
    if versions:
        reading.facts["tool_version"] = name(versions[0][0])
    _conclude(reading, table, [line for _, line in versions])
    return reading


def _of_hip(text: str) -> bool:
    """Whether a line is an error of HIP, which the texts of NCCL do not know."""
    if text.startswith((_FEWER, "Hip error: ")):
        return True
    return " failure " in text and (": Test CUDA" in text or ": Test HIP" in text or _REJECTED in text)


def _error(reading: Reading, text: str, line: int) -> None:
    if text.startswith(_FEWER):
        reading.failed("no-device", sentence("Fewer cards available than requested: {text}", text=name(text)), line)
    elif match := _HIP.match(text):
        rocm.report(reading, match["message"], text, line)
    else:
        reading.failed("hip-error", name(text), line)


def _conclude(reading: Reading, table: Table, versions: list[int]) -> None:
    """Takes the proof away from a log that is not one run of this program on all cards. versions: lines that name the program."""
    started = [one.line for one in table.asked]
    if len(versions) > 1 or len(started) > 1:
        second = (versions[1:] or started[1:])[0]
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), second)
        reading.proof = None
    elif not versions or not started:
        reading.proof, reading.missing = None, sentence("The log is not one of rccl-tests.")
    elif len({place[0] for place in table.places}) > 1:
        reading.proof, reading.missing = None, sentence("The log names several hosts.")
    elif len(table.ranks) != table.asked[0].cards:
        reading.proof, reading.missing = None, sentence("The log does not name each card that was used.")
    elif table.rows != (rows := table.asked[0].sizes(table.reduced)):
        text = sentence("The table has {found} of {rows} rows.", found=table.rows, rows=rows)
        reading.proof, reading.missing = None, text


def _workload(target: Target, values: Values) -> Workload:
    """The program of the image is linked to its own RCCL and Open MPI."""
    sizes = ("-b", "8", "-e", str(values["largest"]), "-f", "2", "-g", str(values["cards"]), "-c", "1")
    libraries = ("rccl/build/release", "ompi/install/lib", "ucx/install/lib")
    return Workload(
        image=str(values["image"]),
        command=(f"{_ROOT}/rccl-tests/build/all_reduce_perf",),
        args=sizes,
        env={"LD_LIBRARY_PATH": ":".join(f"{_ROOT}/{folder}" for folder in libraries) + ":/opt/rocm/lib"},
        host_memory=str(values["host_memory"]),
        shared_memory="4Gi",
        cpus=2 + 2 * int(values["cards"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """The ranks that the program lists before its table."""
    ranks = [
        f"#   Rank {card.place:2d} Pid  {8123:5d} on {container.node:>10} device {card.place:2d} "
        f"[0000:{0x05 + 0x20 * card.index % 0x100:02x}:00.0] {container.gpu}"
        for card in container.cards
    ]
    return {"rccl_ranks": "\n".join(ranks)}


SUITE = Suite(
    id="rccl-allreduce",
    title="RCCL all-reduce",
    proves=gettext_noop("The AMD cards of one node exchange data with the right sums. The bandwidth is measured."),
    level="checked",
    os=("linux",),
    families=("amd-gpu",),
    parser_version=VERSION,
    cards=2,
    options=(
        image(
            "docker.io/rocm/roce-workload:ubuntu24_rocm-7.0.2_rccl-7.0.2_anp-v1.2.0_ainic-1.117.5-a-77",
            gettext_noop("Container image with rccl-tests in /root/rccl-tests/build."),
        ),
        Option(
            name="cards",
            help=gettext_noop("Number of cards to use."),
            default=2,
            kind="number",
            minimum=2,
            maximum=64,
        ),
        Option(name="largest", help=gettext_noop("Largest transfer."), default="128M", pattern=r"[1-9][0-9]{0,5}[KMG]"),
        *rocm.options(deadline_s=7200, host_memory="8Gi"),
    ),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"linux": Needs()},
    measures=True,
    demo=Demo(
        images=(Image(mark="rccl-tests/build/all_reduce_perf", seconds=9, size=14_000_000_000),), values=_demo_values
    ),
    proof="# Avg bus bandwidth    : 29.5",
    source=_SOURCE,
    phrases=(
        *(one for one in PHRASES if "CUDA failure" not in one.example and one.words != _REJECTED),
        Phrase(_FEWER, "no-device", "Fewer cards available than requested"),
        Phrase(
            _REJECTED,
            "hip-error",
            "HIP rejected a call of RCCL",
            example=f"node-a: Test NCCL failure common.cu:958 '{_REJECTED} (run with NCCL_DEBUG=INFO for details)'",
        ),
        *rocm.phrases(_FAILURE),
    ),
)
