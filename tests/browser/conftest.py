"""A real browser on the running pages. Debian's Chromium is used; without one these tests are skipped, and CI must not skip them."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from playwright.sync_api import Browser, Page, sync_playwright

from accounts.roles import Role
from inventory.models import Cluster
from tests.cast import PASSWORD, make_user
from tests.factories import make_cluster, make_finding, make_fleet, make_pending_pod
from tests.services import wait_until

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or ""
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
DESKTOP, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
#: Playwright keeps an event loop in this thread; the ORM is used in it all the same, by one test at a time.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The file below has its tables already."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On SQLite a file, so that each thread of the server has a connection of its own.

    Threads would share the one in memory, and CPython's sqlite3 waits for a connection's lock with the interpreter's lock in its
    hand (`sqlite3_column_name`): sooner or later two threads wait for each other, and the process stands still for ever.
    """
    if connection.vendor == "sqlite":
        file = tmp_path_factory.mktemp("tables") / "browser.sqlite3"
        shutil.copy(migrated_file, file)
        connections.settings["default"]["TEST"]["NAME"] = str(file)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("there is no Chromium: install the package chromium, or name its path in CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture
def fleet(transactional_db: None) -> Cluster:
    """A node of each trait with a finding, and pods that wait."""
    cluster = make_cluster("prod")
    make_fleet(cluster, nodes=14, cards=8)
    make_pending_pod(cluster, "hungry")
    make_finding(cluster, "units-mixed", "warning")
    return cluster


def fits(page: Page) -> bool:
    """Whether nothing lies beyond the right edge."""
    page.wait_for_load_state()
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"))


def _answering() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if "process_request_thread" in one.name}


@pytest.fixture
def live_server(live_server: Any) -> Iterator[Any]:
    """The running pages. What a closed browser had asked for is answered to its end before the tables are emptied."""
    yield live_server
    wait_until(lambda: not _answering(), "no request is under way", patience_s=60)


@pytest.fixture
def site(live_server: Any, fleet: Cluster) -> str:
    """Address of the running pages, with vera among the viewers."""
    vera = make_user("vera", Role.VIEWER)
    vera.set_password(PASSWORD)
    vera.save()
    return str(live_server.url)


@pytest.fixture
def console() -> list[str]:
    """Errors of the console so far. A test that means them to happen clears the list."""
    return []


@pytest.fixture
def page(browser: Browser, site: str, console: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    """A signed-in page at desktop width; `indirect` parameters change the context. Errors in the console fail the test."""
    options: dict[str, Any] = {"viewport": DESKTOP, "locale": "en"} | getattr(request, "param", {})
    context = browser.new_context(base_url=site, **options)
    context.set_default_timeout(10_000)
    opened = context.new_page()
    opened.on("console", lambda message: console.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: console.append(str(error)))
    opened.goto("/")
    opened.get_by_label("Username").fill("vera")
    opened.get_by_label("Password").fill(PASSWORD)
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_selector("h1")
    yield opened
    context.close()
    assert console == []
