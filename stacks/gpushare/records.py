"""What a gpushare scheduler has recorded on a pod: annotations of all generations, read defensively.

v1 (open-source extender): one card index for the whole pod. v2 (scheduler framework): container → card → units, as JSON. v3 (ACK):
the same form under other names.
Must not know the node. Nothing here raises; what cannot be read is named in `problems`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import msgspec

from kube.objects import Pod
from stacks.engine.names import LONGEST_ANNOTATION, too_long
from wording.said import sentence

V2 = "scheduler.framework.gpushare.allocation"
V2_ASSIGNED = "scheduler.framework.gpushare.assigned"
V2_ASSUMED = "scheduler.framework.gpushare.assume-time"
V3 = "gpushare.alibabacloud.com/gpumemory"
V3_ASSIGNED = "gpushare.alibabacloud.com/assigned"
V3_ASSUMED = "gpushare.alibabacloud.com/assume-time"
CORE = "gpushare.alibabacloud.com/core-percentage"

_INDEX = re.compile(r"[0-9]{1,9}")
#: Digits of the largest numbers that are read: an index or a number of units, and nanoseconds since 1970.
_INDEX_DIGITS, _TIME_DIGITS = 9, 19
_FLAGS = {"true": True, "false": False}
_UNITS = re.compile(r"([0-9]{1,18})(?:/[0-9]{1,18})?")
#: More cards or containers than a record can mean.
_MOST_ENTRIES = 4096

#: container position → card index → units (None: the record lists cards only, the request is spread evenly).
Layout = dict[int, dict[int, int | None]]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded on one pod.

    layout: v2 and v3. index: v1; None when there is none (also for -1, the plugin's "none"). core: percent, shaped as layout.
    total: units of the pod as v1 has it. assigned: None when not recorded. assumed_at: unix seconds.
    problems: (annotation, what is wrong with it).
    """

    layout: Layout
    core: Layout
    index: int | None = None
    total: int | None = None
    assigned: bool | None = None
    assumed_at: float | None = None
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def v2(self) -> bool:
        """Whether the second generation, or a later one, has recorded cards; it then takes precedence."""
        return bool(self.layout)

    @property
    def missing(self) -> bool:
        """Whether nothing at all is recorded."""
        return self == _NOTHING


_NOTHING = Record(layout={}, core={})


def record(pod: Pod, prefix: str) -> Record:
    """Read the annotations of a pod. prefix: of the v1 keys, "ALIYUN_COM_GPU_MEM" unless a fork renames it."""
    annotations = pod.metadata.annotations
    if not annotations:
        return _NOTHING
    reader, keys = _Reader(annotations), _keys(prefix)
    layout = next((found for name in (V3, V2) if (found := reader.layout(name))), {})
    core = reader.layout(CORE)
    index = reader.number(keys.card, _INDEX_DIGITS, none="-1")
    times = [reader.number(name, _TIME_DIGITS) for name in (V3_ASSUMED, V2_ASSUMED, keys.assumed)]
    # The plugin writes the time of its assignment over that of its own generation.
    nanoseconds = max((time for time in times if time is not None), default=None)
    return Record(
        layout=layout,
        core=core,
        index=index,
        total=reader.number(keys.total, _INDEX_DIGITS),
        assigned=_assigned(reader, keys.assigned),
        assumed_at=nanoseconds / 1e9 if nanoseconds is not None else None,
        problems=tuple(reader.problems),
    )


def _assigned(reader: _Reader, v1: str) -> bool | None:
    """A pod may carry several generations, of which its plugin knows one: what either has confirmed is confirmed."""
    said = [reader.flag(name) for name in (V3_ASSIGNED, V2_ASSIGNED, v1) if name in reader.annotations]
    return True if True in said else False if False in said else None


class _Keys(NamedTuple):
    card: str
    total: str
    assigned: str
    assumed: str


@lru_cache(maxsize=16)
def _keys(prefix: str) -> _Keys:
    return _Keys(f"{prefix}_IDX", f"{prefix}_POD", f"{prefix}_ASSIGNED", f"{prefix}_ASSUME_TIME")


class _Reader:
    """Reads annotations one by one and keeps what was wrong."""

    def __init__(self, annotations: dict[str, str]) -> None:
        self.annotations = annotations
        self.problems: list[tuple[str, str]] = []

    def text(self, name: str) -> str | None:
        value = self.annotations.get(name)
        if value is None or not too_long(value):
            return value
        self.problems.append(
            (
                name,
                sentence("it is longer than {longest_annotation} KiB", longest_annotation=LONGEST_ANNOTATION // 1024),
            )
        )
        return None

    def number(self, name: str, digits: int, none: str | None = None) -> int | None:
        if name not in self.annotations:
            return None
        value = self.text(name)
        if value is None or value == none:
            return None
        if len(value) > digits or not (value.isascii() and value.isdigit()):
            self.problems.append((name, sentence("{value} is not an integer", value=_shown(value))))
            return None
        return int(value)

    def flag(self, name: str) -> bool | None:
        value = self.text(name)
        if value is None:
            return None
        known = _FLAGS.get(value)
        if known is None:
            self.problems.append((name, sentence('{value} is neither "true" nor "false"', value=_shown(value))))
        return known

    def layout(self, name: str) -> Layout:
        value = self.text(name) if name in self.annotations else None
        if value is None:
            return {}
        layout = parse_layout(value)
        if layout is None:
            self.problems.append(
                (name, sentence("{value} is not JSON of the form container, card, units", value=_shown(value)))
            )
        return layout or {}


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:60] + "…")


def parse_layout(text: str) -> Layout | None:
    """The v2 JSON; None when it is not of its form. An empty object is an empty layout.

    Besides {"0": {"1": 8}} these forms of newer readers are taken: a list of card indices in place of the inner object, and
    "8/15" (allocated of total) or "8" in place of the number.
    """
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if not isinstance(decoded, dict) or len(decoded) > _MOST_ENTRIES:
        return None
    layout: Layout = {}
    for container, cards in decoded.items():
        position, inner = _position(container), _cards(cards)
        if position is None or inner is None:
            return None
        if inner:
            layout[position] = inner
    return layout


def _position(text: object) -> int | None:
    return int(text) if isinstance(text, str) and _INDEX.fullmatch(text) else None


def _cards(value: object) -> dict[int, int | None] | None:
    if isinstance(value, dict) and len(value) <= _MOST_ENTRIES:
        return _all_or_none((_position(card), _units(units)) for card, units in value.items())
    if isinstance(value, list) and len(value) <= _MOST_ENTRIES:
        indices = [_units(card) for card in value]
        return {index: None for index in indices if index is not None} if None not in indices else None
    return None


def _all_or_none(pairs: Iterable[tuple[int | None, int | None]]) -> dict[int, int | None] | None:
    cards: dict[int, int | None] = {}
    for card, units in pairs:
        if card is None or units is None:
            return None
        if units:
            cards[card] = units
    return cards


def _units(value: object) -> int | None:
    """A number of units: 8, 8.0, "8" or "8/15". Not a bool, not negative."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) and 0 <= value < 2**53 else None
    if isinstance(value, int):
        return value if 0 <= value < 2**63 else None
    match = _UNITS.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else None
