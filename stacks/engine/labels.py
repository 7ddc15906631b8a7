"""How labels of a node are read: makers of `LabelReader`s, and the forms in which labels carry memory."""

from __future__ import annotations

import re
from collections.abc import Callable

from kube.quantity import count
from stacks.engine.registry import registry
from stacks.engine.stack import LabelReader, Labels, Value

MIB = 2**20
GIB = 2**30
#: No card has more; a label that says so is not believed.
_MOST_MIB = 4 * 2**20

_WITH_UNIT = re.compile(r"([0-9]{1,9})\s*(MiB|MB|GiB|GB)?")


def first(names: tuple[str, ...], read: Callable[[str], Value | None]) -> LabelReader[Value]:
    """The first of the labels whose value `read` makes something of. read: gets a value that is not empty."""

    def reader(labels: Labels) -> tuple[Value, str] | None:
        for name in names:
            value = labels.get(name)
            made = read(value) if value else None
            if made is not None:
                return made, f"label {name}"
        return None

    return reader


def text(value: str) -> str:
    """A label as it is."""
    return value


def model_name(value: str) -> str | None:
    """A label that names a model; None where it only says that there is a card, or whose."""
    word = value.lower()
    return None if word == "true" or word in registry.vendor_words else value


def number(value: str) -> int | None:
    """A label that counts something; None when it is 0 or no number, since then it does not say."""
    return (count(value) or None) if value.isascii() and value.isdigit() else None


def mebibytes(value: str) -> int | None:
    """A label that counts MiB ("15360") in bytes; None when it is 0 or no number."""
    number = count(value) if value.isdigit() else None
    return number * MIB if number is not None and 0 < number <= _MOST_MIB else None


def labelled_memory(value: str | None) -> int | None:
    """A label that carries its unit ("16384MiB", "24GiB", a bare number is MiB) in bytes; None when it cannot be read."""
    match = _WITH_UNIT.fullmatch(value.strip()) if value else None
    if match is None:
        return None
    number = int(match[1]) * (1024 if (match[2] or "M").startswith("G") else 1)
    return number * MIB if 0 < number <= _MOST_MIB else None
