"""A click becomes a stored verdict, in a real browser on the running demo: launch from a card, watch the log, see the verdict."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from fleetsim import teams
from tests.browser.conftest import DESKTOP, PHONE
from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
#: The demo's time goes by as everywhere: image, run and collecting take most of a minute for the larger suites.
PATIENCE_MS = 120_000


@dataclass(frozen=True)
class Demo:
    """The running demo. url: its root; state: cookies of its admin."""

    url: str
    state: Path


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _link(log: Path) -> str:
    """The link that signs in, once the demo has printed it."""
    found: list[str] = []

    def printed() -> bool:
        found.extend(re.findall(r"http://\S+/sign-in/link/\S+", log.read_text()) if log.exists() else [])
        return bool(found)

    wait_until(printed, "the demo prints its link", patience_s=60)
    return found[0]


@pytest.fixture(scope="module")
def demo(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    namespace = next(name for name in teams.NAMESPACES if name.startswith("gpudash-"))
    processes = Processes(folder, f"sqlite:///{folder}/demo.sqlite3", GPUDASH_VALIDATION_NAMESPACE=namespace)
    port = _free_port()
    try:
        processes.manage("demo", "--port", str(port))
        link = _link(processes.log("demo"))
        context = browser.new_context()
        page = context.new_page()
        page.goto(link)
        page.wait_for_url(f"http://127.0.0.1:{port}/")  # one click: the page of the link posts by itself
        expect(page.locator("h1")).to_be_visible()
        # The mirror is complete when the cards are counted.
        page.goto(f"http://127.0.0.1:{port}/nodes/demo/ackwin0001")
        for _ in range(100):
            if page.get_by_role("link", name="card 0").count():
                break
            page.wait_for_timeout(300)
            page.reload()
        context.storage_state(path=folder / "state.json")
        context.close()
        yield Demo(f"http://127.0.0.1:{port}", folder / "state.json")
    finally:
        processes.stop()


@pytest.fixture
def page(browser: Browser, demo: Demo, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Signed in as the demo's admin. Errors in the console fail the test."""
    options = {"viewport": DESKTOP, "locale": "en"} | getattr(request, "param", {})
    context = browser.new_context(base_url=demo.url, storage_state=demo.state, **options)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def launch(page: Page, node: str, suite: str) -> None:
    """From the page of the node's card to the page of a new run."""
    page.goto(f"/nodes/demo/{node}")
    page.get_by_role("region", name="Cards", exact=True).get_by_role("link", name="card 0").first.click()
    page.get_by_role("link", name="Launch run").click()
    expect(page.get_by_label("Node", exact=True)).to_have_value(node)
    page.get_by_label("Suite", exact=True).select_option(label=suite)
    expect(page.locator("#preview")).to_contain_text("Ready to launch.")
    expect(page.locator("#preview pre")).to_contain_text("kind: Job")
    page.get_by_role("button", name="Launch").click()
    expect(page).to_have_url(re.compile(r"/validations/runs/\w+$"))


def test_launch_from_a_card_watch_the_log_see_the_verdict(page: Page) -> None:
    launch(page, "ackwin0001", "WinML, Tiny YOLOv2")
    expect(page.locator(".run-steps li.busy")).to_be_visible()
    log = page.locator(".runlog")
    expect(log).to_contain_text("No lines yet.")
    # Lines come without a reload, before there is a verdict.
    expect(log.locator("li[data-n]").first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator("section.verdict.busy")).to_be_visible()
    expect(page.locator("section.verdict.good h1")).to_contain_text(
        "Passed (ran, result not checked)", timeout=PATIENCE_MS
    )
    expect(page.locator("section.verdict .what")).to_contain_text("This does not validate the card.")
    expect(log.locator("li.proof")).to_contain_text("Results (device = GPU", timeout=PATIENCE_MS)
    numbers = log.locator("li[data-n]").evaluate_all("rows => rows.map(row => Number(row.dataset.n))")
    assert numbers == list(range(1, len(numbers) + 1))
    run = urlsplit(page.url).path
    page.locator(".run-side").get_by_role("link", name="History").click()
    expect(page.locator("main")).to_contain_text("Not validated. A workload ran, result not checked:")
    # It is one of the points; the card may have others, of the demo's past.
    expect(page.locator("figure.chart .dot.own").first).to_be_attached()
    expect(page.locator(f"details[data-key='plot-numbers'] a[href='{run}']")).to_have_count(1)


def test_the_form_asks_for_any_card_unless_one_was_clicked(page: Page) -> None:
    page.goto("/validations/new?suite=cuda-vectoradd")
    cards = page.get_by_label("Card", exact=True)
    page.get_by_label("Node", exact=True).fill("dgx-h100-02")
    page.get_by_label("Node", exact=True).blur()
    expect(cards).to_have_value("")
    expect(page.locator("#preview")).to_contain_text("Any card of node dgx-h100-02.")
    page.goto("/nodes/demo/dgx-h100-02")
    page.get_by_role("link", name="Launch run").click()
    expect(cards).to_have_value("")
    page.goto("/nodes/demo/dgx-h100-02")
    page.locator("tr[data-key^='card-'] th a").nth(1).click()
    page.get_by_role("link", name="Launch run").click()
    clicked = parse_qs(urlsplit(page.url).query)["card"][0]
    expect(cards).to_have_value(clicked)
    expect(cards.locator("option[selected]")).to_have_count(1)


def test_the_form_is_made_anew_though_its_preview_is_asked_for_meanwhile(page: Page) -> None:
    """The preview that typing asks for must not take the place of the form that the change asks for."""
    page.goto("/validations/new?suite=cuda-vectoradd")
    held: list[Route] = []

    def answer(route: Route) -> None:
        if route.request.headers.get("hx-target") == "launch":
            held.append(route)
        else:
            route.continue_()

    page.route("**/validations/new?*", answer)
    with page.expect_response(lambda response: response.request.headers.get("hx-target") == "preview"):
        page.get_by_label("Node", exact=True).fill("dgx-h100-02")
        page.get_by_label("Node", exact=True).blur()
    for route in held:
        route.continue_()
    expect(page.get_by_label("Card", exact=True)).to_be_visible()


def test_a_software_adapter_is_a_failure_and_its_line_is_one_click_away(page: Page) -> None:
    launch(page, "ackwin0002", "WinML, Tiny YOLOv2")
    expect(page.locator("section.verdict.error h1")).to_contain_text("ran on a software adapter", timeout=PATIENCE_MS)
    page.locator(".verdict .what a").first.click()
    expect(page.locator(".log li.marked")).to_contain_text("Microsoft Basic Render Driver")
    expect(page.locator(".log li.marked")).to_be_in_viewport()
    page.goto("/nodes/demo/ackwin0002")
    expect(page.locator(".proof")).to_contain_text("failed")


def test_a_run_that_waits_says_why_and_can_be_cancelled(page: Page) -> None:
    page.goto("/validations/new?suite=cuda-vectoradd&node=dgx-h100-02")
    expect(page.locator("#preview")).to_contain_text("Not possible now")
    page.get_by_label("Queue the run if the node is full or not ready").check()
    expect(page.locator("#preview")).to_contain_text("The run will be queued.")
    page.get_by_role("button", name="Launch").click()
    expect(page.locator(".verdict")).to_contain_text("Insufficient nvidia.com/gpu", timeout=60_000)
    page.get_by_text("Cancel…").click()
    expect(page.locator("#cancel")).to_contain_text("the card stays untested")
    page.get_by_role("button", name="Cancel run").click()
    expect(page.locator("section.verdict h1")).to_contain_text("Errored: cancelled", timeout=60_000)


def test_ticked_nodes_stay_ticked_over_a_refresh_and_become_a_campaign(page: Page) -> None:
    page.goto("/nodes")
    for name in ("gpu-t4-01", "gpu-t4-02"):
        page.get_by_label(f"Select {name}").check()
    with page.expect_response(lambda response: "hx-request" in response.request.headers):
        page.evaluate("() => { document.getElementById('live').dataset.fingerprint = ''; }")
        page.evaluate("() => { document.getElementById('live').dispatchEvent(new Event('refresh')) }")
    expect(page.get_by_label("Select gpu-t4-02")).to_be_checked()
    expect(page.locator("[data-select-bar] output")).to_have_text("2 selected")
    page.get_by_role("button", name="Validate selected").click()
    expect(page.get_by_label("Targets, one per line", exact=True)).to_have_value("demo/gpu-t4-01\ndemo/gpu-t4-02")
    page.get_by_label("Suite", exact=True).select_option(label="CUDA vectorAdd")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#preview")).to_contain_text("Job manifest")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".grid tbody tr")).to_have_count(2)
    expect(page.locator("main")).to_contain_text("2 of 2 targets done", timeout=PATIENCE_MS)


@pytest.mark.parametrize("page", [{"viewport": PHONE}], indirect=True, ids=["phone"])
def test_no_page_is_wider_than_a_phone(page: Page) -> None:
    page.goto("/validations")
    paths = [
        "/validations",
        "/validations/suites",
        "/validations/campaigns",
        "/validations/new?suite=cuda-vectoradd&node=gpu-t4-01",
    ]
    paths += list(page.locator(".runs th a").evaluate_all("links => links.map(link => link.href)"))[:2]
    for path in paths:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
