"""Answers of Prometheus' HTTP API, good and bad."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exporters import Answer, ProblemCounts, Sample, read_answer, stamped
from exporters.engine import answers
from exporters.engine.samples import LabelSets


def series(labels: dict[str, Any], value: Any = (1760000000.1, "5")) -> dict[str, Any]:
    return {"metric": labels, "value": value}


def body(*result: Any, spaced: bool = False, **more: Any) -> bytes:
    """As Prometheus writes it, or with spaces, as another server may."""
    whole = {"status": "success", "data": {"resultType": "vector", "result": result}, **more}
    return json.dumps(whole, separators=None if spaced else (",", ":")).encode()


def read(text: bytes, name: str | None = None) -> tuple[Answer, dict[str, int]]:
    told = ProblemCounts()
    answer = read_answer(text, told, name)
    return answer, {problem.code: problem.count for problem in told.problems()}


def test_a_vector_becomes_samples_with_the_time_of_the_evaluation() -> None:
    answer, told = read(
        body(series({"__name__": "a", "x": "1"}), series({"x": "2", "__name__": "b"}, [1760000000, "NaN"]))
    )
    first, second = answer.samples
    assert (first.name, dict(first.labels), first.value, first.timestamp_s) == ("a", {"x": "1"}, 5.0, 1760000000.1)
    assert (second.name, dict(second.labels)) == ("b", {"x": "2"})
    assert second.value != second.value
    assert answer.evaluated_at == 1760000000.1
    assert (answer.error, answer.warnings, answer.partial, told) == ("", (), False, {})


def test_the_name_that_the_query_took_away_is_given_back() -> None:
    answer, told = read(body(series({"x": "1"}), series({"__name__": "b"})), "a")
    assert [sample.name for sample in answer.samples] == ["a", "b"]
    assert told == {}


def test_a_series_without_a_name_is_told() -> None:
    answer, told = read(body(series({"x": "1"})))
    assert (answer.samples, told) == ((), {"bad-series": 1})


@pytest.mark.parametrize("text", ["", "five", "1_000", "0x10", "١", "1 2", "--1"])
def test_a_value_that_is_no_number_is_told(text: str) -> None:
    answer, told = read(body(series({"__name__": "a"}, [1, text]), series({"__name__": "a"}, [1, "7"])))
    assert [sample.value for sample in answer.samples] == [7.0]
    assert told == {"bad-value": 1}


@pytest.mark.parametrize(
    "bad",
    [
        None,
        5,
        {},
        {"metric": {"__name__": "a"}},
        {"metric": {"__name__": "a"}, "values": [[1, "2"]]},
        {"metric": {"__name__": "a"}, "value": [1]},
        {"metric": {"__name__": "a"}, "value": ["now", "1"]},
        {"metric": {"__name__": "a"}, "value": [1, 2]},
        {"metric": {"__name__": 5}, "value": [1, "2"]},
        {"metric": {"__name__": "a", "x": None}, "value": [1, "2"]},
        {"metric": [], "value": [1, "2"]},
        {"metric": None, "value": [1, "2"]},
    ],
)
def test_a_series_that_cannot_be_read_leaves_the_others(bad: Any) -> None:
    answer, told = read(body(series({"__name__": "a"}), bad, series({"__name__": "b"})))
    assert [sample.name for sample in answer.samples] == ["a", "b"]
    assert told == {"bad-series": 1}
    assert answer.error == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not a Prometheus response"),
        (b"<html>502 Bad Gateway</html>", "First bytes: '<html>502"),
        (b"[]", "not a Prometheus response"),
        (b"null", "not a Prometheus response"),
        (b'"success"', "not a Prometheus response"),
        (b"{}", "not a Prometheus response|no status"),
        (b'{"status":"success"}', "not a Prometheus response|no reason"),
        (b'{"status":"success","data":null}', "not a Prometheus response|no reason"),
        (b'{"status":"success","data":{"resultType":"matrix","result":[]}}', "'matrix' instead"),
        (b'{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}', "'scalar' instead"),
        (b'{"status":"success","data":{"result":{}}}', "not a Prometheus response"),
        (b'{"status":"error","errorType":"timeout","error":"query timed out"}', "timeout: query timed out"),
        (
            b'{"status":"error","errorType":"execution","error":"too many samples","data":{"resultType":"","result":null}}',
            "execution: too many",
        ),
        (b'{"status":7,"data":{"resultType":"vector","result":[]}}', "not a Prometheus response"),
        (b"[" * 100_000, "not a Prometheus response"),
        (b'{"status":"success","data":{"resultType":"vector","result":[', "not a Prometheus response"),
    ],
)
def test_what_is_no_answer_says_what_came_instead(text: bytes, said: str) -> None:
    answer, told = read(text)
    assert answer.samples == ()
    assert any(piece in answer.error for piece in said.split("|")), answer.error
    assert told == {"not-an-answer": 1}
    assert len(answer.error) < 1000


def test_warnings_are_kept_and_an_answer_that_is_not_whole_is_marked() -> None:
    answer, _ = read(body(series({"__name__": "a"}), warnings=["x" * 1000, *["y"] * 100], isPartial=True, infos=["i"]))
    assert len(answer.samples) == 1
    assert answer.partial
    assert (len(answer.warnings), len(answer.warnings[0])) == (answers.MOST_WARNINGS, answers.TEXT_CHARS)


@pytest.mark.parametrize("more", [{"warnings": None}, {"isPartial": None}, {"isPartial": False}, {"error": None}])
def test_fields_may_be_null(more: dict[str, Any]) -> None:
    answer, told = read(body(series({"__name__": "a"}), **more))
    assert (len(answer.samples), answer.error, answer.warnings, answer.partial, told) == (1, "", (), False, {})


def test_an_error_with_data_gives_no_samples() -> None:
    answer, told = read(body(series({"__name__": "a"})).replace(b"success", b"error"))
    assert (answer.samples, answer.error) == ((), "error: no reason given")
    assert told == {"not-an-answer": 1}


def test_labels_that_look_like_a_name_are_labels() -> None:
    labels = {"__name__": "a", "x": '"__name__":"b"', "y\\": 'q"', "ключ": "знач\u2028"}
    answer, told = read(body(series(labels), series({**labels, "x": "other"})))
    assert [dict(sample.labels) for sample in answer.samples] == [
        {key: value for key, value in labels.items() if key != "__name__"},
        {key: "other" if key == "x" else value for key, value in labels.items() if key != "__name__"},
    ]
    assert told == {}


def test_a_name_with_an_escape_is_read() -> None:
    text = body(series({"__name__": "abc"})).replace(b'"abc"', b'"a\\u0062c"')
    answer, told = read(text)
    assert ([sample.name for sample in answer.samples], told) == (["abc"], {})


def test_a_series_that_has_a_name_gives_it_to_no_other() -> None:
    """However the name is written: with spaces, with escapes, twice, or not at all."""
    told, sets = ProblemCounts(), LabelSets()
    pieces = (
        b'{"__name__":"a","x":"1"}',
        b'{"x":"1"}',
        b'{"__name__" : "b","x":"1"}',
        b'{"x":"1"}',
        b'{"\\u005f_name__":"c","x":"1"}',
        b'{"x":"1"}',
        b'{"__name__":"d","__name__":"e","x":"1"}',
        b'{"__name__":"d","x":"1"}',
        b'{"__name__":"f\\"","x":"1"}',
        b'{"x":"1"}',
        b'{"__name__":"a","x":"1"}',
    )
    rows = b",".join(b'{"metric":' + piece + b',"value":[1,"2"]}' for piece in pieces)
    text = b'{"status":"success","data":{"resultType":"vector","result":[' + rows + b"]}}"
    for _ in range(3):
        found = read_answer(text, told, "z", sets).samples
        assert [sample.name for sample in found] == ["a", "z", "b", "z", "c", "z", "e", "d", "z", "a"]
        assert {sample.labels["x"] for sample in found} == {"1"}
    assert {(problem.code, problem.count) for problem in told.problems()} == {("bad-series", 3)}


@pytest.mark.parametrize("spaced", [False, True])
def test_labels_are_one_object_for_all_metrics_of_a_card_in_whatever_order_they_come(spaced: bool) -> None:
    told, sets = ProblemCounts(), LabelSets()
    labels = [{"UUID": f"GPU-{number}"} for number in range(50)]
    first = read_answer(
        body(*(series({"__name__": "a", **item}) for item in labels), spaced=spaced), told, sets=sets
    ).samples
    for name in "bab":
        turned = body(*(series({"__name__": name, **item}) for item in reversed(labels)), spaced=spaced)
        again = read_answer(turned, told, sets=sets).samples
        assert {sample.name for sample in again} == {name}
        assert {id(sample.labels) for sample in first} == {id(sample.labels) for sample in again}
        assert [dict(sample.labels) for sample in again] == labels[::-1]
    assert len(sets.order) == 50


def test_an_answer_with_more_series_than_are_read_is_refused_before_it_is_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "MOST_UNCOUNTED", 100)
    monkeypatch.setattr(answers, "MOST_SERIES", 10)
    answer, told = read(body(*(series({"__name__": "a", "x": str(number)}) for number in range(11))))
    assert (answer.samples, told) == ((), {"answer-too-large": 1})
    assert "too many series" in answer.error
    answer, told = read(body(*(series({"__name__": "a", "x": str(number)}) for number in range(10))))
    assert (len(answer.samples), told) == (10, {})


def test_samples_get_their_own_times_from_the_second_question() -> None:
    samples = [Sample("a", {"x": "1"}, 5.0, 100.0), Sample("a", {"x": "2"}, 6.0, 100.0)]
    times = [Sample("", {"x": "1"}, 91.5, 100.0), Sample("", {"x": "3"}, 92.0, 100.0)]
    assert [(sample.value, sample.timestamp_s) for sample in stamped(samples, times)] == [(5.0, 91.5), (6.0, 100.0)]
