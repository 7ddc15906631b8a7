"""Accelerators that an administrator names by their resource: the setting RESOURCES.

Its entries are "name=vendor:kind" or "name=vendor:kind:memory". kind: "whole", a device is a card, memory is that of a card;
"shares", several devices are one card, and how many is not known; "memory", a device is that much memory. A vendor's own system
leaves a resource to this setting where it names it.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from kube.quantity import size
from stacks.engine.base import MEMORY, SHARES, WHOLE, Context

SETTING = "RESOURCES"
_KINDS = {"whole": WHOLE, "shares": SHARES, "memory": MEMORY}
_RESOURCE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VENDOR = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
_MOST = 64
_MOST_MEMORY = 2**42


class Entry(msgspec.Struct, frozen=True):
    """One resource. memory: bytes of a card, or of a device where memory is what is counted; None when not known."""

    resource: str
    vendor: str
    mode: str
    memory: int | None = None


class BadEntry(Exception):
    """An entry of the setting cannot be read; the text names it and says what is wanted."""


def entries(text: str) -> dict[str, Entry]:
    """The resources that the setting names. Raises BadEntry."""
    found: dict[str, Entry] = {}
    for part in (item.strip() for item in text.split(",")):
        if part:
            entry = _entry(part)
            if entry.resource in found:
                raise BadEntry(f"the entry {part[:80]!r} names {entry.resource} again; leave one of them out")
            found[entry.resource] = entry
    if len(found) > _MOST:
        raise BadEntry(f"{len(found)} entries; at most {_MOST} are allowed")
    return found


def _entry(part: str) -> Entry:
    name, _, rest = part.partition("=")
    fields = rest.split(":")
    shown = f"the entry {part[:80]!r}"
    if len(fields) not in (2, 3):
        raise BadEntry(
            f"{shown} must be name=vendor:kind or name=vendor:kind:memory, like acme.example/npu=acme:whole:32Gi"
        )
    vendor, kind = fields[0].strip(), fields[1].strip()
    if not _RESOURCE.fullmatch(name.strip()):
        raise BadEntry(f"{shown} must start with the name of an extended resource, like acme.example/npu")
    if not _VENDOR.fullmatch(vendor):
        raise BadEntry(f"{shown} must have a vendor of lower case letters, digits and -, like acme")
    if kind not in _KINDS:
        raise BadEntry(f"{shown} has the kind {kind[:20]!r}; write whole, shares or memory")
    memory = size(fields[2].strip()) if len(fields) == 3 else None
    if len(fields) == 3 and not (memory and 2**20 <= memory <= _MOST_MEMORY):
        raise BadEntry(f"{shown} has the memory {fields[2][:20]!r}; write a quantity from 1Mi to 4Ti, like 32Gi")
    if kind == "memory" and memory is None:
        raise BadEntry(f"{shown} must have the memory of a device, like acme.example/npu-mem=acme:memory:1Gi")
    return Entry(name.strip(), vendor, _KINDS[kind], memory)


def named(context: Context) -> dict[str, Entry]:
    """The resources that the setting names; nothing where it cannot be read, which stops the start of the product."""
    return _named(dict(context.settings).get(SETTING, ""))


def free(context: Context, *resources: str) -> bool:
    """Whether the setting names none of these, so that a vendor's own system counts them."""
    return named(context).keys().isdisjoint(resources)


@lru_cache(maxsize=16)
def _named(text: str) -> dict[str, Entry]:
    try:
        return entries(text) if text else {}
    except BadEntry:
        return {}
