"""Settings of a plugin as YAML (or JSON, which is YAML too), from a text that anybody may have written.

All scalars are texts: no types, tags or objects are made of it. Anchors are refused, since with them a short text can stand for a
very long one, and so is what is nested deeper than settings are: the loader of libyaml would end the process. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import yaml

Read: TypeAlias = "str | list[Read] | dict[str, Read] | None"

#: Larger than any plugin's settings; the largest that projects ship are some kilobytes.
_LONGEST, _MOST_EVENTS, _DEEPEST = 256 * 1024, 20_000, 16
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Refused(Exception):
    """The text is not of a form that is read."""


def read(text: str) -> Read:
    """What the first document of the text says; None where it cannot be read, or is not read."""
    if len(text) > _LONGEST:
        return None
    try:
        events = _bounded(yaml.parse(text, _Loader))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                return _value(next(events), events, 0)
    except (yaml.YAMLError, _Refused, ValueError, StopIteration):
        pass
    return None


def _bounded(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    for count, event in enumerate(events):
        if count > _MOST_EVENTS or isinstance(event, yaml.AliasEvent):
            raise _Refused
        yield event


def _value(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Read:
    if depth > _DEEPEST:
        raise _Refused
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        found: list[Read] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            found.append(_value(event, events, depth + 1))
        return found
    if not isinstance(event, yaml.MappingStartEvent):
        raise _Refused
    pairs: dict[str, Read] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _value(event, events, depth + 1)
        value = _value(next(events), events, depth + 1)
        if isinstance(key, str):
            pairs[key] = value
    return pairs


def mapping(value: Read) -> dict[str, Read]:
    """The value, where it is a mapping; else nothing."""
    return value if isinstance(value, dict) else {}


def sequence(value: Read) -> list[Read]:
    """The value, where it is a list; else nothing."""
    return value if isinstance(value, list) else []


def word(value: Read) -> str:
    """The value, where it is a text; else ""."""
    return value if isinstance(value, str) else ""
