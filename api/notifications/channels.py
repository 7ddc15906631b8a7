"""/api/v1/channels: look, make, change, delete, test. For administrators. Secrets are taken, and never given back."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.required import needs
from accounts.roles import Role
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.notifications.base import found
from api.notifications.deliveries import told as told_delivery
from api.validations.base import MADE_AT, problems
from notifications import manage, reading
from notifications.manage import ChannelDraft
from notifications.models import Channel
from resources.notification import CHANNELS, ChannelShape, DeliveryShape

_SETTINGS = "By name. Omitted ones stay; an empty secret stays as it is."


class ChannelChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields to change; omitted fields stay. The type stays."""

    name: str | UnsetType = UNSET
    settings: Annotated[dict[str, str], Meta(description=_SETTINGS)] | UnsetType = UNSET
    language: str | UnsetType = UNSET
    paused: bool | UnsetType = UNSET


@needs(Role.ADMIN)
class Channels(ListView):
    resource = CHANNELS
    write_role = Role.ADMIN
    told_of = ("name", "kind")

    @listed(CHANNELS, "Channels by name, without their secrets. Role admin")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Create a channel. Role admin",
        parameters=[MADE_AT],
        request=ChannelDraft,
        responses={201: ChannelShape},
    )
    def post(self, request: Request) -> Response:
        draft = body_of(request, ChannelDraft)
        with problems():
            row = manage.create_channel(draft, request.user)
        return Response(_told(row), status=201, headers={"Location": f"/api/v1/channels/{row.pk}"})


@needs(Role.ADMIN)
class ChannelDetail(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="One channel, without its secrets. Role admin", responses=ChannelShape)
    def get(self, request: Request, channel_id: str) -> Response:
        return Response(_told(_channel(channel_id)))

    @extend_schema(
        summary="Change, pause or resume a channel. Role admin", request=ChannelChange, responses=ChannelShape
    )
    def patch(self, request: Request, channel_id: str) -> Response:
        row, change = _channel(channel_id), body_of(request, ChannelChange)
        draft = manage.channel_draft(row)
        given = {name: value for name in ("name", "language") if (value := getattr(change, name)) is not UNSET}
        if change.settings is not UNSET:
            given["settings"] = {**draft.settings, **change.settings}
        with problems():
            if given:
                manage.change_channel(row, msgspec.structs.replace(draft, **given))
            if change.paused is not UNSET:
                manage.pause_channel(row, change.paused)
        return Response(_told(_channel(channel_id)))

    @extend_schema(summary="Delete a channel with its rules and its delivery log. Role admin", responses={204: None})
    def delete(self, request: Request, channel_id: str) -> Response:
        manage.remove_channel(_channel(channel_id))
        return Response(status=204)


@needs(Role.ADMIN)
class ChannelTest(ApiView):
    write_role = Role.ADMIN

    @extend_schema(
        summary="Send a test message: its delivery has the answer. Role admin",
        request=None,
        responses={202: DeliveryShape},
    )
    def post(self, request: Request, channel_id: str) -> Response:
        with problems():
            made = manage.test_channel(_channel(channel_id))
        return Response(told_delivery(made), status=202)


def _channel(channel_id: str) -> Channel:
    return found(reading.channels(), channel_id, "channel", "channels")


def _told(row: Channel) -> Any:
    return CHANNELS.fill([row], {})[0]
