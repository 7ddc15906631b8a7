"""A page of another origin reads REST in a real browser only if its origin is listed, as the Headlamp plugin does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from accounts.roles import Role
from inventory.models import Cluster
from tests.cast import make_token, make_user
from tests.http_server import Handler, Server

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
#: As src/gpudash.ts of the plugin asks.
ASK = """async ([url, token, method]) => {
  try {
    const response = await fetch(url, {
      method, headers: {Authorization: `Bearer ${token}`}, credentials: 'omit', redirect: 'error',
    });
    return [response.status, await response.json()];
  } catch (error) {
    return [0, String(error)];
  }
}"""


class Blank(Handler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Headlamp</title>")


@pytest.fixture
def headlamp() -> Iterator[int]:
    """Port of another server: http://127.0.0.1:PORT and http://localhost:PORT are two other origins."""
    server = Server(Blank)
    yield server.port
    server.close()


def test_only_a_page_of_a_listed_origin_reads(
    settings: Any, headlamp: int, live_server: Any, fleet: Cluster, browser: Browser
) -> None:
    settings.CORS_ORIGINS = [f"http://localhost:{headlamp}"]
    token = make_token(make_user("robot", Role.VIEWER))
    node = f"{live_server.url}/api/v1/nodes/prod/gpu-00000"
    page = browser.new_context().new_page()
    page.goto(f"http://localhost:{headlamp}/")
    status, answer = page.evaluate(ASK, [node, token, "GET"])
    assert (status, answer["name"]) == (200, "gpu-00000")
    status, answer = page.evaluate(ASK, [node, "wrong", "GET"])
    assert status == 401
    assert answer["detail"], "a page reads why it is refused"
    assert page.evaluate(ASK, [f"{live_server.url}/api/v1/runs", token, "DELETE"])[0] == 0
    page.goto(f"http://127.0.0.1:{headlamp}/")
    assert page.evaluate(ASK, [node, token, "GET"])[0] == 0
    page.context.close()
