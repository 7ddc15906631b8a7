"""An answer of Prometheus' HTTP API (instant vector) → samples.

Source: prometheus.io/docs, "HTTP API"; Thanos and VictoriaMetrics add `warnings`, `infos` and `isPartial`. Bytes go straight into
small structs: 40,000 series of 12 labels in about 0.1 s. What is no answer, or no vector, is an `Answer` with an error; nothing
raises.
"""

from __future__ import annotations

import msgspec

from exporters.engine.problems import ProblemCounts
from exporters.engine.samples import Labels, LabelSets, Sample
from kube.decoders import decoder
from wording.said import quote, sentence

#: Most series and labels of one answer. Memory while decoding is some 100 bytes for each label.
MOST_SERIES = 300_000
MOST_ANSWER_LABELS = 3_000_000
#: Up to this size an answer cannot have so many that it matters.
MOST_UNCOUNTED = 32 << 20
#: Longest text of an error or warning that is kept, and how many warnings.
TEXT_CHARS = 300
MOST_WARNINGS = 20


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What Prometheus said.

    samples: empty where error is not. evaluated_at: unix seconds, of the first series; None when there is none.
    error: "" or what went wrong, with the type that the server named; warnings: its texts, of which some say that data is
    missing. partial: the server says that the answer is not whole.
    """

    samples: tuple[Sample, ...] = ()
    evaluated_at: float | None = None
    error: str = ""
    warnings: tuple[str, ...] = ()
    partial: bool = False


class _Point(msgspec.Struct, array_like=True, gc=False):
    at: float
    text: str


class _Series(msgspec.Struct, gc=False):
    """The labels stay as they came until it is clear that they are new."""

    metric: msgspec.Raw
    value: _Point


class _Vector(msgspec.Struct):
    resultType: str
    result: list[_Series]


class _RawData(msgspec.Struct):
    resultType: str = ""
    result: list[msgspec.Raw] | None = None


class _Head(msgspec.Struct):
    """All but the data; each field may be missing or null."""

    status: str | None = None
    errorType: str | None = None
    error: str | None = None
    warnings: list[str] | None = None
    isPartial: bool | None = None


class _Whole(_Head):
    data: _Vector | None = None


class _Parts(_Head):
    data: msgspec.Raw = msgspec.Raw(b"null")


_whole = decoder(_Whole)
_parts = decoder(_Parts)
_raw_data = decoder(_RawData | None)
_series = decoder(_Series)
_labels = decoder(dict[str, str])
_text = decoder(str)
#: What a decoder may answer bytes with that it cannot read.
_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


def read_answer(
    body: bytes | bytearray, told: ProblemCounts, name: str | None = None, sets: LabelSets | None = None
) -> Answer:
    """The samples of an instant vector. name: of the metric, where the query took it away (`max by (…)`, `timestamp(…)`).

    sets: of the reader that gets the samples (`Reader.sets`), so that labels are parsed once for all metrics.
    """
    sets = LabelSets() if sets is None else sets
    if len(body) > MOST_UNCOUNTED and (body.count(b'"metric"') > MOST_SERIES or body.count(b'":') > MOST_ANSWER_LABELS):
        told.tell("answer-too-large", f"{len(body)} bytes")
        return Answer(error=sentence("the response has {number} bytes and too many series or labels", number=len(body)))
    try:
        whole = _whole.decode(body)
    except _UNREADABLE:
        return _by_series(body, told, name, sets)
    if whole.data is None:
        if whole.status == "success":
            return _refused(body, told, sentence("it has no data"))
        return _told(whole, told, (), None)
    if whole.data.resultType != "vector":
        return _refused(body, told, sentence("{type} instead of a vector", type=repr(whole.data.resultType[:40])))
    result = whole.data.result
    samples = _samples(result, told, name, sets)
    return _told(whole, told, samples, result[0].value.at if result else None)


#: Where the name stands. Quotes inside of a label's value are escaped, so this is found nowhere else.
_NAME = b'"__name__":"'
_NAME_BYTES = len(_NAME)


def _samples(result: list[_Series], told: ProblemCounts, name: str | None, sets: LabelSets) -> tuple[Sample, ...]:
    """Labels are looked up by their text without the name, which is the same for all metrics of a card.

    First where the order of the metric before lets it be expected: series come sorted by their labels.
    """
    made: list[Sample] = []
    names: dict[bytes, str | None] = {b"": ""}
    found, piece, position = name or "", b"", 0
    order = sets.order
    for series in result:
        raw, point = bytes(series.metric), series.value
        labels: Labels | None = None
        if position < len(order):
            head, tail, expected = order[position]
            if raw == head + piece + tail:
                labels = expected
        if labels is None:
            at = raw.find(_NAME)
            end = raw.find(b'"', at + _NAME_BYTES) if at >= 0 else 0
            head, piece, tail = (raw[:at], raw[at:end], raw[end:]) if at >= 0 else (raw, b"", b"")
            known, labels = names.get(piece), sets.find(head, tail)
            if known is None or labels is None:
                try:
                    parsed = _labels.decode(raw)
                    own = _text.decode(piece[_NAME_BYTES - 1 :] + b'"') if piece else None
                except _UNREADABLE:
                    told.tell("bad-series", _shown(raw))
                    continue
                known = parsed.pop("__name__", None)
                if piece and known == own:
                    names[piece] = known
                elif known is not None:
                    # Written in another way, so that its place in the text is not the one that was looked at. No text is
                    # ever like these.
                    head, piece, tail = msgspec.json.encode(parsed), b"\0", b"\0"
                    labels = sets.find(head, tail)
                labels = labels or sets.keep(parsed, head, tail)
                order = sets.order
            found = known or name or ""
        position = labels.position + 1
        try:
            value = float(point.text)
        except ValueError:
            told.tell("bad-value", point.text)
            continue
        if not found:
            told.tell("bad-series", "a series without a name")
        elif "_" in point.text or not point.text.isascii():
            told.tell("bad-value", point.text)
        else:
            made.append(Sample(found, labels, value, point.at))
    return tuple(made)


class _Names(msgspec.Struct):
    status: str = ""
    data: list[str] | None = None


_names = decoder(_Names)


def read_names(body: bytes | bytearray) -> set[str] | None:
    """The values of a label, as Prometheus lists them; None where it does not."""
    try:
        found = _names.decode(body)
    except _UNREADABLE:
        return None
    return set(found.data or ()) if found.status == "success" else None


def _by_series(body: bytes | bytearray, told: ProblemCounts, name: str | None, sets: LabelSets) -> Answer:
    """An answer that does not decode as a whole: the series that do are kept, or it is said what came instead."""
    try:
        parts = _parts.decode(body)
        data = _raw_data.decode(parts.data) or _RawData()
    except _UNREADABLE as error:
        return _refused(body, told, f"{error}"[:TEXT_CHARS])
    if data.resultType != "vector":
        if parts.error or parts.status == "error":
            return _told(parts, told, (), None)
        return _refused(body, told, sentence("{type} instead of a vector", type=repr(data.resultType[:40])))
    good: list[_Series] = []
    for raw in data.result or ():
        try:
            good.append(_series.decode(raw))
        except _UNREADABLE:
            told.tell("bad-series", _shown(bytes(raw)))
    samples = _samples(good, told, name, sets)
    return _told(parts, told, samples, good[0].value.at if good else None)


def _told(head: _Head, told: ProblemCounts, samples: tuple[Sample, ...], at: float | None) -> Answer:
    error = ""
    if head.status != "success":
        error = quote(f"{head.errorType or head.status or 'no status'}: {head.error or 'no reason given'}"[:TEXT_CHARS])
        told.tell("not-an-answer", error)
    return Answer(
        samples=samples if not error else (),
        evaluated_at=at,
        error=error,
        warnings=tuple(text[:TEXT_CHARS] for text in (head.warnings or ())[:MOST_WARNINGS]),
        partial=head.isPartial is True,
    )


def _refused(body: bytes | bytearray, told: ProblemCounts, why: str) -> Answer:
    told.tell("not-an-answer", _shown(body))
    return Answer(
        error=sentence("not a Prometheus response: {why}. First bytes: {start}", why=why, start=repr(_shown(body)))
    )


def _shown(piece: bytes | bytearray) -> str:
    return piece[:80].decode("utf-8", "replace")
