"""The list of pages that tests of the browser go over has every page."""

from __future__ import annotations

import pytest
from django.urls import URLPattern, resolve

from pages.urls import urlpatterns
from tests.browser.visits import NO_PAGE, SIGNED_OUT, VISITS


def test_every_address_of_the_pages_is_visited_or_says_why_not() -> None:
    named = {pattern.name for pattern in urlpatterns if isinstance(pattern, URLPattern)}
    assert named == (VISITS.keys() | SIGNED_OUT.keys() | NO_PAGE.keys())
    assert len(VISITS) + len(SIGNED_OUT) + len(NO_PAGE) == len(named), "an address stands in one list only"


@pytest.mark.parametrize(("name", "paths"), (VISITS | SIGNED_OUT).items())
def test_what_is_opened_is_what_it_is_named(name: str, paths: tuple[str, ...]) -> None:
    for path in paths:
        filled = (
            path.partition("?")[0]
            .replace("{card}", "1")
            .replace("{gone}", "1")
            .replace("{user}", "1")
            .replace("{finding}", "1")
        )
        assert resolve(filled.replace("{deactivated}", "1")).url_name == name
