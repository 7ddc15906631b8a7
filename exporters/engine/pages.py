"""A page of an exporter (Prometheus text format 0.0.4, or OpenMetrics 1.0) → samples, one at a time.

Sources: prometheus.io/docs, "Exposition formats"; the OpenMetrics specification. Only the metrics that are asked for are looked
at; of those, what is no sample is counted and left out. Measured on a page of 50 MB in dcgm-exporter's form: see `bench
usage-formats`; the parser of prometheus_client takes some ten times as long, keeps no count of what it cannot read, and ends at
the first bad line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from io import BytesIO

from exporters.engine.problems import ProblemCounts
from exporters.engine.samples import LABEL_CHARS, MOST_LABELS, Labels, LabelSets, Sample

#: A line of more bytes is none that an exporter writes: name, labels of which the longest has some hundred characters, a number.
LINE_BYTES = 64 << 10
#: Most samples of one page. An exporter of a node with 16 cards, each in 7 parts with 4 pods, and 100 metrics has 45,000.
MOST_SAMPLES = 2_000_000

_NAME = re.compile(rb"[a-zA-Z_:][a-zA-Z0-9_:]*")
_TYPE = re.compile(rb"#[ \t]+TYPE[ \t]+([a-zA-Z_:][a-zA-Z0-9_:]{0,511})[ \t]")
#: One label; no part of it can match what the next one does, so the time is linear in the length whatever it holds. Groups are not
#: possessive: Python before 3.11.5 forgets where such a group began.
_PAIR = re.compile(rb'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*')
_BLANKS = re.compile(rb"[ \t]*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", '"': '"', "\\": "\\"}
#: What a line may begin with that is a sample, a comment or empty; `{` is a name in quotes, which no exporter of cards has.
_BEGINS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:# \t\r\n{")
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[iI]nf(?:inity)?|[nN]a[nN])"
)


def _pairs(line: bytes, start: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """The labels (name, value as it stands there) from a place on, a comma between them and at most one behind; and their end."""
    pairs: list[tuple[bytes, bytes]] = []
    match = _PAIR.match(line, start)
    while match is not None:
        pairs.append((match[1], match[2]))
        end = match.end()
        if line[end : end + 1] != b",":
            return pairs, end
        start = end + 1
        match = _PAIR.match(line, start)
    blanks = _BLANKS.match(line, start)
    return pairs, blanks.end() if blanks else start


class _Blocks:
    """Blocks of labels, parsed once: a card's stands in each of its lines."""

    def __init__(self, told: ProblemCounts, sets: LabelSets) -> None:
        self._told = told
        self._sets = sets

    def labels(self, block: bytes) -> Labels | None:
        """The labels of a block; None when it is none, which was told."""
        found = self._sets.find(block)
        if found is not None:
            return found
        pairs, end = _pairs(block, 0)
        if end != len(block):
            self._told.tell("bad-line", _shown(block))
            return None
        labels = self._parsed(block, pairs)
        return self._sets.keep(labels, block) if labels is not None else None

    def _parsed(self, block: bytes, pairs: list[tuple[bytes, bytes]]) -> dict[str, str] | None:
        if len(pairs) > MOST_LABELS:
            self._told.tell("too-many-labels", _shown(block))
            return None
        if any(len(value) > LABEL_CHARS for _, value in pairs):
            self._told.tell("label-too-long", _shown(block))
            return None
        try:
            labels = {name.decode(): _unescaped(value) for name, value in pairs}
        except UnicodeDecodeError:
            self._told.tell("not-utf8", _shown(block))
            return None
        if len(labels) != len(pairs):
            self._told.tell("bad-line", _shown(block))
            return None
        return labels


def read_page(
    body: bytes,
    names: Collection[str],
    told: ProblemCounts,
    *,
    openmetrics: bool | None = None,
    sets: LabelSets | None = None,
) -> Iterator[Sample]:
    """The samples of these metrics. openmetrics: what the Content-Type says; None where it is not known.

    Times are in milliseconds in the text format and in seconds in OpenMetrics. A page that does not end with a line feed, or an
    OpenMetrics page without `# EOF`, was cut: a number that was cut is another number, so the last line is left out.
    sets: of the reader that gets the samples (`Reader.sets`).
    """
    ended = body.rstrip()[-5:] == b"# EOF"
    in_seconds = ended if openmetrics is None else openmetrics
    whole = body.endswith(b"\n") or ended or not body.strip()
    if not whole or (openmetrics and not ended):
        told.tell("page-cut", _shown(body[-100:]))
    asked = {name.encode(): name for name in names}
    blocks = _Blocks(told, LabelSets() if sets is None else sets)
    count = 0
    for line in BytesIO(body if whole else body[: body.rfind(b"\n") + 1]):
        if line[0] not in _BEGINS:
            told.tell("bad-line", _shown(line))
            continue
        brace = line.find(b"{")
        if line[brace - 2 : brace] == b"# ":  # a sample without labels, and its exemplar
            brace = -1
        name = asked.get(line[:brace].strip() if brace >= 0 else line.split(None, 1)[0] if line.strip() else b"")
        if name is None:
            # A name that is asked for, and between it and the brace what does not belong there.
            if brace > 0 and len(parts := line[:brace].split(None, 1)) == 2 and parts[0] in asked:
                told.tell("bad-line", _shown(line))
            continue
        if len(line) > LINE_BYTES:
            told.tell("line-too-long", _shown(line))
            continue
        sample = _sample(name, line, brace, blocks, told, in_seconds)
        if sample is None:
            continue
        if count == MOST_SAMPLES:
            told.tell("too-many-samples", name)
            return
        count += 1
        yield sample


def page_names(body: bytes, most: int = 20_000) -> frozenset[str]:
    """The names of the metrics of a page: what exporters are recognised by. At most so many."""
    found: set[bytes] = set()
    for line in BytesIO(body):
        match = _NAME.match(line)
        if match is not None:
            found.add(match[0])
            if len(found) >= most:
                break
    return frozenset(name.decode() for name in found if len(name) <= LABEL_CHARS)


def announced_names(body: bytes, most: int = 20_000) -> frozenset[str]:
    """The names that a page gives a type: an exporter with nothing to say at the moment writes those and no more."""
    found = {match[1] for line in BytesIO(body) if (match := _TYPE.match(line)) is not None}
    return frozenset(name.decode() for name in sorted(found)[:most])


def _sample(
    name: str, line: bytes, brace: int, blocks: _Blocks, told: ProblemCounts, in_seconds: bool
) -> Sample | None:
    if brace < 0:
        labels: Labels | None = blocks.labels(b"")
        tail = line.split(None, 1)[1] if len(line.split(None, 1)) == 2 else b""
    else:
        end = _end(line, brace)
        if end < brace:
            told.tell("bad-line", _shown(line))
            return None
        labels, tail = blocks.labels(line[brace + 1 : end]), line[end + 1 :]
    if labels is None:
        return None
    fields = tail.split()
    if in_seconds and b"#" in fields:  # an exemplar
        fields = fields[: fields.index(b"#")]
    if len(fields) not in (1, 2):
        told.tell("bad-line", _shown(line))
        return None
    if _NUMBER.fullmatch(fields[0]) is None:
        told.tell("bad-value", _shown(line))
        return None
    if len(fields) == 1:
        return Sample(name, labels, float(fields[0]))
    if _NUMBER.fullmatch(fields[1]) is None:
        told.tell("bad-line", _shown(line))
        return None
    at = float(fields[1])
    return Sample(name, labels, float(fields[0]), at if in_seconds else at / 1000)


def _end(line: bytes, brace: int) -> int:
    """Where the block of labels ends. The last brace does, unless an exemplar follows; a brace in quotes is found to be one
    later.
    """
    end = line.rfind(b"}")
    if b" # {" in line:
        own = _pairs(line, brace + 1)[1]
        return own if line[own : own + 1] == b"}" else end
    return end


def _unescaped(value: bytes) -> str:
    text = value.decode()
    return text if "\\" not in text else _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)


def _shown(piece: bytes) -> str:
    return piece[:120].decode("utf-8", "replace")
