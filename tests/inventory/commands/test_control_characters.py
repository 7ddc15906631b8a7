"""What clusters, logs and the database hold reaches a terminal or a log as text: it moves no cursor, colours and forges no line."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from gpudash.logs.lines import LineFormatter
from gpudash.logs.secrets import SecretsFilter
from inventory.models import Card, Cluster, Watch
from tests.factories import make_node
from tests.validations.recorded import PASSED
from validations.models import Run
from wording.printable import one_line, visible

ESCAPE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202egnp.exe\u2066\r\x7f"
FORGED = f"x{ESCAPE}\n2026-01-01 INFO gpudash forged"
#: What no terminal may get.
LIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not LIVE.search(visible(text))
    assert "\n" not in one_line(text)
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize("text", ["plain", "ü 中文 🦄 →", "two\nlines\tand a tab"])
def test_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.django_db
def test_tables_of_inspect_have_one_line_for_each_thing(cluster: Cluster, run: Callable[..., str]) -> None:
    make_node(cluster, "gpu-1", "nvidia", 2)
    plain = run("inspect", "-d").count("\n")
    Card.objects.update(model=FORGED)
    out = run("inspect", "-d")
    assert not LIVE.search(out)
    assert "\\u001b" in out
    assert out.count("\n") == plain


@pytest.mark.django_db
def test_json_stays_json_and_says_the_same(cluster: Cluster, run: Callable[..., str]) -> None:
    make_node(cluster, "gpu-1", "nvidia", 1)
    Card.objects.update(model=FORGED)
    out = run("inspect", "-o", "json")
    assert not LIVE.search(out)
    assert json.loads(out)["nodes"][0]["cards"][0]["model"] == FORGED


@pytest.mark.django_db
def test_the_reason_of_a_watch_is_one_line(cluster: Cluster, run: Callable[..., str]) -> None:
    Watch.objects.update(reason=FORGED)
    out = run("cluster", "list")
    assert not LIVE.search(out)
    assert not [line for line in out.splitlines() if line.startswith("2026-01-01")]


@pytest.mark.django_db
def test_errors_of_commands_are_shown_too(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    from gpudash.management.commands.inspect import Command

    with pytest.raises(SystemExit):
        Command().run_from_argv(["manage.py", "inspect", f"none{ESCAPE}"])
    assert not LIVE.search(capsys.readouterr().err)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_parsed_log_reaches_no_terminal(run: Callable[..., str], tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(PASSED + f"Failed to copy (error code {chr(27)}[31m\u202ex)!\n".encode())
    out = run("parse_log", "cuda-vectoradd", str(log), "-o", form)
    assert not LIVE.search(out)
    assert "failed" in out


@pytest.mark.django_db
def test_a_run_tells_its_reasons_line_by_line(cluster: Cluster, run: Callable[..., str]) -> None:
    from io import StringIO

    from validations.management.commands.validate import Command

    out = StringIO()
    command = Command(stdout=out)
    row = Run(
        verdict="errored", reasons=[{"code": "image", "text": FORGED, "line": None}], node_name="n", state="ended"
    )
    command._result(row)
    assert not LIVE.search(out.getvalue())
    assert out.getvalue().count("\n") == 2


def record(message: str, *arguments: object, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord("gpudash", logging.INFO, __file__, 1, message, arguments, None)
    made.__dict__.update(extra)
    return made


def test_a_log_line_is_one_line_whatever_is_in_it() -> None:
    line = LineFormatter("%(levelname)s %(message)s").format(record("node %s is gone", FORGED))
    assert not LIVE.search(line)
    assert line.startswith("INFO node x\\u001b")
    assert "\n" not in line


def test_a_traceback_is_indented_so_that_no_line_of_it_reads_as_a_record() -> None:
    try:
        raise ValueError(FORGED)
    except ValueError:
        import sys

        made = record("it failed")
        made.exc_info = sys.exc_info()
    lines = LineFormatter("%(levelname)s %(message)s").format(made).split("\n")
    assert lines[0] == "INFO it failed"
    assert all(line.startswith("    ") for line in lines[1:])
    assert not LIVE.search("".join(lines))


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.django_db
def test_no_query_string_and_no_forged_line_comes_into_the_log(form: str, admin: Client) -> None:
    """All loggers, with the handler as it is set up; the paths are those of a stranger, the query holds a secret."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, made: logging.LogRecord) -> None:
            lines.append(self.format(made))

    chosen = settings.LOGGING["formatters"][form]
    handler = Kept()
    if form == "text":
        handler.setFormatter(LineFormatter(chosen["format"]))
    else:
        from pythonjsonlogger.json import JsonFormatter

        handler.setFormatter(JsonFormatter(chosen["fmt"]))
    for name in settings.LOGGING["handlers"]["console"]["filters"]:
        handler.addFilter(_made(settings.LOGGING["filters"][name]["()"]))
    root = logging.getLogger()
    root.handlers.insert(0, handler)  # before one that has made the record harmless already
    try:
        for client in (admin, Client()):
            for path in (
                "/nothing%0a2026-01-01%20INFO%20forged%1b[2J",
                "/sign-in/link",
                "/api/v1/nothing",
                "/nodes",
                "/api/v1/runs",
            ):
                client.get(f"{path}?token=SECRET")
                client.post(f"{path}?token=SECRET", HTTP_X_REQUEST_ID="a\nb")
    finally:
        root.removeHandler(handler)
    assert lines
    assert not [line for line in lines if "SECRET" in line]
    assert not [line for line in lines if LIVE.search(line) or "\n" in line]


def _made(path: str) -> logging.Filter:
    from django.utils.module_loading import import_string

    found: logging.Filter = import_string(path)()
    return found


def test_the_filter_that_hides_the_request_is_in_use() -> None:
    assert settings.LOGGING["handlers"]["console"]["filters"] == ["ids", "outages", "secrets"]
    assert SecretsFilter().filter(record("x", request="secret"))


def test_a_traceback_without_its_secrets_is_still_written_and_indented() -> None:
    one = record("x")
    try:
        raise ValueError("the token gpd_1_abcdefghijklmnopqrstuvwxyz is bad")
    except ValueError:
        one.exc_info = sys.exc_info()
    assert SecretsFilter().filter(one)
    _, *below = LineFormatter("%(message)s").format(one).split("\n")
    assert below[-1] == "    ValueError: the token gpd_1_… is bad"
    assert all(line.startswith("    ") for line in below)
