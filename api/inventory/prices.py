"""/api/v1/prices: list, set, remove. They are of all clusters, and an administrator has no scope."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.roles import Role
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.frame.problems import bad_fields
from inventory.charges import rates
from inventory.charges.rates import PriceDraft
from inventory.models import Price
from resources.csv_export import cluster_names
from resources.price import PRICES, PriceShape


class Prices(ListView):
    resource = PRICES
    write_role = Role.ADMIN

    @listed(PRICES, "Prices per card-hour and GiB-hour")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Set a price, or replace that of the same cards and day",
        request=PriceDraft,
        responses={200: PriceShape, 201: PriceShape},
    )
    def post(self, request: Request) -> Response:
        try:
            row, new = rates.put(body_of(request, PriceDraft))
        except rates.Bad as error:
            raise bad_fields({name: [text] for name, text in error.problems.items()}) from None
        return Response(_told(row), status=201 if new else 200)


class PriceDetail(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="One price", responses=PriceShape)
    def get(self, request: Request, price_id: int) -> Response:
        return Response(_told(_price(price_id)))

    @extend_schema(summary="Remove a price; the next specific one counts, also for days before", responses={204: None})
    def delete(self, request: Request, price_id: int) -> Response:
        rates.remove(_price(price_id))
        return Response(status=204)


def _price(price_id: int) -> Price:
    row = Price.objects.filter(pk=price_id).first() if price_id < 2**63 else None
    if row is None:
        raise NotFound(f"There is no price {str(price_id)[:64]}. /api/v1/prices lists them.")
    return row


def _told(row: Price) -> Any:
    return PRICES.fill([row], cluster_names())[0]
