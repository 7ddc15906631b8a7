"""What is measured of a card, in words: used memory, work, heat, errors; and why nothing is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from exporters.engine import measures
from inventory.models import Card, UsageSource
from inventory.models.usage import SourceState
from inventory.queries.measured import Usage, overdue_since
from inventory.queries.pod_usage import Note, PodUsage
from pages.frame import amounts, times
from pages.frame.worded import worded_html
from runtime.clock import database_now
from wording.said import restored

#: Measure → how work is seen by it.
SIGNS = {
    measures.GRAPHICS_ACTIVE.name: gettext_lazy("graphics engine active"),
    measures.SM_ACTIVE.name: gettext_lazy("multiprocessors active"),
    measures.UTILIZATION.name: gettext_lazy("any kernel ran"),
}
_MHZ = 10**6


class UsageFact(NamedTuple):
    """A line of the page. text: "" where it is not collected."""

    title: str
    text: str
    note: str = ""


def usage_facts(usage: Usage) -> tuple[list[UsageFact], list[UsageFact]]:
    """Two columns: what the card does, and how it is."""
    more = usage.more
    size = usage.memory_measured_bytes
    used = usage.memory_used_bytes
    doing = [
        UsageFact(
            _("Memory used"),
            "" if used is None else amounts.gib(used),
            _("of %(size)s") % {"size": amounts.gib(size)} if size is not None and used is not None else "",
        ),
        UsageFact(
            _("Activity"),
            "" if usage.activity_ratio is None else percent(usage.activity_ratio),
            str(SIGNS.get(usage.activity_measure, "")),
        ),
        UsageFact(_("Utilization"), "" if usage.utilization_ratio is None else percent(usage.utilization_ratio)),
        UsageFact(_("Tensor cores"), _ratio(more, measures.TENSOR_ACTIVE.name)),
        UsageFact(_("Memory interface"), _ratio(more, measures.DRAM_ACTIVE.name)),
    ]
    being = [
        UsageFact(_("Temperature"), "" if usage.temperature_celsius is None else f"{usage.temperature_celsius:.0f} °C"),
        UsageFact(
            _("Power"),
            "" if usage.power_watts is None else f"{usage.power_watts:.0f} W",
            _("of %(watts)s W") % {"watts": f"{limit:.0f}"} if (limit := _number(more, "power_limit")) else "",
        ),
        UsageFact(_("Clocks"), _clocks(more), _throttled(more)),
        UsageFact(_("ECC errors"), _errors(more)),
        UsageFact(_("Row remapping"), _remapping(more)),
        UsageFact(_("Last Xid"), _xid(more), _("since the driver was loaded") if _xid(more) else ""),
    ]
    return doing, being


def why_not_collected(card: Card) -> str:
    """Why nothing is measured of a card."""
    source = UsageSource.objects.filter(cluster_id=card.cluster_id).first()
    if source is None:
        return _(
            "Not collected: no metrics source is set for this cluster (gpudash cluster set NAME --prometheus URL)."
        )
    if source.state in (SourceState.BACKING_OFF, SourceState.REFUSED):
        return _("Not collected: %(reason)s") % {"reason": worded_html(restored(source.reason, source.wording))}
    since = overdue_since(source, database_now())
    if since is not None:
        return _(
            "Not collected: exporters are not being read, overdue since %(since)s. Start the usage worker "
            "(gpudash worker usage)."
        ) % {"since": times.with_zone(since, seconds=True)}
    if source.round_at is None:
        return _("Not collected yet: the first round is running.")
    return _("Not collected: no exporter reports this card.")


_NOTES = {
    Note.ENDED: gettext_lazy("allocation ended"),
    Note.PAST: gettext_lazy("used memory of past times is not stored"),
    Note.CARD_UNKNOWN: gettext_lazy("card unidentified"),
    Note.NOT_COLLECTED: gettext_lazy("no exporter reports the memory of its card"),
    Note.SILENT: gettext_lazy("the exporter stopped reporting its card"),
    Note.OTHER_NAMED: gettext_lazy("the exporter reports another pod on its card"),
    Note.OF_POD: gettext_lazy("the exporter reports only the sum of all containers of the pod"),
}


def why_not_used(used: PodUsage) -> str:
    """Why it is not known how much memory a holder uses; "" where it is."""
    if used.memory_used_bytes is not None:
        return ""
    if used.note == Note.SHARED:
        if not used.others:
            return _("several pods share the card")
        text = ngettext(
            "%(n)d other pod shares the card",
            "%(n)d other pods share the card",
            used.others,
        )
        return text % {"n": used.others}
    if used.note == Note.MAYBE_SHARED:
        text = ngettext(
            "%(n)d unidentified allocation may be on the same card",
            "%(n)d unidentified allocations may be on the same card",
            used.others,
        )
        return text % {"n": used.others}
    return str(_NOTES[Note(used.note)]) if used.note else ""


def used_by(used: PodUsage) -> str:
    """Who counted it, in words; "" where it is not known."""
    if used.memory_used_bytes is None:
        return ""
    if used.whole_card:
        return _("card total reported by %(exporter)s, no other pod on the card") % {"exporter": used.source}
    return _("reported for this container by %(exporter)s") % {"exporter": used.source}


def percent(ratio: float) -> str:
    """0.374 → "37%". What is not zero is never printed as zero."""
    if 0 < ratio < 0.01:
        return "< 1%"
    return f"{min(ratio, 1.0) * 100:.0f}%"


def _number(more: Mapping[str, object], name: str) -> float | None:
    value = more.get(name)
    return float(value) if isinstance(value, int | float) else None


def _ratio(more: Mapping[str, object], name: str) -> str:
    value = _number(more, name)
    return "" if value is None else percent(value)


def _clocks(more: Mapping[str, object]) -> str:
    chip, memory = (_number(more, one.name) for one in (measures.SM_CLOCK, measures.MEMORY_CLOCK))
    told = [_("core %(mhz)s MHz") % {"mhz": f"{chip / _MHZ:.0f}"}] if chip is not None else []
    told += [_("memory %(mhz)s MHz") % {"mhz": f"{memory / _MHZ:.0f}"}] if memory is not None else []
    return ", ".join(told)


def _throttled(more: Mapping[str, object]) -> str:
    reasons = more.get("throttles")
    return ", ".join(str(one) for one in reasons) if isinstance(reasons, list) else ""


def _errors(more: Mapping[str, object]) -> str:
    corrected, uncorrected = (_number(more, one.name) for one in (measures.ECC_CORRECTED, measures.ECC_UNCORRECTED))
    told = [_("%(n)d uncorrected") % {"n": uncorrected}] if uncorrected is not None else []
    told += [_("%(n)d corrected") % {"n": corrected}] if corrected is not None else []
    return ", ".join(told)


def _remapping(more: Mapping[str, object]) -> str:
    failed, pending = (_number(more, one.name) for one in (measures.REMAP_FAILED, measures.REMAP_PENDING))
    if failed is None and pending is None:
        return ""
    if failed:
        return _("failed: replace the card")
    return _("pending until a reset") if pending else _("none pending")


def _xid(more: Mapping[str, object]) -> str:
    value = _number(more, measures.XID.name)
    if value is None:
        return ""
    return _("none") if value == 0 else f"{value:.0f}"
