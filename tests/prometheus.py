"""A throw-away Prometheus of the Debian package, and exporters for it to scrape: pages that a test sets, served on the loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.http_server import Handler, Server
from tests.services import Missing, end, free_port, scratch, wait_until

#: Seconds between two scrapes.
EVERY_S = 1


class Exporters:
    """Pages by the name of their target; a target without a page answers 503."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        pages = self.pages

        class Page(Handler):
            def do_GET(self) -> None:
                page = pages.get(self.path.strip("/").removesuffix("/metrics"))
                self.send_response(200 if page is not None else 503)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(page or b"")

        self._server = Server(Page)
        self.address = f"127.0.0.1:{self._server.port}"

    def close(self) -> None:
        self._server.close()


class Prometheus:
    """One that scrapes some targets of `Exporters`."""

    def __init__(self, url: str, exporters: Exporters) -> None:
        self.url, self.exporters = url, exporters

    def value(self, expression: str) -> list[dict[str, Any]]:
        return answer(self.url, expression)

    def show(self, target: str, page: str) -> None:
        """Have a target show this page, and wait until it was scraped."""
        self.exporters.pages[target] = page.encode()
        marked = f"{page}\ngpudash_test_page {hash(page) % 10**9}\n"
        self.exporters.pages[target] = marked.encode()
        wanted = str(hash(page) % 10**9)
        selector = f'gpudash_test_page{{target="{target}"}}'
        wait_until(lambda: any(one["value"][1] == wanted for one in self.value(selector)), f"{target} was scraped")


@contextmanager
def prometheus(
    targets: Mapping[str, Mapping[str, str]], honor_labels: bool = False, past: str = ""
) -> Iterator[Prometheus]:
    """A running one. targets: name → labels that it adds. past: what it has stored before, as OpenMetrics. Raises Missing."""
    exporters = Exporters()
    jobs = [
        {
            "job_name": name,
            "metrics_path": f"/{name}/metrics",
            "honor_labels": honor_labels,
            "static_configs": [{"targets": [exporters.address], "labels": {"target": name, **labels}}],
        }
        for name, labels in targets.items()
    ]
    try:
        with scraping(jobs, past) as url:
            yield Prometheus(url, exporters)
    finally:
        exporters.close()


@contextmanager
def scraping(jobs: Sequence[Mapping[str, Any]], past: str = "") -> Iterator[str]:
    """The address of a running one with these scrape configurations. past: as for `prometheus`. Raises Missing."""
    program = shutil.which("prometheus")
    if program is None:
        raise Missing("no Prometheus here (prometheus); Debian: apt-get install prometheus")
    port = free_port()
    times = {"scrape_interval": f"{EVERY_S}s", "scrape_timeout": f"{EVERY_S}s"}
    with scratch("prometheus") as folder:
        # JSON is YAML.
        (folder / "prometheus.yml").write_text(json.dumps({"global": times, "scrape_configs": list(jobs)}))
        if past:
            (folder / "past").write_text(past)
            making = ["promtool", "tsdb", "create-blocks-from", "openmetrics", folder / "past", folder / "data"]
            subprocess.run(making, check=True, stdout=subprocess.DEVNULL)
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                "--storage.tsdb.retention.time=120d",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("wb"),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: _ready(url), "Prometheus is ready")
            yield url
        finally:
            end(process)


def answer(url: str, expression: str) -> list[dict[str, Any]]:
    """What a Prometheus answers to an expression, as a test sees it."""
    query = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=10) as reply:
        found: list[dict[str, Any]] = json.load(reply)["data"]["result"]
    return found


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False
