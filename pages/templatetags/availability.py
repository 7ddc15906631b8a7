"""Why cards are unavailable, for templates."""

from __future__ import annotations

from django import template
from django.http import QueryDict

from inventory.models.choices import CardState, UnavailableReason
from inventory.queries.free import FreeCards
from pages.frame import amounts
from pages.words.unavailable import unavailable_reason_word

register = template.Library()


@register.filter
def unavailable_lines(free: FreeCards) -> list[tuple[str, str, str]]:
    """(reason, how many, the reason in words), as the list of cards can be filtered by it."""
    return [(why, amounts.count(number), str(UnavailableReason(why).label)) for why, number in free.unavailable.items()]


@register.filter
def unavailable_url(url: str, why: str) -> str:
    """The list of cards that are unavailable for this reason; "" for any. url: of the list, with other filters or without."""
    path, _mark, query = url.partition("?")
    found = QueryDict(query, mutable=True)
    found["state"] = CardState.UNAVAILABLE.value
    if why:
        found["unavailable_reason"] = why
    return f"{path}?{found.urlencode()}"


@register.filter
def unavailable_reason_words(why: str) -> str:
    """Why a card or node is unavailable, in words; "" for nothing."""
    return unavailable_reason_word(why)
