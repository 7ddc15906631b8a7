"""Why cards are unavailable, for templates."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.models.choices import CardState, UnavailableReason
from inventory.queries.free import FreeCards
from pages.charts.cardmap import MapPool
from pages.frame import amounts
from pages.words.unavailable import unavailable_reason_word

register = template.Library()


@register.filter
def unavailable_lines(free: FreeCards) -> list[tuple[str, str, str]]:
    """(reason, how many, the reason in words), as the list of cards can be filtered by it."""
    return [(why, amounts.count(number), str(UnavailableReason(why).label)) for why, number in free.unavailable.items()]


@register.filter
def unavailable_url(url: str, why: str) -> str:
    """The list of cards that are unavailable for this reason. url: of the list, with other filters or without."""
    path, _mark, query = url.partition("?")
    found = QueryDict(query, mutable=True)
    found["state"], found["unavailable_reason"] = CardState.UNAVAILABLE.value, why
    return f"{path}?{found.urlencode()}"


@register.simple_tag
def trend_of(pool: MapPool, trends: Mapping[tuple[int, str], float]) -> str:
    """By how much more or less of a pool is allocated than a day ago, in words; "" where either is not known."""
    held, total, before = pool.totals.memory_allocated.value, pool.totals.memory_metered.value, trends.get(pool.place)
    if held is None or not total or before is None:
        return ""
    points = round((held / total - before) * 100)
    if not points:
        return _("unchanged vs 24 h ago")
    number = abs(points)
    if points > 0:
        more = ngettext("+%(n)d point vs 24 h ago", "+%(n)d points vs 24 h ago", number)
        return more % {"n": number}
    less = ngettext("−%(n)d point vs 24 h ago", "−%(n)d points vs 24 h ago", number)
    return less % {"n": number}


@register.filter
def unavailable_reason_words(why: str) -> str:
    """Why a card or node is unavailable, in words; "" for nothing."""
    return unavailable_reason_word(why)
