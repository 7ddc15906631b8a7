"""The marks of a node. Never raises, whatever the node says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from inventory.marks import cordon
from inventory.marks.known import (
    CONDITIONS,
    CORDON_TAINT,
    GCM,
    GCM_CONDITION,
    LABELS,
    UPGRADE,
    UPGRADE_RESTS,
    tool_of_taint,
)
from inventory.marks.mark import ANNOTATION, CONDITION, LABEL, OURS, TAINT, TAINTED, Mark
from inventory.marks.our_cases import OurCase, our_cases
from kube.objects import Node, Taint

_KEEPS_AWAY = ("NoSchedule", "NoExecute")
#: Marks of one node that are kept, and characters of a text of others.
MOST, LONGEST = 50, 500


def marks(node: Node, tolerated: Iterable[str] = ()) -> list[Mark]:
    """All of them, those that keep pods away first. tolerated: taints that GPU pods carry, as "key" or "key=value"."""
    found = [
        *_cordon(node),
        *_taints(node, frozenset(one.lower() for one in tolerated)),
        *_conditions(node),
        *_labels(node),
    ]
    found.sort(key=lambda one: not one.blocks)
    return [_clean(one) for one in found[:MOST]]


def upgrade_under_way(node: Node) -> str:
    """The state of a driver upgrade that has begun or is to begin; "" for none."""
    state = (node.metadata.labels or {}).get(UPGRADE, "")
    return "" if state in UPGRADE_RESTS else state


def _cordon(node: Node) -> Iterator[Mark]:
    if node.spec is not None and node.spec.unschedulable:
        yield cordon.of(node)


def _taints(node: Node, tolerated: frozenset[str]) -> Iterator[Mark]:
    ours = our_cases((node.metadata.annotations or {}).get(ANNOTATION))
    for taint in (node.spec.taints if node.spec else None) or ():
        keeps = taint.effect in _KEEPS_AWAY
        if taint.key == TAINT:
            yield from _of_ours(taint, keeps, ours)
        elif taint.key != CORDON_TAINT and not _ordinary(node, taint, tolerated):
            tool = tool_of_taint(taint.key)
            if tool or keeps:
                yield _taint(taint, tool, keeps)


def _taint(taint: Taint, tool: str, keeps: bool) -> Mark:
    return Mark(
        kind=TAINTED,
        tool=tool,
        key=taint.key,
        value=taint.value or "",
        effect=taint.effect,
        since=taint.timeAdded or "",
        blocks=keeps,
    )


def _of_ours(taint: Taint, keeps: bool, cases: list[OurCase]) -> Iterator[Mark]:
    """One for each case that the annotation names; one for the taint alone where there is none."""
    made = _taint(taint, OURS, keeps)
    for one in cases or [OurCase(id=taint.value or "")]:
        yield msgspec.structs.replace(made, case=one.id, by=one.by, reason=one.reason, since=one.at)


def _ordinary(node: Node, taint: Taint, tolerated: frozenset[str]) -> bool:
    """A taint that GPU nodes have always: of a resource of the node, or one that the installation tolerates."""
    written = (taint.key.lower(), f"{taint.key}={taint.value or ''}".lower())
    offered = ((node.status.allocatable if node.status else None) or {}).keys()
    declared = ((node.status.capacity if node.status else None) or {}).keys()
    return not tolerated.isdisjoint(written) or taint.key in offered or taint.key in declared


def _conditions(node: Node) -> Iterator[Mark]:
    for one in (node.status.conditions if node.status else None) or ():
        known = CONDITIONS.get(one.type)
        begin, end = GCM_CONDITION
        tool, bad = known or (GCM if one.type.startswith(begin) and one.type.endswith(end) else "", "True")
        if tool and one.status == bad:
            why = ": ".join(filter(None, (one.reason, one.message)))
            yield Mark(
                kind=CONDITION,
                tool=tool,
                key=one.type,
                value=one.status,
                reason=why,
                since=one.lastTransitionTime or "",
            )


def _labels(node: Node) -> Iterator[Mark]:
    labels = node.metadata.labels or {}
    for key, known in LABELS.items():
        if (value := labels.get(key, "")) not in known.good:
            yield Mark(
                kind=LABEL,
                tool=known.tool,
                key=key,
                value=value,
                reason=labels.get(known.reason, ""),
                blocks=value.startswith(known.blocks),
            )


def _clean(mark: Mark) -> Mark:
    """Of a length that a page can show, and without NUL, which no database takes."""
    texts = ("key", "value", "effect", "by", "reason", "since", "case", "tool")
    changed = {
        name: text.replace("\0", "")[:LONGEST]
        for name in texts
        if len(text := getattr(mark, name)) > LONGEST or "\0" in text
    }
    return msgspec.structs.replace(mark, **changed) if changed else mark
