"""What a module of a stack must declare, and what only one may have."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping

from stacks.engine.components import FURTHER_KEYS, LABEL_KEYS
from stacks.engine.fitting import Way
from stacks.engine.setup import Setup
from stacks.engine.software.base import SoftwareOf
from stacks.engine.stack import Components, ConfigMaps, Entry, Kept, NodeLabels, Recognised, Refusal, Stack, ToolOutput


def check(declared: Mapping[str, Recognised]) -> None:
    """declared: module → its declaration. Raises AssertionError, which names the module and the attribute."""
    before: dict[str, Recognised] = {}
    for path, one in declared.items():
        attribute, checks = ("STACK", _STACK) if isinstance(one, Stack) else ("RECOGNISED", _RECOGNISED)
        _check(path, attribute, one, checks)
        _check_components(path, one)
        for other in before:
            _check_apart(path, one, other, before[other])
        before[path] = one


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: object) -> bool:
    return isinstance(value, tuple) and all(_text(item) for item in value)


def _is(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def _named(kind: type) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, Mapping) and all(_text(name) and isinstance(item, kind) for name, item in value.items())
    )


def _callable_or_none(value: object) -> bool:
    return value is None or callable(value)


def _refusals(value: object) -> bool:
    try:
        return isinstance(value, tuple) and all(isinstance(one, Refusal) and re.compile(one.pattern) for one in value)
    except re.error:
        return False


def _ways(value: object) -> bool:
    if not isinstance(value, tuple) or not all(isinstance(one, Way) and _text(one.rule) for one in value):
        return False
    return len({one.name for one in value}) == len(value)


#: attribute → (whether a value will do, what it must be).
_Checks = Mapping[str, tuple[Callable[[object], bool], str]]
_TEXTS = (_texts, "a tuple of texts")
_RECOGNISED: _Checks = {
    "name": (_text, "a text that is not empty"),
    "resource_prefixes": _TEXTS,
    "resource_words": _TEXTS,
    "node_labels": (_is(NodeLabels), "NodeLabels"),
    "components": (_is(Components), "Components"),
    "software": (_is(SoftwareOf), "SoftwareOf"),
}
_STACK: _Checks = {
    **_RECOGNISED,
    "label": (_text, "a text that is not empty"),
    "resources": _TEXTS,
    "read": (callable, "a function"),
    "owns": (_callable_or_none, "a function or None"),
    "marks": (_callable_or_none, "a function or None"),
    "concerns": (_callable_or_none, "a function or None"),
    "takes": _TEXTS,
    "counts_here": (_callable_or_none, "a function or None"),
    "divides": _TEXTS,
    "names_cards": (_callable_or_none, "a function or None"),
    "in_bytes": _TEXTS,
    "slots": _TEXTS,
    "uncounted_resources": _TEXTS,
    "kept": (_is(Kept), "Kept"),
    "settings": (_named(str), "names of settings with their defaults"),
    "findings": (_named(Entry), "codes with their entries"),
    "config_maps": (lambda value: value is None or isinstance(value, ConfigMaps), "ConfigMaps or None"),
    "daemonsets_for": (_is(str), "a text"),
    "devices_for": (_is(str), "a text"),
    "terminating": (_is(str), "a text"),
    "refusals": (_refusals, "a tuple of Refusal with patterns that compile"),
    "memory_of": (callable, "a function"),
    "ways": (_ways, "a tuple of Ways, each with a name of its own"),
    "report": (lambda value: value is None or isinstance(value, ToolOutput), "a ToolOutput or None"),
    "setup": (lambda value: value is None or (isinstance(value, Setup) and _text(value.name)), "a Setup or None"),
}


def _check(path: str, attribute: str, declared: Recognised, checks: _Checks) -> None:
    for field in dataclasses.fields(declared):
        good, wanted = checks[field.name]
        if not good(getattr(declared, field.name)):
            raise AssertionError(f"{path}: {attribute}.{field.name} must be {wanted}")
    if isinstance(declared, Stack) and not declared.resources and declared.concerns is None:
        wanted = "must be a tuple with the name of a resource at least, unless there is a function `concerns`"
        raise AssertionError(f"{path}: {attribute}.resources {wanted}")
    for wanted in ("marks", "counts_here"):
        if getattr(declared, "takes", ()) and getattr(declared, wanted, None) is None:
            raise AssertionError(
                f"{path}: {attribute}.{wanted} must be a function, since {attribute}.takes names resources"
            )


def _check_components(path: str, stack: Recognised) -> None:
    parts = stack.components
    strange = [key for key in (*parts.by_label, *parts.by_ending) if key not in LABEL_KEYS]
    strange += [key for key, _ in parts.divided.values() if key not in FURTHER_KEYS]
    if strange:
        raise AssertionError(
            f"{path}: components have the key {strange[0]!r}, which is none of LABEL_KEYS or FURTHER_KEYS"
        )
    known = {part for values in (*parts.by_label.values(), *parts.by_ending.values()) for part in values.values()}
    for name in ("device_plugins", "daemonsets", "commands"):
        unknown = [part for part in getattr(parts, name) if part not in known]
        if unknown:
            raise AssertionError(f"{path}: STACK.components.{name} names {unknown[0]!r}, which by_label does not")


def _pairs(stack: Recognised) -> set[str]:
    return {f"{key}={value}" for key, values in stack.components.by_label.items() for value in values}


def _of_setup(stack: Stack) -> set[str]:
    """The word that chooses it, and the maker that it speaks for."""
    made = stack.setup
    return set() if made is None else {made.name, *([made.maker.name] if made.maker is not None else [])}


def _check_apart(path: str, declared: Recognised, before: str, other: Recognised) -> None:
    """What only one may have: the name, resources, labels of components, settings, codes of findings, words of setups."""
    same: dict[str, set[str]] = {
        "name": {declared.name} & {other.name},
        "components": _pairs(declared) & _pairs(other),
    }
    if isinstance(declared, Stack) and isinstance(other, Stack):
        same["resources"] = set(declared.resources) & set(other.resources)
        same["settings"] = set(declared.settings) & set(other.settings)
        same["findings"] = set(declared.findings) & set(other.findings)
        same["setup"] = _of_setup(declared) & _of_setup(other)
        same["ways"] = {way.name for way in declared.ways} & {way.name for way in other.ways}
    for attribute, shared in same.items():
        if shared:
            raise AssertionError(f"{path}: {attribute} {sorted(shared)[0]!r} is that of {before}")
