"""What lies behind one resource of NVIDIA's plugin, and what is said where labels do not fit it."""

from __future__ import annotations

import msgspec

from stacks.engine.base import WARNING, Finding
from stacks.engine.describe import Described
from stacks.engine.offers import Offer
from wording.said import sentence


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """What lies behind one resource name.

    cards: how many whole cards or slices, None when it cannot be known. replicas: slots of each (1: not shared), None when not
    known. stated: whether the node names the resource, readably or not. about: model and memory of each. profile: of slices.
    boards: of how many cards, None when not known. grain: parts of memory are multiples of so many bytes.
    """

    resource: str
    offer: Offer
    mode: str
    cards: int | None
    replicas: int | None
    stated: bool = True
    about: Described = Described()
    profile: str = ""
    boards: int | None = None
    grain: int = 1
    findings: tuple[Finding, ...] = ()


def without_memory(about: Described) -> Described:
    """The labels speak of cards of one kind, and there are others."""
    return msgspec.structs.replace(about, memory_bytes=None, memory_source="")


def disagree(resource: str, slots: int | None, said: str, cards: int | None, discovered: bool) -> Finding:
    """`labels-disagree`: what labels say does not fit the capacity. discovered: labels of GPU Feature Discovery are among them."""
    whoever = (
        sentence("Restart GPU Feature Discovery on this node")
        if discovered
        else sentence("Check which cards the driver of this node lists")
    )
    held = sentence("the number of cards is unknown") if cards is None else sentence("cards: {cards}", cards=cards)
    text = sentence(
        "{resource}: capacity {slots}, but {labels}. gpudash uses the capacity ({result}). {action}, or set the "
        "annotation gpudash.io/card-count.",
        resource=resource,
        slots=slots,
        labels=said,
        result=held,
        action=whoever,
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)
