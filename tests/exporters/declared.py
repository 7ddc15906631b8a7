"""What a format of an exporter must declare, and what only one may have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from exporters.engine.format import Format, Gauge, Identity, Special, Target
from exporters.engine.holders import NoHolders, PodLabels
from exporters.engine.measures import Measure

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
#: What a metric may be called. Names of an object's fields have more, so only `bare` formats have them.
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def check(declared: Mapping[str, Format]) -> None:
    """declared: module → its format. Raises AssertionError, which names the module and the attribute."""
    before: dict[str, Format] = {}
    for name, one in declared.items():
        _check(name, one)
        for other in before:
            _check_apart(name, one, other, before[other])
        before[name] = one


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def _texts(value: object) -> bool:
    return isinstance(value, frozenset) and all(_text(item) for item in value)


def _no_holders(value: object) -> bool:
    try:
        return isinstance(value, NoHolders) and all(re.compile(text) for text in (value.exporters, value.others))
    except re.error:
        return False


def _function_or_none(value: object) -> bool:
    return value is None or callable(value)


def _target(value: object) -> bool:
    return value is None or (
        isinstance(value, Target)
        and bool(value.selectors)
        and all(_text(text) for text in value.selectors)
        and 0 < value.port < 1 << 16
    )


#: attribute → (whether a value will do, what it must be).
_CHECKS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "name": (lambda value: isinstance(value, str) and bool(_NAME.fullmatch(value)), "words of a-z and 0-9 joined by -"),
    "label": (_text, "a text that is not empty"),
    "metrics": (lambda value: isinstance(value, Mapping) and bool(value), "metrics by name, at least one"),
    "identity": (_is(Identity), "an Identity"),
    "marks": (_texts, "a frozenset of names"),
    "verified": (_text, "a text that is not empty"),
    "not_verified": (_is(str), "a text"),
    "shared": (_texts, "a frozenset of names"),
    "bare": (_is(bool), "True or False"),
    "prefixed": (_is(bool), "True or False"),
    "slices_add": (_is(bool), "True or False"),
    "slice_of": (_function_or_none, "a function or None"),
    "pods": (_is(PodLabels), "PodLabels"),
    "no_holders": (_no_holders, "NoHolders with patterns that can be compiled"),
    "finish": (_function_or_none, "a function or None"),
    "from_object": (_function_or_none, "a function or None"),
    "target": (_target, "a Target with selectors and a port, or None"),
    "beside": (_texts, "a frozenset of names"),
}


def _check(path: str, declared: Format) -> None:
    for attribute in declared.__struct_fields__:
        good, wanted = _CHECKS[attribute]
        if not good(getattr(declared, attribute)):
            raise AssertionError(f"{path}: FORMAT.{attribute} must be {wanted}")
    for name, metric in declared.metrics.items():
        if not isinstance(metric, Gauge | Special):
            raise AssertionError(f"{path}: FORMAT.metrics[{name!r}] must be a Gauge or a Special")
        if isinstance(metric, Gauge) and not isinstance(metric.measure, Measure):
            raise AssertionError(f"{path}: FORMAT.metrics[{name!r}].measure must be a Measure")
        if not declared.bare and not _METRIC.fullmatch(name):
            raise AssertionError(f"{path}: FORMAT.metrics has {name!r}, which is no name of a metric")
    if not declared.marks:
        raise AssertionError(f"{path}: FORMAT.marks must name a metric at least, by which the exporter is recognised")
    if not declared.measures:
        raise AssertionError(f"{path}: FORMAT.metrics must give a measure at least")
    identity = declared.identity
    if not (identity.uuid or identity.serial or identity.pci or identity.index):
        raise AssertionError(f"{path}: FORMAT.identity must have a label that names a card")
    if len({len(declared.pods.pod), len(declared.pods.namespace), len(declared.pods.container)}) != 1:
        raise AssertionError(f"{path}: FORMAT.pods must have as many names of pods as of namespaces and containers")
    both = declared.marks & declared.shared
    if both:
        raise AssertionError(f"{path}: FORMAT.marks has {min(both)!r}, which is in FORMAT.shared and marks nothing")


def _check_apart(path: str, declared: Format, before: str, other: Format) -> None:
    """What only one may have: the name, the marks."""
    if declared.name == other.name:
        raise AssertionError(f"{path}: name {declared.name!r} is that of {before}")
    same = declared.marks & other.marks
    if same:
        raise AssertionError(f"{path}: marks {min(same)!r} is that of {before}")
