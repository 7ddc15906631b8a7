"""Why cards are kept apart, for templates."""

from __future__ import annotations

from collections.abc import Mapping

from django import template
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.free import FreeCards
from inventory.models.choices import CardState, KeptOff
from pages.cardmap import MapPool
from pages.frame import amounts
from pages.kept_words import kept_off_word

register = template.Library()


@register.filter
def apart_lines(free: FreeCards) -> list[tuple[str, str, str]]:
    """(reason, how many, the reason in words), as the list of cards can be filtered by it."""
    return [(why, amounts.count(number), str(KeptOff(why).label)) for why, number in free.apart.items()]


@register.filter
def apart_url(url: str, why: str) -> str:
    """The list of cards that are apart for this reason. url: of the list, with other filters or without."""
    path, _mark, query = url.partition("?")
    found = QueryDict(query, mutable=True)
    found["state"], found["kept_off"] = CardState.APART.value, why
    return f"{path}?{found.urlencode()}"


@register.simple_tag
def trend_of(pool: MapPool, trends: Mapping[tuple[int, str], float]) -> str:
    """By how much more or less of a pool is allocated than a day ago, in words; "" where either is not known."""
    held, total, before = pool.totals.memory_allocated.value, pool.totals.memory_metered.value, trends.get(pool.place)
    if held is None or not total or before is None:
        return ""
    points = round((held / total - before) * 100)
    if not points:
        return _("as much allocated as a day ago")
    number = abs(points)
    if points > 0:
        more = ngettext(
            "%(n)d point more allocated than a day ago", "%(n)d points more allocated than a day ago", number
        )
        return more % {"n": number}
    less = ngettext("%(n)d point less allocated than a day ago", "%(n)d points less allocated than a day ago", number)
    return less % {"n": number}


@register.filter
def kept_off_words(why: str) -> str:
    """Why nothing of a card or a node is given out, in words; "" for nothing."""
    return kept_off_word(why)
