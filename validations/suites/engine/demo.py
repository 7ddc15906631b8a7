"""What a suite's workload comes to on a simulated cluster: which images are its own, how long they run, on which nodes it goes wrong.

Plain data and one function. Whoever starts the simulated cluster hands it over; that cluster knows no suite. The recorded logs
are in `validations/suites/demo/<suite>/<outcome>.log`: `passed.log`, or `linux.log` and `windows.log` where a pass prints another
text on each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

#: The container cannot be started: an outcome without a recording.
START_ERROR = "start-error"
_RECORDINGS = Path(__file__).parents[1] / "demo"


def recordings(suite_id: str) -> Path:
    """The folder with the recorded logs of a suite."""
    return _RECORDINGS / suite_id


class Card(Protocol):
    """A card as the container sees it. place: its number inside of the container. index: its number on the node."""

    @property
    def place(self) -> int: ...
    @property
    def index(self) -> int: ...
    @property
    def uuid(self) -> str: ...


class Container(Protocol):
    """A simulated container of the workload. args: of its command. compute: capability, "8.6". All cards are of one model."""

    @property
    def node(self) -> str: ...
    @property
    def args(self) -> Sequence[str]: ...
    @property
    def cards(self) -> Sequence[Card]: ...
    @property
    def gpu(self) -> str: ...
    @property
    def cores(self) -> int: ...
    @property
    def memory_mib(self) -> int: ...
    @property
    def compute(self) -> str: ...
    @property
    def driver(self) -> str: ...
    @property
    def mig_capable(self) -> bool: ...


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image that runs the suite. mark: what tells it, in lower case, in image, command and arguments.

    seconds: how long it runs. size: of the image, bytes.
    """

    mark: str
    seconds: float
    size: int = 300_000_000


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """How it ran before the demo began. nights: times a night. days: of what people tried by day, its share.

    campaign: name of one that ended, "" for none; it began so many days `ago`, on nodes whose names begin like that.
    """

    nights: int = 0
    days: int = 0
    campaign: str = ""
    ago: int = 0
    nodes: tuple[str, ...] = ()


class Demo(msgspec.Struct, frozen=True, kw_only=True):
    """nodes: node → outcome, where it does not pass; `everywhere`: the outcome on all other nodes.

    exits: outcome → exit code, where it is not 0. values: numbers for the placeholders of the recordings ($name) besides those
    that the cluster fills in itself (model, memory, driver).
    """

    images: tuple[Image, ...]
    nodes: Mapping[str, str] = {}
    everywhere: str = "passed"
    exits: Mapping[str, int] = {}
    values: Callable[[Container], Mapping[str, str]] | None = None
    past: Past = Past()
