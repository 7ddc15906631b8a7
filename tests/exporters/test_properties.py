"""What holds for all that an exporter or a server may say, however strange."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporters import (
    CODES,
    FORMATS,
    MEASURES,
    Context,
    Format,
    ProblemCounts,
    Report,
    Sample,
    page_names,
    read_answer,
    read_page,
    recognise,
    stamped,
)
from exporters.engine.format import Gauge
from exporters.engine.measures import MOST_MEMORY
from exporters.engine.readings import FAIL, MOST_ENTRIES, NOT_TOLD, PASS, WARN
from exporters.engine.values import is_sentinel
from tests.exporters.build import NOW

#: Numbers by which tools say that they have none, and the least and most that a double can be.
SENTINELS = (
    math.nan,
    math.inf,
    -math.inf,
    -1.0,
    2147483632.0,
    2147483633.0,
    2147483646.0,
    2147483647.0,
    4294967295.0,
    9223372036854775792.0,
    9223372036854775794.0,
    9223372036854775807.0,
    18446744073709551615.0,
    140737488355328.0,
    140737488355330.0,
    17e12,
    1.8446744073705456e19,
    5e-324,
    -0.0,
    1.7976931348623157e308,
)
LABELS = sorted(
    {
        label
        for format in FORMATS
        for field in format.identity.__struct_fields__
        for label in getattr(format.identity, field)
    }
    | {
        label
        for format in FORMATS
        for metric in format.metrics.values()
        if isinstance(metric, Gauge)
        for label, _ in metric.when
    }
    | {"namespace", "pod", "container", "exported_pod", "exported_namespace", "pod_uid", "pod_name", "node", "Hostname"}
    | {
        "instance",
        "vgpu",
        "xid",
        "window_size_in_ms",
        "clock_event",
        "health_watch",
        "pid",
        "process_id",
        "process_name",
    }
    | {"hw_state", "hw_type", "nvlink", "clock_type", "error_type", "hw_frequency_domain", "hw_sensor_location"}
)
VALUES = (
    "",
    "0",
    "1",
    "GPU-1",
    "GPU-2",
    "n1",
    "00000000:1A:00.0",
    "device",
    "card",
    "gpu",
    "ok",
    "critical",
    "t-0",
    "ml",
    "nan",
    "x" * 300,
)
KNOWN = Context(now=NOW, nodes=frozenset(("n1", "n2")), sizes={"1": 80 << 30})
numbers = st.one_of(st.sampled_from(SENTINELS), st.floats(), st.integers(0, 200).map(float), st.floats(0, 1e12))
label_sets = st.dictionaries(
    st.sampled_from(LABELS), st.one_of(st.sampled_from(VALUES), st.text(max_size=20)), max_size=8
)
times = st.one_of(st.none(), st.floats(), st.sampled_from((NOW, NOW - 1, NOW - 100, NOW + 10_000)))
SLOW = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def rows(draw: st.DrawFn) -> tuple[Format, list[Sample]]:
    format = draw(st.sampled_from(FORMATS))
    names = st.one_of(st.sampled_from(sorted(format.metrics)), st.text(max_size=10))
    return format, [
        Sample(draw(names), draw(label_sets), draw(numbers), draw(times)) for _ in range(draw(st.integers(0, 25)))
    ]


def believable(report: Report) -> None:
    """Whatever was read: what is told as a number is one, in its range, and never one of those that stand for none."""
    for reading in report.readings:
        assert reading.key
        assert not reading.values.keys() & reading.refused.keys()
        assert set(reading.refused.values()) <= CODES.keys()
        for name, found in reading.values.items():
            measure = MEASURES[name]
            assert (
                measure.low
                <= found.value
                <= min(measure.high, 1.0 if measure.unit == "ratio" and name != "core_allocated" else math.inf)
            )
            assert 0 <= found.at <= NOW + 300
        for holder in reading.holders:
            assert holder.namespace
            assert holder.pod
            assert holder.memory_used is None or 0 <= holder.memory_used <= MOST_MEMORY
            assert holder.memory_limit is None or 0 < holder.memory_limit <= 16 * MOST_MEMORY
            assert holder.idle_s is None or 0 <= holder.idle_s < 10**9
        for process in reading.processes:
            assert 0 <= process.memory_used <= MOST_MEMORY
        for xid in reading.xids:
            assert 0 < xid.code < 100_000
            assert all(
                number is None or (number >= 0 and math.isfinite(number))
                for number in (xid.count, xid.window_s, xid.last_at)
            )
        for throttle in reading.throttles:
            assert throttle.count is None or 0 <= throttle.count <= 2**31
        assert {watch.state for watch in reading.watches} <= {PASS, WARN, FAIL, NOT_TOLD}
        for entries in (reading.holders, reading.processes, reading.xids, reading.watches, reading.throttles):
            assert len(entries) <= MOST_ENTRIES
    assert {problem.code for problem in report.problems} <= CODES.keys()


@pytest.mark.sweep
@SLOW
@given(rows())
def test_no_samples_raise_and_what_is_told_is_believable(given_rows: tuple[Format, list[Sample]]) -> None:
    format, samples = given_rows
    report = format.read(samples, KNOWN)
    assert report.samples == len(samples)
    believable(report)


@pytest.mark.sweep
@SLOW
@given(rows(), st.lists(st.integers(0, 25), max_size=4))
def test_pieces_give_the_same_as_the_whole(given_rows: tuple[Format, list[Sample]], cuts: list[int]) -> None:
    format, samples = given_rows
    reader = format.reader(KNOWN)
    places = sorted({0, len(samples), *(cut for cut in cuts if cut < len(samples))})
    for begin, end in itertools.pairwise(places):
        reader.add(samples[begin:end])
    assert repr(reader.report()) == repr(format.read(samples, KNOWN))


def test_numbers_that_stand_for_none_are_no_values_in_any_metric_of_any_format() -> None:
    labels = {label: "1" for format in FORMATS for label in format.identity.index}
    for format in FORMATS:
        for name, metric in format.metrics.items():
            wanted = dict(getattr(metric, "when", ()))
            for value in SENTINELS:
                if not is_sentinel(value) and math.isfinite(value):
                    continue
                if isinstance(metric, Gauge) and metric.measure.low <= value < 0:
                    continue  # degrees may be below 0
                row = {
                    "UUID": "GPU-1",
                    "uuid": "GPU-1",
                    "node": "n1",
                    "namespace": "ml",
                    "pod": "t-0",
                    "container": "main",
                    **labels,
                    **wanted,
                }
                report = format.read([Sample(name, row, value)], KNOWN)
                assert [reading.values for reading in report.readings if reading.values] == [], (
                    format.name,
                    name,
                    value,
                )
                for reading in report.readings:
                    assert all(holder.memory_used is None for holder in reading.holders), (format.name, name, value)


def test_17_terabytes_are_nowhere_memory() -> None:
    """HAMi's underflow, as bytes and as the unit of each metric."""
    for format in FORMATS:
        for name, metric in format.metrics.items():
            if isinstance(metric, Gauge) and metric.measure.unit == "bytes":
                row = {
                    "UUID": "GPU-1",
                    "uuid": "GPU-1",
                    "node": "n1",
                    **dict(metric.when),
                    **dict.fromkeys(format.identity.index, "1"),
                }
                for bytes_ in (17.6e12, 2.0**64 - 2**30):
                    report = format.read([Sample(name, row, bytes_ / metric.scale)], KNOWN)
                    assert [reading.values for reading in report.readings if reading.values] == [], (format.name, name)


_PIECES = (
    "a",
    "{",
    "}",
    '"',
    "\\",
    ",",
    "=",
    " ",
    "\n",
    "\r\n",
    "1",
    "NaN",
    "x=",
    'x="1"',
    "# EOF",
    "#",
    "\x00",
    "é",
    "_total",
    "e9",
)
_lines = st.lists(st.sampled_from(_PIECES), max_size=80).map(lambda pieces: "".join(pieces).encode())


@SLOW
@given(st.one_of(st.binary(max_size=400), _lines), st.booleans())
def test_no_page_raises_and_every_line_that_is_asked_for_is_a_sample_or_told(body: bytes, openmetrics: bool) -> None:
    told = ProblemCounts()
    names = page_names(body) | {"a"}
    samples = list(read_page(body, names, told, openmetrics=openmetrics))
    assert recognise(names) == recognise(names)
    for sample in samples:
        assert sample.name in names
        assert all(isinstance(key, str) and isinstance(value, str) for key, value in sample.labels.items())
    whole = body.endswith(b"\n") or body.rstrip()[-5:] == b"# EOF"
    lines = body.split(b"\n") if whole else body.split(b"\n")[:-1]
    asked = [line for line in lines if line[:1].isalpha() or line[:1] == b"_" or line[:1] == b":"]
    bad = sum(problem.count for problem in told.problems() if problem.code != "page-cut")
    assert len(samples) + bad >= sum(
        1 for line in asked if line.replace(b"{", b" ").split()[0].decode("latin-1") in names
    )


_json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["success", "error", "vector", "1", "NaN", "a"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    "status",
                    "data",
                    "resultType",
                    "result",
                    "metric",
                    "value",
                    "__name__",
                    "warnings",
                    "isPartial",
                    "error",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)
_vectors = st.lists(_json, max_size=4).map(
    lambda result: {"status": "success", "data": {"resultType": "vector", "result": result}}
)
_bodies = st.one_of(_json, _vectors).map(lambda whole: json.dumps(whole).encode())


@pytest.mark.sweep
@SLOW
@given(st.one_of(st.binary(max_size=200), _bodies), st.one_of(st.none(), st.just("b")))
def test_no_answer_raises_and_one_that_gives_nothing_says_why(body: bytes, name: str | None) -> None:
    told = ProblemCounts()
    answer = read_answer(body, told, name)
    assert bool(answer.error) <= (answer.samples == ())
    assert bool(answer.error) == ("not-an-answer" in {problem.code for problem in told.problems()})
    assert len(answer.error) < 1000
    assert all(sample.name for sample in answer.samples)
    assert list(stamped(answer.samples, answer.samples)) is not None
