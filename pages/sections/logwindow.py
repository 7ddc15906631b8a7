"""A window of a log: some numbered, clean lines of many, so that no page grows with the log. Pure: bytes in, lines out.

Numbers are those of `validations.suites.engine.log`, so that a reason's line is the line on the page. Text only: terminal escapes
are gone, other control characters and those that turn the direction of writing are shown as symbols.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from validations.suites.engine.log import Form, Lines, form_of, read_log, stored_text

#: Lines of one window, and characters of all its lines together: whichever is reached first ends it.
MOST_LINES, MOST_CHARACTERS = 500, 400_000
#: Lines before and after a line of evidence.
AROUND = 3
_MARK = re.compile(r"\[gpudash: [^\]]{1,220}\]")
_SYMBOLS = {code: chr(0x2400 + code) for code in range(32) if code != 9} | {0x7F: "\u2421"}
#: Characters that reorder or hide text are shown by their code.
_SYMBOLS |= {
    code: f"⟨{code:04X}⟩"
    for code in (*range(0x80, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


@dataclass(frozen=True)
class LogLine:
    """One line. first: whether it is the first with its number (parts between carriage returns share one).

    proof: a reason rests on it. cut: it says where a part of the log was left out. gap: lines before it are not shown.
    """

    number: int
    text: str
    first: bool = True
    evidence: bool = False
    cut: bool = False
    gap: bool = False


@dataclass(frozen=True)
class Window:
    """lines: those shown. last: number of the last line of the log. before, after: whether there are more on that side."""

    lines: list[LogLine]
    last: int
    before: bool = False
    after: bool = False
    matches: int = 0

    @property
    def begin(self) -> int:
        return self.lines[0].number if self.lines else 0

    @property
    def end(self) -> int:
        return self.lines[-1].number if self.lines else 0


@dataclass(frozen=True)
class Place:
    """A place between two lines of a log. offset: of the byte there. line: lines before it. form: of the log."""

    offset: int
    line: int
    form: Form


class Log:
    """A stored log, or the rest of one, read once. proofs: numbers of the lines that reasons rest on.

    since: where the bytes begin, None for all of the log. growing: more will come. next: where what comes later goes on; a line
    that may still grow is after it.
    """

    def __init__(self, raw: bytes, since: Place | None = None, growing: bool = False) -> None:
        form = since.form if since else form_of(raw[: len(raw) // 2 * 2])
        if growing and len(raw) % len(form.feed):
            raw = raw[:-1]  # half a character: the other half will come
        skipped = since.line if since else 0
        read = read_log(raw, None, form)
        self.lines = Lines(
            read.texts, [number + skipped for number in read.numbers] if skipped else read.numbers, read.cut
        )
        self.last = self.lines.numbers[-1] if self.lines.texts else skipped
        self.evidence_lines: set[int] = set()
        end = form.last_end(raw)
        whole_lines = stored_text(raw[:end], form.encoding).count("\n")
        self.next = Place((since.offset if since else 0) + end, skipped + whole_lines, form)

    def mark(self, evidence_lines: Collection[int]) -> None:
        """Say on which lines the verdict rests; numbers that the log does not have are left out."""
        self.evidence_lines = {number for number in evidence_lines if 0 < number <= self.last}

    def around(self, number: int) -> Window:
        """The window in whose upper third this line stands."""
        return self.starting(max(1, number - MOST_LINES // 3))

    def starting(self, number: int) -> Window:
        """The window that begins with this line."""
        start = _place(self.lines.numbers, max(1, number))
        stop = self._stop(start)
        return self._window(range(start, stop))

    def ending(self, number: int) -> Window:
        """The window that ends with this line."""
        stop = _place(self.lines.numbers, number + 1)
        start, left = stop, MOST_CHARACTERS
        while start > 0 and stop - start < MOST_LINES and left > 0:
            start -= 1
            left -= len(self.lines.texts[start])
        return self._window(range(start, stop))

    def evidence(self) -> Window:
        """The lines that reasons rest on, with some around them."""
        wanted: set[int] = set()
        for number in sorted(self.evidence_lines)[:50]:
            at = _place(self.lines.numbers, number)
            wanted.update(range(max(0, at - AROUND), min(len(self.lines.texts), at + AROUND + 1)))
        return self._window(sorted(wanted)[:MOST_LINES], gaps=True)

    def search(self, text: str) -> Window:
        """The lines that hold the text, whatever its case; `matches` counts them all."""
        wanted = text.casefold()
        found = [at for at, line in enumerate(self.lines.texts) if wanted in line.casefold()]
        window = self._window(found[:MOST_LINES], gaps=True)
        return Window(window.lines, self.last, matches=len(found))

    def _stop(self, start: int) -> int:
        stop, left = start, MOST_CHARACTERS
        while stop < len(self.lines.texts) and stop - start < MOST_LINES and left > 0:
            left -= len(self.lines.texts[stop])
            stop += 1
        return stop

    def _window(self, places: Sequence[int], gaps: bool = False) -> Window:
        lines = []
        for position, at in enumerate(places):
            jump = gaps and (places[position - 1] + 1 != at if position else at > 0)
            lines.append(self._line(at, jump))
        before = bool(places) and places[0] > 0
        after = bool(places) and places[-1] + 1 < len(self.lines.texts)
        return Window(lines, self.last, before and not gaps, after and not gaps)

    def _line(self, at: int, gap: bool) -> LogLine:
        number, text = self.lines.numbers[at], self.lines.texts[at]
        return LogLine(
            number=number,
            text=text.translate(_SYMBOLS),
            first=at == 0 or self.lines.numbers[at - 1] != number,
            evidence=number in self.evidence_lines,
            cut=self.lines.cut and _MARK.search(text) is not None,
            gap=gap,
        )


def _place(numbers: Sequence[int], number: int) -> int:
    """Where the first line with this number, or a later one, stands. The numbers do not fall."""
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low
