"""Which exporters there are: by the index of names where Prometheus has one to ask, by counting where it has not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from exporters import Context
from inventory.collect.ask import ask
from inventory.collect.errors import SourceError
from inventory.collect.prometheus import Prometheus
from tests.http_server import Handler, Server

NOW = 1_780_000_000.0
ROW = '{"metric":{"__name__":"DCGM_FI_DEV_FB_USED","UUID":"GPU-aa","gpu":"0","Hostname":"n","instance":"i"},"value":[%s,"%s"]}'
NAMES = '{"status":"success","data":["DCGM_FI_DEV_FB_USED","DCGM_FI_DEV_FB_USED_else","gpu_of_somebody","up"]}'


def vector(*rows: str) -> str:
    return f'{{"status":"success","data":{{"resultType":"vector","result":[{",".join(rows)}]}}}}'


class Scripted:
    """A Prometheus with one series. names: status and body for the list of names. asked: what came, in order."""

    def __init__(self, status: int, names: str) -> None:
        self.status, self.names = status, names
        self.asked: list[str] = []

    def answer(self, path: str, query: str) -> tuple[int, str]:
        if path == "/api/v1/label/__name__/values":
            self.asked.append("names")
            return self.status, self.names
        self.asked.append(query.partition("{")[0].partition("(")[0].strip())
        if query == "vector(time())":
            return 200, vector(f'{{"metric":{{}},"value":[{NOW},"{NOW}"]}}')
        if query.startswith("count by"):
            return 200, vector(f'{{"metric":{{"__name__":"DCGM_FI_DEV_FB_USED"}},"value":[{NOW},"1"]}}')
        if query.startswith("timestamp("):
            return 200, vector(ROW.replace('"__name__":"DCGM_FI_DEV_FB_USED",', "") % (NOW, NOW - 20))
        return 200, vector(ROW % (NOW, 100)) if query.startswith("DCGM_FI_DEV_FB_USED{") else vector()


@contextmanager
def serving(script: Scripted) -> Iterator[Prometheus]:
    class Answering(Handler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = parse_qs(self.rfile.read(length).decode())
            code, text = script.answer(urlsplit(self.path).path, form.get("query", [""])[0])
            self.send_response(code)
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

    with Server(Answering) as server:
        client = Prometheus(f"http://127.0.0.1:{server.port}")
        try:
            yield client
        finally:
            client.close()


def test_names_come_from_the_index_and_only_known_ones_are_asked_for() -> None:
    script = Scripted(200, NAMES)
    with serving(script) as client:
        made = ask(client, "", Context(now=0.0))
    assert script.asked == ["vector", "names", "names", "DCGM_FI_DEV_FB_USED", "timestamp"]
    [(found, report)] = made.reports
    assert found.format.name == "dcgm-exporter"
    [card] = report.readings
    assert (card.values["memory_used"].value, card.values["memory_used"].at) == (100 << 20, NOW - 20)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, "404 page not found"),
        (400, '{"status":"error","errorType":"bad_data","error":"no such thing"}'),
        (200, "<html>sign in</html>"),
        (200, '{"status":"success","data":{"a":1}}'),
        (200, '{"status":"error","error":"no"}'),
    ],
)
def test_where_there_is_no_such_list_they_are_counted(status: int, body: str) -> None:
    script = Scripted(status, body)
    with serving(script) as client:
        made = ask(client, "", Context(now=0.0))
    assert "count by" in script.asked
    assert [len(report.readings) for _, report in made.reports] == [1]


@pytest.mark.parametrize("status", [401, 403, 503])
def test_a_refusal_is_no_reason_to_ask_in_another_way(status: int) -> None:
    script = Scripted(status, "{}")
    with serving(script) as client, pytest.raises(SourceError):
        ask(client, "", Context(now=0.0))
    assert script.asked == ["vector", "names"]


def test_a_name_without_samples_is_no_exporter() -> None:
    script = Scripted(200, NAMES.replace("FB_USED", "FB_FREE"))
    with serving(script) as client:
        made = ask(client, "", Context(now=0.0))
    assert made.reports == []
