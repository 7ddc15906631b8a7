"""Settings of accounts that somebody else keeps: OpenID Connect, a proxy that signs in, and what their groups are here."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from accounts.group_roles import Granted, parsed
from gpudash.config import env
from gpudash.config.env import BadSetting

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Issuer:
    """Who signs people in. url: without a slash at its end. claim: where the groups stand in the ID token."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    claim: str
    scopes: tuple[str, ...]

    @property
    def source(self) -> str:
        """What accounts of this issuer are known by. The same subject of another issuer is somebody else."""
        return f"oidc-{hashlib.sha256(self.url.encode()).hexdigest()[:32]}"

    @property
    def providers(self) -> dict[str, Any]:
        """As allauth wants it."""
        app = {
            "provider_id": self.source,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.client_secret,
            "settings": {"server_url": self.url, "oauth_pkce_enabled": True, "scope": list(self.scopes)},
        }
        return {"openid_connect": {"APPS": [app]}}


def issuer(production: bool) -> Issuer | None:
    """None where there is none. Raises BadSetting."""
    url = env.text("GPUDASH_OIDC_ISSUER").rstrip("/")
    client = {
        "GPUDASH_OIDC_CLIENT_ID": env.text("GPUDASH_OIDC_CLIENT_ID"),
        "GPUDASH_OIDC_CLIENT_SECRET": env.text("GPUDASH_OIDC_CLIENT_SECRET"),
    }
    for name, value in client.items():
        if value and not url:
            raise BadSetting(name, "requires GPUDASH_OIDC_ISSUER, the address of the issuer")
        if url and not value:
            raise BadSetting(name, "must be set together with GPUDASH_OIDC_ISSUER")
    scopes = tuple(env.text("GPUDASH_OIDC_SCOPES", "openid profile").replace(",", " ").split())
    name, claim = env.text("GPUDASH_OIDC_NAME", "single sign-on"), env.text("GPUDASH_OIDC_GROUPS_CLAIM", "groups")
    if not url:
        return None
    _check_address(url, production)
    if "openid" not in scopes:
        raise BadSetting("GPUDASH_OIDC_SCOPES", "must contain the scope openid")
    return Issuer(
        url,
        client["GPUDASH_OIDC_CLIENT_ID"],
        client["GPUDASH_OIDC_CLIENT_SECRET"],
        name,
        claim,
        scopes,
    )


def _check_address(url: str, production: bool) -> None:
    try:
        parts = urlsplit(url)
        whole = bool(parts.hostname) and parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        whole, parts = False, urlsplit("")
    if not whole or parts.scheme not in ("http", "https") or "/.well-known/" in url:
        raise BadSetting(
            "GPUDASH_OIDC_ISSUER", "must be the address that the issuer reports, such as https://dex.example.com"
        )
    if parts.scheme == "http" and production and parts.hostname not in _LOOPBACK:
        raise BadSetting("GPUDASH_OIDC_ISSUER", "must be https:// in production")


@dataclass(frozen=True)
class ProxyHeaders:
    """What a proxy that signs in tells: names of headers. groups: "" where it tells none."""

    user: str
    groups: str


def proxy_headers(proxy: str) -> ProxyHeaders | None:
    """None where no proxy signs in. proxy: GPUDASH_TRUSTED_PROXY. Raises BadSetting."""
    user, groups = env.text("GPUDASH_PROXY_USER_HEADER"), env.text("GPUDASH_PROXY_GROUPS_HEADER")
    for name, value in (("GPUDASH_PROXY_USER_HEADER", user), ("GPUDASH_PROXY_GROUPS_HEADER", groups)):
        if value and not _HEADER.fullmatch(value):
            raise BadSetting(name, "must be the name of a header, such as X-Auth-Request-User")
    if bool(user) != bool(groups):
        missing = "GPUDASH_PROXY_USER_HEADER" if groups else "GPUDASH_PROXY_GROUPS_HEADER"
        raise BadSetting(missing, "must also be set: the proxy sends the user in one header and the groups in another")
    if user and proxy in ("", "*"):
        raise BadSetting(
            "GPUDASH_PROXY_USER_HEADER",
            "requires the address of the proxy in GPUDASH_TRUSTED_PROXY (not *); otherwise any client could send the header",
        )
    return ProxyHeaders(user, groups) if user else None


def group_roles(wanted: bool) -> dict[str, Granted]:
    """What groups give. wanted: somebody tells groups. Raises BadSetting."""
    name = "GPUDASH_GROUP_ROLES"
    try:
        found = parsed(env.text("GPUDASH_GROUP_ROLES"))
    except ValueError as error:
        raise BadSetting(name, str(error)) from None
    if wanted and not found:
        raise BadSetting(name, "must be set to give roles to groups, for example gpu-admins=admin; gpu-users=viewer")
    return found


def local_accounts(others: bool) -> bool:
    """Whether passwords sign in. others: there is another way in. Raises BadSetting."""
    on = env.flag("GPUDASH_LOCAL_ACCOUNTS", True)
    if not on and not others:
        raise BadSetting(
            "GPUDASH_LOCAL_ACCOUNTS",
            "false requires GPUDASH_OIDC_ISSUER or GPUDASH_PROXY_USER_HEADER for sign-in",
        )
    return on
