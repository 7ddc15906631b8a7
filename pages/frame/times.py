"""Moments as pages write them: in the reader's time zone, which Django has for the request, with UTC beside it in tooltips."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone

from resources.moments import zone_name

_FORM = "%Y-%m-%d %H:%M"


def text(at: datetime, *, seconds: bool = False) -> str:
    """2026-11-22 15:40, for places that say elsewhere in which zone."""
    return timezone.localtime(at).strftime(_FORM + (":%S" if seconds else ""))


def short(at: datetime) -> str:
    """11-22 15:40."""
    return timezone.localtime(at).strftime("%m-%d %H:%M")


def with_zone(at: datetime, *, seconds: bool = False) -> str:
    """2026-11-22 15:40 UTC."""
    return f"{text(at, seconds=seconds)} {zone_name(at)}"


def tooltip(at: datetime) -> str:
    """To the second, in the reader's zone and in UTC: once where these are the same."""
    utc = at.astimezone(UTC).strftime(f"{_FORM}:%S UTC")
    return utc if _is_utc(at) else f"{with_zone(at, seconds=True)} · {utc}"


def zone_words() -> str:
    """In which zone the times of a page are: "UTC", "Asia/Shanghai (UTC+08:00)"."""
    offset = timezone.localtime().strftime("%z")
    name = timezone.get_current_timezone_name()
    return name if name == "UTC" else f"{name} (UTC{offset[:3]}:{offset[3:5]})"


def _is_utc(at: datetime) -> bool:
    return timezone.localtime(at).tzname() == "UTC"
