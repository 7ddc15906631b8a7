"""What an exporter's reading says of a card's health, as a collector keeps it: a few signs, each with when it was first seen.

A sign is there or not: `{"xid/79": Sign(since, value)}`. None means that nothing was found wrong *and* nobody checked: figures
(ECC, heat, Xid) can speak against a card, never for it; only a tool's own check ("watches-pass") does.

Xid: a gauge keeps the last code until reset or restart and has no time, so since when is when it was first seen to be there, and is
not known where it was there from the first. 0 is "none since the start". A later code takes the place of the one before, which is not
undone by that: it is kept until the gauge says 0. Thresholds: NVIDIA/DCGM at 72fa3fe (modules/health).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from exporters import xid
from exporters.engine import measures
from exporters.engine.readings import FAIL, LAST, NOT_TOLD, PASS, WARN
from exporters.engine.takes import CLOCK_BITS
from kube.decoders import decoder

#: Reasons that lower clocks since something is wrong; a cap of power or an idle card are no fault.
HEAT, POWER, HARDWARE = (
    frozenset(("sw_thermal", "hw_thermal")),
    frozenset(("hw_power_brake",)),
    frozenset(("hw_slowdown",)),
)
BAD_REASONS = HEAT | POWER | HARDWARE
_KNOWN_REASONS = frozenset(CLOCK_BITS.values())
#: Closer to the temperature at which the card slows down is too hot; a card that does not tell it is too hot from here on (ours).
MARGIN_CELSIUS, HOT_CELSIUS = 3.0, 90.0
#: It is no more too hot when it has cooled down by so much: else it would come and go.
COOLED_CELSIUS = 5.0
#: DCGM calls a card with so many retired pages failed.
MOST_RETIRED = 63
#: Codes and watches that are kept of one card, the worst first.
MOST_XIDS, MOST_WATCHES = 16, 32
#: Watches that are of one link only: that it is well says nothing of the card.
PARTIAL_WATCHES = frozenset(("FABRIC", "NETWORK"))

XID, WATCH, THROTTLE, WATCHES_PASS = "xid/", "watch/", "throttle/", "watches-pass"
ECC, RETIRED, RETIRED_PENDING = "ecc-uncorrected", "pages-retired", "pages-retired-pending"
REMAP_PENDING, REMAP_FAILED, SRAM = "row-remap-pending", "row-remap-failed", "sram-threshold"
RECOVERY, HOT = "recovery-action", "hot"
#: In the value of an Xid's sign: the gauge has a later code in its place.
REPLACED = "replaced"

Value = str | int | float | list[str] | None


class Sign(NamedTuple):
    """since: unix seconds; None: it was there from the first. value: what it is about, as small JSON.

    by: the exporter that says it, where it is not the one that the reading is of.
    """

    since: float | None
    value: Value = None
    by: str = ""


Signs = dict[str, Sign]
_decoder = decoder(dict[str, Sign])


def found(
    values: Mapping[str, float],
    told: Mapping[str, Any],
    before: Iterable[str] = (),
    by: Mapping[str, str] | None = None,
) -> Signs:
    """Signs of one reading; since is when the exporter says that it came, None where it does not.

    values: measures by name. told: `xids`, `watches`, `throttles` as the collector keeps them. before: names of the signs of the
    reading before. by: name of a measure, or of what is told → the exporter, where it is another one.
    """
    result: Signs = {}
    result |= _xids(values, told.get("xids") or ())
    result |= _watches(told.get("watches") or ())
    lowered = {*(told.get("throttles") or ()), *(told.get("throttles_lately") or ())}
    result |= {f"{THROTTLE}{reason}": Sign(None) for reason in sorted(lowered - (_KNOWN_REASONS - BAD_REASONS))}
    result |= _figures(values)
    if limit := _too_hot(values, HOT in set(before)):
        result[HOT] = Sign(None, limit)
    return {name: sign._replace(by=_by(name, by)) for name, sign in result.items()} if by else result


def _by(name: str, by: Mapping[str, str]) -> str:
    source = _FROM.get(name) or next((source for prefix, source in _FROM.items() if name.startswith(prefix)), "")
    return by.get(source, "")


def aged(now_found: Signs, before: Signs, now: float, unbroken: bool) -> Signs:
    """The same with since when. unbroken: the reading before was the round before, so what is new came in between."""
    result = {name: sign._replace(value=REPLACED) for name, sign in before.items() if _hidden(name, sign, now_found)}
    for name, sign in now_found.items():
        known = before.get(name)
        since = known.since if known is not None else now if unbroken else None
        result[name] = sign if sign.since is not None else sign._replace(since=since)
    return result


def _hidden(name: str, sign: Sign, now_found: Signs) -> bool:
    """Whether an Xid was there before and the gauge, which keeps one code only, has another one now: a reset would make it 0."""
    was_last = name.startswith(XID) and sign.value in (LAST, REPLACED) and name not in now_found
    return was_last and any(other.startswith(XID) and found.value == LAST for other, found in now_found.items())


def packed(signs: Signs) -> str:
    """As JSON; none are "{}", and "" is a reading that was never looked at."""
    return msgspec.json.encode(dict(sorted(signs.items()))).decode()


def unpacked(text: str) -> Signs:
    """None where somebody wrote into the column."""
    try:
        return _decoder.decode(text) if text else {}
    except msgspec.DecodeError:
        return {}


def _xids(values: Mapping[str, float], xids: Iterable[Mapping[str, Any]]) -> Signs:
    codes: dict[int, Sign] = {}
    if last := int(values.get(measures.XID.name, 0)):
        codes[last] = Sign(None, LAST)
    for one in xids:
        code, kind, count = one["code"], one["kind"], one["count"]
        if code > 0 and (kind == LAST or count is None or count > 0):
            before = codes.get(code)
            at = one["last_at"] if one["last_at"] is not None else before.since if before is not None else None
            # That the driver keeps it says more than a count: a reset takes it away.
            kept = kind == LAST or before is None
            codes[code] = Sign(at, kind if kept or before is None else before.value)
    worst_first = sorted(codes, key=lambda code: (-xid.SEVERITIES.index(xid.xid(code).severity), code))
    return {f"{XID}{code}": codes[code] for code in worst_first[:MOST_XIDS]}


def _watches(watches: Iterable[Mapping[str, Any]]) -> Signs:
    """A value that is not known may be a failure: then nothing is said to pass."""
    result: Signs = {}
    passed: list[str] = []
    sure = True
    for one in sorted(watches, key=lambda one: (one["state"] != FAIL, one["state"] != WARN, one["name"])):
        name, state = str(one["name"])[:64], one["state"]
        unknown = state == NOT_TOLD and one["code"]
        sure = sure and (not unknown or name in PARTIAL_WATCHES)
        if (unknown or state in (WARN, FAIL)) and len(result) < MOST_WATCHES:
            result[f"{WATCH}{name}"] = Sign(None, [state, str(one["code"])[:64]])
        elif state == PASS:
            passed.append(name)
    if sure and not set(passed) <= PARTIAL_WATCHES:
        result[WATCHES_PASS] = Sign(None, passed[:MOST_WATCHES])
    return result


_COUNTS = {ECC: measures.ECC_UNCORRECTED, RETIRED_PENDING: measures.RETIRED_PENDING}
_FLAGS = {REMAP_PENDING: measures.REMAP_PENDING, REMAP_FAILED: measures.REMAP_FAILED, SRAM: measures.SRAM_EXCEEDED}
#: Name or beginning of a sign → what it is read from.
_FROM = {
    **{name: measure.name for name, measure in (_COUNTS | _FLAGS).items()},
    RETIRED: measures.RETIRED_UNCORRECTED.name,
    RECOVERY: measures.RECOVERY_ACTION.name,
    HOT: measures.TEMPERATURE.name,
    WATCHES_PASS: "watches",
    XID: "xids",
    WATCH: "watches",
    THROTTLE: "throttles",
}


def _figures(values: Mapping[str, float]) -> Signs:
    counts = {name: int(values.get(measure.name, 0)) for name, measure in _COUNTS.items()}
    result = {name: Sign(None, count) for name, count in counts.items() if count}
    result |= {name: Sign(None) for name, measure in _FLAGS.items() if values.get(measure.name, 0) > 0}
    retired = int(sum(values.get(one.name, 0) for one in (measures.RETIRED_CORRECTED, measures.RETIRED_UNCORRECTED)))
    if retired >= MOST_RETIRED:
        result[RETIRED] = Sign(None, retired)
    recovery = int(values.get(measures.RECOVERY_ACTION.name, 0))
    if xid.recovery(recovery) is not None:
        result[RECOVERY] = Sign(None, recovery)
    return result


def _too_hot(values: Mapping[str, float], was: bool) -> str:
    """By what it is too hot: "limit" (the card's own), "ours"; "" where it is not, or no temperature is told."""
    temperature, limit = values.get(measures.TEMPERATURE.name), values.get(measures.TEMPERATURE_SLOWDOWN.name)
    left = values.get(measures.TEMPERATURE_MARGIN.name)
    slack = COOLED_CELSIUS if was else 0.0
    if left is None and temperature is not None and limit is not None:
        left = limit - temperature
    if left is not None:
        return "limit" if left <= MARGIN_CELSIUS + slack else ""
    return "ours" if temperature is not None and temperature >= HOT_CELSIUS - slack else ""
