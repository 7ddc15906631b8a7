"""REST's reference in a browser: it shows the document, sends requests as the reader, and shows what is refused."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Locator, Page

from accounts.saved_views import SavedView
from tests.browser.axe import ALL, source, violations

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def _opened(page: Page, operation: str) -> Locator:
    """An operation that is ready to be tried."""
    page.goto("/api-docs")
    page.locator(f"[id='operations-tag-{operation.partition('-')[0]}']").click()
    block = page.locator(f"[id='operations-{operation}']")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    return block


def _answer(block: Locator) -> tuple[str, str]:
    """Status and body of the answer to what is executed."""
    block.get_by_role("button", name="Execute").click()
    answer = block.locator(".live-responses-table .response")
    answer.wait_for()
    return answer.locator(".response-col_status").inner_text().split()[0], answer.locator("pre").first.inner_text()


def test_what_may_be_read_is_answered_and_its_command_takes_a_token(page: Page, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    block = _opened(page, "nodes-nodes_list")
    block.locator("tr[data-param-name=page_size] input").fill("1")
    status, body = _answer(block)
    assert (status, len(json.loads(body)["results"])) == ("200", 1)
    command = block.locator(".curl-command").inner_text()
    assert f"{site}/api/v1/nodes?page_size=1" in command
    assert '-H "Authorization: Bearer $TOKEN"' in command
    assert "CSRF" not in command
    assert {url for url in asked if not url.startswith((site, "data:"))} == set()
    assert violations(page, source(), ALL) == []


def test_what_may_be_written_is_written(page: Page) -> None:
    block = _opened(page, "views-views_create")
    block.locator("textarea").first.fill('{"name": "mine", "page": "nodes", "query": ""}')
    status, body = _answer(block)
    assert status == "201", body
    assert SavedView.objects.get().name == "mine"


def test_what_is_refused_is_told(page: Page, console: list[str]) -> None:
    block = _opened(page, "runs-runs_create")
    block.locator("tr[data-param-name=Idempotency-Key] input").fill("x")
    status, body = _answer(block)
    assert status == "403"
    assert "operator" in json.loads(body)["detail"]
    console.clear()  # the browser reports each 403


def test_without_a_script_it_says_where_the_document_is(browser: Browser, page: Page, site: str) -> None:
    plain = browser.new_context(base_url=site, java_script_enabled=False, storage_state=page.context.storage_state())
    opened = plain.new_page()
    opened.goto("/api-docs")
    assert "needs JavaScript" in opened.locator("#api").inner_text()
    assert opened.get_by_role("link", name="OpenAPI document").get_attribute("href") == "/api/v1/schema"
    plain.close()
