"""API tokens over REST: one's own; an administrator sees and revokes everybody's. The secret is in one answer, once."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.exceptions import AuthenticationFailed, NotFound, PermissionDenied
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.bearer import REFUSED
from accounts.forms import DEFAULT_DAYS, TokenForm, too_many_tokens
from accounts.models import ApiToken, TokenEnded, TooManyTokens
from accounts.permissions import request_role
from accounts.roles import Role
from api.frame.base import ApiView
from api.frame.problems import bad_fields
from resources.declared import filled
from resources.token import NewToken, Token, TokenFilter

_NO_MAKER = "Creating tokens with a token needs the role admin. Sign in and create one on the account page."


class TokenDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A token to create. role: at most the own role. scope, networks: as in tokens."""

    name: Annotated[str, Meta(max_length=100)]
    role: str
    expires_in_days: Annotated[int, Meta(ge=1, le=3650)] = DEFAULT_DAYS
    scope: list[str] = []
    networks: list[str] = []


def _asking(request: Request) -> ApiToken | None:
    """The token that asks; None when a session does."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def _visible(request: Request) -> QuerySet[ApiToken]:
    """With the role admin all; else a person's own, and a token itself: whoever finds it must not see or end the others."""
    rows, user, by = ApiToken.objects.select_related("user"), cast(Any, request.user), _asking(request)
    if request_role(request) == Role.ADMIN:
        return rows
    return rows.filter(pk=by.pk) if by else rows.filter(user=user)


class Tokens(ListModelMixin, ApiView):
    filter_backends = tuple(api_settings.DEFAULT_FILTER_BACKENDS)
    pagination_class = api_settings.DEFAULT_PAGINATION_CLASS
    filterset_class = TokenFilter
    #: Anybody may make a token for what they may do themselves; a token only with the role admin.
    write_role = Role.VIEWER

    def get_queryset(self) -> QuerySet[ApiToken]:
        return _visible(self.request)

    @extend_schema(summary="API tokens, without their secrets", responses=Token)
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        return self.get_paginated_response([filled(Token, token) for token in page or ()])

    @extend_schema(
        summary="Create a token; only this answer contains its secret", request=TokenDraft, responses={201: NewToken}
    )
    def post(self, request: Request) -> Response:
        if _asking(request) and request_role(request) != Role.ADMIN:
            raise PermissionDenied(_NO_MAKER)
        form = _form(request)
        try:
            token, secret = form.issue(request.user)
        except TokenEnded:
            raise AuthenticationFailed(REFUSED) from None
        except TooManyTokens:
            raise bad_fields({"name": [too_many_tokens()]}) from None
        answer = filled(NewToken, token, token=secret)
        return Response(answer, status=201, headers={"Cache-Control": "no-store"})


class TokenDetail(ApiView):
    write_role = Role.VIEWER

    @extend_schema(summary="Revoke a token, and the tokens that it created, at once", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        token = _visible(request).filter(pk=token_id).first()
        if token is None:
            raise NotFound(f"There is no token {token_id} of yours. /api/v1/tokens lists them.")
        token.revoke()
        return Response(status=204)


def _form(request: Request) -> TokenForm:
    """The checked request. A token may make another one, but none that outlives it: revoking it must not come too late."""
    body = request.data
    if not isinstance(body, dict):
        raise bad_fields({"body": ["Must be an object with name, role and expires_in_days."]})
    unknown = sorted(set(body) - set(TokenDraft.__struct_fields__))
    if unknown:
        raise bad_fields({name[:64]: ["Unknown field."] for name in unknown})
    role = request_role(request)
    assert role is not None  # the permission has let it in
    by = _asking(request)
    form = TokenForm(role, {"expires_in_days": DEFAULT_DAYS} | body, by=by)
    if not form.is_valid():
        raise bad_fields({name: [str(text) for text in texts] for name, texts in form.errors.items()})
    if by and form.cleaned_data["expires_at"] > by.expires_at:
        raise bad_fields({"expires_in_days": [f"Not after the token that asks, which ends {by.expires_at:%Y-%m-%d}."]})
    return form
