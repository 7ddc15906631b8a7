"""Notifications in words: the states of channels and deliveries, what rules are about, what silences cover. Asks no table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.catalogue import CATALOGUE
from inventory.models.choices import Severity
from notifications import reading
from notifications.models import Channel, Delivery, DeliveryState, Digest, Rule, Silence
from notifications.topics import KINDS
from pages.frame import times
from pages.frame.labels import label_of
from pages.frame.worded import named
from pages.words.runs import Shown

_STATES: dict[str, tuple[str, str, Promise]] = {
    reading.OK: ("good", "✓", gettext_lazy("ok")),
    reading.FAILING: ("error", "✕", gettext_lazy("failing")),
    reading.GONE: ("error", "✕", gettext_lazy("receiver removed")),
    reading.PAUSED: ("none", "‖", gettext_lazy("paused")),
    reading.NEW: ("none", "·", gettext_lazy("nothing sent yet")),
}
_DELIVERIES = {
    DeliveryState.WAITING: ("info", "·"),
    DeliveryState.SENDING: ("busy", "▶"),
    DeliveryState.DELIVERED: ("good", "✓"),
    DeliveryState.FAILED: ("error", "✕"),
    DeliveryState.UNCERTAIN: ("warning", "!"),
}
#: Outcome of a try → words.
_OUTCOMES: dict[str, Promise] = {
    "delivered": gettext_lazy("delivered"),
    "refused": gettext_lazy("refused"),
    "later": gettext_lazy("not delivered, retrying"),
    "gone": gettext_lazy("receiver removed"),
}
#: What is told of a topic, as `notifications.channels.engine.Change` has it.
_CHANGES: dict[str, Promise] = {
    "began": gettext_lazy("started"),
    "more": gettext_lazy("more"),
    "ended": gettext_lazy("ended"),
}


def channel_state(row: Channel) -> Shown:
    level, sign, words = _STATES[reading.state_of(row)]
    return Shown(level, sign, str(words))


def delivery_state(row: Delivery) -> Shown:
    level, sign = _DELIVERIES.get(DeliveryState(row.state), ("none", "·"))
    return Shown(level, sign, label_of(DeliveryState, row.state))


def outcome(word: str) -> str:
    return str(_OUTCOMES.get(word, word))


def change(word: str) -> str:
    return str(_CHANGES.get(word, word))


def kind(name: str) -> str:
    """A type of channel; product names stay."""
    return _(reading.kind_title(name))


def about(row: Rule) -> str:
    titles = {one.name: one.title for one in KINDS}
    return ", ".join(_(titles[name]) if name in titles else name for name in row.about)


def about_choices() -> list[tuple[str, str]]:
    return [(one.name, _(one.title)) for one in KINDS]


def codes(names: Sequence[str]) -> str:
    return ", ".join(code(name) for name in names)


def code(name: str) -> str:
    """The title of a code of findings."""
    return _(CATALOGUE[name].title) if name in CATALOGUE else name


def code_choices() -> list[tuple[str, str]]:
    return sorted(((name, _(entry.title)) for name, entry in CATALOGUE.items()), key=lambda one: one[1].lower())


def scope(row: Rule) -> str:
    return row.places.replace("\n", ", ") or _("everything")


def severity(row: Rule) -> str:
    """Of which severities it tells."""
    if row.least_severity == Severity.ERROR:
        return _("errors")
    return _("errors, warnings") if row.least_severity == Severity.WARNING else _("all")


def when(row: Rule) -> str:
    if row.digest != Digest.DAILY:
        return label_of(Digest, row.digest)
    return _("daily, %(hour)s %(zone)s") % {"hour": f"{row.digest_hour}:00", "zone": row.time_zone}


def silenced(row: Silence) -> SafeString:
    """ "acknowledged until 2026-12-01 08:00 by olga: spare part ordered", as HTML: a name and a reason are typed by people."""
    by = bool(row.created_by_name)
    if row.finding is not None:
        text = (
            _("acknowledged until %(until)s by %(name)s: %(reason)s")
            if by
            else _("acknowledged until %(until)s: %(reason)s")
        )
    else:
        text = (
            _("silenced until %(until)s by %(name)s: %(reason)s") if by else _("silenced until %(until)s: %(reason)s")
        )
    form = text % {"until": times.text(row.until), "name": "{name}", "reason": "{reason}"}
    return format_html(form, name=named(row.created_by_name), reason=named(row.reason))


def place(row: Silence) -> str:
    """Where it silences; of everything that it names."""
    parts = (row.cluster.name if row.cluster else "", row.node_name, row.card_key, row.pod)
    return " · ".join(part for part in parts if part) or _("everywhere")


def in_force(row: Silence, at: datetime) -> bool:
    return row.ended_at is None and row.until > at
