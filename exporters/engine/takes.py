"""How metrics are read that are more than a value of a measure: error codes, reasons, watches, holders, processes, versions.

Each function makes a `Special`. What is out of range is told, as it is of a measure.
"""

from __future__ import annotations

from exporters.engine.cards import SAME_SCRAPE_S
from exporters.engine.format import Row, Special
from exporters.engine.identity import NAME_CHARS
from exporters.engine.measures import MEMORY_USED, MOST_MEMORY, THROTTLE, XID, Measure
from exporters.engine.readings import (
    FAIL,
    IN_WINDOW,
    LAST,
    MOST_ENTRIES,
    NOT_TOLD,
    PASS,
    SINCE_START,
    WARN,
    Process,
    Watch,
    XidCount,
)
from exporters.engine.values import is_sentinel, reason

#: Bits of NVIDIA's clock event reasons, by the names that dcgm-exporter gives them. Later ones are told as they are.
CLOCK_BITS = {
    0x001: "gpu_idle",
    0x002: "clocks_setting",
    0x004: "power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal",
    0x040: "hw_thermal",
    0x080: "hw_power_brake",
    0x100: "display_clocks",
}
#: The codes that an Xid error can have: those of NVIDIA's drivers are below 200.
_MOST_CODE = 9_999


def _number(row: Row, low: float, high: float, raw: float | None = None) -> float | None:
    """The value where it is in range; None when it is not, which is told."""
    value = row.value if raw is None else raw
    if low <= value <= high and not is_sentinel(row.value):
        return value
    refuse(row)
    return None


def believed(row: Row, measure: Measure, scale: float = 1.0) -> float | None:
    """The value in the measure's unit; None when it is out of range, which is told and kept with the card."""
    value = row.value * scale
    if measure.low <= value <= measure.high and not is_sentinel(row.value):
        return value
    refuse(row, measure.name)
    return None


def refuse(row: Row, measure: str = "") -> None:
    """Tell that the row's value is not believed, and keep it with the card where it is a measure's."""
    code = reason(row.value)
    row.reader.told.tell(code, f"{row.name} {row.value!r}", row.card.key if row.card is not None else "")
    if measure and row.card is not None:
        row.card.refuse(measure, code)


def _whole(row: Row, text: str | None) -> int | None:
    """A label that is an error code."""
    if text and len(text) <= 5 and text.isascii() and text.isdigit():
        return int(text)
    row.reader.told.tell("implausible", f"{row.name} {text!r}", row.card.key if row.card is not None else "")
    return None


def _full(row: Row, entries: dict[object, object]) -> bool:
    """Whether a card has as many entries as are kept."""
    if len(entries) < MOST_ENTRIES:
        return False
    row.reader.told.tell("too-many-holders", row.name, row.card.key if row.card is not None else "")
    return True


def version(label: str) -> Special:
    """A metric of the exporter itself with its version in a label."""
    return Special(lambda row: row.reader.version(row.labels.get(label)), whole=True)


def describes() -> Special:
    """A metric whose labels say more of a card: its model, slot, number."""

    def take(row: Row) -> None:
        if row.card is not None:
            row.reader.describe(row.card, row.labels)

    return Special(take)


def slice_named(uuid_label: str, profile_label: str) -> Special:
    """A metric that names a slice: its UUID and its profile. A slice with several compute instances has a row for each: the
    first counts.
    """

    def take(row: Row) -> None:
        card, uuid = row.card, row.labels.get(uuid_label, "")
        if card is None or not card.parent_key:
            return
        if uuid and (card.mig_uuid is None or uuid < card.mig_uuid):
            card.mig_uuid = uuid[:NAME_CHARS]
            card.profile = row.labels.get(profile_label, "")[:NAME_CHARS]

    return Special(take)


def succeeded() -> Special:
    """A metric of the exporter itself: 1 when its last collection succeeded, 0 when it failed and its figures are old."""

    def take(row: Row) -> None:
        if row.value == 0:
            node, _ = row.reader.places.node(row.labels)
            if node is not None:
                row.reader.failed.add(node)

    return Special(take, whole=True)


def xid_last(dialect: str = "") -> Special:
    """The code of the last Xid error; 0 is none."""

    def take(row: Row) -> None:
        if row.card is None:
            return
        if not 0 <= row.value <= _MOST_CODE or row.value != int(row.value):
            refuse(row, XID.name)
            return
        row.card.put(XID, row.value, row.at)
        if row.value:
            _xid(row, XidCount(code=int(row.value), kind=LAST))

    return Special(take, (XID,), dialect=dialect)


def xid_window(label: str = "xid", window_label: str = "window_size_in_ms") -> Special:
    """How often each code came within a window; a row without a code says that none did."""

    def take(row: Row) -> None:
        if not row.labels.get(label):
            return
        code, count = _whole(row, row.labels[label]), _number(row, 0, 2**31)
        window = row.labels.get(window_label, "")
        seconds = int(window) / 1000 if window.isascii() and window.isdigit() and len(window) < 12 else None
        if code and count is not None:
            _xid(row, XidCount(code=code, kind=IN_WINDOW, count=count, window_s=seconds))

    return Special(take, (XID,))


def xid_total(label: str = "xid") -> Special:
    """How often each code came since the exporter began."""

    def take(row: Row) -> None:
        code, count = _whole(row, row.labels.get(label)), _number(row, 0, 2**31)
        if code and count is not None:
            _xid(row, XidCount(code=code, kind=SINCE_START, count=count))

    return Special(take, (XID,))


def xid_time(label: str = "xid") -> Special:
    """When each code came last, in unix seconds."""

    def take(row: Row) -> None:
        code, at = _whole(row, row.labels.get(label)), _number(row, 1, row.reader.context.now + 300)
        if code and at is not None:
            _xid(row, XidCount(code=code, kind=SINCE_START, last_at=at))

    return Special(take, (XID,))


def _xid(row: Row, found: XidCount) -> None:
    card = row.card
    if card is None:
        return
    if card.xids is None:
        card.xids = {}
    key = (found.code, found.kind)
    old = card.xids.get(key)
    if old is None:
        if not _full(row, card.xids):  # type: ignore[arg-type]
            card.xids[key] = found
        return
    card.xids[key] = XidCount(
        code=found.code,
        kind=found.kind,
        count=_higher(old.count, found.count),
        window_s=_higher(old.window_s, found.window_s),
        last_at=_higher(old.last_at, found.last_at),
    )


def _higher(one: float | None, other: float | None) -> float | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other


def clock_bits() -> Special:
    """The reasons for which clocks are lowered now, as bits."""

    def take(row: Row) -> None:
        if row.card is None:
            return
        if not 0 <= row.value <= THROTTLE.high or row.value != int(row.value) or is_sentinel(row.value):
            refuse(row, THROTTLE.name)
            return
        row.card.put(THROTTLE, row.value, row.at)
        bits = int(row.value)
        for bit, name in CLOCK_BITS.items():
            _throttle(row, name, bool(bits & bit), None, None)
        if unknown := bits & ~sum(CLOCK_BITS):
            _throttle(row, f"unknown-{unknown:#x}", True, None, None)

    return Special(take, (THROTTLE,))


def clock_flag(reason: str) -> Special:
    """Whether clocks are lowered for this reason now: 1 or 0."""

    def take(row: Row) -> None:
        flag = _number(row, 0, 1)
        if flag is not None:
            _throttle(row, reason, flag > 0, None, None)

    return Special(take, (THROTTLE,))


def clock_events(window_label: str = "window_size_in_ms") -> Special:
    """How often each reason came, within a window where the label is there, else since the exporter began."""

    def take(row: Row) -> None:
        reason, count = row.labels.get("clock_event", ""), _number(row, 0, 2**31)
        window = row.labels.get(window_label, "")
        seconds = int(window) / 1000 if window.isascii() and window.isdigit() and len(window) < 12 else None
        if reason and len(reason) <= NAME_CHARS and count is not None:
            _throttle(row, reason, None, count, seconds)

    return Special(take, (THROTTLE,))


def _throttle(row: Row, reason: str, active: bool | None, count: float | None, window: float | None) -> None:
    card = row.card
    if card is None:
        return
    if card.throttles is None:
        card.throttles = {}
    if reason not in card.throttles and _full(row, card.throttles):  # type: ignore[arg-type]
        return
    old_active, old_count, old_window = card.throttles.get(reason, (None, None, None))
    card.throttles[reason] = (
        active if old_active is None else old_active or bool(active),
        _higher(old_count, count) if window == old_window or old_count is None else old_count,
        old_window if old_count is not None else window,
    )


def watch(row: Row, name: str, state: str, code: str = "") -> None:
    """Note what a tool says of one part of a card's health; of several rows the newest, and of one moment the worst."""
    card = row.card
    if card is None or not name or len(name) > NAME_CHARS:
        return
    if card.watches is None:
        card.watches = {}
    old = card.watches.get(name)
    if old is None and _full(row, card.watches):  # type: ignore[arg-type]
        return
    if old is not None and old.at is not None:
        older, same = row.at < old.at - SAME_SCRAPE_S, row.at <= old.at + SAME_SCRAPE_S
        if older or (same and _rank(state, code) <= _rank(old.state, old.code)):
            return
    card.watches[name] = Watch(name=name, state=state, code=code[:NAME_CHARS], at=row.at)


def _rank(state: str, code: str) -> int:
    """From what counts least. A value that is not known is worse than a pass: it may be a failure."""
    return (NOT_TOLD, PASS, "unknown", WARN, FAIL).index("unknown" if state == NOT_TOLD and code else state)


def unknown_watch(row: Row, name: str) -> None:
    """The same where the value is none of those that are known: it is kept as it came. A number that stands for "not read" is not."""
    watch(row, name, NOT_TOLD, "" if is_sentinel(row.value) else f"{row.value:.12g}")


def holder_memory(scale: float = 1.0, of: str = "container") -> Special:
    """The used memory of the container that the row names."""

    def take(row: Row) -> None:
        _holder_figure(row, "memory", row.value * scale, MOST_MEMORY, of)

    return Special(take, (MEMORY_USED,))


def holder_limit(scale: float = 1.0) -> Special:
    """The memory that the container may use. With over-subscription it may be more than the card has; 0 is no limit."""

    def take(row: Row) -> None:
        if row.value != 0:
            _holder_figure(row, "memory_limit", row.value * scale, 16 * MOST_MEMORY, "")

    return Special(take)


def holder_idle() -> Special:
    """Seconds since the last kernel of the container."""

    def take(row: Row) -> None:
        _holder_figure(row, "idle_s", row.value, 10 * 365 * 86_400, "")

    return Special(take)


def _holder_figure(row: Row, attribute: str, value: float, most: float, of: str) -> None:
    key = row.reader.holder_of(row.labels)
    if row.card is None or key is None:
        return
    held = row.card.holder(key, row.at, row.reader.told)
    number = _number(row, 0, most, value)
    if held is None or number is None:
        return
    old = getattr(held, attribute)
    setattr(held, attribute, number if old is None else min(old, number) if attribute == "idle_s" else max(old, number))
    if of:
        held.memory_of = of


def process(measure: Measure, pid_label: str, name_label: str, scale: float = 1.0) -> Special:
    """The memory of a process."""

    def take(row: Row) -> None:
        pid, memory = row.labels.get(pid_label, ""), _number(row, 0, MOST_MEMORY, row.value * scale)
        card = row.card
        if card is None or memory is None or not pid or len(pid) > NAME_CHARS:
            return
        if card.processes is None:
            card.processes = {}
        key = (pid, row.labels.get(name_label, "")[:NAME_CHARS])
        card.put(measure, memory, row.at, 0, f"{pid}/{key[1]}")
        if key in card.processes or not _full(row, card.processes):  # type: ignore[arg-type]
            card.processes[key] = Process(pid=pid, name=key[1], memory_used=memory)

    return Special(take, (measure,))
