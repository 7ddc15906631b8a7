"""Raw bytes of a container log → clean text lines with the numbers that a page shows.

Knows encodings, line ends, terminal escapes and the prefixes of pods and times; knows nothing of suites or verdicts. Linear in the
input: a pattern reads no byte again that another try of it has read, a line longer than `LONGEST_LINE` is read only that far, and
of more than `MOST_LINES` lines those in the middle are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

T = TypeVar("T")

#: Characters of one line that parsers get to see; a longer line ends in ELLIPSIS.
LONGEST_LINE = 4096
#: Lines that parsers get to see: half of them from the begin, half from the end.
MOST_LINES = 1_000_000
ELLIPSIS = "…"

#: What the log store writes where it left out the middle of a log, or where the node rotated a part of it away.
_MARK = r"\[gpudash: (?:(\d{1,20}) bytes left out|[A-Za-z ;,]{1,200} missing here)\]"
_CUT = re.compile(_MARK)
_RAW_CUT = re.compile(_MARK.encode("ascii"))

_CONTROL = re.compile(
    r"\x1b\[(?P<count>[0-?]*)[ -/]*(?P<final>[@-~])"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC: window titles, links
    r"|\x1b[ -/]*[0-Z\\^-~]"  # the two- and three-character ones
    r"|[\x00\x1b\x7f]"
)
#: What `kubectl logs --prefix` writes before each line, also before the time.
_POD = re.compile(r"^\[pod/[a-z0-9.-]{1,253}/[a-z0-9-]{1,63}\](?: |$)", re.MULTILINE)
#: `kubectl logs --timestamps`, and the stream columns of a CRI log file.
_STAMP = re.compile(
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)(?: (?:stdout|stderr) [FP])?(?: |$)", re.MULTILINE
)
#: Where prefixes are looked for: a log has them from its first lines on, or not at all.
_HEAD = 65_536


ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


class Form(msgspec.Struct, frozen=True):
    """How a log is written, as its begin says it: what a part of the log needs to be read as the whole would be.

    encoding: one of ENCODINGS. stamped: whether its lines have time prefixes; named: those of their pod.
    """

    encoding: str
    stamped: bool
    named: bool = False

    @property
    def feed(self) -> bytes:
        """The bytes that end a line."""
        return "\n".encode(self.encoding)

    def last_end(self, raw: bytes) -> int:
        """Where the last whole line of these bytes ends, 0 for none. They begin where a line does."""
        feed = self.feed
        at = raw.rfind(feed)
        while at > 0 and at % len(feed):
            at = raw.rfind(feed, 0, at + len(feed) - 1)
        return at + len(feed) if at >= 0 else 0


class Lines(msgspec.Struct, frozen=True):
    """A log as parsers read it.

    texts: clean lines (no escapes, no prefix of pod or time, no line end). numbers: for each text the 1-based number of the line of
    `stored_text` that it is part of; parts that a bare carriage return or a cursor jump separates share one number.
    cut: whether a part of the middle is missing. left_out: how many bytes that is, None when not known.
    """

    texts: list[str]
    numbers: Sequence[int]
    cut: bool = False
    left_out: int | None = None

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return zip(self.numbers, self.texts, strict=True)


def form_of(raw: bytes) -> Form:
    """The form of a log, by its begin (65,536 characters and more where there are)."""
    encoding = _encoding(raw)
    if encoding != "utf-8" and not _aligned(raw, encoding):
        encoding = "utf-8"
    begin = _decode(raw[: _HEAD * 4], encoding)
    return Form(encoding, _stamped(begin), _POD.search(begin, 0, _HEAD) is not None)


def stored_text(raw: bytes, encoding: str = "") -> str:
    """The log as text with `\\n` line ends: what a page shows and counts lines in. Never raises.

    encoding: where it is known already; "" to find it in the bytes.
    """
    encoding = encoding or _encoding(raw)
    if encoding == "utf-8":
        return _decode(raw, encoding)
    # The store writes its marks as ASCII on lines of their own, also between halves of UTF-16.
    marks = list(_RAW_CUT.finditer(raw))
    edges = [0, *(edge for mark in marks for edge in mark.span()), len(raw)]
    parts = [raw[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    texts = [_decode(part, encoding) for part in _without_feeds(parts)]
    names = [mark.group().decode("ascii") for mark in marks]
    return texts[0] + "".join(f"\n{name}\n{text}" for name, text in zip(names, texts[1:], strict=True))


def _without_feeds(parts: list[bytes]) -> list[bytes]:
    """The parts of a log without the single line feeds that stand before and after each mark."""
    last = len(parts) - 1
    trimmed = [part.removesuffix(b"\n") if at < last else part for at, part in enumerate(parts)]
    return [part.removeprefix(b"\n") if at > 0 else part for at, part in enumerate(trimmed)]


def read_log(raw: bytes, most: int | None = MOST_LINES, form: Form | None = None) -> Lines:
    """Clean, numbered lines of a container log in any encoding that Windows and Linux containers write. Never raises.

    most: lines beyond this number are left out of the middle, which counts as a cut; None: all lines, for a page that shows some.
    form: of the log that these bytes are a part of; None when they are all of it.
    """
    text = stored_text(raw, form.encoding if form else "")
    for prefix, there in _prefixes(text, form):
        if there:
            text = prefix.sub("", text)
    if "\x1b" in text or "\x7f" in text:
        text = _CONTROL.sub(_plain, text)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    places: Sequence[int] = range(1, len(lines) + 1)
    crowded = most is not None and len(lines) > most
    if most is not None and crowded:
        lines, places = _ends(lines, most // 2), _ends(places, most // 2)
    texts, numbers = _parts(lines, places) if "\r" in text else (lines, places)
    texts = [line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + ELLIPSIS for line in texts]
    cut, left_out = _mark_cut(texts)
    return Lines(texts, numbers, cut or crowded, None if crowded else left_out)


def _prefixes(text: str, form: Form | None) -> Iterator[tuple[re.Pattern[str], bool]]:
    """(prefix, whether the lines have it), one after the other: the time stands behind the pod."""
    yield _POD, form.named if form else _POD.search(text, 0, _HEAD) is not None
    yield _STAMP, form.stamped if form else _stamped(text)


def _stamped(text: str) -> bool:
    """Also behind the name of a pod."""
    return _STAMP.search(_POD.sub("", text[:_HEAD])) is not None


def _ends(things: Sequence[T], half: int) -> list[T]:
    return [*things[:half], *things[-half:]]


def _encoding(raw: bytes) -> str:
    """By byte order mark, else by where the NUL bytes are (PowerShell redirects write UTF-16 without a mark)."""
    if raw.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if raw.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = raw[:4096]
    odd, even = sample[1::2].count(0), sample[0::2].count(0)
    half = len(sample) // 2
    if half >= 4 and odd > 0.6 * half and even < 0.2 * half:
        return "utf-16-le"
    if half >= 4 and even > 0.6 * half and odd < 0.2 * half:
        return "utf-16-be"
    return "utf-8"


def _decode(raw: bytes, encoding: str) -> str:
    """Text without NUL, byte order mark and `\\r\\n`. UTF-16 that was cut or prefixed at an odd byte is read as its ASCII."""
    if encoding != "utf-8" and not _aligned(raw, encoding):
        encoding = "utf-8"
    text = raw.decode(encoding, "replace")
    text = text.replace("\x00", "").removeprefix("\ufeff")
    return _unix(text) if "\r" in text else text


def _unix(text: str) -> str:
    """Without the carriage returns before line feeds. A pattern would read a run without a feed once for each of its characters."""
    *lines, last = text.split("\n")
    return "\n".join([*(line.rstrip("\r") for line in lines), last])


def _aligned(raw: bytes, encoding: str) -> bool:
    """Whether every line feed of the bytes is one of the encoding: a time prefix in between breaks the pairs."""
    feed = "\n".encode(encoding)
    at = raw.find(b"\n")
    for _ in range(64):
        if at < 0:
            return True
        start = at if encoding == "utf-16-le" else at - 1
        if start % 2 or raw[start : start + 2] != feed:
            return False
        at = raw.find(b"\n", at + 1)
    return True


def _plain(match: re.Match[str]) -> str:
    """Colours vanish; Windows consoles write runs of spaces and new lines as cursor moves: those are kept as such."""
    final, count = match.group("final"), match.group("count")
    if final == "C":
        return " " * min(int(count) if count and count.isdecimal() and len(count) < 5 else 1, 200)
    return "\r" if final in ("H", "f", "E") else ""


def _parts(lines: list[str], places: Sequence[int]) -> tuple[list[str], list[int]]:
    """Lines split at bare carriage returns (progress displays); each part keeps the number of its line."""
    texts: list[str] = []
    numbers: list[int] = []
    for number, line in zip(places, lines, strict=True):
        if "\r" not in line:
            texts.append(line)
            numbers.append(number)
            continue
        parts = [part for part in line.split("\r") if part] or [""]
        texts += parts
        numbers += [number] * len(parts)
    return texts, numbers


def _mark_cut(texts: list[str]) -> tuple[bool, int | None]:
    """Whether and how much is missing. The lines beside a cut may be halves: ELLIPSIS keeps them from reading as whole ones."""
    marks = [(at, mark) for at, text in enumerate(texts) if "[gpudash: " in text and (mark := _CUT.search(text))]
    for at, mark in marks:
        if mark.group() != texts[at]:
            texts[at] = ELLIPSIS + texts[at] + ELLIPSIS
        if at > 0:
            texts[at - 1] += ELLIPSIS
        if at + 1 < len(texts):
            texts[at + 1] = ELLIPSIS + texts[at + 1]
    sizes = [mark.group(1) for _, mark in marks]
    return bool(marks), sum(int(size) for size in sizes) if marks and None not in sizes else None
