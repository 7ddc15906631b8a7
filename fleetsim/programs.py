"""The workloads that the simulated cluster can run: handed in by whoever starts it, since this package knows no workload by name.

A program is told by its image, command and arguments. Its recorded logs lie in a folder, one file for each outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleetsim.labels import driver_of
from fleetsim.machines import Machine, Supply
from fleetsim.mig import profile as slice_of
from fleetsim.models import T4

PASSED = "passed"
WINDOWS_DRIVER = "512.78"
#: Nodes whose driver was never upgraded; no label says so.
OLD_DRIVERS = {"gpu-t4-04": "470.82.01"}


@dataclass(frozen=True)
class SeenCard:
    """A card as a container sees it. place: its number inside of the container. index: its number on the node."""

    place: int
    index: int
    uuid: str


@dataclass(frozen=True)
class Container:
    """What a program's figures can depend on. args: of its command. compute: capability, "8.6". All cards are of one model."""

    node: str
    args: tuple[str, ...]
    cards: tuple[SeenCard, ...]
    gpu: str
    cores: int
    memory_mib: int
    compute: str
    driver: str
    mig_capable: bool


@dataclass(frozen=True)
class Program:
    """A workload by one of its images. mark: what tells it, lower case, in "image command args".

    logs: folder of its recordings, `<outcome>.log` or, for a pass, `linux.log` and `windows.log`. seconds: how long it runs.
    size: of the image, bytes. nodes: node → outcome, where it does not pass. everywhere: the outcome on all other nodes.
    exits: outcome → exit code, where it is not 0. values: text for the $placeholders of its own recordings.
    """

    mark: str
    logs: Path
    seconds: float
    size: int = 300_000_000
    nodes: Mapping[str, str] = field(default_factory=dict)
    everywhere: str = PASSED
    exits: Mapping[str, int] = field(default_factory=dict)
    values: Callable[[Container], Mapping[str, str]] | None = None


def container(
    machine: Machine, cards: list[int], args: tuple[str, ...] = (), supply: Supply | None = None
) -> Container:
    """A container on this machine. cards: numbers of the cards that it sees, or of the slices of a supply that has slices."""
    model = machine.kind.model or T4
    uuids = supply.uuids if supply is not None else machine.uuids
    numbers = supply.parents if supply is not None and supply.parents else range(len(uuids))
    seen = tuple(SeenCard(place, numbers[card], uuids[card]) for place, card in enumerate(cards))
    part = slice_of(model, supply.profile) if supply is not None and supply.profile else None
    compute = f"{model.compute[0]}.{model.compute[1]}"
    return Container(
        node=machine.name,
        args=args,
        cards=seen,
        gpu=f"{model.name} MIG {part.name}" if part is not None else model.name,
        cores=part.multiprocessors * model.lanes if part is not None else model.cores,
        memory_mib=part.memory_mib if part is not None else model.memory_mib,
        compute=compute,
        driver=driver(machine),
        mig_capable=model.mig_capable,
    )


def driver(machine: Machine) -> str:
    """The driver version of this machine."""
    return WINDOWS_DRIVER if machine.kind.windows else OLD_DRIVERS.get(machine.name, driver_of(machine.labels)[0])
