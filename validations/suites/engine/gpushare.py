"""How a run is put on one card of a gpushare node: by doing what the scheduler extender does.

The extender writes on the pod which card it is to get, and gives it a node. The device plugin's Allocate then looks through the
Pending pods of the node that are assumed and not assigned, oldest first, and takes the first whose request is as large as the
container's. So annotations and node name in the pod's template choose the card, as long as no other pod of the same request waits on
the node at that moment: whether the card was really given is read from the pod afterwards (`validations.attribution`).

Both generations of annotations are written: each plugin reads its own. Pure.
"""

from __future__ import annotations

import copy
from datetime import datetime
from typing import Any

import msgspec

from validations.suites.engine.target import Resource, Target

V2 = "scheduler.framework.gpushare"
_V2_ASSUMED = f"{V2}.assume-time"
_ASSUMED = "_ASSUME_TIME"


def chooses(resource: Resource, target: Target, cards: int) -> bool:
    """Whether gpudash itself puts the run on the card: one of several was asked for, and the room on it is known."""
    several = target.cards_total is None or target.cards_total > 1
    named = target.card_index is not None and target.card_free is not None
    return cards == 1 and several and named and bool(resource.unit_bytes)


def assumption(target: Target, units: int, moment: datetime | None) -> dict[str, str]:
    """What the pod is assumed with. units: of the whole pod. moment: now; None: long ago, so that it is served first."""
    prefix, card, assumed = target.memory_annotation, str(target.card_index), nanoseconds(moment)
    found = {
        f"{prefix}_IDX": card,
        f"{prefix}_POD": str(units),
        f"{prefix}_ASSIGNED": "false",
        f"{prefix}{_ASSUMED}": assumed,
        f"{V2}.allocation": msgspec.json.encode({"0": {card: units}}).decode(),
        f"{V2}.assigned": "false",
        _V2_ASSUMED: assumed,
    }
    return found | ({f"{prefix}_DEV": str(target.card_units)} if target.card_units else {})


def assumed(manifest: dict[str, Any]) -> bool:
    """Whether the Job's pod brings its own node and card."""
    return bool(_template(manifest).get("spec", {}).get("nodeName"))


def assumed_at(manifest: dict[str, Any], moment: datetime) -> dict[str, Any]:
    """The same Job, its pod assumed at another moment: the plugin serves the oldest first, so the moment is that of the creation."""
    if not assumed(manifest):
        return manifest
    made = copy.deepcopy(manifest)
    written = _template(made)["metadata"].get("annotations", {})
    for name in written:
        if name == _V2_ASSUMED or name.endswith(_ASSUMED):
            written[name] = nanoseconds(moment)
    return made


def nanoseconds(moment: datetime | None) -> str:
    """Since 1970, as the extender writes it."""
    return "0" if moment is None else str(round(moment.timestamp() * 1_000_000) * 1000)


def _template(manifest: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = manifest.get("spec", {}).get("template", {})
    return found
