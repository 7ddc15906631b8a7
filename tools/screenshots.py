"""`make screenshots`: the pictures of the docs, from the running demo, in docs/pictures/.

Starts the demo on a free port in a throw-away data folder, signs in through the printed link, waits until the mirror is
complete, runs two validations, waits until idle holds are known and photographs each page in Chromium, as a desk and as a phone
shows it, some in dark too; only those that a document shows. Knows addresses by their names only.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import APIRequestContext, Browser, BrowserContext, Page, sync_playwright

from tests.docs.reading import PAGES as DOCUMENTS
from tests.docs.reading import links
from tests.processes import ROOT

PICTURES = ROOT / "docs" / "pictures"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESK, PHONE = (1400, 900), (390, 844)
#: Pictures that a document shows; no others are taken.
SHOWN = {link.rpartition("/")[2] for document in DOCUMENTS for link in links(document) if "pictures/" in link}
#: Names of the addresses; each gives a picture of the same name.
PAGES = (
    "overview",
    "nodes",
    "cards",
    "card",
    "allocations",
    "idle",
    "history",
    "pending",
    "validations",
    "run",
    "findings",
    "clusters",
    "fit",
    "pod",
    "namespaces",
    "chargeback",
    "campaign-report",
    "administration",
)
#: What is asked of a page.
QUERIES = {"fit": "?cards=2&memory=20"}
#: Picture → the page, and the part of it that the picture shows.
PARTS = {"card-over-time": ("card-used", "over-time"), "cluster-exporters": ("cluster", "exporters")}
#: A node with a card that is over-committed, and the suite and nodes of the runs: one passes, one fails.
NODE = "gpu-v100-01"
#: Picture → node: of other sharing systems.
NODES = {
    "node": NODE,
    "node-used": "dgx-h100-02",
    "node-mig": "mig-h100-01",
    "node-dra": "dra-mig-01",
    "node-gke": "gke-inference-l4-shared-3f1a2b4c-0001",
}
RUNS = (("cuda-vectoradd", "gpu-t4-05"), ("cuda-vectoradd", "gpu-v100-02"))
START_S, RUN_S = 120.0, 300.0
#: Idle holds are known five minutes after the demo's start.
IDLE_S = 600.0
#: The fleet lives this long before the first picture, so that there is some history.
LIFE_S = 20.0
MAX_BYTES = 200_000


class NoPictures(Exception):
    """Something is not as it should be; the text says what."""


@dataclass(frozen=True)
class Demo:
    """A demo that runs. link signs in, once."""

    url: str
    link: str
    environment: dict[str, str]

    def manage(self, *words: str) -> str:
        """Output of a command with the same data. Its exit code does not matter: a failed run is a result."""
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, check=False, text=True, stdout=subprocess.PIPE
        ).stdout


@contextmanager
def demo() -> Iterator[Demo]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
        environment |= {"GPUDASH_DATA_DIR": folder, "GPUDASH_LOG_LEVEL": "WARNING", "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "manage.py", "demo", "--port", "0"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)
        try:
            yield Demo(*_printed_link(process), environment)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _printed_link(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"(http://[^/]+)(/\S+)", line)
        if found:
            return found[1], found[1] + found[2]
    raise NoPictures(f"the demo ended with {process.wait()} before it printed a link")


def signed_in(browser: Browser, running: Demo) -> BrowserContext:
    """A context with the session of the link; its cookies serve all others."""
    context = browser.new_context(base_url=running.url)
    context.new_page().goto(running.link)
    return context


def answer(api: APIRequestContext, path: str) -> Any:
    response = api.get(path)
    if not response.ok:
        raise NoPictures(f"{path}: {response.status} {response.text()[:200]}")
    return response.json()


def wait_for_the_mirror(api: APIRequestContext) -> None:
    until = time.monotonic() + START_S
    while not all(one["synced_at"] for one in answer(api, "/api/v1/clusters")["results"]):
        if time.monotonic() > until:
            raise NoPictures(f"the mirror is not complete after {START_S:g} s")
        time.sleep(1)


def wait_for_idle_holds(api: APIRequestContext) -> None:
    until = time.monotonic() + IDLE_S
    while not answer(api, "/api/v1/idle")["results"]:
        if time.monotonic() > until:
            raise NoPictures(f"nothing is idle after {IDLE_S:g} s")
        time.sleep(5)


def addresses(running: Demo, api: APIRequestContext, run_id: str) -> dict[str, str]:
    """Picture → path. A page that the product does not have is left out, and said."""
    import django

    os.environ.update(running.environment)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.urls import NoReverseMatch, reverse

    cards = answer(api, f"/api/v1/cards?node={NODE}&ordering=-memory_allocated_bytes")["results"]
    used = answer(api, f"/api/v1/cards?node={NODES['node-used']}&ordering=-memory_used_bytes")["results"]
    waits = answer(api, "/api/v1/pods?pending=true")["results"][0]
    campaign = answer(api, "/api/v1/campaigns")["results"][0]
    arguments: dict[str, list[Any]] = {
        "card": [cards[0]["id"]],
        "run": [run_id],
        "pod": [waits["cluster"], waits["namespace"], waits["name"]],
        "campaign-report": [campaign["id"]],
    }
    found = {picture: reverse("node", args=["demo", node]) for picture, node in NODES.items()}
    # With a window its history is open.
    found |= {
        "card-used": reverse("card", args=[used[0]["id"]]) + "?window=1d",
        "cluster": reverse("cluster", args=["demo"]),
    }
    for name in PAGES:
        try:
            found[name] = reverse(name, args=arguments.get(name, [])) + QUERIES.get(name, "")
        except NoReverseMatch:
            print(f"{name}: there is no such page; no picture", file=sys.stderr)
    return found | {picture: f"{found[name]}#{part}" for picture, (name, part) in PARTS.items()}


def photograph(page: Page, path: str, picture: str) -> None:
    response = page.goto(path)
    if response is None or not response.ok:
        raise NoPictures(f"{path}: {response.status if response else 'no answer'}")
    page.evaluate("document.fonts.ready")
    # A chart is asked for by a script; where there is nothing to draw, it says so in the same place.
    if page.locator("[data-chart]").count():
        page.locator("[data-chart]:not([data-wait='-1'])").first.wait_for(state="attached")
    # As WebP without loss, which only the browser's own protocol gives: a third smaller than the PNG.
    browser = page.context.new_cdp_session(page)
    options: dict[str, Any] = {"format": "webp", "quality": 100}
    if "#" in path:
        box = page.locator(f"#{path.partition('#')[2]}").locator("xpath=ancestor-or-self::section").bounding_box()
        assert box is not None
        top = box["y"] + page.evaluate("window.scrollY")
        options |= {"clip": {**box, "y": top, "scale": 1}, "captureBeyondViewport": True}
    data = base64.b64decode(browser.send("Page.captureScreenshot", options)["data"])
    if len(data) > MAX_BYTES:
        raise NoPictures(f"{picture}: {len(data):,} bytes; a picture of the docs has at most {MAX_BYTES:,}")
    (PICTURES / picture).write_bytes(data)
    print(f"{picture}: {len(data) // 1024} KiB")


def take(browser: Browser, state: Any, running: Demo, paths: dict[str, str]) -> None:
    for size, suffix, scheme in ((DESK, "", "light"), (PHONE, "-phone", "light"), (DESK, "-dark", "dark")):
        context = browser.new_context(
            base_url=running.url,
            storage_state=state,
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        for name, path in paths.items():
            if f"{name}{suffix}.webp" in SHOWN:
                photograph(page, path, f"{name}{suffix}.webp")
        context.close()


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    try:
        with demo() as running, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            context = signed_in(browser, running)
            wait_for_the_mirror(context.request)
            for suite, node in RUNS:
                running.manage("validate", suite, "--node", node, "--when-busy", "--wait", "--timeout", f"{RUN_S:g}")
            time.sleep(LIFE_S)
            wait_for_idle_holds(context.request)
            runs = answer(context.request, "/api/v1/runs?active=false")["results"]
            if not any(run["verdict"] == "passed" for run in runs):
                raise NoPictures(f"no run passed: {[(run['verdict'], run['reasons']) for run in runs]}")
            paths = addresses(running, context.request, runs[0]["id"])
            take(browser, context.storage_state(), running, paths)
            browser.close()
    except NoPictures as error:
        print(f"no pictures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
