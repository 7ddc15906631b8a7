"""Where the files are that pages load from others: put there at installation, so they may be missing."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage, staticfiles_storage

register = template.Library()


@register.simple_tag
def vendored(path: str) -> str:
    """The address of a file below static/vendor/; "" where it is not installed."""
    return _address(f"vendor/{path}")


@lru_cache(maxsize=16)
def _address(path: str) -> str:
    if isinstance(staticfiles_storage, ManifestStaticFilesStorage):
        return staticfiles_storage.url(path) if path in staticfiles_storage.hashed_files else ""
    return staticfiles_storage.url(path) if finders.find(path) else ""
