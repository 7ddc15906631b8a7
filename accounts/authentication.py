"""REST: who is asking. The middleware has looked at the bearer token already; this tells the REST framework."""

from __future__ import annotations

from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from accounts.addresses import exact_address
from accounts.bearer import BadToken, bearer_of
from runtime.scope import sees


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer gpd_<id>_<secret>`. `request.auth` is the ApiToken."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        seen: Any = request._request
        token = getattr(seen, "api_token", None)
        if token is not None:
            return seen.user, token
        try:
            bearer = bearer_of(request.headers.get("Authorization", ""), exact_address(seen))
        except BadToken as error:
            raise AuthenticationFailed(str(error)) from None
        if bearer is None:
            return None
        seen.role, seen.api_token = bearer.role, bearer.token
        sees(bearer.scope)
        return bearer.user, bearer.token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="gpudash"'
