"""Policies in words: the reasons of a card's state, how long a pass is valid, when runs start. Asks no table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils.dates import WEEKDAYS_ABBR
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.models.choices import UnavailableReason
from pages.frame import amounts
from pages.frame.labels import label_of
from pages.frame.worded import between, worded
from pages.words import runs as run_words
from pages.words.runs import Shown
from pages.words.unavailable import unavailable_reason_word
from runtime.spans import span
from validations.models import Policy, PolicyState
from validations.policies import choose, losses, rules, standing
from validations.policies.plan import Preview

#: How many causes a first line names; the others are in its title.
MAIN_CAUSES = 2
#: Code of a card's state → words, alone or with a number: "in use: 14". Then, why a due card is not tested now.
_REASONS: dict[str, Promise] = {
    standing.NEVER: gettext_lazy("never validated"),
    standing.EXPIRED: gettext_lazy("expired"),
    standing.DRIVER: gettext_lazy("driver changed"),
    standing.REBOOTED: gettext_lazy("node rebooted"),
    standing.MACHINE: gettext_lazy("machine replaced"),
    standing.IMAGE: gettext_lazy("image changed"),
    standing.PARSER: gettext_lazy("parser changed"),
    standing.REPORTED: gettext_lazy("failure reported by a tool"),
    standing.FAILED_ONCE: gettext_lazy("failed once, not confirmed"),
    standing.FAILED: gettext_lazy("failure confirmed"),
    standing.FAILED_BEFORE: gettext_lazy("failed before the node changed"),
    standing.IN_USE: gettext_lazy("in use"),
    standing.MAYBE_IN_USE: gettext_lazy("maybe in use"),
    standing.OFF: gettext_lazy("policies off on the node"),
    standing.NOT_APPLICABLE: gettext_lazy("suite not applicable"),
}
_OF_LAUNCHES: dict[str, Promise] = {
    choose.CLUSTER_FULL: gettext_lazy("limit per cluster reached"),
    choose.POOL_FULL: gettext_lazy("limit per pool reached"),
    choose.KEEP_FREE: gettext_lazy("kept free"),
    choose.PENDING_PODS: gettext_lazy("pending pod fits there"),
    choose.CARD_TIME: gettext_lazy("test time limit reached (24 h)"),
    choose.NODE_BUSY: gettext_lazy("another run on this node first"),
}
_LOOKS = {
    PolicyState.VALID: ("good", "✓"),
    PolicyState.DUE: ("info", "·"),
    PolicyState.RUNNING: ("busy", "▶"),
    PolicyState.FAILED: ("error", "✕"),
    PolicyState.EXCLUDED: ("none", "–"),
}
_LOSSES: dict[str, tuple[str, str, Promise]] = {
    losses.FAILED: ("error", "✕", gettext_lazy("failed")),
    losses.SLOWER: ("warning", "!", gettext_lazy("slower")),
    losses.NOT_TESTED: ("none", "·", gettext_lazy("not tested")),
}
_VOIDS = (
    ("void_on_driver", gettext_lazy("driver changed")),
    ("void_on_reboot", gettext_lazy("node rebooted")),
    ("void_on_machine", gettext_lazy("machine replaced")),
    ("void_on_image", gettext_lazy("image changed")),
)
_DAILY = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7])")


def _joined(parts: Iterable[str]) -> str:
    return between().get(", ", ", ").join(parts)


def reason_words(code: str) -> str:
    """Of this policy's own reasons, of cards that are unavailable, and of what a launch was refused for."""
    own = _REASONS.get(code) or _OF_LAUNCHES.get(code)
    return str(own) if own is not None else unavailable_reason_word(code) or run_words.headline(code) or code


def reason_choices() -> Sequence[tuple[str, str]]:
    """For a filter: what a card's state can be for, whatever its suite."""
    return [(code, reason_words(code)) for code in (*_REASONS, *UnavailableReason.values)]


def shown_state(state: str) -> Shown:
    level, sign = _LOOKS.get(PolicyState(state), ("none", "·")) if state in PolicyState.values else ("none", "·")
    return Shown(level, sign, label_of(PolicyState, state))


def shown_loss(outcome: str) -> Shown:
    """What a card lost from before to after."""
    level, sign, text = _LOSSES[outcome]
    return Shown(level, sign, str(text))


def causes(reasons: Mapping[str, int], most: int | None = None) -> str:
    """ "in use: 14, node not ready: 6": the most frequent first, at most so many; codes of the same words are one.

    Of a single cause its words alone: the number stands before them.
    """
    found = Counter[str]()
    for code, number in reasons.items():
        found[reason_words(code)] += number
    if len(found) == 1:
        return next(iter(found))
    return _joined(f"{words}: {amounts.count(number)}" for words, number in found.most_common(most))


def age(seconds: int) -> str:
    """A limit: 7 d, 36 h, 90 min."""
    for unit, text in ((86_400, _("%(n)d d")), (3600, _("%(n)d h"))):
        if seconds % unit == 0:
            return text % {"n": seconds // unit}
    return _("%(n)d min") % {"n": seconds // 60}


def valid_for(policy: Policy) -> str:
    """ "7 d, or new driver": for a column."""
    text = age(policy.max_age_s)
    return _("%(age)s, or new driver") % {"age": text} if policy.void_on_driver else text


def voided_by(policy: Policy) -> str:
    """What else than its age makes a pass void; "" for nothing."""
    return _joined(str(words) for name, words in _VOIDS if getattr(policy, name))


def runs_when(policy: Policy) -> str:
    """ "any time", "22:00, 8 h, Europe/Berlin", "Sat 02:00, 4 h, UTC", or the expression itself."""
    if not policy.window_cron:
        return _("any time")
    start, daily = policy.window_cron, _DAILY.fullmatch(policy.window_cron)
    if daily:
        minute, hour, day = daily.groups()
        clock = f"{int(hour):02d}:{int(minute):02d}"
        start = clock if day == "*" else f"{WEEKDAYS_ABBR[(int(day) - 1) % 7]} {clock}"
    return _("%(start)s, %(length)s, %(zone)s") % {
        "start": start,
        "length": age((policy.window_minutes or 0) * 60),
        "zone": policy.time_zone,
    }


def moment_in(policy: Policy, at: datetime, now: datetime) -> str:
    """A moment of the plan on the policy's clock: "22:00" of today, "Sat 02:00" of the next days, else with its date."""
    zone = ZoneInfo(policy.time_zone)
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    days = (local.date() - today).days
    if days == 0:
        return f"{local:%H:%M}"
    return f"{WEEKDAYS_ABBR[local.weekday()]} {local:%H:%M}" if 0 < days < 7 else f"{local:%Y-%m-%d %H:%M}"


def now(policy: Policy, running: int, due: int, at: datetime, all_paused: bool) -> Shown:
    """What the policy does at this moment. It has `is_open` and `opens_at` (`reading.with_now`)."""
    if policy.paused or all_paused:
        return Shown("none", "‖", _("paused") if policy.paused else _("all paused"))
    if running:
        return Shown("busy", "▶", _("%(n)s running") % {"n": amounts.count(running)})
    if policy.evaluated_at is None:
        return Shown("none", "·", _("not checked yet"))
    opens: datetime | None = getattr(policy, "opens_at", None)
    if opens is not None:
        return Shown("good", "✓", _("next %(moment)s") % {"moment": moment_in(policy, opens, at)})
    if not due:
        return Shown("good", "✓", _("nothing due"))
    if policy.said_held:
        return Shown("warning", "!", worded(policy.said_held))
    return Shown("none", "·", _("starts within a minute"))


def tested_when(found: Preview, policy: Policy, at: datetime) -> str:
    """When the due cards of a preview would be tested: "12 now, 34 after 22:00; about 40 min"; "" where none is due."""
    later, first = found.due - found.now, found.windows[0] if found.windows else None
    parts = [_("%(n)s now") % {"n": amounts.count(found.now)}] if found.now else []
    if later:
        opens = first.start if first is not None else rules.windows_of(policy).next_start(at)
        told = {"n": amounts.count(later), "moment": moment_in(policy, opens, at) if opens else ""}
        parts.append(_("%(n)s after %(moment)s") % told if opens and opens > at else _("%(n)s later") % told)
    text = _joined(parts)
    took = first.seconds if first is not None and found.due else None
    return _("%(when)s; about %(span)s") % {"when": text, "span": span(took)} if text and took else text
