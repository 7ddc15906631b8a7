"""Files of others, read within bounds: JSON, lines of JSON, YAML. An error names its line or field.

Sizes and depths are bounded before anything walks through a document, so that no file can take the process down.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import yaml

from validations.imports.engine.statement import NotReadable
from wording.printable import one_line
from wording.said import sentence

#: As much as the exporter of NVCRE sends at most.
MOST_BYTES = 8 << 20
MOST_DEPTH = 32
#: Nodes and cards that one file may state something of.
MOST_STATEMENTS = 20_000
_MOST_LINES = 20_000
#: Braces that may turn out to begin no report: noise may stand before it.
_MOST_STARTS = 64
_MOST_EVENTS = 400_000
LONGEST_NAME, _LONGEST_TEXT = 253, 1000
#: How files of gzip, zip, xz, Zstandard and bzip2 begin.
_PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"BZh")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
#: In a text: GPU and slice as NVIDIA writes them; other vendors write a bare UUID.
UUID = re.compile(r"(?:GPU-|MIG-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
Object: TypeAlias = dict[str, Any]


class _EndsEarly(NotReadable):
    """The document was cut."""


class _Twice(NotReadable):
    """An object has a key twice: readers differ in which of them they take."""


def text_of(content: bytes, what: str = "") -> str:
    """The text of a file. what: which one it is, "" for the report itself."""
    name = what or sentence("The file")
    if len(content) > MOST_BYTES:
        raise NotReadable(
            sentence("{name} has more than {most} bytes. Send only the report of the tool.", name=name, most=MOST_BYTES)
        )
    if content.startswith(_PACKED):
        raise NotReadable(sentence("{name} is compressed. Unpack it and send what is inside.", name=name))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NotReadable(sentence("Line {line}: not UTF-8. Send the file as the tool wrote it.", line=line)) from None
    if not text.strip():
        raise NotReadable(sentence("{name} is empty. Send the output of the tool.", name=name))
    return text


def json_of(content: bytes, what: str = "") -> Any:
    """The one JSON document of a file."""
    text = text_of(content, what)
    found, end = _decoded(text, len(text) - len(text.lstrip()), 0)
    if text[end:].strip():
        raise NotReadable(
            sentence("Line {line}: text after the end of the JSON. Send one document.", line=_line(text, end))
        )
    return found


def object_after_noise(content: bytes, *keys: str) -> Object:
    """The first object of a file that has one of these keys, whatever stands before it. A second one is refused."""
    text = text_of(content)
    found, at, wrong = None, 0, None
    for _ in range(_MOST_STARTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            one, end = _decoded(text, at, 0)
        except (_EndsEarly, _Twice):
            # What stands inside of a report that was cut is no report of its own.
            raise
        except NotReadable as error:
            wrong = wrong or error
            at += 1
            continue
        at = end
        if isinstance(one, dict) and any(key in one for key in keys):
            if found is not None:
                line = _line(text, end)
                raise NotReadable(sentence("Line {line}: a second report. Send one report at a time.", line=line))
            found = one
    if found is not None:
        return found
    raise wrong or NotReadable(sentence("No report found. The JSON must have one of: {keys}.", keys=", ".join(keys)))


def lines_of(content: bytes) -> Iterator[tuple[int, Object]]:
    """(line, object) of a file with one JSON object a line; blank lines are passed over."""
    for number, line in enumerate(text_of(content).split("\n"), 1):
        if number > _MOST_LINES:
            raise NotReadable(sentence("More than {most} lines. Send the file in parts.", most=_MOST_LINES))
        if line.strip():
            found, end = _decoded(line, len(line) - len(line.lstrip()), number - 1)
            if line[end:].strip():
                raise NotReadable(sentence("Line {line}: more than one object in a line.", line=number))
            yield number, checked(found, sentence("Line {line}", line=number))


def _decoded(text: str, start: int, before: int) -> tuple[Any, int]:
    """(value, where it ends). before: lines before this text."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        line = before + error.lineno
        if error.pos >= len(text.rstrip()):
            raise _EndsEarly(
                sentence("Line {line}: the JSON ends early. Send the whole output of the tool.", line=line)
            ) from None
        raise NotReadable(
            sentence("Line {line}: not JSON ({error}). Send the file as the tool wrote it.", line=line, error=error.msg)
        ) from None
    except ValueError as error:
        said = one_line(str(error))[:100]
        raise NotReadable(sentence("Not JSON: {error}.", error=said)) from None
    _check_depth(value)
    return value, end


def _object(pairs: list[tuple[str, Any]]) -> Object:
    made = dict(pairs)
    if len(made) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        raise _twice(next(key for key, count in counted.items() if count > 1))
    return made


def _twice(key: str) -> NotReadable:
    return _Twice(
        sentence("An object has the key {key} twice. Send the file as the tool wrote it.", key=repr(one_line(key[:80])))
    )


#: Python writes NaN and Infinity, which are no JSON: there is no value.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None, object_pairs_hook=_object)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> NotReadable:
    return NotReadable(sentence("Nested more than {most} deep. Send the file as the tool wrote it.", most=MOST_DEPTH))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def yaml_of(content: bytes, what: str = "") -> Any:
    """The one document of a YAML file: texts, lists and mappings, no types and no tags. An alias is the same object again, which is
    free; merge keys are not followed."""
    text = text_of(content, what)
    try:
        events = _bounded(yaml.parse(text, _LOADER))
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = _value(next(events), events, {}, 0)
                if any(isinstance(one, yaml.DocumentStartEvent) for one in events):
                    raise NotReadable(sentence("More than one YAML document. Send one at a time."))
                return value
    except (yaml.YAMLError, ValueError, StopIteration) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise NotReadable(sentence("Line {line}: not YAML. Send the file as the tool wrote it.", line=line)) from None
    raise NotReadable(sentence("{name} is empty. Send the output of the tool.", name=what or sentence("The file")))


_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _bounded(events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    for count, event in enumerate(events):
        if count > _MOST_EVENTS:
            raise NotReadable(sentence("More than {most} values. Send the file in parts.", most=_MOST_EVENTS))
        yield event


def _value(event: yaml.Event, events: Iterator[yaml.Event], anchors: Object, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise _too_deep()
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(str(event.anchor))
    made: Any
    if isinstance(event, yaml.SequenceStartEvent):
        made = []
        while not isinstance(inner := next(events), yaml.SequenceEndEvent):
            made.append(_value(inner, events, anchors, depth + 1))
    elif isinstance(event, yaml.MappingStartEvent):
        made = {}
        while not isinstance(inner := next(events), yaml.MappingEndEvent):
            key = _value(inner, events, anchors, depth + 1)
            value = _value(next(events), events, anchors, depth + 1)
            if isinstance(key, str):
                if key in made:
                    raise _twice(key)
                made[key] = value
    elif isinstance(event, yaml.ScalarEvent):
        made = None if event.implicit[0] and event.value in ("", "~", "null") else str(event.value)
    else:
        raise NotReadable(sentence("Not YAML. Send the file as the tool wrote it."))
    # An alias inside of what it names would make a ring: it is known only once it is whole.
    if anchor := getattr(event, "anchor", None):
        anchors[str(anchor)] = made
    return made


def json_or_yaml(content: bytes) -> Any:
    """A Kubernetes object, as `kubectl get -o json` or `-o yaml` writes it."""
    return json_of(content) if text_of(content).lstrip()[:1] in "{[" else yaml_of(content)


def checked(value: Any, where: str) -> Object:
    """The value as an object, or NotReadable that says where it is."""
    if not isinstance(value, dict):
        raise NotReadable(sentence("{where} must be an object.", where=where))
    return value


def obj(value: Any) -> Object:
    """The value, where it is an object; else none of its fields."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[Object]:
    """The objects of a list; nothing where it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def name(value: Any) -> str | None:
    """A name in one line, bounded; None where there is none. A number is its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 1 << 63 else ""
    text = one_line(value[: 2 * LONGEST_NAME].strip())[:LONGEST_NAME] if isinstance(value, str) else ""
    return text or None


def names(value: Any) -> list[str]:
    """The names of a list, each once."""
    found = [name(one) for one in value[:MOST_STATEMENTS]] if isinstance(value, list) else []
    return list(dict.fromkeys(one for one in found if one))


def said(value: Any) -> str:
    """What the tool says, in one line, bounded."""
    return one_line(value[: 2 * _LONGEST_TEXT].strip())[:_LONGEST_TEXT] if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """A finite number, also where it is written as text; None for anything else."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def whole_number(value: Any, most: int = 2**31 - 1) -> int | None:
    """A whole number from 0 to `most`, also where it is written as text."""
    found = number(value)
    return int(found) if found is not None and found.is_integer() and 0 <= found <= most else None


def moment(value: Any) -> datetime | None:
    """A moment in RFC 3339; one without a zone is UTC."""
    text = name(value)
    if text is None or len(text) > 40:
        return None
    # Go writes nanoseconds, of which Python reads six digits.
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def check_count(count: int) -> None:
    """A file that states something of more nodes or cards than any cluster has."""
    if count > MOST_STATEMENTS:
        raise NotReadable(sentence("More than {most} nodes and cards. Send the file in parts.", most=MOST_STATEMENTS))
