"""What the signs of an exporter's reading say, as statements."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from exporters import xid
from exporters.engine.readings import FAIL, IN_WINDOW, LAST, NOT_TOLD, SINCE_START, WARN
from inventory.health import signs
from inventory.health.signs import Sign, Signs
from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, HealthReport
from wording.said import gettext_noop, sentence, series

#: Code → what it says; that of an Xid is the catalogue's title.
SAYS = {
    signs.ECC: gettext_noop("Uncorrectable memory errors since the driver was loaded"),
    signs.RETIRED: gettext_noop("Too many memory pages retired"),
    signs.RETIRED_PENDING: gettext_noop("Memory page retirement pending until a reset"),
    signs.REMAP_PENDING: gettext_noop("Row remapping pending until a reset"),
    signs.REMAP_FAILED: gettext_noop("Row remapping failed for memory rows"),
    signs.SRAM: gettext_noop("SRAM errors exceed the threshold"),
    signs.RECOVERY: gettext_noop("The driver requests a recovery of the card"),
    signs.HOT: gettext_noop("The card is too hot"),
    "throttled-heat": gettext_noop("Clocks lowered by heat"),
    "throttled-power": gettext_noop("Clocks lowered by the power brake"),
    "throttled-hardware": gettext_noop("Clocks lowered by the hardware"),
    "watch-fail": gettext_noop("A health check of the exporter fails"),
    "watch-warn": gettext_noop("A health check of the exporter warns"),
    "watch-unknown": gettext_noop("A health check of the exporter reports a value that gpudash does not know"),
    "throttled-unknown": gettext_noop("Clocks lowered, unknown reason"),
    signs.WATCHES_PASS: gettext_noop("The health checks of the exporter pass"),
}
#: What holds for a moment only: said last, it says nothing of now.
_MOMENTARY = frozenset((signs.HOT, "throttled-heat", "throttled-power", "throttled-hardware", "throttled-unknown"))
_LEVELS = {xid.CRITICAL: UNHEALTHY, xid.WARNING: DEGRADED}
_KINDS = {
    LAST: sentence("latest Xid since the driver was loaded"),
    signs.REPLACED: sentence("followed by a later Xid, no reset since"),
    IN_WINDOW: "counted recently",
    SINCE_START: "counted",
}
#: What to do → the same for a card that is to be replaced when the error comes again.
_AGAIN = {"reset": "reset-or-replace", "reset-and-check": "reset-or-replace", "reboot": "reboot-or-replace"}
_VERDICTS = {
    xid.FATAL: sentence("fatal for"),
    xid.WARNED: sentence("a warning for"),
    xid.IGNORED: sentence("ignored by"),
}
_TEXT = 200


def statements(source: str, found: Signs, lost_at: float | None = None) -> tuple[HealthReport, ...]:
    """source: the exporter's format. lost_at: since when it says nothing of the card any more; None: it does."""
    return tuple(_lost(told, lost_at) for name, sign in found.items() for told in _of(sign.by or source, name, sign))


def _lost(told: HealthReport, lost_at: float | None) -> HealthReport:
    if lost_at is None:
        return told
    if told.code in _MOMENTARY:
        return msgspec.structs.replace(told, level=HEALTH_UNKNOWN, action="", lost_at=lost_at)
    return msgspec.structs.replace(told, lost_at=lost_at)


def _of(source: str, name: str, sign: Sign) -> tuple[HealthReport, ...]:
    """None for a name that is not known: the sign of another version."""
    for prefix, make in _PREFIXED.items():
        if name.startswith(prefix):
            told = make(source, name.removeprefix(prefix), sign)
            return (told,) if told is not None else ()
    if name not in _SIMPLE:
        return ()
    level, action = _SIMPLE[name]
    text = _text_of(name, sign)
    if name == signs.RECOVERY:
        action = (xid.recovery(sign.value) if isinstance(sign.value, int) else None) or action
    return (
        HealthReport(
            source=source, level=level, code=name, says=SAYS[name], text=text, since=sign.since, action=action
        ),
    )


_SIMPLE = {
    signs.ECC: (UNHEALTHY, "reset-and-check"),
    signs.RETIRED: (UNHEALTHY, "replace"),
    signs.RETIRED_PENDING: (DEGRADED, "reset"),
    signs.REMAP_PENDING: (DEGRADED, "reset"),
    signs.REMAP_FAILED: (UNHEALTHY, "replace"),
    signs.SRAM: (UNHEALTHY, "replace"),
    signs.RECOVERY: (UNHEALTHY, "support"),
    signs.HOT: (DEGRADED, "check-cooling"),
    signs.WATCHES_PASS: (HEALTHY, ""),
}


def _text_of(name: str, sign: Sign) -> str:
    if name == signs.HOT:
        ours = sentence(
            "{hot_celsius} °C or more, limit of gpudash: the card reports no limit",
            hot_celsius=f"{signs.HOT_CELSIUS:.0f}",
        )
        return sentence("limit of the card") if sign.value == "limit" else ours
    if name == signs.RECOVERY and isinstance(sign.value, int):
        known = xid.RECOVERY_NAMES.get(sign.value)
        if sign.value not in xid.RECOVERIES:
            return sentence("action {number}, unknown", number=sign.value)
        return sentence("action {number}", number=f"{sign.value} {known}" if known else sign.value)
    if isinstance(sign.value, list):
        return ", ".join(str(part) for part in sign.value)[:_TEXT]
    return str(sign.value) if sign.value is not None else ""


def _xid(source: str, code: str, sign: Sign) -> HealthReport | None:
    if not code.isascii() or not code.isdigit() or len(code) > 4:
        return None
    known = xid.xid(int(code))
    action = known.action
    if known.cause == xid.APPLICATION or known.severity == xid.PROCESS:
        action = "look-at-application"
    elif known.replace:
        action = _AGAIN.get(action, action)
    return HealthReport(
        source=source,
        level=_LEVELS.get(known.severity, HEALTH_UNKNOWN),
        code=f"xid-{known.code}",
        codes=(f"xid-{known.code}",),
        says=known.title,
        text=sentence(
            "Xid {code}, {when}{judged}",
            code=known.code,
            when=_KINDS.get(str(sign.value), _KINDS[LAST]),
            judged=_judged_by(known.code),
        ),
        since=sign.since,
        action=action,
    )


def _judged_by(code: int) -> str:
    """What other tools make of the code: they disagree on some."""
    said = xid.said(code)
    by_verdict = {verdict: sorted(tool for tool, one in said.items() if one == verdict) for verdict in _VERDICTS}
    told = (
        sentence("; {verdict} {tools}", verdict=words, tools=", ".join(by_verdict[one]))
        for one, words in _VERDICTS.items()
        if by_verdict[one]
    )
    return series(told, "")


def _watch(source: str, name: str, sign: Sign) -> HealthReport | None:
    if not isinstance(sign.value, list) or len(sign.value) != 2:
        return None
    state, own = sign.value
    code, level = _WATCHES.get(str(state), _WATCHES[WARN])
    return HealthReport(
        source=source,
        level=level,
        code=code,
        says=SAYS[code],
        text=f"{name} {own}".strip()[:_TEXT],
        codes=(str(own),) if own else (),
        since=sign.since,
        action="check-exporter",
    )


_WATCHES = {
    FAIL: ("watch-fail", UNHEALTHY),
    WARN: ("watch-warn", DEGRADED),
    NOT_TOLD: ("watch-unknown", HEALTH_UNKNOWN),
}


def _throttle(source: str, reason: str, sign: Sign) -> HealthReport:
    for reasons, code, action in _THROTTLES:
        if reason in reasons:
            return HealthReport(
                source=source,
                level=DEGRADED,
                code=code,
                says=SAYS[code],
                text=reason,
                since=sign.since,
                action=action,
            )
    code = "throttled-unknown"
    return HealthReport(source=source, level=HEALTH_UNKNOWN, code=code, says=SAYS[code], text=reason, since=sign.since)


_THROTTLES = (
    (signs.HEAT, "throttled-heat", "check-cooling"),
    (signs.POWER, "throttled-power", "check-power-supply"),
    (signs.HARDWARE, "throttled-hardware", "check-cooling"),
)
_PREFIXED: dict[str, Callable[[str, str, Sign], HealthReport | None]] = {
    signs.XID: _xid,
    signs.WATCH: _watch,
    signs.THROTTLE: _throttle,
}
