"""Administration: what there is, in numbers that lead to it, and how a cluster and a colleague are added."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken
from accounts.roles import Role
from inventory.models import Cluster
from tests.cast import make_token, make_user
from tests.docs.reading import ROOT
from tests.factories import make_cluster
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user

pytestmark = pytest.mark.django_db


def stats(page: Page) -> dict[str, str]:
    """Address → what stands in the box that leads there."""
    found = re.findall(r'<a class="stat" href="([^"]+)">(.*?)</a>', page.html, re.S)
    return {url: " ".join(re.sub(r"<[^>]+>", " ", text).split()) for url, text in found}


def test_only_administrators_have_it_and_are_offered_it(admin: Client, viewer: Client, cluster: Cluster) -> None:
    assert viewer.get("/administration").status_code == 403
    assert "/administration" not in get(viewer, "/").links
    assert "/administration" in get(admin, "/").links
    assert 'href="/administration" aria-current="true"' in get(admin, "/users").html


def test_numbers_are_those_of_the_pages_that_they_lead_to(admin: Client, cluster: Cluster) -> None:
    for number in range(3):
        make_token(make_user(f"user-{number}", Role.OPERATOR), days=30)
    nobody, gone = make_user("nobody"), make_user("gone", Role.ADMIN)
    ApiToken.issue(nobody, "soon", Role.VIEWER, timezone.now() + timedelta(days=2))
    scoped_user("carl", "prod")
    make_token(gone)
    gone.is_active = False
    gone.save()
    page = get(admin, "/administration")
    assert stats(page) == {
        "/users?active=true": "Users 6 1 deactivated",
        "/users?ordering=-tokens": "API tokens 4 1 expires within 2 weeks",
        "/clusters": "Clusters 1 watched",
        "/audit": stats(page)["/audit"],
    }
    told = dict(re.findall(r'href="(/users\?active=true&amp;[^"]+)"\s+aria-label="[^"]+"\s*>(\d+)<', page.html))
    assert {url.partition("&amp;")[2]: int(n) for url, n in told.items()} == {
        "role=admin": 1,
        "role=operator": 3,
        "role=viewer": 1,
        "role=none": 1,
        "limited=true": 1,
    }
    for url, n in told.items():
        assert len(get(admin, url.replace("&amp;", "&")).rows) == int(n), url


def test_a_cluster_and_a_colleague_are_two_clicks_from_the_overview(admin: Client, cluster: Cluster) -> None:
    assert "/administration" in get(admin, "/").links
    page = get(admin, "/administration")
    assert "/users/new" in page.links
    assert "/administration/clusters/new" in page.links
    page = get(admin, "/administration/clusters/new")
    commands = re.findall(r'<code class="command"[^>]*>(.*?)</code>', page.html, re.S)
    assert [one.split()[:3] for one in commands][:4] == [
        ["kubectl", "apply", "-f"],
        ["(umask", "077;", "deploy/make-kubeconfig"],
        ["gpudash", "cluster", "add"],
        ["gpudash", "cluster", "check"],
    ]
    named = re.findall(r"deploy/[\w.-]+", " ".join(commands))
    assert named
    assert [one for one in named if not (ROOT / one).exists()] == []


@pytest.mark.parametrize("path", ["/", "/clusters", "/administration"])
def test_without_a_cluster_an_administrator_is_led_to_how_one_is_added(
    admin: Client, viewer: Client, path: str
) -> None:
    assert "/administration/clusters/new" in get(admin, path).links
    if path != "/administration":
        page = get(viewer, path)
        assert "/administration/clusters/new" not in page.links
        assert "gpudash cluster add" in page.text


def test_many_clusters_are_not_all_named_and_those_that_are_not_in_step_come_first(admin: Client) -> None:
    for number in range(12):
        make_cluster(f"c-{number:02}", synced=number != 11)
    with CaptureQueriesContext(connection) as many:
        page = get(admin, "/administration")
    named = re.findall(r'<a href="/clusters/(c-\d\d)">', page.html)
    assert named == ["c-11", *(f"c-{number:02}" for number in range(7))]
    assert "8 of 12, not in sync first" in page.text
    Cluster.objects.exclude(name="c-00").delete()
    with CaptureQueriesContext(connection) as few:
        get(admin, "/administration")
    assert len(many) == len(few) <= 30


def test_single_sign_on_is_named_where_colleagues_come_by_it(admin: Client, cluster: Cluster, settings: Any) -> None:
    assert "creates the account at the first sign-in" not in get(admin, "/administration").text
    settings.OIDC = type("Issuer", (), {"name": "Example"})()
    assert "Users sign in with Example" in get(admin, "/administration").text
    settings.LOCAL_ACCOUNTS = False
    assert "/users/new" not in get(admin, "/administration").links


def test_the_documentation_is_linked(admin: Client, viewer: Client, cluster: Cluster) -> None:
    links = [link for link in get(admin, "/administration").links if link.startswith("/docs/")]
    assert {"/docs/connect-a-cluster", "/docs/reference/findings"} <= set(links)
