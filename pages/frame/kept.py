"""Parameters of a list that its form has no field for, in words: what stands in the chips above the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from pages.frame.worded import named
from resources import moments

#: Said elsewhere on the page: by the time above the list, by its length, by the tab, by the panel of owners.
_SAID = frozenset((*moments.NAMES, "page_size", "by", "columns", "group", "waste"))


class Kept(NamedTuple):
    """url: the page without it. text: "" for what is said elsewhere."""

    name: str
    value: str
    url: str
    text: str


def kept_text(name: str, value: str, titles: Mapping[str, str], words: Mapping[str, Callable[[str], str]]) -> str:
    """titles: order → heading of its column. words: of the list's own parameters."""
    if name in _SAID:
        return ""
    if name in words and (told := words[name](value)):
        return told
    if name == "ordering":
        return _ordering(value, titles)
    if name in ("ended", "removed"):
        return {"any": _("current and past"), "true": _("past only"), "false": _("current only")}.get(value, value)
    if value in ("true", "false", "any") and (told_of := _states().get(name)):
        return told_of[value]
    return f"{_names().get(name, name)}: {value}"


def parameter(name: str) -> SafeString:
    """What a parameter of a list is called; one without words is its own name."""
    word = _names().get(name)
    return escape(word) if word is not None else named(name)


def _states() -> dict[str, dict[str, str]]:
    """What a choice between yes and no means."""
    return {
        "terminating": {"true": _("is terminating"), "false": _("is not terminating"), "any": _("terminating or not")},
        "pending": {"true": _("pending"), "false": _("has a node"), "any": _("pending or not")},
        "own_image": {
            "true": _("the suite's own image"),
            "false": _("not the suite's own image"),
            "any": _("any image"),
        },
        "active": {"true": _("has not ended"), "false": _("has ended"), "any": _("ended or not")},
    }


def _ordering(value: str, titles: Mapping[str, str]) -> str:
    told = []
    for one in value.split(","):
        title = titles.get(one.removeprefix("-")) or one.removeprefix("-")
        form = _("%(column)s, descending") if one.startswith("-") else "%(column)s"
        told.append(form % {"column": title})
    return _("sorted by %(columns)s") % {"columns": "; ".join(told)}


def _names() -> dict[str, str]:
    return {
        "node": _("node"),
        "pod": _("pod"),
        "owner": _("owner"),
        "namespace": _("namespace"),
        "card": _("card"),
        "model": _("model"),
        "card_id": _("card"),
        "uuid": _("card"),
        "profile": _("slice profile"),
        "pool": _("pool"),
        "stack": _("stack"),
        "mode": _("allocation mode"),
        "phase": _("phase"),
        "state": _("state"),
        "cluster": _("cluster"),
        "suite": _("suite"),
        "os": _("operating system"),
        "zone": _("zone"),
        "instance_type": _("instance type"),
        "container": _("container"),
        "resource": _("resource name"),
        "component": _("component"),
        "reason": _("reason"),
        "driver": _("driver"),
        "campaign": _("campaign"),
        "policy": _("policy"),
    }
