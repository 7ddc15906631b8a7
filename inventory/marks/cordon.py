"""Who cordoned a node. A cordon has no author: what is known is in labels and annotations of tools, and else a hint in managedFields.

A label may be left over from an earlier cordon: where somebody else wrote `spec.unschedulable` later, that one did it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from inventory.marks.known import (
    BY,
    BY_HAND,
    CORDONED_BEFORE_UPGRADE,
    DRAINO,
    IS_CORDONED,
    KUBECTL,
    LIFTED,
    NVSENTINEL,
    OPEN_FAULTS,
    UPGRADE,
    UPGRADE_RESTS,
    UPGRADER,
    WHEN,
    WHY,
)
from inventory.marks.mark import ANNOTATION, CORDON, FIELD_MANAGER, OURS, Mark
from inventory.marks.our_cases import our_cases
from kube.objects import Node

#: A tool writes its labels and the cordon within this time.
TOGETHER = timedelta(minutes=5)
#: How NVSentinel writes a time in a label.
_STAMP = "%Y-%m-%dT%H-%M-%SZ"


class Writer(NamedTuple):
    """Who wrote `spec.unschedulable` last, by managedFields: a hint. at: RFC 3339."""

    manager: str = ""
    at: str = ""


def of(node: Node) -> Mark:
    """The mark of a cordoned node."""
    writer = last_writer(node)
    mark = _ours(node, writer) or _nvsentinel(node, writer) or _upgrade(node) or _draino(node)
    if mark is not None:
        return mark
    tool = KUBECTL if writer.manager.startswith("kubectl") else ""
    return Mark(kind=CORDON, tool=tool, by=writer.manager, hint=bool(writer.manager), since=writer.at, blocks=True)


def foreign(node: Node) -> bool:
    """Whether somebody besides us is known to keep the node cordoned: its last writer, or a tool that has claimed it since our mark.

    A claim of before, when the node was schedulable, is a leftover.
    """
    writer = last_writer(node)
    if writer.manager not in ("", FIELD_MANAGER) or _upgrade(node) is not None:
        return True
    claims = [one for one in (_nvsentinel(node, writer), _draino(node)) if one is not None]
    ours = min(
        (one.at for one in our_cases((node.metadata.annotations or {}).get(ANNOTATION)) if one.cordons), default=""
    )
    return any(not one.since or not ours or one.since >= ours for one in claims)


def last_writer(node: Node) -> Writer:
    """The one of the latest entry that has the field."""
    raw = node.metadata.managedFields
    try:
        entries = msgspec.json.decode(raw) if bytes(raw) else []
    except (msgspec.DecodeError, RecursionError):
        return Writer()
    found = [
        Writer(str(one.get("manager") or ""), str(one.get("time") or ""))
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, dict) and _has_it(one.get("fieldsV1"))
    ]
    return max(found, key=lambda one: one.at, default=Writer())


def _has_it(fields: Any) -> bool:
    spec = fields.get("f:spec") if isinstance(fields, dict) else None
    return isinstance(spec, dict) and "f:unschedulable" in spec


def _ours(node: Node, writer: Writer) -> Mark | None:
    cases = [one for one in our_cases((node.metadata.annotations or {}).get(ANNOTATION)) if one.cordons]
    if not cases or writer.manager not in ("", FIELD_MANAGER):
        return None
    first = cases[0]
    return Mark(kind=CORDON, tool=OURS, by=first.by, reason=first.reason, since=first.at, case=first.id, blocks=True)


def _nvsentinel(node: Node, writer: Writer) -> Mark | None:
    labels, annotations = node.metadata.labels or {}, node.metadata.annotations or {}
    prefix = next((name.removesuffix(BY) for name in labels if name.endswith(BY)), None)
    since = _moment(labels.get(f"{prefix}{WHEN}", ""), _STAMP) if prefix else None
    lifted = _moment(labels.get(f"{prefix}{LIFTED}", ""), _STAMP) if prefix else None
    by_hand = annotations.get(BY_HAND, "").lower() == "true"
    said = prefix is not None or annotations.get(IS_CORDONED, "").lower() == "true"
    if not said or by_hand or (since and lifted and lifted >= since) or _later(writer, since):
        return None
    return Mark(
        kind=CORDON,
        tool=NVSENTINEL,
        key=f"{prefix}{BY}" if prefix else IS_CORDONED,
        by=labels.get(f"{prefix}{BY}", "") if prefix else "",
        reason=labels.get(f"{prefix}{WHY}", "") or annotations.get(OPEN_FAULTS, ""),
        since=f"{since:%Y-%m-%dT%H:%M:%SZ}" if since else writer.at,
        blocks=True,
    )


def _later(writer: Writer, since: datetime | None) -> bool:
    """Whether kubectl cordoned it well after the tool says that it did."""
    at = _moment(writer.at, "%Y-%m-%dT%H:%M:%SZ")
    return writer.manager.startswith("kubectl") and at is not None and since is not None and at - since > TOGETHER


def _upgrade(node: Node) -> Mark | None:
    state = (node.metadata.labels or {}).get(UPGRADE, "")
    before = (node.metadata.annotations or {}).get(CORDONED_BEFORE_UPGRADE, "").lower() == "true"
    # The first state is written before the cordon.
    if before or state in UPGRADE_RESTS or state == "upgrade-required":
        return None
    return Mark(kind=CORDON, tool=UPGRADER, key=UPGRADE, value=state, blocks=True)


def _draino(node: Node) -> Mark | None:
    for one in (node.status.conditions if node.status else None) or ():
        if one.type == "DrainScheduled" and one.status == "True":
            return Mark(
                kind=CORDON,
                tool=DRAINO,
                key=one.type,
                reason=one.message or "",
                since=one.lastTransitionTime or "",
                blocks=True,
            )
    return None


def _moment(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        return None
