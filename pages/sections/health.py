"""The health of cards and nodes in words: its level with a sign, who says so, since when, what to do; and who says nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from exporters.conditions import TELLERS
from inventory.health.of_conditions import UNKNOWN_TELLER
from inventory.health.shown import ShownReport
from inventory.health.words import SOURCES
from inventory.models import Card
from inventory.models.choices import Health
from inventory.queries.measured import Usage
from pages.frame.labels import label_of
from pages.frame.worded import worded
from stacks.engine import base
from stacks.engine.health_reports import KUBELET, PLUGIN, REGISTER_HEALTHY, REGISTER_UNHEALTHY

#: Level → sign.
SIGNS = {base.HEALTHY: "good", base.DEGRADED: "warning", base.UNHEALTHY: "error", base.HEALTH_UNKNOWN: "none"}
_TELLERS = frozenset((*TELLERS, UNKNOWN_TELLER))


@dataclass(frozen=True)
class HealthLine:
    """What a template prints of a statement. sign: of its level. words: of its level, "" where it says nothing of health."""

    sign: str
    words: str
    says: str
    who: str
    text: str
    since: datetime | None
    lost_at: datetime | None
    remedy: str
    bad: bool


def sign_of(level: str) -> str:
    return SIGNS.get(level, "none")


def words_of(level: str) -> str:
    return label_of(Health, level)


def health_lines(told: Iterable[ShownReport]) -> list[HealthLine]:
    return [
        HealthLine(
            sign=sign_of(one.level),
            words=words_of(one.level) if one.level != base.HEALTH_UNKNOWN else "",
            says=_(one.says) if one.says else "",
            who=_(SOURCES[one.source]) if one.source in SOURCES else one.source,
            text=worded(one.text or ""),
            since=one.since,
            lost_at=one.lost_at,
            remedy=_(one.remedy) if one.remedy else "",
            bad=one.level in (base.DEGRADED, base.UNHEALTHY),
        )
        for one in told
    ]


def silent(card: Card, usage: Usage, why_no_exporter: str, of_node: Iterable[ShownReport]) -> list[str]:
    """Each source that was looked at and says nothing of this card, with the reason as far as it is known."""
    told = card.found_health
    sources, codes = {one.source for one in told}, {one.code for one in told}
    lines = []
    if KUBELET not in sources:
        lines.append(
            _("Kubelet: reports health only of allocated devices, and only with the feature gate ResourceHealthStatus.")
        )
    if PLUGIN not in sources:
        lines.append(_("Device plugin: does not report all of its devices as healthy."))
    if not codes & {REGISTER_HEALTHY, REGISTER_UNHEALTHY}:
        lines.append(_("Stack: its record on the node has no health of this card."))
    if usage.usage_source and usage.usage_source.partition(" ")[0] not in sources:
        lines.append(
            _("%(exporter)s: reports no fault and no health check. This does not mean healthy.")
            % {"exporter": usage.usage_source}
        )
    elif not usage.usage_source:
        lines.append(why_no_exporter or _("Exporter: none reports this card."))
    if not sources & _TELLERS:
        spoken = any(one.source in _TELLERS for one in of_node)
        lines.append(
            _("Node conditions: report on cards of the node, but not on this card.")
            if spoken
            else _("Node conditions: none reports on cards.")
        )
    return lines
