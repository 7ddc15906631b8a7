"""Prices of the demo: one for all cards, one for a model that became cheaper in the middle of a month."""

from __future__ import annotations

from inventory.charges.rates import PriceDraft, replace_all
from inventory.models import Card, Price
from runtime.clock import database_now

_ALWAYS, _CURRENCY = "2020-01-01", "EUR"
_DEAR = "A100"


def make() -> None:
    """Prices that a user has set stay."""
    if Price.objects.exists():
        return
    since = f"{database_now():%Y-%m}-10"
    whole = Card.objects.filter(model__contains=_DEAR).exclude(model__contains="MIG")
    models = whole.order_by("model").values_list("model", flat=True).distinct()
    drafts = [PriceDraft(currency=_CURRENCY, since=_ALWAYS, card_hour="0.90")]
    for model in models:
        for day, price in ((_ALWAYS, "2.80"), (since, "2.35")):
            drafts.append(PriceDraft(currency=_CURRENCY, since=day, card_hour=price, model=model))
    replace_all(drafts)
