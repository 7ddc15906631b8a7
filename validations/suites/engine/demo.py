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


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """One campaign on nodes whose names begin like that. ago: days; 0: it starts with the demo.

    Of one of the past: every_card: on all cards of the nodes, else on the first that is free. slow: (node, index) of cards that are
    slower than the others.
    """

    name: str
    nodes: tuple[str, ...]
    ago: int = 0
    every_card: bool = False
    slow: tuple[tuple[str, int], ...] = ()


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy for the cards of a stack. days: how long a pass is valid. window_cron "": runs start at any time."""

    name: str
    stack: str
    days: int
    level: str = "checked"
    window_cron: str = ""
    window_minutes: int | None = None


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a group of nodes, so many days ago. outcome: its recording. Those of one day come one after the other."""

    nodes: tuple[str, ...]
    ago: int
    outcome: str = "passed"


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """How it ran before the demo began. runs: its share of what people ran. starts: nodes on which a run starts with the demo."""

    runs: int = 0
    campaigns: tuple[Campaign, ...] = ()
    policies: tuple[Policy, ...] = ()
    groups: tuple[Group, ...] = ()
    starts: tuple[str, ...] = ()


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
