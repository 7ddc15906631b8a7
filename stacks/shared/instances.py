"""Which cards a cloud instance type has: model, number, memory of each, for nodes whose plugin does not say."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from stacks.engine.names import INSTANCE_TYPE
from stacks.engine.stack import Labels, Part
from stacks.shared.instance_table import TABLES, Rows

MIB = 2**20
_SOURCE = "instance type "


class Instance(msgspec.Struct, frozen=True):
    """cards: how many the node sees. memory: bytes of each, None when the provider does not say. share: 4 for a quarter."""

    model: str
    cards: int
    memory: int | None
    share: int = 1


def instance_of(labels: Labels) -> tuple[Instance, str] | None:
    """(what the instance type has, its name in words) of a node; None when the type is not stated or not in the table."""
    for name in INSTANCE_TYPE:
        found = _TABLE.get(labels.get(name, "").lower())
        if found is not None:
            return found, _SOURCE + labels[name]
    return None


def by_instance_type(source: str) -> bool:
    """Whether something is known from the instance type alone. source: in words."""
    return source.startswith(_SOURCE)


def part(labels: Labels) -> tuple[Part, str] | None:
    """A LabelReader: what part of a card the machine has; None where it has whole ones."""
    found = instance_of(labels)
    if found is None or found[0].share == 1:
        return None
    return Part(_name(found[0]), found[0].memory), found[1]


def _name(instance: Instance) -> str:
    return instance.model if instance.share == 1 else f"{instance.model} (1/{instance.share})"


def model(labels: Labels) -> tuple[str, str] | None:
    """A LabelReader: the model of the cards, and what part of one it is."""
    found = instance_of(labels)
    return (_name(found[0]), found[1]) if found is not None else None


def memory(labels: Labels) -> tuple[int, str] | None:
    """A LabelReader: the memory of each card."""
    found = instance_of(labels)
    return (found[0].memory, found[1]) if found is not None and found[0].memory is not None else None


def cards(labels: Labels) -> tuple[int, str] | None:
    """A LabelReader: how many there are."""
    found = instance_of(labels)
    return (found[0].cards, found[1]) if found is not None else None


def _entries(prefix: str, table: dict[str, Rows]) -> Iterator[tuple[str, Instance]]:
    for name, rows in table.items():
        for types, number, mebibytes, part in rows:
            for each in types.split():
                size = mebibytes * MIB if mebibytes is not None else None
                yield (prefix + each).lower(), Instance(name, number, size, part)


_TABLE: dict[str, Instance] = {name: instance for prefix, table in TABLES for name, instance in _entries(prefix, table)}
