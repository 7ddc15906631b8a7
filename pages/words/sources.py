"""Where a number of a card or node is known from, in the reader's language.

A source is stored as it was made, in English: a label, an annotation, a resource, how a unit was found. Most of it is names, which
stay as they are; what stands around them is worded here when it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from django.utils.translation import get_language, gettext_lazy

_ANY = r"(.+)"
#: What a source looks like → its words; each part in brackets is a source again. The first that fits is taken.
_FORMS: tuple[tuple[re.Pattern[str], object], ...] = tuple(
    (re.compile(pattern, re.DOTALL), said)
    for pattern, said in (
        (
            rf"{_ANY} \({_ANY} is (\S+), but the values rule it out\)",
            gettext_lazy("%s (%s is %s, but the values rule it out)"),
        ),
        (rf"{_ANY}[;,] unit by (?:the )?{_ANY}", gettext_lazy("%s; unit by %s")),
        (rf"{_ANY}, unit as the scheduler counts", gettext_lazy("%s, unit as the scheduler counts")),
        (
            rf"name of the MIG profile {_ANY}, which rounds up",
            gettext_lazy("name of the MIG profile %s, which rounds up"),
        ),
        (r"MIG profile (\S+) of (.+)", gettext_lazy("MIG profile %s of %s")),
        (rf"{_ANY} ÷ {_ANY}", gettext_lazy("%s ÷ %s")),
        (r"capacity of its parts together", gettext_lazy("capacity of its parts together")),
        (r"counters of the driver's slices", gettext_lazy("counters of the driver's slices")),
        (rf"{_ANY} of its {_ANY}", gettext_lazy("%s of its %s")),
        (r"label (\S+)", gettext_lazy("label %s")),
        (r"annotation (\S+)", gettext_lazy("annotation %s")),
        (r"resource (\S+)", gettext_lazy("resource %s")),
        (r"instance type (\S+)", gettext_lazy("instance type %s")),
        (r"attribute of device (\S+)", gettext_lazy("attribute of device %s")),
        (r"capacity of device (\S+)", gettext_lazy("capacity of device %s")),
        (r"setting (\S+)", gettext_lazy("setting %s")),
        (r"vGPU name (.+)", gettext_lazy("vGPU name %s")),
        (r"(--\S+) of the device plugin on this node", gettext_lazy("%s of the device plugin on this node")),
        (r"(--\S+) of the device plugin's DaemonSet", gettext_lazy("%s of the device plugin's DaemonSet")),
        (r"(--\S+) of the device plugin", gettext_lazy("%s of the device plugin")),
        (r"rule of thumb: at most ([0-9,]+) units per card", gettext_lazy("rule of thumb: at most %s units per card")),
        (
            r"rule of thumb: more than ([0-9,]+) units per card",
            gettext_lazy("rule of thumb: more than %s units per card"),
        ),
        (r"(\w+) counts in (\w+)", gettext_lazy("%s counts in %s")),
        (r"Device of (\w+)", gettext_lazy("Device of %s")),
        (r"node total", gettext_lazy("node total")),
        (r"cards", gettext_lazy("cards")),
    )
)


def source_in_words(source: str, put: Callable[[str], str] = str, whole: Callable[[str], str] = str) -> str:
    """A stored source for a reader. What is of no known form stays as it is.

    put: what is done with each name in it; whole: with all of it, for who reads English.
    """
    if (get_language() or "en").startswith("en"):
        return whole(source)
    for pattern, said in _FORMS:
        found = pattern.fullmatch(source)
        if found:
            return str(said) % tuple(source_in_words(part, put) for part in found.groups())
    return put(source)
