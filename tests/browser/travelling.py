"""How somebody travels through the pages: by mouse or keyboard, at a desk or on a phone, in a language. Steps are counted."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from tests.browser.conftest import DESKTOP, PHONE

#: A folder that gets a picture of each place where a journey ended; "" for none.
PICTURES = os.environ.get("JOURNEY_PICTURES", "")
#: CSS pixels that a page is wider than its window.
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class Sight:
    """What the reader has in front of them. keyboard: no mouse at hand."""

    viewport: dict[str, int]
    theme: str
    locale: str
    keyboard: bool

    def __str__(self) -> str:
        where = "phone" if self.viewport is PHONE else "desk"
        return "-".join([where, self.theme, self.locale, "keys" if self.keyboard else "mouse"])

    @property
    def options(self) -> dict[str, Any]:
        """Of a browser's context."""
        return {"viewport": self.viewport, "color_scheme": self.theme, "locale": self.locale}


#: Each theme, width, language and way to press meets each other one.
SIGHTS = (
    Sight(DESKTOP, "light", "en", keyboard=False),
    Sight(PHONE, "dark", "zh-CN", keyboard=False),
    Sight(DESKTOP, "dark", "zh-CN", keyboard=True),
    Sight(PHONE, "light", "en", keyboard=True),
)


@dataclass
class Traveller:
    """One reader on one page. steps: what was pressed so far; a form that is filled in and sent is one."""

    page: Page
    sight: Sight
    steps: list[str] = field(default_factory=list)

    def press(self, what: Locator) -> None:
        """A link or a button. By keyboard it must be a stop of the Tab key."""
        self.steps.append(what.inner_text().strip())
        if not self.sight.keyboard:
            what.click()
            return
        self._reach(what)
        self.page.keyboard.press("Enter")

    def navigate(self, address: str) -> None:
        """By the navigation. On a phone it is a drawer, which is opened first; that is no step of the journey."""
        link = self.page.locator(f".side nav a[href^='{address}']").first
        if not link.is_visible():
            self.page.get_by_role("button", name=re.compile("Navigation|导航")).click()
        self.press(link)

    def download(self, what: Locator) -> Path:
        with self.page.expect_download() as begun:
            self.press(what)
        return begun.value.path()

    def fill(self, field_name: str, text: str) -> None:
        self.page.locator(f"main form [name='{field_name}']:visible").first.fill(text)

    def look_for(self, text: str) -> None:
        """In the search that is open, and Enter: one step."""
        self.page.locator("#palette-text").fill(text)
        with self.page.expect_navigation():
            self.page.locator("#palette-text").press("Enter")
        self.steps.append(text)

    def send(self, field_name: str) -> None:
        """The form of this field, as the Enter key or its button sends it."""
        form = self.page.locator("main form").filter(has=self.page.locator(f"[name='{field_name}']:visible")).first
        self.press(form.locator("button[type='submit']"))

    def arrived(self, journey: str) -> None:
        """The end: nothing sticks out sideways, and there is a picture where one is wanted."""
        self.page.wait_for_load_state()
        assert self.page.evaluate(WIDER) <= 0, self.page.url
        if PICTURES:
            folder = Path(PICTURES)
            folder.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=folder / f"{journey}-{self.sight}.png", full_page=True)

    def _reach(self, what: Locator) -> None:
        what.focus()
        self.page.keyboard.press("Shift+Tab")
        self.page.keyboard.press("Tab")
        assert what.evaluate("one => one === document.activeElement"), f"the Tab key does not stop at {what}"
