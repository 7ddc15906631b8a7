"""Conditions of claims on devices, as far as what is known of a device can judge them: a part of the Common Expression Language.

Known are comparisons of attributes and capacities with literals, quantities and versions, a few functions of texts, lists, and how
they are joined. A name that is not known of the device, and all else of the language, gives no answer: None, never a wrong one.
Pure; never raises, for any text. Source: the CEL environment of DRA in Kubernetes 1.36 (k8s.io/dynamic-resource-allocation/cel).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kube.quantity import size

#: Longer ones are cut before they are kept.
_LONGEST, _DEEPEST = 2000, 40
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>-?\d{1,18}(?:\.\d{1,9})?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>\|\||&&|==|!=|<=|>=|[-+*/%!<>()\[\].,?:{}])
    )""",
    re.VERBOSE,
)
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


class Device(NamedTuple):
    """What is known of a device. attributes, capacity: by their names without a domain, which is the driver's; capacity in bytes.

    driver: "" where it is not known; then a name of any domain is taken for one of the driver's.
    """

    driver: str = ""
    attributes: Mapping[str, object] = {}
    capacity: Mapping[str, int] = {}


class _Unknown(Exception):
    """It cannot be judged."""


class _Quantity(NamedTuple):
    number: int


class _Version(NamedTuple):
    parts: tuple[int, ...]


def matches(expression: str, device: Device) -> bool | None:
    """Whether the device fulfils the condition; None where that cannot be judged."""
    if len(expression) > _LONGEST:
        return None
    try:
        found = _Reader(_tokens(expression), device).whole()
    except (_Unknown, RecursionError):
        return None
    return found if isinstance(found, bool) else None


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _Unknown
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Reader:
    """Reads and judges at once. A value that is not known is None; so is what it is part of, unless that is settled anyway."""

    def __init__(self, tokens: list[tuple[str, str]], device: Device) -> None:
        self._tokens, self._at, self._depth, self._device = tokens, 0, 0, device

    def whole(self) -> Any:
        found = self._either()
        if self._at < len(self._tokens):
            raise _Unknown
        return found

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise _Unknown
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, *signs: str) -> str:
        """The next token where it is one of these; else "" and it stays."""
        if self._at < len(self._tokens) and self._tokens[self._at][1] in signs and self._tokens[self._at][0] != "text":
            self._at += 1
            return self._tokens[self._at - 1][1]
        return ""

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise _Unknown

    def _either(self) -> Any:
        return self._joined(self._both, "||", decides=True)

    def _both(self) -> Any:
        return self._joined(self._compared, "&&", decides=False)

    def _joined(self, part: Callable[[], Any], sign: str, decides: bool) -> Any:
        """decides: the value that settles it whatever the others are."""
        values = [part()]
        while self._take(sign):
            values.append(part())
        if len(values) == 1:
            return values[0]
        if decides in [one for one in values if isinstance(one, bool)]:
            return decides
        return None if any(not isinstance(one, bool) for one in values) else not decides

    def _compared(self) -> Any:
        left = self._value()
        if self._take("in"):
            right = self._value()
            return left in right if isinstance(right, list) and left is not None and None not in right else None
        sign = self._take(*_COMPARED)
        if not sign:
            return left
        right = self._value()
        if left is None or right is None or not _alike(left, right):
            return None
        return _COMPARED[sign](left, right)

    def _value(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unknown
        try:
            if self._take("!"):
                found = self._value()
                return not found if isinstance(found, bool) else None
            return self._with_calls(self._plain())
        finally:
            self._depth -= 1

    def _plain(self) -> Any:
        if self._take("("):
            found = self._either()
            self._need(")")
            return found
        if self._take("["):
            return self._listed("]")
        kind, text = self._next()
        if kind == "text":
            return _unquoted(text)
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind != "name":
            raise _Unknown
        return self._named(text)

    def _named(self, name: str) -> Any:
        if name in ("true", "false"):
            return name == "true"
        if name == "device":
            return self._of_device()
        if name in ("quantity", "semver") and self._take("("):
            [*given] = self._listed(")")
            text = given[0] if len(given) == 1 and isinstance(given[0], str) else ""
            return _quantity(text) if name == "quantity" else _version(text)
        raise _Unknown

    def _of_device(self) -> Any:
        self._need(".")
        _, field = self._next()
        if field == "driver":
            return self._device.driver or None
        if field not in ("attributes", "capacity"):
            raise _Unknown
        self._need("[")
        kind, domain = self._next()
        self._need("]")
        self._need(".")
        _, name = self._next()
        if kind != "text":
            raise _Unknown
        if self._device.driver and _unquoted(domain) != self._device.driver:
            return None
        if field == "capacity":
            amount = self._device.capacity.get(name)
            return None if amount is None else _Quantity(amount)
        value = self._device.attributes.get(name)
        return value if isinstance(value, str | bool | int) and value != "" else None

    def _listed(self, end: str) -> list[Any]:
        found: list[Any] = []
        while not self._take(end):
            if found:
                self._need(",")
            found.append(self._either())
        return found

    def _with_calls(self, value: Any) -> Any:
        while self._take("."):
            kind, name = self._next()
            if kind != "name" or not self._take("("):
                raise _Unknown
            value = _called(name, value, self._listed(")"))
        return value


def _called(name: str, value: Any, given: list[Any]) -> Any:
    """A function of a value. One that is not known here ends all."""
    if name in ("compareTo", "isGreaterThan", "isLessThan") and len(given) == 1:
        other = given[0]
        if isinstance(other, _Version) and isinstance(value, str):
            value = _version(value)
        if value is None or type(value) is not type(other) or not isinstance(value, _Quantity | _Version):
            return None
        order = (value > other) - (value < other)
        return {"compareTo": order, "isGreaterThan": order > 0, "isLessThan": order < 0}[name]
    if name in ("lowerAscii", "upperAscii") and not given:
        return None if not isinstance(value, str) else value.lower() if name == "lowerAscii" else value.upper()
    if name in ("startsWith", "endsWith", "contains") and len(given) == 1:
        if not isinstance(value, str) or not isinstance(given[0], str):
            return None
        tests = {"startsWith": value.startswith, "endsWith": value.endswith, "contains": lambda text: text in value}
        return bool(tests[name](given[0]))
    raise _Unknown


def _alike(left: Any, right: Any) -> bool:
    """Values that the language compares: a version with a text it does not."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (left, right))
    return numbers or type(left) is type(right)


def _quantity(text: str) -> _Quantity | None:
    number = size(text)
    return None if number is None else _Quantity(number)


def _version(text: str) -> _Version | None:
    """Without what stands before or after the three numbers, whose order is another matter."""
    match = _VERSION.fullmatch(text)
    return _Version(tuple(int(one) for one in match.groups())) if match else None


def _unquoted(text: str) -> str:
    if "\\" in text:
        raise _Unknown
    return text[1:-1]
