"""The result: what exporters say of cards. Plain structs, which whoever stores or shows them builds on.

A value that is not there is not known; where a row was read and not believed, `refused` says why. Nothing is ever written as 0.
"""

from __future__ import annotations

import msgspec

from exporters.engine.problems import Problem

#: Most holders, processes, error codes, watches and reasons that are kept of one card.
MOST_ENTRIES = 256

PASS, WARN, FAIL, NOT_TOLD = "pass", "warn", "fail", "not-told"
#: Whose memory a holder's figure is: that of the container, or of all containers of its pod together.
CONTAINER, POD = "container", "pod"
#: Which kind of count of an Xid error it is.
LAST, IN_WINDOW, SINCE_START = "last", "in-window", "since-start"


class Value(msgspec.Struct, frozen=True, gc=False):
    """A measurement in the measure's base unit, and when it was taken, in unix seconds.

    standing: 0 where a row of the card itself says it, by the metric that is preferred; 1 for a row of a pod that holds the
    card; 2 and more for the same by another metric.
    """

    value: float
    at: float
    standing: int = 0


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Who says it. format: the name of a format; version: of the exporter, "" when not known.

    dialect: which of the format's sets of names the rows have, "" where there is only one.
    """

    format: str
    version: str = ""
    dialect: str = ""


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A container of a user that the exporter names at a card.

    memory_used: bytes, only where the figure is the holder's own, by the tool's own definition; None else. memory_of:
    CONTAINER, or POD where each container of the pod shows the same sum. memory_limit: what the stack lets it use.
    idle_s: seconds since its last kernel, where the tool says so.
    """

    namespace: str
    pod: str
    container: str
    pod_uid: str = ""
    memory_used: float | None = None
    memory_of: str = ""
    memory_limit: float | None = None
    idle_s: float | None = None
    at: float | None = None


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """A process that has memory on the card. The pid is that of the host, or of whatever namespace the exporter sees."""

    pid: str
    memory_used: float
    name: str = ""


class XidCount(msgspec.Struct, frozen=True, kw_only=True):
    """One code of an Xid error.

    kind: LAST (the last code; it stays until a reset, and has no time), IN_WINDOW (count in the last window_s), SINCE_START
    (count since the exporter began). last_at: unix seconds of the last one, where the exporter says so.
    """

    code: int
    kind: str
    count: float | None = None
    window_s: float | None = None
    last_at: float | None = None


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool says of one part of a card's health. state: PASS, WARN, FAIL or NOT_TOLD. code: the tool's own, as it is
    written; with NOT_TOLD the value whose meaning is not known, "" where the tool says that it does not know.
    """

    name: str
    state: str
    code: str = ""
    at: float | None = None


class Throttle(msgspec.Struct, frozen=True, kw_only=True):
    """A reason for which clocks are lowered. active: now; None where only counts are told.

    count: how often in the last window_s, or since the exporter began where window_s is None.
    """

    reason: str
    active: bool | None = None
    count: float | None = None
    window_s: float | None = None


class CardReading(msgspec.Struct, frozen=True, kw_only=True):
    """What one exporter says of one card, or of one slice of it.

    key: stable for this card in this format. uuid: as it is written (of a slice: its card's). pci_bus_id: normalised, see
    `identity`. gpu_instance: "" for a card; for a slice its number within the card. mig_uuid, profile: of a slice. values: by
    the names of `measures`. refused: name of a measure → code of a problem, where a row was not believed. derived: names of
    measures that were added up from rows of the same card. holders_hidden: several pods hold it, and not which.
    """

    source: Source
    key: str
    node: str | None = None
    uuid: str | None = None
    serial: str | None = None
    pci_bus_id: str | None = None
    index: int | None = None
    model: str | None = None
    gpu_instance: str = ""
    mig_uuid: str | None = None
    profile: str = ""
    values: dict[str, Value] = {}
    refused: dict[str, str] = {}
    derived: tuple[str, ...] = ()
    holders: tuple[Holder, ...] = ()
    holders_hidden: bool = False
    processes: tuple[Process, ...] = ()
    xids: tuple[XidCount, ...] = ()
    watches: tuple[Watch, ...] = ()
    throttles: tuple[Throttle, ...] = ()

    def value(self, measure: str) -> float | None:
        """The number alone; None when it is not known."""
        found = self.values.get(measure)
        return found.value if found is not None else None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All that one format's rows gave. samples: how many were looked at; unknown: how many of those are none of the format's,
    or of no card.
    """

    readings: tuple[CardReading, ...] = ()
    problems: tuple[Problem, ...] = ()
    samples: int = 0
    unknown: int = 0
