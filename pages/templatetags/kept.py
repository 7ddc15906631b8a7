"""Why cards are kept apart, for templates."""

from __future__ import annotations

from django import template

from inventory.free import FreeCards
from inventory.models.choices import KeptOff
from pages.frame import amounts

register = template.Library()


@register.filter
def apart_lines(free: FreeCards) -> list[tuple[str, str, str]]:
    """(reason, how many, the reason in words), as the list of cards can be filtered by it."""
    return [(why, amounts.count(number), str(KeptOff(why).label)) for why, number in free.apart.items()]


@register.filter
def kept_off_words(why: str) -> str:
    """Why nothing of a card or a node is given out, in words; "" for nothing."""
    return str(KeptOff(why).label) if why in KeptOff.values else ""
