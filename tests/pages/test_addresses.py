"""Addresses with a slash too many lead to the page; what is no page stays none."""

from __future__ import annotations

import pytest
from django.test import Client

from api.urls import RESOURCES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("given", "there"),
    [
        ("/nodes/", "/nodes"),
        ("/cards//?state=free&node=a%2Fb", "/cards?state=free&node=a%2Fb"),
        ("/validations/campaigns/", "/validations/campaigns"),
    ],
)
def test_a_slash_at_the_end_leads_to_the_page(viewer: Client, given: str, there: str) -> None:
    answer = viewer.get(given)
    assert (answer.status_code, answer.headers["Location"]) == (301, there)


@pytest.mark.parametrize("path", ["/nowhere/", "/%2Fevil.example/", "/static/nothing/", "/validations/nothing/"])
def test_what_is_no_page_stays_none(viewer: Client, path: str) -> None:
    assert viewer.get(path).status_code == 404


def test_what_was_sent_is_not_sent_on(viewer: Client) -> None:
    assert viewer.post("/nodes/").status_code == 404


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/"])
def test_rest_lists_its_resources(viewer: Client, path: str) -> None:
    found = viewer.get(path).json()
    assert tuple(found) == RESOURCES
    assert all(viewer.get(address).status_code == 200 for address in found.values())
