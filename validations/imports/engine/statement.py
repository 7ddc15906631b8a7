"""What a result of another tool states, in plain structs: of nodes, of cards, and as figures.

Verdicts: *failed* means that the card or node did the test and did not pass it. *errored*: the test could not be carried out.
*skipped*: nothing was tested. *incomplete*: nothing failed, and not all that was to be tested was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

Verdict: TypeAlias = Literal["passed", "warning", "failed", "errored", "skipped", "incomplete"]
#: From bad to good: what parts say together. A part that was skipped takes nothing from the others.
WORST_FIRST: tuple[Verdict, ...] = ("failed", "errored", "warning", "incomplete", "passed", "skipped")
#: How far a pass goes, as the levels of our suites: "checked" (a result was compared), "ran", "detected" (software was looked at).
Level: TypeAlias = Literal["checked", "ran", "detected", ""]


class NotReadable(Exception):
    """The one error of reading: where it is in the file, what is wrong, and what to do. Its argument is a sentence."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be read. node: of a report that names none. rules, baseline: files beside it, of SuperBench."""

    content: bytes
    node: str = ""
    rules: bytes | None = None
    baseline: bytes | None = None


class NodeStatement(msgspec.Struct, frozen=True, kw_only=True):
    """What is stated of a node. node None: the report names none. because: a sentence. facts: what the sentence is made of."""

    node: str | None
    verdict: Verdict
    because: str = ""
    test: str | None = None
    level: Level = ""
    facts: dict[str, Any] = {}


class CardStatement(msgspec.Struct, frozen=True, kw_only=True):
    """What is stated of a card. index: of the tool's own list. test: the one that decides the verdict, None for all of them.

    error_id, error_severity, error_category: the tool's own numbers. may_isolate: its severity says that the card cannot work, so
    that it may be taken away without asking a person. pci: address, where it is named.
    """

    node: str | None
    index: int | None = None
    uuid: str | None = None
    serial: str | None = None
    verdict: Verdict
    test: str | None = None
    error_id: int | None = None
    error_severity: int | None = None
    may_isolate: bool = False
    error_category: int | None = None
    pci: str | None = None
    because: str = ""
    level: Level = ""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. unit "": the file names none. variance: (value - baseline) / baseline, where a rule asks for it."""

    node: str | None
    index: int | None = None
    name: str
    value: float
    unit: str = ""
    baseline: float | None = None
    variance: float | None = None


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A report. complete: all that it was to test was tested, and all of it is here.

    key: of the source itself, the same where the same is sent again; "" for none. cluster: as the source calls it.
    at: when it was tested. facts: what else it states, by names of ours.
    """

    format: str
    tool_version: str | None
    verdict: Verdict
    complete: bool
    nodes: tuple[NodeStatement, ...]
    cards: tuple[CardStatement, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    key: str = ""
    cluster: str = ""
    at: datetime | None = None
    facts: dict[str, Any] = {}


class Format(NamedTuple):
    """A format: its name, what it is (English, marked for translation), and what reads it.

    suite: our suite that a pass of it stands for, "" where there is none. files: parameters of `Source` that may come beside it.
    `read` raises NotReadable and nothing else.
    """

    name: str
    title: str
    read: Callable[[Source], Imported]
    suite: str = ""
    files: tuple[str, ...] = ()


_OF_CARD = ("node", "index", "uuid", "serial", "verdict", "test", "error_id", "error_severity", "may_isolate")


def to_json(imported: Imported) -> dict[str, Any]:
    """What `results import -o json` and REST tell. null: unknown."""
    return {
        "format": imported.format,
        "tool_version": imported.tool_version,
        "verdict": imported.verdict,
        "complete": imported.complete,
        "nodes": [{"node": one.node, "verdict": one.verdict, "because": str(one.because)} for one in imported.nodes],
        "cards": [{name: getattr(one, name) for name in _OF_CARD} for one in imported.cards],
        "measurements": [msgspec.structs.asdict(one) for one in imported.measurements],
    }


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of the parts of one thing; skipped where there are none."""
    found = set(verdicts)
    return next((one for one in WORST_FIRST if one in found), "skipped")


def whole(verdict: Verdict, complete: bool) -> Verdict:
    """A pass of a part is no pass of the whole."""
    return "incomplete" if verdict == "passed" and not complete else verdict
