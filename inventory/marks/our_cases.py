"""What our annotation says, whoever wrote it last."""

from __future__ import annotations

from typing import Any

import msgspec


class OurCase(msgspec.Struct, frozen=True, kw_only=True):
    """cordons: that case is to have cordoned the node, which was schedulable before."""

    id: str
    by: str = ""
    at: str = ""
    reason: str = ""
    cordons: bool = False


def our_cases(text: str | None) -> list[OurCase]:
    """[] for no annotation and for one that is not ours to read. Texts are without NUL, which no database takes."""
    try:
        found = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        return []
    cases = found.get("cases") if isinstance(found, dict) else None
    return [_case(one) for one in cases if isinstance(one, dict) and one.get("id")] if isinstance(cases, list) else []


def _case(one: dict[str, Any]) -> OurCase:
    was = one.get("was")
    schedulable = isinstance(was, dict) and was.get("unschedulable") is False
    texts = {name: str(one.get(name) or "").replace("\0", "") for name in ("id", "by", "at", "reason")}
    return OurCase(**texts, cordons=one.get("how") == "cordon" and schedulable)
