"""The way through a sign-in, for all tests of single sign-on."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

from accounts.group_roles import parsed
from gpudash.config.external_accounts import Issuer as Settings
from tests.accounts.openid.issuer import CLIENT, CLIENT_SECRET, Issuer

ROLES = "admins=admin; ops=operator:prod; more-ops=operator:lab; team=viewer:prod/team-a; all=viewer"


def use(settings: Any, url: str, **more: Any) -> None:
    given = {"name": "Company", "claim": "groups", "scopes": ("openid", "groups")} | more
    settings.OIDC = Settings(url, CLIENT, CLIENT_SECRET, **given)
    settings.SOCIALACCOUNT_PROVIDERS = settings.OIDC.providers
    settings.GROUP_ROLES = parsed(ROLES)


def asked(client: Client, after: str = "/account") -> dict[str, str]:
    """What the issuer is asked."""
    answer = client.get("/sign-in/oidc", {"next": after})
    assert answer.status_code == 302, answer.content.decode()
    return {name: value for name, [value] in parse_qs(urlsplit(answer.headers["Location"]).query).items()}


def sign_in(there: Issuer, client: Client | None = None, **claims: Any) -> Any:
    """The whole way; the issuer's token has the nonce that it was asked for."""
    client = client or Client()
    question, usual = asked(client), there.claims
    there.claims = {"nonce": question["nonce"]} | usual | claims
    answer = client.get("/sign-in/oidc/callback", {"code": "c", "state": question["state"]})
    there.claims = usual
    return answer
