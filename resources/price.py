"""Prices of hardware: per card-hour and GiB-hour, by node label, pool or model, from a day on."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, ClassVar

from inventory.charges.prices import written
from inventory.models import Price
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import WordsFilter
from resources.filter_sets import StrictFilterSet


class PriceShape(Shape):
    """A price of the cards that match label, pool and model; the most specific price counts."""

    id: int
    label: Annotated[str | None, fact("Node label, KEY=VALUE; null: all nodes.", order=True)]
    pool: Annotated[str | None, fact("null: all pools.", order=True)]
    model: Annotated[str | None, fact("Card model; null: all models.", order=True)]
    since: Annotated[date, fact("First day (UTC) of the price.", order=True)]
    currency: Annotated[str, fact(order=True)]
    card_hour: Annotated[str | None, fact("Price of a card-hour, decimal; null: not charged.", by=written)]
    gib_hour: Annotated[
        str | None, fact("Price of a GiB-hour, decimal; null: not charged. Both null: unknown price.", by=written)
    ]


class PriceFilter(StrictFilterSet):
    label = WordsFilter("label", label="node label, KEY=VALUE")
    pool = WordsFilter("pool", label="pool")
    model = WordsFilter("model", label="card model")
    currency = WordsFilter("currency", label="currency")

    orders: ClassVar[dict[str, str]] = orders_of(PriceShape)
    default_order = ("label", "pool", "model", "since")

    class Meta(StrictFilterSet.Meta):
        model = Price
        fields: ClassVar[list[str]] = []


def prices() -> Any:
    return Price.objects.all()


PRICES = Resource(
    "prices",
    PriceShape,
    PriceFilter,
    prices,
    csv=("label", "pool", "model", "since", "currency", "card_hour", "gib_hour"),
)
