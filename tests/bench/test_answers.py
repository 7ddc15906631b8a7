"""A benchmark that is given refusals, errors or nothing is not ok, whatever its figures say; and each promises something."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench import churn, report, shared, visitors
from bench.__main__ import NAMES
from bench.answers import HTML, JSON, REST_LIST, Answers, Right, timed
from bench.large import TINY, Movable
from bench.promises import LINES, PROMISES, Bound
from tests.http_server import Handler, Server
from tests.services import free_port

BENCH = Path(__file__).resolve().parents[2] / "bench"
LINE = "shared page"


def said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    report.SAID.clear()
    report.FAILED.clear()


def test_right_answers_within_the_bound_are_ok(capsys: pytest.CaptureFixture[str]) -> None:
    assert report.emit(LINE, Answers(right=3), p95_ms=400.0)
    (line,) = said(capsys)
    assert (line["ok"], line["bounds"], line["right"]) == (True, {"p95_ms": "<= 400"}, 3)
    assert not report.FAILED[LINE]


@pytest.mark.parametrize("value", [400.1, None, float("nan"), True, "fast"])
def test_a_figure_that_misses_its_bound_or_is_none_is_not(value: object) -> None:
    assert not report.emit(LINE, Answers(right=3), p95_ms=value)
    assert report.FAILED[LINE] == 1


def test_a_promised_figure_that_is_not_said_is_not_ok() -> None:
    assert not report.emit(LINE, Answers(right=3))


def test_no_answer_and_one_wrong_answer_are_not_ok() -> None:
    assert not report.emit(LINE, Answers(), p95_ms=1.0)
    refused = Answers(right=9)
    refused.count("status 429")
    assert not report.emit(LINE, refused, p95_ms=1.0)


def test_no_line_judges_itself() -> None:
    with pytest.raises(ValueError, match="ok is said by the report"):
        report.emit(LINE, Answers(right=1), p95_ms=1.0, ok=True)
    with pytest.raises(ValueError, match="is judged"):
        report.note("anything", ok=True)
    with pytest.raises(ValueError, match="is judged"):
        report.note(LINE)
    with pytest.raises(KeyError):
        report.emit("a line that promises nothing", Answers(right=1))


def test_every_benchmark_promises_a_bound_for_each_of_its_lines() -> None:
    assert set(LINES) == set(NAMES)
    assert sorted(line for lines in LINES.values() for line in lines) == sorted(PROMISES)
    for line, bounds in PROMISES.items():
        assert bounds, line
        assert all(bound.most is not None or bound.least is not None for bound in bounds.values()), line


def test_bounds_hold_on_both_sides() -> None:
    assert Bound(most=2, least=1).holds(1.5)
    assert not Bound(most=2, least=1).holds(0.5)
    assert not Bound(most=2).holds(3)


def test_benchmarks_print_lines_by_the_report_only() -> None:
    """What is emitted is a line that promises something; nothing else prints an "ok"."""
    emitted = []
    for file in sorted(BENCH.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "emit":
                emitted.append(_beginning(node.args[0]))
            if isinstance(node, ast.keyword) and node.arg == "ok":
                assert file.name == "report.py", f"{file.name}:{node.value.lineno} sets ok by hand"
    for beginning in emitted:
        assert any(line.startswith(beginning) for line in PROMISES), beginning
    for line in PROMISES:
        assert any(line.startswith(beginning) for beginning in emitted), f"nothing emits {line}"


def _beginning(first: ast.expr) -> str:
    """The literal that a line's name begins with."""
    if isinstance(first, ast.JoinedStr):
        first = first.values[0]
    assert isinstance(first, ast.Constant), ast.unparse(first)
    return str(first.value)


REFUSED = (429, "text/plain", b"Too many requests.")
EMPTY = (200, "text/html; charset=utf-8", b"<html><p>There is nothing here.</p></html>")
ERROR = (500, "text/html", b"Internal error")
SIGN_IN = (302, "text/html", b'<a href="/cards/1">')
NO_LIST = (200, "application/json", b'{"next":null,"results":[]}')
OTHER_TYPE = (200, "text/plain", b'href="/cards/1" href="/nodes/large/gpu-1" "results":[{ "totals":{"nodes": ok')


@contextmanager
def server(status: int, content_type: str, body: bytes) -> Iterator[int]:
    """Answers everything like this."""

    class Same(Handler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with Server(Same) as http:
        yield http.port


@pytest.mark.parametrize(
    "answer", [REFUSED, EMPTY, ERROR, SIGN_IN, NO_LIST, OTHER_TYPE], ids=lambda answer: str(answer[0])
)
def test_visitors_who_are_given_anything_else_than_what_they_asked_for_count_nothing(
    answer: tuple[int, str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    with server(*answer) as port:
        found = visitors.visit(port, ["s"] * 2, 10, 0.0, 0.3)
    shared.report(found, 0.5, changes=False)
    lines = said(capsys)
    assert len(lines) == len(visitors.MIX) + 1
    assert not any(line["ok"] for line in lines if line["bench"] != "shared healthz")
    assert lines[-1]["wrong"]


def test_visitors_of_a_server_that_is_not_there_count_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shared.report(visitors.visit(free_port(), ["s"], 10, 0.0, 0.3), 0.5)
    assert not any(line["ok"] for line in said(capsys))


def test_every_kind_of_request_of_visitors_has_a_right_answer_of_its_own() -> None:
    assert {name.removesuffix(", part") for name, _, _ in visitors.MIX} == set(visitors.RIGHT)


class _Client:
    """As Django's test client: one answer for all."""

    def __init__(self, status: int, content_type: str, body: bytes) -> None:
        self.status_code, self.headers, self._body = status, {"Content-Type": content_type}, body

    def get(self, _: str) -> _Client:
        return self

    def getvalue(self) -> bytes:
        return self._body


def test_each_timed_request_is_looked_at() -> None:
    answers = Answers()
    timed(_Client(200, "application/json", b'{"results":[{"name":"a"}]}'), "/api", REST_LIST, answers)
    for wrong in (REFUSED, EMPTY, ERROR, NO_LIST):
        timed(_Client(*wrong), "/api", REST_LIST, answers)
    assert (answers.right, answers.wrong.total()) == (1, 4)
    assert Right(HTML, b"x").why_not(200, "text/html", b"x") == ""
    assert "no 'y'" in Right(JSON, b"y").why_not(200, "application/json", b"x")


def test_a_sender_that_dies_is_noticed() -> None:
    sending = churn.Sending(free_port(), Movable(TINY), 1000.0, 10)
    sending._sending.exception(10)
    with pytest.raises(OSError):
        sending.stop()
