"""/api/v1/deliveries: what was sent, what was answered; send again. For administrators."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.required import needs
from accounts.roles import Role
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import Conflict
from api.frame.problems import Problem
from api.notifications.base import found
from api.validations.base import MADE_AT
from notifications import manage, reading
from notifications.models import Delivery
from resources.notification import DELIVERIES, DeliveryShape
from validations.planning import Refused


@needs(Role.ADMIN)
class Deliveries(ListView):
    resource = DELIVERIES

    @listed(DELIVERIES, "Deliveries of 90 days, newest first. Role admin")
    def get(self, request: Request) -> Any:
        return self.list(request)


@needs(Role.ADMIN)
class DeliveryDetail(ApiView):
    @extend_schema(summary="One delivery with its last tries. Role admin", responses=DeliveryShape)
    def get(self, request: Request, delivery_id: str) -> Response:
        return Response(told(_delivery(delivery_id)))


@needs(Role.ADMIN)
class DeliveryAgain(ApiView):
    write_role = Role.ADMIN

    @extend_schema(
        summary="Send the same message again; 409 while it is on its way. Role admin",
        parameters=[MADE_AT],
        request=None,
        responses={201: DeliveryShape, 409: Problem},
    )
    def post(self, request: Request, delivery_id: str) -> Response:
        try:
            made = manage.send_again(_delivery(delivery_id))
        except Refused as error:
            raise Conflict(str(error.words)) from None
        return Response(told(made), status=201, headers={"Location": f"/api/v1/deliveries/{made.pk}"})


def _delivery(delivery_id: str) -> Delivery:
    return found(reading.deliveries(), delivery_id, "delivery", "deliveries")


def told(row: Delivery) -> Any:
    return DELIVERIES.fill([row], {})[0]
