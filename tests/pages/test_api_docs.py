"""The page of REST's reference: what it loads, and that no other page loads it."""

from __future__ import annotations

import pytest
from django.test import Client

from pages.templatetags import vendored
from tests.pages.reading import Page, get

pytestmark = pytest.mark.django_db


def _loads(page: Page) -> set[str]:
    tags = [*page.tags_of("script"), *page.tags_of("link")]
    return {one.get("src") or one.get("href") or "" for one in tags}


def test_only_its_page_loads_the_renderer(viewer: Client) -> None:
    assert _loads(get(viewer, "/api-docs")) - _loads(get(viewer, "/")) == {
        "/static/css/pages/api-docs.css",
        "/static/js/api-docs.js",
        "/static/vendor/swagger-ui-dist/swagger-ui-bundle.js",
        "/static/vendor/swagger-ui-dist/swagger-ui.css",
    }


def test_it_says_as_whom_requests_are_sent(viewer: Client) -> None:
    assert "Requests use your account, role viewer." in get(viewer, "/api-docs").text


def test_without_the_renderer_it_says_so_and_where_the_document_is(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendored, "_address", lambda path: "")
    page = get(viewer, "/api-docs")
    assert "The API browser is not installed" in page.text
    assert "/api/v1/schema" in page.links
    assert not any("api-docs" in one for one in _loads(page))
