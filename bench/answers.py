"""Right answers, told from refusals, errors and empty pages. A figure counts these alone, and one that is not right fails it.

An answer is anything that a benchmark measures: of a page, of REST, of a command, a row that was written, a run that was made.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

HTML, JSON, TEXT = "text/html", "application/json", "text/plain"


class Right(NamedTuple):
    """What a right answer looks like. marker: bytes that stand in it only when the content that was asked for does."""

    content_type: str
    marker: bytes
    status: int = 200

    def why_not(self, status: int, content_type: str, body: bytes) -> str:
        """What is wrong with an answer, "" for nothing."""
        if status != self.status:
            return f"status {status}"
        if content_type.partition(";")[0].strip() != self.content_type:
            return f"content type {content_type!r}"
        if self.marker not in body:
            return f"no {self.marker.decode()!r} in {len(body)} bytes"
        return ""


#: REST's answer to a list that has something in it.
REST_LIST = Right(JSON, b'"results":[{')


@dataclass
class Answers:
    """How many were right, and what was wrong with the others, by reason."""

    right: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def count(self, why_not: str) -> bool:
        """One answer; "" for a right one. Whether it was right."""
        if why_not:
            self.wrong[why_not] += 1
        else:
            self.right += 1
        return not why_not

    def expect(self, what: str, found: object, wanted: object) -> bool:
        """One answer that must be equal to what is known otherwise."""
        return self.count("" if found == wanted else f"{what}: {found!r} instead of {wanted!r}")

    def missing(self, what: str, count: int) -> None:
        """So many answers that never came."""
        if count:
            self.wrong[f"no {what}"] += count

    def add(self, other: Answers) -> None:
        self.right += other.right
        self.wrong.update(other.wrong)

    def as_json(self) -> dict[str, Any]:
        return {"right": self.right, "wrong": dict(self.wrong)}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Answers:
        """As a process of its own has printed it by `as_json`."""
        return cls(int(value["right"]), Counter(value["wrong"]))


def timed(client: Any, address: str, right: Right, answers: Answers) -> float:
    """Seconds of one request by Django's test client, whose answer is looked at after the time was taken."""
    started = time.perf_counter()
    answer = client.get(address)
    body = answer.getvalue()  # a streamed answer is made when it is read
    seconds = time.perf_counter() - started
    answers.count(right.why_not(answer.status_code, answer.headers.get("Content-Type", ""), body))
    return seconds
