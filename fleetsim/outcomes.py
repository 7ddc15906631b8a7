"""What a validation Job comes to in the demo: one table of nodes that are bad in a named way; everything else passes.

| node | what happens |
| --- | --- |
| gpu-t4-04 | driver too old: vectorAdd and deviceQuery fail (exit 1), nbody's container is refused by the runtime |
| gpu-v100-02 | wrong sums: vectorAdd fails its verification (exit 1) |
| dgx-a100-02 | a card fell off the bus: nvidia-smi says lost (exit 15), DCGM's pcie test fails (exit 226) |
| dgx-h100-02 | full for ever: a run stays Unschedulable until its deadline |
| hami-4090-02 | the pod is evicted in the middle of the run |
| old-k80-02 | its container runtime cannot pull the image: ImagePullBackOff until the deadline |
| ackwin0002 | WinML on the software adapter, exit 0 |
| ackwin0003 | WinML: the device is removed in the middle (exit -2005270523) |
| ackwin0004 | WinML: the log is cut after the model block, exit 0 |
| win-mcdm-01 | Monte Carlo gives a wrong pi and exit 0 |
| win-wddm-01, win-mcdm-01 | no Vulkan in containers with NVIDIA's driver (exit 1), as everywhere |
| akswgpu000002 | device discovery finds nothing, exit 0 |

A pod template may ask for an outcome by the label `demo.gpudash.io/outcome` (the middle of a file name in `logs/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fleetsim import recordings
from fleetsim.machines import Machine

OUTCOME_LABEL = "demo.gpudash.io/outcome"
WINDOWS_BUILD = "10.0.20348"

PASSED, EVICTED, START_ERROR, NO_IMAGE = "passed", "evicted", "start-error", "image-pull"


@dataclass(frozen=True)
class Program:
    """A suite's workload. mark: what tells it, in image and command. seconds: how long it runs. size: of the image, bytes."""

    suite: str
    mark: str
    seconds: float
    size: int = 300_000_000


#: The first whose mark is in "image command args" is what runs.
PROGRAMS = (
    Program("winml-tinyyolov2", "sample-gpu-windows", 14, 15_300_000_000),
    Program("winml-tinyyolov2", "winmlrunner", 14, 6_000_000_000),
    Program("nvidia-smi", "nvidia-smi", 1.5, 250_000_000),
    Program("cuda-nbody", "nbody", 6),
    Program("cuda-devicequery", "devicequery", 2),
    Program("cuda-vectoradd", "vectoradd", 3),
    Program("cuda-vectoradd", "cuda-vector-add", 3),
    Program("directx-device-discovery", "example-device-discovery", 3, 3_500_000_000),
    Program("directx-directml", "example-directml", 3, 3_500_000_000),
    Program("directx-opencl-enum", "example-opencl-enum", 2, 3_500_000_000),
    Program("cuda-montecarlo", "example-cuda-montecarlo", 5, 3_800_000_000),
    Program("directx-vulkaninfo", "vulkaninfo", 2, 5_100_000_000),
    Program("directx-ffmpeg", "example-ffmpeg", 12, 3_900_000_000),
    Program("dcgm-diag", "dcgm", 10, 1_900_000_000),
    Program("nccl-allreduce", "all_reduce_perf", 9, 20_000_000_000),
)

#: (node, suite) → outcome; suite "*" is any. Vulkan is in `_outcome_name`.
NODES: dict[tuple[str, str], str] = {
    ("gpu-t4-04", "cuda-vectoradd"): "driver-too-old",
    ("gpu-t4-04", "cuda-devicequery"): "driver-too-old",
    ("gpu-t4-04", "cuda-nbody"): START_ERROR,
    ("gpu-v100-02", "cuda-vectoradd"): "verification",
    ("dgx-a100-02", "nvidia-smi"): "lost",
    ("dgx-a100-02", "dcgm-diag"): "pcie",
    ("hami-4090-02", "*"): EVICTED,
    ("old-k80-02", "*"): NO_IMAGE,
    ("ackwin0002", "winml-tinyyolov2"): "software-adapter",
    ("ackwin0003", "winml-tinyyolov2"): "device-removed",
    ("ackwin0004", "winml-tinyyolov2"): "cut",
    ("win-mcdm-01", "cuda-montecarlo"): "mismatch",
    ("akswgpu000002", "directx-device-discovery"): "no-device",
}

_EXIT = {
    "driver-too-old": 1,
    "verification": 1,
    "no-device": 1,
    "lost": 15,
    "pcie": 226,
    "device-removed": -2005270523,
    "no-driver": 1,
    "no-encoder": 1,
    EVICTED: 137,
    START_ERROR: 128,
}
#: Successes of the process that are none of the card.
_EXIT_BY_SUITE = {("directx-device-discovery", "no-device"): 0}


@dataclass(frozen=True)
class Script:
    """What one pod will do. outcome: PASSED or how it goes wrong. log: name of the recording, "" for none."""

    program: Program | None
    outcome: str
    log: str
    exit_code: int

    @property
    def seconds(self) -> float:
        return self.program.seconds if self.program else 0.0


def script(pod: dict[str, Any], machine: Machine, has_device: bool) -> Script:
    """The script of a Job's pod on this machine. An image without a recording cannot be pulled."""
    program = _program(pod)
    if program is None:
        return Script(None, NO_IMAGE, "", 0)
    outcome = _outcome_name(pod, program, machine, has_device)
    if outcome in (NO_IMAGE, START_ERROR):
        return Script(program, outcome, "", _EXIT.get(outcome, 0))
    log = _log_name(program.suite, PASSED if outcome == EVICTED else outcome, machine)
    if not recordings.exists(log):
        return Script(program, START_ERROR, "", _EXIT[START_ERROR])
    code = _EXIT_BY_SUITE.get((program.suite, outcome), _EXIT.get(outcome, 0))
    return Script(program, outcome, log, code)


def _program(pod: dict[str, Any]) -> Program | None:
    container = pod["spec"]["containers"][0]
    words = [container.get("image", ""), *(container.get("command") or []), *(container.get("args") or [])]
    text = " ".join(str(word) for word in words).lower()
    return next((program for program in PROGRAMS if program.mark in text), None)


def _outcome_name(pod: dict[str, Any], program: Program, machine: Machine, has_device: bool) -> str:
    wanted = (pod["metadata"].get("labels") or {}).get(OUTCOME_LABEL)
    if wanted:
        return str(wanted)
    if not _image_fits(pod, machine):
        return START_ERROR
    if not has_device:
        return "no-device"
    if program.suite == "directx-vulkaninfo":
        return "no-driver"
    for key in ((machine.name, program.suite), (machine.name, "*")):
        if key in NODES:
            return NODES[key]
    return PASSED


def _image_fits(pod: dict[str, Any], machine: Machine) -> bool:
    """Windows images need the host's build, Linux images a Linux host."""
    image = str(pod["spec"]["containers"][0].get("image", ""))
    windows = any(part in image for part in ("windows", "tensorworks/", "ltsc"))
    if windows != machine.kind.windows and ("nvcr.io" in image or windows):
        return False
    if "tensorworks/" in image or "ltsc2022" in image:
        return machine.kind.windows_build == WINDOWS_BUILD
    return True


def _log_name(suite: str, outcome: str, machine: Machine) -> str:
    system = "windows" if machine.kind.windows else "linux"
    if outcome == PASSED and recordings.exists(f"{suite}.{system}"):
        return f"{suite}.{system}"
    return f"{suite}.{outcome}"
