"""What the pod of a validation Job comes to: what its program says of this node, unless the node itself is bad for every program.

| node | what happens to every program |
| --- | --- |
| dgx-h100-02 | full for ever: a run stays Unschedulable until its deadline |
| hami-4090-02 | the pod is evicted in the middle of the run |
| old-k80-02 | its container runtime cannot pull the image: ImagePullBackOff until the deadline |

A pod template may ask for an outcome by the label `demo.gpudash.io/outcome` (the name of a recording of the program).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleetsim.machines import Machine
from fleetsim.programs import PASSED, Program

OUTCOME_LABEL = "demo.gpudash.io/outcome"
WINDOWS_BUILD = "10.0.20348"

NO_DEVICE, EVICTED, START_ERROR, NO_IMAGE = "no-device", "evicted", "start-error", "image-pull"

#: Node → outcome of every program that does not say another one for this node.
NODES = {"hami-4090-02": EVICTED, "old-k80-02": NO_IMAGE}
_EXIT = {EVICTED: 137, START_ERROR: 128}


@dataclass(frozen=True)
class Script:
    """What one pod will do. outcome: PASSED or how it goes wrong. log: the recording, None for none."""

    program: Program | None
    outcome: str
    log: Path | None
    exit_code: int

    @property
    def recording(self) -> tuple[Path, Program]:
        """The log of a script that has one, and its program."""
        assert self.log is not None, "this container does not start"
        assert self.program is not None, "a log is a program's"
        return self.log, self.program

    @property
    def seconds(self) -> float:
        return self.program.seconds if self.program else 0.0

    @property
    def size(self) -> int:
        """Of the image, bytes."""
        return self.program.size if self.program else 0


def script(programs: Sequence[Program], pod: dict[str, Any], machine: Machine, has_device: bool) -> Script:
    """The script of a Job's pod on this machine. An image of no program cannot be pulled."""
    program = _program(programs, pod)
    if program is None:
        return Script(None, NO_IMAGE, None, 0)
    outcome = _outcome(pod, program, machine, has_device)
    if outcome in (NO_IMAGE, START_ERROR):
        return Script(program, outcome, None, _EXIT.get(outcome, 0))
    log = _log(program, PASSED if outcome == EVICTED else outcome, machine)
    if not log.is_file():
        return Script(program, START_ERROR, None, _EXIT[START_ERROR])
    return Script(program, outcome, log, program.exits.get(outcome, _EXIT.get(outcome, 0)))


def _program(programs: Sequence[Program], pod: dict[str, Any]) -> Program | None:
    """What runs has its mark in "image command args"; of several the longest: two vendors' programs have one name."""
    container = pod["spec"]["containers"][0]
    words = [container.get("image", ""), *(container.get("command") or []), *(container.get("args") or [])]
    text = " ".join(str(word) for word in words).lower()
    return max((one for one in programs if one.mark in text), key=lambda one: len(one.mark), default=None)


def _outcome(pod: dict[str, Any], program: Program, machine: Machine, has_device: bool) -> str:
    wanted = (pod["metadata"].get("labels") or {}).get(OUTCOME_LABEL)
    if wanted:
        return str(wanted)
    if not _image_fits(pod, machine):
        return START_ERROR
    if not has_device:
        return NO_DEVICE
    return program.nodes.get(machine.name) or NODES.get(machine.name) or program.everywhere


def _image_fits(pod: dict[str, Any], machine: Machine) -> bool:
    """Windows images need the host's build, Linux images a Linux host."""
    image = str(pod["spec"]["containers"][0].get("image", ""))
    windows = any(part in image for part in ("windows", "tensorworks/", "ltsc"))
    if windows != machine.kind.windows and ("nvcr.io" in image or windows):
        return False
    if "tensorworks/" in image or "ltsc2022" in image:
        return machine.kind.windows_build == WINDOWS_BUILD
    return True


def _log(program: Program, outcome: str, machine: Machine) -> Path:
    """The recording of this outcome; a pass may print another text on each system."""
    own = program.logs / f"{'windows' if machine.kind.windows else 'linux'}.log"
    return own if outcome == PASSED and own.is_file() else program.logs / f"{outcome}.log"
