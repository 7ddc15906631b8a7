"""A node's conditions → what they say of its cards. Pure.

What a condition means is in a table of known types; of any other whose type speaks of GPUs it is said that its meaning is not
known, never that the cards are healthy. Sources: NVIDIA/NVSentinel at 227932c (docs and platform-connectors); azure-aks-docs
at fb060ab (gpu-health-monitoring.md, node-problem-detector.md); aws/eks-node-monitoring-agent at 51af549 (pkg/reasons);
container-engine-accelerators at 992db81 (pkg/gpu/nvidia/health_check); AMD's plugin for the node problem detector (docs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

import msgspec

from exporters import xid
from exporters.conditions import messages
from exporters.conditions.known import DCGM_AWAY, EKS_REASONS, EKS_UNKNOWN, KNOWN, NVSENTINEL, Known
from exporters.conditions.statement import (
    ACTIONS,
    DEGRADED,
    HEALTHY,
    MOST_ENTRIES,
    NOT_TOLD,
    TELLERS,
    TEXT_CHARS,
    UNHEALTHY,
    Entry,
    NamedCard,
    Statement,
)
from kube.objects import Condition
from wording.said import gettext_noop

__all__ = [
    "ACTIONS",
    "DEGRADED",
    "HEALTHY",
    "NOT_TOLD",
    "TELLERS",
    "UNHEALTHY",
    "Entry",
    "NamedCard",
    "Statement",
    "speaks_of_cards",
    "statement",
    "statements",
]

#: Types that speak of cards, whoever sets them.
_OF_CARDS = re.compile(r"gpu|xid|nvlink|accelerat|nvidia|amdgpu|npu", re.IGNORECASE)
#: Without input of nodes, as "npu" is in it.
_NOT_OF_CARDS = re.compile(r"input", re.IGNORECASE)
_TYPE_CHARS = 316
_NO_FAILURES = "No Health Failures"
_UNKNOWN_MEANING = gettext_noop("Unknown node condition about GPUs")


def statements(conditions: Iterable[Condition], boot_id: str = "") -> tuple[Statement, ...]:
    """Of each condition that speaks of cards, in order of their types. boot_id: the node's, of its `nodeInfo`; "" if not known."""
    found: dict[str, Statement] = {}
    for condition in conditions:
        said = statement(condition, boot_id)
        if said is not None and len(found) < MOST_ENTRIES:
            found.setdefault(said.type, said)
    return _unsure(tuple(found[kind] for kind in sorted(found)))


def _unsure(found: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """While DCGM does not answer, what NVSentinel's checks by DCGM found before says nothing of now."""
    away = any(said.type in DCGM_AWAY and said.state not in (HEALTHY, NOT_TOLD) for said in found)
    return tuple(
        msgspec.structs.replace(
            said, state=NOT_TOLD, headline=gettext_noop("NVSentinel: unknown, DCGM does not answer")
        )
        if away and said.said_by == "nvsentinel" and said.state == HEALTHY and said.type.startswith("Gpu")
        else said
        for said in found
    )


def statement(condition: Condition, boot_id: str = "") -> Statement | None:
    """What one condition says; None where it does not speak of cards."""
    kind = condition.type
    if not kind or len(kind) > _TYPE_CHARS:
        return None
    reason, message = condition.reason or "", condition.message or ""
    if kind in NVSENTINEL or (_speaks(kind) and reason in (f"{kind}IsNotHealthy", f"{kind}IsHealthy")):
        return _nvsentinel(condition, reason, message)
    known = KNOWN.get(kind)
    if known is None:
        return _made(condition, NOT_TOLD, "", _UNKNOWN_MEANING) if _speaks(kind) else None
    if known.teller == "gke":
        return _gke(condition, known, reason, message, boot_id)
    if known.teller == "eks":
        return _eks(condition, known, reason, message)
    return _plain(condition, known, messages.mentioned(message))


@lru_cache(maxsize=4096)
def speaks_of_cards(kind: str) -> bool:
    """Whether a condition of this type gives a statement: the mirror keeps those."""
    return 0 < len(kind) <= _TYPE_CHARS and (kind in NVSENTINEL or kind in KNOWN or _speaks(kind))


def _speaks(kind: str) -> bool:
    return _OF_CARDS.search(_NOT_OF_CARDS.sub("", kind)) is not None


def _plain(condition: Condition, known: Known, entries: tuple[Entry, ...]) -> Statement:
    if condition.status == known.good:
        return _made(condition, HEALTHY, known.teller, known.fine)
    if condition.status != known.bad:
        return _made(condition, NOT_TOLD, known.teller, known.headline)
    worst = xid.severest(code for entry in entries for code in entry.xids)
    state = UNHEALTHY if worst is not None and worst.severity == xid.CRITICAL else known.state
    return _made(condition, state, known.teller, known.headline, entries, known.action)


def _nvsentinel(condition: Condition, reason: str, message: str) -> Statement:
    """ "True" is bad. Only what it takes for fatal becomes a condition; what it takes for fatal and yet asks nothing for, and
    that only ended a program, is no fault of a card (Xid 31 in GpuMemWatch).
    """
    kind = condition.type
    known = NVSENTINEL.get(kind) or Known(
        "nvsentinel",
        gettext_noop("A check of NVSentinel failed"),
        gettext_noop("A check of NVSentinel reports no fault"),
        UNHEALTHY,
    )
    contradicts = {"True": f"{kind}IsHealthy", "False": f"{kind}IsNotHealthy"}.get(condition.status) == reason
    if contradicts or condition.status not in ("True", "False"):
        return _made(condition, NOT_TOLD, "nvsentinel", known.headline)
    if condition.status == "False":
        return _made(condition, HEALTHY, "nvsentinel", known.fine)
    entries, cut = messages.nvsentinel(kind, "" if message == _NO_FAILURES else message)
    codes = [code for entry in entries for code in entry.xids]
    harmless = (
        bool(codes)
        and not cut
        and all(not entry.action and entry.xids for entry in entries)
        and all(xid.xid(code).known and not xid.xid(code).hits_card for code in codes)
    )
    asked = [entry.action for entry in entries if entry.action]
    action = max(asked, key=_ORDER.index) if asked else ""
    state = DEGRADED if harmless else known.state
    return _made(condition, state, "nvsentinel", known.headline, entries, action or known.action, cut, bool(action))


#: NVSentinel's actions, the most far-reaching last.
_ORDER = (
    "check-node",
    "restart-process",
    "run-diagnostic",
    "reset",
    "restart-vm",
    "reboot",
    "replace-machine",
    "support",
)


def _gke(condition: Condition, known: Known, reason: str, message: str, boot_id: str) -> Statement:
    """The plugin takes the condition away once the node was started anew; until then it is of the start before."""
    entries = messages.gke(reason)
    if condition.status != "True":
        return _made(condition, NOT_TOLD, "gke", known.headline, entries or ())
    if boot_id and message and message != boot_id:
        return _made(
            condition,
            NOT_TOLD,
            "gke",
            gettext_noop("A critical Xid error occurred before the last reboot of the node"),
            entries or (),
        )
    return _made(condition, UNHEALTHY, "gke", known.headline, entries or (), known.action)


def _eks(condition: Condition, known: Known, reason: str, message: str) -> Statement:
    if condition.status == "True":
        return _made(condition, HEALTHY, "eks", known.fine)
    entries = messages.eks(reason, message)
    if condition.status != "False":
        return _made(condition, NOT_TOLD, "eks", known.headline, entries)
    for pattern, headline, state, action in EKS_REASONS:
        if pattern.fullmatch(reason):
            return _made(condition, state, "eks", headline, entries, action)
    return _made(condition, UNHEALTHY, "eks", EKS_UNKNOWN, entries, known.action)


def _made(
    condition: Condition,
    state: str,
    teller: str,
    headline: str,
    entries: tuple[Entry, ...] = (),
    action: str = "",
    cut: bool = False,
    by_teller: bool = False,
) -> Statement:
    """The statement. Where the teller names no action, NVIDIA's for the worst Xid counts, else ours."""
    action_by = ""
    if state in (HEALTHY, NOT_TOLD):
        action = ""
    elif by_teller:
        action_by = teller
    else:
        worst = xid.severest(code for entry in entries for code in entry.xids)
        if worst is not None and worst.known and worst.nvidia:
            action, action_by = worst.action, "nvidia"
        elif action:
            action_by = "gpudash"
    return Statement(
        type=condition.type,
        status=condition.status[:32],
        state=state,
        said_by=teller,
        headline=headline,
        reason=(condition.reason or "")[:TEXT_CHARS],
        message=(condition.message or "")[:TEXT_CHARS],
        since=_moment(condition.lastTransitionTime),
        action=action,
        action_by=action_by,
        entries=entries,
        cut=cut,
    )


def _moment(text: str | None) -> float | None:
    """Unix seconds of a time as the API writes it; None where it is none."""
    if not text or len(text) > 40:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None and 1970 < moment.year < 9999 else None
