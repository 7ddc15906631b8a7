"""`make bench ARGS=weights`: what each page of the demo weighs, and what one costs that stands open, from a real browser.

For each page one line: HTML as it is and compressed, elements, requests of a first visit with an empty store and what they
weigh, and bytes per minute on the wire of a page that nobody touches, both ways, heads included (headers as text, as HTTP/1.1
sends them). ADDRESS=http://…: the sign-in link of a demo that runs already; MINUTES=n: so long, 3 else.
"""

from __future__ import annotations

import os
import time
import zlib
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from bench.answers import HTML, Answers, Right
from bench.report import emit

PAGES = ("/", "/nodes", "/cards", "/allocations", "/findings", "/clusters", "/validations", "/fit?cards=2&memory=8")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
#: Pages stand open so long before their minutes are counted: what a visit itself costs is told apart.
SETTLE_S = 90.0
#: A page of somebody signed in, with a live part, all of it.
RIGHT = Right(HTML, b'id="live"')


@dataclass
class Wire:
    """What one page sent and received, in bytes, told by the browser itself."""

    sent: int = 0
    #: Bytes so far by request: the head when it came, all of it when it was read.
    answers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, page: Page) -> Wire:
        wire = cls()
        session = page.context.new_cdp_session(page)
        session.on("Network.requestWillBeSentExtraInfo", wire._asked)
        session.on("Network.responseReceived", wire._answered)
        session.on("Network.loadingFinished", wire._read)
        session.send("Network.enable")
        return wire

    @property
    def received(self) -> int:
        return sum(self.answers.values())

    @property
    def requests(self) -> int:
        return len(self.answers)

    def start(self) -> None:
        self.sent = 0
        self.answers.clear()

    def _asked(self, event: dict[str, Any]) -> None:
        heads = event["headers"]
        self.sent += len("GET / HTTP/1.1\r\n\r\n") + sum(len(f"{name}: {value}\r\n") for name, value in heads.items())

    def _answered(self, event: dict[str, Any]) -> None:
        if not event["response"].get("fromDiskCache"):
            self.answers[event["requestId"]] = int(event["response"]["encodedDataLength"])

    def _read(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self.answers:
            self.answers[event["requestId"]] = int(event["encodedDataLength"])


def run(small: bool) -> None:
    minutes = float(os.environ.get("MINUTES", "1" if small else "3"))
    if address := os.environ.get("ADDRESS"):
        _measured(address, minutes)
        return
    from tools.screenshots import demo

    with demo() as started:
        # The mirror is filled and the first history folded in the background.
        time.sleep(SETTLE_S)
        _measured(started.link, minutes)


def _measured(link: str, minutes: float) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        context = browser.new_context(viewport={"width": 1400, "height": 900}, locale="en")
        first = context.new_page()
        first.goto(link)
        first.wait_for_selector("#live")
        origin = "/".join(first.url.split("/", 3)[:3])
        state = context.storage_state()
        first.goto("about:blank")
        visits = {path: _visited(browser, state, origin, path) for path in PAGES}
        contexts: list[BrowserContext] = []
        wires = {}
        # Each in a context of its own: a browser slows down tabs in the background, and contexts have none.
        for path in PAGES:
            made = browser.new_context(viewport={"width": 1400, "height": 900}, locale="en", storage_state=state)
            contexts.append(made)
            page = made.new_page()
            page.goto(origin + path)
            wires[path] = (page, Wire.of(page))
        _wait(first, SETTLE_S)
        for _, wire in wires.values():
            wire.start()
        _wait(first, minutes * 60)
        for path, (_, wire) in wires.items():
            idle = {
                "idle_received_kb_min": round(wire.received / minutes / 1000, 2),
                "idle_sent_kb_min": round(wire.sent / minutes / 1000, 2),
                "idle_asked_a_min": round(wire.requests / minutes, 1),
            }
            figures = visits[path]
            emit("weights", figures.pop("answers"), page=path, **figures, **idle)
        browser.close()


def _wait(page: Page, seconds: float) -> None:
    """Events of all pages are read while one waits."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        page.wait_for_timeout(min(left, 1.0) * 1000)


def _visited(browser: Any, state: Any, origin: str, path: str) -> dict[str, Any]:
    """A first visit of somebody signed in, with an empty store."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, locale="en", storage_state=state)
    page = context.new_page()
    wire = Wire.of(page)
    shown = page.goto(origin + path, wait_until="load")
    got = context.request.get(origin + path)
    html, answers = got.body(), Answers()
    for status, head in ((shown.status if shown else 0, shown.headers if shown else {}), (got.status, got.headers)):
        answers.count(RIGHT.why_not(status, head.get("content-type", ""), html))
    made = {
        "answers": answers,
        "html_bytes": len(html),
        "html_gzip_bytes": len(zlib.compress(html, 4)),
        "elements": page.evaluate("document.querySelectorAll('*').length"),
        "requests": wire.requests,
        "visit_kb": round(wire.received / 1000, 1),
    }
    context.close()
    return made
