"""Help on words where they stand, the glossary, and the document of each page."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from inventory.charges import now
from inventory.models import Card, Cluster
from pages.docs import titles
from pages.frame.site import DOC_OF
from pages.glossary import WORDS
from pages.urls import urlpatterns
from tests.factories import make_finding
from tests.pages.reading import get
from tests.pages.validations.rows import make_run
from tests.resources.test_declared import ALL

PAGES = (
    *(
        "/nodes",
        "/nodes/prod/gpu-00000",
        "/cards",
        "/allocations",
        "/allocations/idle",
        "/namespaces",
        "/findings",
    ),
    *("/validations", "/components", "/components/list", "/clusters", "/clusters/prod"),
)
#: Addresses without a frame: parts, files, and what only leads elsewhere.
NO_PAGE = {
    *(
        "palette",
        "account-scope",
        "run-log-raw",
        "sign-in",
        "sign-in-link",
        "sign-in-code",
        "oidc",
        "oidc-callback",
        "sign-out",
    ),
    *("channel-test", "channel-pause", "rule-pause", "delivery-again", "silence-end"),
    *("account-theme", "account-token-revoke", "campaign-change", "cluster-relist", "run-cancel", "run-rerun"),
    *(
        "campaign-certificate",
        "policy-certificate",
        "policy-pause",
        "policies-resume",
        "quarantine-switch",
        "quarantine-reset",
    ),
    *("run-reparse", "user-deactivate", "user-activate", "user-end-sessions", "user-end-tokens"),
    "doc-picture",
    *("saved-view-rename", "saved-view-overwrite", "saved-view-remove"),
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_explains_its_words_by_a_button_and_a_text(viewer: Client, busy: Cluster, path: str) -> None:
    page = get(viewer, path)
    buttons = [tag for tag in page.tags_of("button") if tag.get("popovertarget", "").startswith("term-")]
    texts = {tag["id"] for tag in page.tags_of("div") if "popover" in tag and tag["id"] != "me"}
    assert buttons
    assert {tag["popovertarget"] for tag in buttons} == texts
    assert all(tag["aria-label"].startswith("What “") for tag in buttons)
    # Outside what is refreshed, so that a refresh closes none.
    assert page.html.index('class="term-text"') > page.html.index("</main>")


@pytest.fixture
def busy(fleet: Cluster) -> Cluster:
    make_finding(fleet, "units-mixed", "warning")
    make_run(fleet, card=Card.objects.order_by("pk")[0])
    now.look()
    return fleet


def test_a_card_s_page_too(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, f"/cards/{Card.objects.order_by('pk')[0].pk}")
    assert "term-allocatable" in page.html


def test_a_part_alone_has_the_buttons_of_its_page(viewer: Client, fleet: Cluster) -> None:
    part = get(viewer, "/cards", **{"HX-Request": "true"})
    assert 'popovertarget="term-used"' in part.html
    assert 'class="term-text"' not in part.html


def test_every_word_that_a_column_is_explained_by_is_in_the_glossary() -> None:
    named = {fact.term for resource in ALL for fact in resource.facts.values() if fact.term}
    assert named <= set(WORDS)
    assert named


def test_every_word_has_its_document_and_stands_in_the_glossary(viewer: Client, db: None) -> None:
    known = {name for name, _ in titles()}
    assert {word.doc for word in WORDS.values()} <= known
    page = get(viewer, "/docs/words")
    assert {tag["id"] for tag in page.tags_of("dt")} == set(WORDS)


def test_every_page_has_its_document() -> None:
    named = {one.name for one in urlpatterns}
    assert named - NO_PAGE - set(DOC_OF) == set()
    assert set(DOC_OF) - named == set()
    assert set(DOC_OF.values()) <= {name for name, _ in titles()}


@pytest.mark.parametrize("path", [*PAGES, "/fit", "/search", "/views", "/keys", "/account", "/docs/access"])
def test_the_foot_links_the_document_that_explains_the_page(viewer: Client, fleet: Cluster, path: str) -> None:
    page = get(viewer, path)
    [link] = re.findall(r'<a href="([^"]+)" id="doc-link">', page.html)
    assert get(viewer, link).status == 200
