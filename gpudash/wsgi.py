"""The WSGI application. Below a base path it takes addresses with and without it, so a proxy may cut it off or leave it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    environ["PATH_INFO"] = _below(environ.get("PATH_INFO", ""), settings.BASE_PATH)
    return _django(environ, start_response)


def _below(path: str, base: str) -> str:
    """ "/gpudash/nodes" below "/gpudash/" is "/nodes"."""
    if base == "/" or not f"{path}/".startswith(base):
        return path
    return path[len(base) - 1 :] or "/"
