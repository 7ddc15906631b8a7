"""How a run is put on one card of a gpushare node: by doing what the scheduler extender does.

The extender writes on the pod which card it is to get, and gives it a node. The device plugin's Allocate then looks through the
Pending pods of the node that are assumed and not assigned, oldest first, and takes the first whose request is as large as the
container's. So annotations and node name in the pod's template choose the card, as long as no other pod of the same request waits on
the node at that moment: whether the card was really given is read from the pod afterwards (`validations.attribution`).

Both generations of annotations are written: each plugin reads its own. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from kube.objects import Pod
from stacks.engine.base import ANNOTATION_V1, ANNOTATION_V2
from stacks.engine.requests import holds
from stacks.gpushare.declared import Names, names_by
from stacks.gpushare.records import V2, V2_ASSIGNED, V2_ASSUMED, Record, record
from validations.suites.engine.family import Family, PodRecord, memory_mib
from validations.suites.engine.options import Values
from validations.suites.engine.target import Resource, Settings, Target
from wording.said import sentence

_MIB = 2**20


def _serves(resource: str, settings: Settings) -> bool:
    return resource == names_by(settings).memory


def _units(resource: Resource, values: Values, cards: int) -> int | None:
    """Memory in units of the node, rounded up."""
    if not resource.unit_bytes or resource.unit_bytes < 0:
        return None
    return -(-memory_mib(values) * _MIB // resource.unit_bytes)


def _names_card(resource: Resource, target: Target, cards: int) -> bool:
    """Whether gpudash itself puts the run on the card: one of several was asked for, and the room on it is known."""
    several = target.cards_total is None or target.cards_total > 1
    named = target.card_index is not None and target.card_free is not None
    return cards == 1 and several and named and bool(resource.unit_bytes)


def _annotations(target: Target, units: int, moment: datetime | None) -> Mapping[str, str]:
    """What the pod is assumed with. moment: now; None: long ago, so that it is served first."""
    prefix, card, assumed = names_by(target.settings).annotation, str(target.card_index), _nanoseconds(moment)
    found = {
        f"{prefix}_IDX": card,
        f"{prefix}_POD": str(units),
        f"{prefix}_ASSIGNED": "false",
        f"{prefix}_ASSUME_TIME": assumed,
        V2: msgspec.json.encode({"0": {card: units}}).decode(),
        V2_ASSIGNED: "false",
        V2_ASSUMED: assumed,
    }
    return found | ({f"{prefix}_DEV": str(target.card_units)} if target.card_units else {})


def _nanoseconds(moment: datetime | None) -> str:
    """Since 1970, as the extender writes it."""
    return "0" if moment is None else str(round(moment.timestamp() * 1_000_000) * 1000)


def _written(pod: Pod, names: Names) -> Record:
    return record(pod, names.annotation)


def _waiting(pod: Pod, settings: Settings) -> int | None:
    """Units of a pod that is assumed on a card and not assigned."""
    names = names_by(settings)
    if not holds(pod) or _written(pod, names).assigned is not False:
        return None
    containers = (pod.spec.containers if pod.spec else None) or ()
    limits = [one.resources.limits or {} for one in containers if one.resources]
    texts = [str(one.get(names.memory, "")) for one in limits]
    return sum(int(text) for text in texts if text.isascii() and text.isdigit())


def _assigned_at(pod: Pod, settings: Settings) -> datetime | None:
    """The plugin writes the time of its assignment over the time at which the pod was assumed."""
    seconds = _written(pod, names_by(settings)).assumed_at
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None


def _doubt(pod: Pod, card: str, settings: Settings) -> str:
    written = _written(pod, names_by(settings))
    if written.v2 and written.index is not None and written.index not in _indices(written):
        return sentence("The two annotations of the pod name different cards, so its card is unidentified.")
    if written.assigned is False:
        return sentence(
            "The scheduler assumed the pod on card {card}, but the device plugin never confirmed the allocation.",
            card=card,
        )
    return ""


def _indices(written: Record) -> set[int]:
    return {index for cards in written.layout.values() for index in cards}


FAMILIES = (
    Family(
        name="gpushare",
        os="linux",
        apis=("cuda",),
        rank=4,
        serves=_serves,
        counts_memory=True,
        units=_units,
        names_card=_names_card,
        annotations=_annotations,
        binds=True,
        record=PodRecord(
            evidence=(ANNOTATION_V1, ANNOTATION_V2), waiting=_waiting, assigned_at=_assigned_at, doubt=_doubt
        ),
    ),
)
