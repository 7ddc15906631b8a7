"""Where a run goes: the node, its resources and the card, as plain structs that the caller fills from the mirror.

Knows nothing of tables. None means unknown.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import msgspec

from kube.objects import Taint
from validations.suites.engine.needs import Facts

#: (name without GPUDASH_, value) of the settings that sharing systems declare; one that is missing has its default.
Settings: TypeAlias = tuple[tuple[str, str], ...]


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """An extended resource of the node. allocatable and free are in the resource's own unit.

    unit_bytes: bytes of one unit where units are GPU memory; None for counted devices or when not known.
    """

    name: str
    allocatable: int | None = None
    free: int | None = None
    unit_bytes: int | None = None


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A node, and maybe one card of it.

    os: "linux" or "windows", "" when not known. hostname: value of the label kubernetes.io/hostname where it differs from
    the name. facts: versions of what is on it. stack: name of the sharing system.
    settings: those of the sharing systems, as `stacks` declares them.
    card_*: the card that was asked for, None for "any card"; card_units: its memory in the memory units of the node, card_free:
    those that nobody holds, both None when not known. cards_total: physical cards of the node. whole_cards: those of them that are
    given out whole, each to one pod: neither shared nor sliced. runtime_classes: names that the cluster has.
    tolerated: taints that a run may tolerate, as "key" or "key=value"; besides those named as a resource of the node.
    """

    node: str
    os: str = "linux"
    hostname: str = ""
    facts: Facts = Facts()
    ready: bool | None = None
    taints: tuple[Taint, ...] = ()
    stack: str = ""
    resources: tuple[Resource, ...] = ()
    settings: Settings = ()
    card_key: str | None = None
    card_index: int | None = None
    card_uuid: str | None = None
    card_units: int | None = None
    card_free: int | None = None
    cards_total: int | None = None
    whole_cards: int | None = None
    runtime_classes: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a manifest needs of a run: its id (the Job's name comes from it) and the namespace of the launcher.

    moment: when the Job is posted, with a time zone: a pod that brings its own card says it; None where that does not matter.
    """

    id: str
    namespace: str
    moment: datetime | None = None
