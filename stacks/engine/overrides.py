"""What an administrator has written on a node because nothing else says it: annotations `gpudash.io/*`.

`memory-unit` (GiB or MiB), `card-count`, `card-model`, `card-memory` (a quantity), `policies` (on or off). They come first of all
sources. A value
that cannot be read is a finding and is then ignored.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node
from kube.quantity import count, size
from stacks.engine.base import WARNING, Finding
from stacks.engine.names import MAX_CARDS, OVERRIDE_PREFIX
from wording.said import sentence

UNIT = OVERRIDE_PREFIX + "memory-unit"
COUNT = OVERRIDE_PREFIX + "card-count"
MODEL = OVERRIDE_PREFIX + "card-model"
MEMORY = OVERRIDE_PREFIX + "card-memory"
POLICIES = OVERRIDE_PREFIX + "policies"
ALL = (UNIT, COUNT, MODEL, MEMORY, POLICIES)

#: A card's memory below this is a slip of the pen ("24" for "24Gi"), not a card.
_LEAST_MEMORY = 64 * 2**20
_MOST_MEMORY = 2**42
_LONGEST_MODEL = 200
_SWITCH = {"on": "on", "off": "off"}
_UNITS = {"gib": "GiB", "mib": "MiB"}


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """The readable overrides of one node (None: not set or not readable), and a finding for each that is not readable."""

    unit: str | None = None
    cards: int | None = None
    model: str | None = None
    memory_bytes: int | None = None
    findings: tuple[Finding, ...] = ()


_NONE = Overrides()


def overrides(node: Node) -> Overrides:
    """Read the overrides of a node. Never raises."""
    annotations = node.metadata.annotations
    if not annotations or not any(name in annotations for name in ALL):
        return _NONE
    values = {
        UNIT: _UNITS.get(annotations.get(UNIT, "").strip().lower()),
        COUNT: _cards(annotations.get(COUNT, "")),
        MODEL: _model(annotations.get(MODEL, "")),
        MEMORY: _memory(annotations.get(MEMORY, "")),
        POLICIES: _SWITCH.get(annotations.get(POLICIES, "").strip().lower()),
    }
    unit, model = values[UNIT], values[MODEL]
    cards, memory = values[COUNT], values[MEMORY]
    return Overrides(
        unit=unit if isinstance(unit, str) else None,
        cards=cards if isinstance(cards, int) else None,
        model=model if isinstance(model, str) else None,
        memory_bytes=memory if isinstance(memory, int) else None,
        findings=tuple(_bad(name, annotations[name]) for name in ALL if name in annotations and values[name] is None),
    )


def policies_off(node: Node) -> bool:
    """Whether the node is left alone by policies. A value that cannot be read counts as "off": who writes one wants no runs."""
    annotations = node.metadata.annotations or {}
    return POLICIES in annotations and _SWITCH.get(annotations[POLICIES].strip().lower()) != "on"


_EXPECTED = {
    UNIT: sentence('"GiB" or "MiB"'),
    COUNT: sentence("an integer from 0 to {max_cards}", max_cards=MAX_CARDS),
    MODEL: sentence("a name of at most {longest_model} characters", longest_model=_LONGEST_MODEL),
    MEMORY: sentence('the memory of one card as a quantity, such as "24Gi"'),
    POLICIES: sentence('"on" or "off"; until then no policy starts runs on the node'),
}


def _bad(name: str, value: str) -> Finding:
    shown = value if len(value) <= 40 else value[:40] + "…"
    text = sentence(
        "The annotation {name} of this node is {shown}. gpudash ignores it. It must be {expected}.",
        name=name,
        shown=f"{shown!r}",
        expected=_EXPECTED[name],
    )
    return Finding(code="override-unreadable", severity=WARNING, text=text)


def _cards(text: str) -> int | None:
    number = count(text.strip()) if text.strip().isdigit() else None
    return number if number is not None and number <= MAX_CARDS else None


def _memory(text: str) -> int | None:
    number = size(text.strip())
    return number if number is not None and _LEAST_MEMORY <= number <= _MOST_MEMORY else None


def _model(text: str) -> str | None:
    name = text.strip()
    return name if name and len(name) <= _LONGEST_MODEL and name.isprintable() else None
