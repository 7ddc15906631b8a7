"""OpenID Connect: allauth asks the issuer, this says what is believed of its answer and what comes of it.

More is checked than allauth does: that the issuer is the one of the setting, that the ID token is signed by one of its keys, and
that it was made for this sign-in (nonce).
"""

from __future__ import annotations

import secrets
from typing import Any

import jwt
import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from accounts import external
from accounts.issuer import AGAIN_S, Session, published

BY = "single sign-on"
#: Signatures of key pairs. A secret that is shared (HS256) proves nothing of the issuer, "none" nothing at all.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_S = 30
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class Wrong(OAuth2Error):
    """What the issuer says is not what is wanted. The text holds no secret."""


class Failed(Exception):
    """This signs nobody in. The text says why, for the log, and holds no secret."""


def issuer() -> Any:
    """Of the setting; views ask whether there is one."""
    return settings.OIDC


def new_nonce() -> str:
    return secrets.token_urlsafe(24)


class OpenID(OpenIDConnectOAuth2Adapter):
    """The issuer of the setting. Raises requests.RequestException where it does not answer, Wrong where its answer is."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, issuer().source)

    @property
    def openid_config(self) -> dict[str, Any]:
        if not hasattr(self, "_checked"):
            self._checked = published.get(f"{issuer().url}/.well-known/openid-configuration", _configuration)
        return self._checked

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return request.build_absolute_uri(reverse("oidc-callback"))

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:
        """Only what is signed counts, so what the user info says is not asked for. E-mail addresses are not taken over."""
        claims = self.claims(str(kwargs["response"].get("id_token") or ""))
        subject = str(claims["sub"])
        if not 0 < len(subject) <= external.MOST_SUBJECT:
            raise Wrong("the subject of the ID token is empty or too long")
        account = SocialAccount(provider=issuer().source, uid=subject)
        made = SocialLogin(provider=self.get_provider(), account=account)
        made.claims = claims
        return made

    def claims(self, id_token: str) -> dict[str, Any]:
        """Of a token that this issuer has signed for this client. Raises Wrong."""
        audience = issuer().client_id
        try:
            header = jwt.get_unverified_header(id_token)
            found: dict[str, Any] = jwt.decode(
                id_token,
                self._key(header.get("kid")),
                algorithms=ALGORITHMS,
                audience=audience,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY_S,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise Wrong(f"invalid ID token ({type(error).__name__}: {error})") from error
        if isinstance(found["aud"], list) and len(found["aud"]) > 1 and found.get("azp") != audience:
            raise Wrong("the ID token belongs to another client")
        return found

    def _key(self, kid: str | None) -> Any:
        """A key that is not among those that are known may have been published since."""
        url = self.openid_config["jwks_uri"]
        try:
            return _key(jwt.PyJWKSet.from_dict(published.get(url, _json)).keys, kid)
        except jwt.PyJWTError:
            return _key(jwt.PyJWKSet.from_dict(published.get(url, _json, AGAIN_S)).keys, kid)


def _configuration(url: str) -> dict[str, Any]:
    found = _json(url)
    if str(found.get("issuer", "")).rstrip("/") != issuer().url:
        raise Wrong(f"the issuer reports another address: {str(found.get('issuer'))[:200]!r}")
    if missing := [name for name in _ENDPOINTS if not isinstance(found.get(name), str)]:
        raise Wrong(f"the issuer does not report {missing[0]}")
    return found


def _key(keys: list[Any], kid: str | None) -> Any:
    """The key of this name; the only one where a token names none."""
    fits = [key for key in keys if key.key_id == kid] if kid else keys
    if len(fits) != 1:
        raise jwt.InvalidKeyError("the issuer does not have this key")
    return fits[0]


def _json(url: str) -> dict[str, Any]:
    with get_adapter().get_requests_session() as session:
        answer = session.get(url)
        answer.raise_for_status()
        found = answer.json()
    if not isinstance(found, dict):
        raise Wrong("the response of the issuer is not a JSON object")
    return found


def groups_of(claims: dict[str, Any]) -> list[str]:
    """A list, or one name, as some issuers write it. What is neither gives nothing."""
    given = claims.get(issuer().claim)
    found = given if isinstance(given, list) else [given]
    return [one for one in found if isinstance(one, str)]


class SingleSignOn(DefaultSocialAccountAdapter):
    """What becomes of a sign-in. NotLetIn and Failed are for the view."""

    def get_requests_session(self) -> Session:
        return Session()

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        claims = sociallogin.claims
        if not sociallogin.state.get("nonce") or claims.get("nonce") != sociallogin.state["nonce"]:
            raise Failed("the ID token belongs to another sign-in (nonce)")
        name = next((claims[key] for key in ("preferred_username", "name") if isinstance(claims.get(key), str)), "user")
        user = external.account_of(issuer().source, sociallogin.account.uid, name)
        external.let_in(user, groups_of(claims), BY)
        sociallogin.user = user

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        if isinstance(exception, requests.RequestException):
            raise exception
        # The text of allauth's own error holds what the issuer answered.
        why = str(exception) if isinstance(exception, Wrong) else type(exception).__name__ if exception else error
        raise Failed(why) from None


class Accounts(DefaultAccountAdapter):
    """Signing in is ours (`external`): no mail, no message, no step in between."""

    def login(self, request: HttpRequest, user: Any) -> None:
        external.sign_in(request, user, BY)

    def get_login_stages(self) -> list[str]:
        return []

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Pages show none."""

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        """gpudash sends no mail."""
