"""Tracebacks in the logs of the services, each kind once with its count; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_RECORD = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_RAISED = re.compile(
    r"^\s*(?P<error>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Lost|Timeout|Warning|Refused|Kubeconfig)\b.*)"
)
_START = "Traceback (most recent call last)"
_LEVEL = re.compile(r"^\S+ \S+ (?P<level>[A-Z]+) ")


class Explained(NamedTuple):
    """A traceback that may be there. pattern: of its record's first line and its error, joined by " | "."""

    pattern: str
    reason: str


#: What may be there, each with its reason. It is short, and should be empty.
ALLOWED: tuple[Explained, ...] = (
    Explained(
        r"CRITICAL celery\.worker\.request Couldn't ack .* \| redis\.exceptions\.(ConnectionError|TimeoutError)",
        "a task ended while the broker was away: Celery says so itself, and the broker delivers the task again",
    ),
)


@dataclass(frozen=True)
class Traceback:
    """record: the line of the log that it belongs to, "" for none. error: its last line. where: file and function that raised."""

    record: str
    error: str
    where: str

    @property
    def words(self) -> str:
        return f"{self.record} | {self.error}"

    @property
    def kind(self) -> str:
        """The same for what differs in numbers, times and ids only."""
        text = re.sub(r"^\S+ \S+ ", "", self.record)
        text = re.sub(r"\[[0-9a-f-]{16,}\]|(?<=: )/\S*", "…", text)[:160]
        return re.sub(r"\b[0-9a-f]{8,}\b|\d+", "#", f"{text} | {self.error[:200]} | {self.where}")


def tracebacks(lines: Iterable[str]) -> Iterator[Traceback]:
    """One for each record that has a traceback; of a chain of errors the last. One that is not indented is no record's."""
    record, inside, bare, where, error = "", False, False, "", ""
    for line in lines:
        if _RECORD.match(line):
            if inside:
                yield Traceback(record, error, where)
            record, inside, bare, where, error = line.strip()[:400], False, False, "", ""
        elif _START in line:
            if line.startswith(_START) and not bare:
                if inside:
                    yield Traceback(record, error, where)
                record, bare, where, error = "", True, "", ""
            inside = True
        elif inside:
            if frame := _FRAME.match(line):
                where = f"{frame['file'].rsplit('/', 1)[-1]} {frame['function']}"
            elif raised := _RAISED.match(line):
                error = raised["error"].strip()[:400]
    if inside:
        yield Traceback(record, error, where)


def unexplained(found: Iterable[Traceback], allowed: Iterable[Explained] = ALLOWED) -> Counter[str]:
    """Kind of traceback → how often, without those that are explained."""
    known = [re.compile(one.pattern) for one in allowed]
    return Counter(one.kind for one in found if not any(pattern.search(one.words) for pattern in known))


def levels(lines: Iterable[str]) -> Counter[str]:
    """Records by level."""
    return Counter(match["level"] for line in lines if (match := _LEVEL.match(line)))


def loudest(lines: Iterable[str], most: int = 3) -> list[tuple[str, int]]:
    """The records at WARNING and above that come most often, numbers left out."""
    texts = (
        line.strip() for line in lines if (match := _LEVEL.match(line)) and match["level"] not in ("INFO", "DEBUG")
    )
    said = Counter(re.sub(r"\b[0-9a-f]{8,}\b|\d+", "#", re.sub(r"^\S+ \S+ ", "", text))[:200] for text in texts)
    return said.most_common(most)
