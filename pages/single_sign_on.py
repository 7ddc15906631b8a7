"""Signing in at the issuer of `GPUDASH_OIDC_ISSUER`: there, and back."""

from __future__ import annotations

import logging

import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from accounts import openid
from accounts.external import NotLetIn
from accounts.required import open_to_all
from accounts.visitor import on_the_way

logger = logging.getLogger("gpudash.single_sign_on")


@open_to_all
@never_cache
@require_GET
def to_issuer(request: HttpRequest) -> HttpResponse:
    """A link and no form: browsers hold forms to this host (`form-action`), also where the answer leads elsewhere."""
    _wanted()
    nonce, provider = openid.new_nonce(), get_adapter(request).get_provider(request, openid.issuer().source)
    provider.oauth2_adapter_class = lambda asked, _provider_id: openid.OpenID(asked)
    try:
        answer: HttpResponse = provider.redirect(
            request, AuthProcess.LOGIN, _local(request), auth_params={"nonce": nonce}, nonce=nonce
        )
    except (requests.RequestException, OAuth2Error) as error:
        return _away(request, error)
    on_the_way(request)
    return answer


@open_to_all
@never_cache
@require_GET
def from_issuer(request: HttpRequest) -> HttpResponse:
    """What is wrong with the answer stands in the log; the page says what to do."""
    _wanted()
    try:
        answer: HttpResponse = OAuth2CallbackView.adapter_view(openid.OpenID(request))(request)
    except NotLetIn as error:
        return _page(request, 403, str(error))
    except (requests.RequestException, OAuth2Error) as error:
        return _away(request, error)
    except (openid.Failed, KeyError, TypeError, ValueError) as error:
        logger.warning("single sign-on: %s", error if isinstance(error, openid.Failed) else type(error).__name__)
        return _page(request, 400, _("Sign-in failed or timed out. Start again from the sign-in page."))
    return answer


def _wanted() -> None:
    if settings.OIDC is None:
        raise Http404


def _local(request: HttpRequest) -> str:
    target = request.GET.get("next", "")
    here = url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure())
    return target if here else resolve_url(settings.LOGIN_REDIRECT_URL)


def _away(request: HttpRequest, error: Exception) -> HttpResponse:
    """The text of a RequestException may hold an address with what it asked for."""
    logger.warning("single sign-on: %s", error if isinstance(error, openid.Wrong) else type(error).__name__)
    text = _("Sign-in with %(name)s failed. Try again, or ask an administrator.")
    return _page(request, 503, text % {"name": openid.issuer().name})


def _page(request: HttpRequest, status: int, text: str) -> HttpResponse:
    response = render(request, "access/not_signed_in.html", {"text": text}, status=status)
    response._has_been_logged = True  # type: ignore[attr-defined]  # meant so: no error for Django's log
    return response
