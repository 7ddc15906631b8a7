"""Environments that settings are read from: names without GPUDASH_."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SECRET = "s3cr3t-v4lue"
KEY = "k" * 50
Load = Callable[..., dict[str, Any]]


PRODUCTION = {
    "ENV": "production",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "gpu.example",
    "DATABASE_URL": "postgresql://me@h/d",
    "BROKER_URL": "redis://h:6379/0",
}

OIDC = {
    "OIDC_ISSUER": "https://dex.example.com/",
    "OIDC_CLIENT_ID": "gpudash",
    "OIDC_CLIENT_SECRET": SECRET,
    "GROUP_ROLES": "admins=admin",
}
PROXY = {
    "PROXY_USER_HEADER": "X-Auth-Request-User",
    "PROXY_GROUPS_HEADER": "X-Auth-Request-Groups",
    "TRUSTED_PROXY": "10.0.0.1",
    "GROUP_ROLES": "admins=admin",
}
