"""Names of metrics as SuperBench's rules write them: foreign regular expressions, matched in time that is bounded.

A part of the syntax is read: letters, `.`, `\\d`, `\\w`, `\\s`, classes, groups with alternatives, `*`, `+`, `?`, `^`, `$`. All
states are followed at once (Thompson 1968), so that no expression takes longer than its length times that of the name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

_LONGEST = 300
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "w": lambda one: one.isalnum() or one == "_",
    "s": str.isspace,
}
_Test: TypeAlias = Callable[[str], bool]


class Unsupported(Exception):
    """The expression has something that is not read here."""


class _State(NamedTuple):
    """test: of the next letter, to the first of `to`; None: all of `to` without one. anchor: "^" or "$"."""

    test: _Test | None
    to: list[int]
    anchor: str = ""


class Pattern:
    """One expression. Raises Unsupported."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise Unsupported
        self._text, self._at, self._depth = text, 0, 0
        self._states: list[_State] = []
        start, ends = self._either()
        if self._at < len(text):
            raise Unsupported
        self._start, self._end = start, self._add(None, [])
        self._join(ends, self._end)

    def found_in(self, name: str) -> bool:
        """Whether it matches somewhere in the name, as `re.search`."""
        active: set[int] = set()
        for at in range(len(name) + 1):
            active = self._closed(active | {self._start}, at, len(name))
            if self._end in active:
                return True
            if at < len(name):
                letter = name[at]
                active = {state.to[0] for one in active if (state := self._states[one]).test and state.test(letter)}
        return False

    def _closed(self, states: set[int], at: int, length: int) -> set[int]:
        found, todo = set(states), list(states)
        while todo:
            state = self._states[todo.pop()]
            if state.test is not None or (state.anchor == "^" and at) or (state.anchor == "$" and at < length):
                continue
            new = [one for one in state.to if one not in found]
            found.update(new)
            todo += new
        return found

    def _add(self, test: _Test | None, to: list[int], anchor: str = "") -> int:
        self._states.append(_State(test, to, anchor))
        return len(self._states) - 1

    def _join(self, ends: list[int], to: int) -> None:
        for one in ends:
            self._states[one].to.append(to)

    def _either(self) -> tuple[int, list[int]]:
        starts, ends = [], []
        while True:
            start, last = self._row()
            starts.append(start)
            ends += last
            if not self._taken("|"):
                return self._add(None, starts), ends

    def _row(self) -> tuple[int, list[int]]:
        start = self._add(None, [])
        ends = [start]
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            first, last = self._repeated()
            self._join(ends, first)
            ends = last
        return start, ends

    def _repeated(self) -> tuple[int, list[int]]:
        first, last = self._atom()
        while self._at < len(self._text) and self._text[self._at] in "*+?":
            sign = self._text[self._at]
            self._at += 1
            gate = self._add(None, [first])
            if sign in "*+":
                self._join(last, gate)
                last = [gate]
            else:
                last = [*last, gate]
            first = first if sign == "+" else gate
        return first, last

    def _atom(self) -> tuple[int, list[int]]:
        letter = self._next()
        if letter == "(":
            self._depth += 1
            if self._depth > 8 or (self._taken("?") and not self._taken(":")):
                raise Unsupported
            made = self._either()
            if not self._taken(")"):
                raise Unsupported
            self._depth -= 1
            return made
        if letter in "^$":
            one = self._add(None, [], letter)
        elif letter in "*+?{}])":
            raise Unsupported
        else:
            one = self._add(self._class() if letter == "[" else self._one(letter), [])
        return one, [one]

    def _one(self, letter: str) -> _Test:
        if letter == ".":
            return lambda one: one != "\n"
        if letter != "\\":
            return letter.__eq__
        escaped = self._next()
        if escaped in _CLASSES:
            return _CLASSES[escaped]
        if escaped.isalnum():
            raise Unsupported
        return escaped.__eq__

    def _class(self) -> _Test:
        inverted, tests = self._taken("^"), list[_Test]()
        while not self._taken("]"):
            letter = self._next()
            if letter == "\\":
                tests.append(self._one(letter))
            elif self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 : self._at + 2] not in (
                "]",
                "",
            ):
                self._at += 1
                tests.append(_between(letter, self._next()))
            else:
                tests.append(letter.__eq__)
        return lambda one: any(test(one) for test in tests) != inverted

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise Unsupported
        self._at += 1
        return self._text[self._at - 1]

    def _taken(self, letter: str) -> bool:
        if self._text[self._at : self._at + 1] != letter:
            return False
        self._at += 1
        return True


def _between(first: str, last: str) -> _Test:
    return lambda one: first <= one <= last
