"""Every page as axe-core sees it: both themes, a desktop and a phone, with everything open that can be opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page

from accounts import two_factor
from accounts.sign_in_links import make_link
from gpudash.config.external_accounts import Issuer
from inventory.models import Allocation, Card
from tests.browser.axe import ALL, COLOURS, PLACES, source, violations
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.full import Full, make_full
from tests.browser.test_reading import REFRESH
from tests.browser.visits import REFUSED, SIGNED_OUT
from tests.cast import PASSWORD
from tests.kube.test_uploaded import many

pytestmark = [pytest.mark.browser, pytest.mark.timeout(700)]
#: Menus lie over the page: each is opened alone, by a test of its own.
_OPEN = "() => { for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true }"


@pytest.fixture
def full(transactional_db: None) -> Full:
    return make_full()


@pytest.fixture
def page(browser: Browser, live_server: Any, full: Full) -> Iterator[Page]:
    """Signed in as an administrator."""
    context = browser.new_context(base_url=live_server.url, viewport=DESKTOP, locale="en", color_scheme="light")
    opened = context.new_page()
    opened.goto("/sign-in")
    opened.get_by_label("Username").fill("ada")
    opened.get_by_label("Password").fill(PASSWORD)
    opened.get_by_role("button", name="Sign in").click()
    opened.wait_for_selector("h1")
    yield opened
    context.close()


def looked_at(page: Page, path: str, script: str, light: dict[str, Any] = ALL) -> list[str]:
    """What is wrong of a page, in both themes and both widths. light: rules for the first look."""
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(path)
    page.evaluate(_OPEN)
    return in_each_look(page, script, light, _OPEN)


def in_each_look(page: Page, script: str, light: dict[str, Any], opening: str = "() => {}") -> list[str]:
    """The same of a page that is at desktop width, in light colours. opening: what opens more, once it is narrow."""
    found = [f"desktop, light: {one}" for one in violations(page, script, light)]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"desktop, dark: {one}" for one in violations(page, script, COLOURS)]
    page.set_viewport_size(PHONE)
    page.evaluate(opening)
    found += [f"phone, dark: {one}" for one in violations(page, script, PLACES)]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    return found + [f"phone, light: {one}" for one in violations(page, script, COLOURS)]


def _none(found: dict[str, list[str]]) -> None:
    """found: what is wrong, by page."""
    told = [f"{path}: {line}" for path, lines in found.items() for line in lines]
    assert not told, "\n".join(told)


def test_every_page_is_accessible(page: Page, full: Full) -> None:
    script = source()
    _none({path: looked_at(page, path, script) for path in [*full.paths(), *REFUSED]})


@pytest.mark.parametrize(
    "path", ["/nodes", "/cards", "/allocations", "/findings", "/validations", "/validations/campaigns"]
)
def test_each_menu_of_a_list_is_accessible_and_closes_the_other(page: Page, full: Full, path: str) -> None:
    script, found = source(), {}
    page.goto(path)
    menus = page.locator("details.menu")
    # Filters stay closed: axe-core would measure how far the choices are from the fields that lie below the menu.
    assert menus.count() > 1
    for place in range(menus.count()):
        page.set_viewport_size(DESKTOP)
        menus.nth(place).locator("summary").first.click()
        page.wait_for_load_state("networkidle")
        assert page.locator("details.menu[open]").count() == 1
        found[f"menu {place}"] = in_each_look(page, script, ALL)
    _none(found)


def test_the_forms_of_clusters_and_scopes_are_accessible(page: Page, full: Full, settings: Any, tmp_path: Path) -> None:
    settings.ONE_PROCESS, settings.DATA_DIR = True, tmp_path
    script, new = source(), "/administration/clusters/new"
    found = {path: looked_at(page, path, script) for path in (new, "/clusters/prod/remove")}
    page.set_viewport_size(DESKTOP)
    page.goto(new)
    page.get_by_label("Or its text").fill(json.dumps(many("one", "two")))
    page.get_by_role("button", name="Check and add").click()
    page.get_by_label("Context").wait_for()
    found["a context"] = in_each_look(page, script, ALL)
    page.set_viewport_size(DESKTOP)
    page.goto("/users/new")
    page.get_by_label("Only these").check()
    page.get_by_label("Namespace 1").fill("prod/nope")
    page.get_by_text("No pods seen:").wait_for()
    found["a scope"] = in_each_look(page, script, ALL)
    _none(found)


def test_the_pages_before_signing_in_are_accessible(
    browser: Browser, live_server: Any, full: Full, settings: Any
) -> None:
    settings.OIDC = Issuer("https://example.com", "gpudash", "x", "Example", "groups", ("openid",))
    ada = User.objects.get(username="ada")
    two_factor.switch_on(ada, two_factor.new_secret())
    settings.SIGN_IN_LINKS = True
    context = browser.new_context(base_url=live_server.url, viewport=DESKTOP, locale="en", color_scheme="light")
    page, script, found = context.new_page(), source(), {}
    # The link signs in by itself where there is a script: what is seen is the page without one.
    page.route("**/sign-in-link.js", lambda route: route.abort())
    full.ids["link"] = make_link(ada).rpartition("/")[2]
    for path in full.paths(SIGNED_OUT):
        if path == "/sign-in/code":
            page.goto("/sign-in")
            page.get_by_label("Username").fill("ada")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.wait_for_url("**/sign-in/code*")
        found[path] = looked_at(page, path, script)
    context.close()
    _none(found)


def test_some_pages_are_in_chinese_too(page: Page, full: Full) -> None:
    script, found = source(), {}
    run = f"/validations/runs/{full.ids['failed']}"
    page.locator("[popovertarget='me']").click()
    page.get_by_role("button", name="简体中文").click()
    for path in (
        "/",
        "/nodes",
        "/nodes/prod/gpu-00000",
        "/findings",
        "/audit",
        "/api-docs",
        run,
    ):
        page.goto(path)
        assert page.locator("html").get_attribute("lang") == "zh-hans"
        page.evaluate(_OPEN)
        found[path] = violations(page, script, ALL)
    _none(found)


@pytest.mark.parametrize(("key", "name"), [("Control+k", "palette"), ("?", "keys")])
def test_dialogs_are_accessible(page: Page, full: Full, key: str, name: str) -> None:
    script, found = source(), {}
    page.goto("/nodes")
    page.locator("h1").click()
    page.keyboard.press(key)
    page.wait_for_selector(f"dialog#{name}[open]")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        found[scheme] = violations(page, script, ALL)
    _none(found)


def test_the_live_part_that_came_later_is_accessible(page: Page, full: Full) -> None:
    """A page whose table was swapped, with the notice that gpudash does not answer, and the refresh paused."""
    script = source()
    page.goto("/nodes")
    Allocation.objects.all().delete()
    Card.objects.filter(node_name="gpu-00000").update(health="unhealthy")
    with page.expect_response(lambda response: "hx-request" in response.request.headers):
        page.evaluate(REFRESH)
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    page.evaluate("() => { document.getElementById('lost').hidden = false }")
    page.get_by_role("button", name="Pause").click()
    assert violations(page, script, ALL) == []
