"""Saved views on pages: save, open, rename, replace, remove; whose they are, and what they may tell."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve, reverse

from accounts import saved_views as kept
from accounts.required import role_wanted
from accounts.roles import Role, set_role
from accounts.saved_views import SavedView
from audit.models import Entry
from inventory.models import Cluster
from resources.view import LISTS, ROLES
from tests.cast import make_user, signed_in
from tests.factories import make_cluster
from tests.pages.reading import get
from tests.scopes.world import scoped_user
from validations.models import Campaign

SECRET = "team-secret-zq9"


def save(client: Client, of: str = "nodes", query: str = "q=gpu", name: str = "Mine", **more: str) -> Any:
    return client.post("/views", {"of": of, "query": query, "name": name, **more})


@pytest.fixture
def operator(fleet: Cluster) -> Client:
    return signed_in(make_user("olaf", Role.OPERATOR))


@pytest.mark.parametrize("page", LISTS)
def test_every_list_offers_its_views_and_how_to_save_it(admin: Client, fleet: Cluster, page: str) -> None:
    campaign = Campaign.objects.create(suite="cuda-vectoradd")
    path = reverse(page, args=[campaign.pk] if page == "campaign-targets" else [])
    listed = kept_url(admin, path)
    assert f"of={page}" in listed
    answer = save(admin, page, "")
    assert answer.headers["Location"] == path
    assert ">Mine</a>" in get(admin, listed, **{"HX-Request": "true"}).html


@pytest.mark.parametrize("page", LISTS)
def test_a_list_of_views_wants_the_role_that_its_page_wants(page: str) -> None:
    view = resolve(reverse(page, args=["x"] if page == "campaign-targets" else [])).func
    assert ROLES.get(page, Role.VIEWER) == role_wanted(view)


@pytest.mark.parametrize(("page", "query"), [("audit", f"actor={SECRET}"), ("users", f"q={SECRET}")])
def test_views_of_pages_for_administrators_are_told_to_administrators_only(
    admin: Client, viewer: Client, operator: Client, page: str, query: str
) -> None:
    assert save(admin, page, query, name=f"About {SECRET}", shared="1").status_code == 302
    view = SavedView.objects.get()
    other = signed_in(make_user("anna", Role.ADMIN))
    assert f"About {SECRET} by ada" in get(other, "/views").text
    assert other.get(f"/views/{view.pk}").headers["Location"] == f"/{page}?{query}"
    for client in (viewer, operator):
        for path in ("/views", f"/views?of={page}", "/palette?q=About", "/api/v1/views"):
            assert SECRET not in client.get(path).content.decode()
        assert client.get(f"/views?of={page}").status_code == 400
        assert client.get(f"/views/{view.pk}").status_code == 404
        assert client.get(f"/api/v1/views/{view.pk}").status_code == 404
        assert save(client, page, name="Other").status_code == 400
        refused = client.post("/api/v1/views", {"page": page, "name": "Other"}, "application/json")
        assert [error["field"] for error in refused.json()["errors"]] == ["page"]
    assert SavedView.objects.count() == 1


def test_who_is_no_administrator_any_more_is_not_told_of_own_views_of_their_pages(admin: Client) -> None:
    save(admin, "audit", f"actor={SECRET}")
    set_role(User.objects.get(username="ada"), Role.OPERATOR)
    assert SECRET not in get(admin, "/views").text
    assert admin.get(f"/views/{SavedView.objects.get().pk}").status_code == 404


def test_a_view_of_targets_is_of_every_campaign(viewer: Client, operator: Client) -> None:
    old, new = (Campaign.objects.create(suite="cuda-vectoradd", pk=f"{n:015d}") for n in (1, 2))
    listed = kept_url(viewer, f"/validations/campaigns/{old.pk}/targets?verdict=failed")
    assert listed.endswith(f"at={old.pk}")
    query = "verdict=failed&columns=node%2Cwhy"
    saved = save(operator, "campaign-targets", query, at=old.pk, shared="1")
    assert saved.headers["Location"] == f"/validations/campaigns/{old.pk}/targets?{query}"
    view = SavedView.objects.get()
    [link] = [url for url in get(viewer, listed, **{"HX-Request": "true"}).links if url.startswith(f"/views/{view.pk}")]
    assert viewer.get(link).headers["Location"] == f"/validations/campaigns/{old.pk}/targets?{query}"
    [link] = [url for url in get(viewer, "/views").links if url.startswith(f"/views/{view.pk}")]
    assert viewer.get(link).headers["Location"] == f"/validations/campaigns/{new.pk}/targets?{query}"


def test_without_a_campaign_its_views_lead_to_the_campaigns(viewer: Client, fleet: Cluster) -> None:
    assert save(viewer, "campaign-targets", "verdict=failed").headers["Location"] == "/validations/campaigns"
    assert viewer.get(f"/views/{SavedView.objects.get().pk}").headers["Location"] == "/validations/campaigns"
    assert "Mine" in get(viewer, "/views").text


@pytest.mark.parametrize("at", ["nope", "../../x", "0" * 15])
def test_a_campaign_that_is_not_there_is_said(viewer: Client, fleet: Cluster, at: str) -> None:
    assert viewer.get("/views", {"of": "campaign-targets", "at": at}).status_code == 404
    assert save(viewer, "campaign-targets", "", at=at).status_code == 404
    assert not SavedView.objects.exists()


def kept_url(client: Client, path: str) -> str:
    [url] = {link for link in get(client, path).links if link.startswith("/views?")}
    return url


def test_a_view_keeps_filters_order_time_and_columns_as_they_were_typed(viewer: Client, fleet: Cluster) -> None:
    query = "from=1h&model=X&ordering=-node&columns=node%2Cmodel"
    page = kept_url(viewer, f"/cards?{query}")
    assert quote(query, safe="") in page
    assert save(viewer, "cards", f"{query}&page_size=10&cursor=abc").headers["Location"] == f"/cards?{query}"
    view = SavedView.objects.get()
    assert view.query == query
    assert viewer.get(f"/views/{view.pk}").headers["Location"] == f"/cards?{query}"


def test_a_form_that_was_sent_leads_elsewhere_and_says_so(viewer: Client, fleet: Cluster) -> None:
    assert "Saved as “Mine”." in read_after(viewer, save(viewer))


def read_after(client: Client, answer: Any) -> str:
    assert answer.status_code == 302
    return get(client, answer.headers["Location"]).text


def test_a_name_is_taken_once_unless_it_is_said_to_be_replaced(viewer: Client, fleet: Cluster) -> None:
    save(viewer)
    page = save(viewer, query="q=other")
    assert page.status_code == 400
    assert "A view with this name exists." in page.content.decode()
    assert 'name="over"' in page.content.decode()
    assert SavedView.objects.get().query == "q=gpu"
    save(viewer, query="q=other", over="1")
    assert SavedView.objects.get().query == "q=other"


def test_a_view_is_renamed_replaced_and_removed(viewer: Client, fleet: Cluster) -> None:
    save(viewer)
    view = SavedView.objects.get()
    text = read_after(viewer, viewer.post(f"/views/{view.pk}/rename", {"name": "Other"}))
    assert "Other" in text
    viewer.post(f"/views/{view.pk}/overwrite", {"query": "health=degraded"})
    view.refresh_from_db()
    assert (view.name, view.query) == ("Other", "health=degraded")
    assert "“Other”." in read_after(viewer, viewer.post(f"/views/{view.pk}/remove"))
    assert not SavedView.objects.exists()
    acts = list(Entry.objects.filter(action__startswith="view").order_by("number").values_list("action", "target"))
    assert acts == [
        ("view-save", "nodes/Mine"),
        ("view-save", "nodes/Other"),
        ("view-save", "nodes/Other"),
        ("view-remove", "nodes/Other"),
    ]


def test_a_rename_to_a_name_that_is_there_says_so(viewer: Client, fleet: Cluster) -> None:
    save(viewer, name="One")
    save(viewer, name="Two")
    two = SavedView.objects.get(name="Two")
    assert "A view with this name exists." in read_after(
        viewer, viewer.post(f"/views/{two.pk}/rename", {"name": "One"})
    )


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "two\nlines"])
def test_a_name_that_cannot_be_one_is_refused(viewer: Client, fleet: Cluster, name: str) -> None:
    assert save(viewer, name=name).status_code == 400
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("query", ["colour=red", "health=blue", "columns=colour", "from=never", "q=" + "x" * 3000])
def test_what_makes_no_sense_is_not_saved(viewer: Client, fleet: Cluster, query: str) -> None:
    assert save(viewer, "cards", query).status_code == 400
    assert not SavedView.objects.exists()


def test_one_person_has_so_many(viewer: Client, fleet: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    save(viewer, name="One")
    save(viewer, name="Two")
    assert "limit of 2 views" in save(viewer, name="Three").content.decode()
    assert save(viewer, name="Two", over="1").status_code == 302


def test_what_no_longer_makes_sense_is_said_and_the_rest_is_kept(viewer: Client, fleet: Cluster) -> None:
    make_cluster("gone")
    save(viewer, "nodes", "cluster=gone&health=degraded&columns=name%2Cpool")
    Cluster.objects.get(name="gone").delete()
    view = SavedView.objects.get()
    SavedView.objects.update(query=view.query + "&colour=red")
    answer = viewer.get(f"/views/{view.pk}")
    assert answer.headers["Location"] == "/nodes?health=degraded&columns=name%2Cpool"
    text = get(viewer, answer.headers["Location"]).text
    assert "View “Mine” opened without cluster, which is no longer valid" in text
    assert "without colour" in text


def test_a_column_that_is_gone_takes_only_the_columns(viewer: Client, fleet: Cluster) -> None:
    save(viewer, "nodes", "q=gpu")
    view = SavedView.objects.get()
    SavedView.objects.update(query="q=gpu&columns=name%2Cnonsense")
    assert viewer.get(f"/views/{view.pk}").headers["Location"] == "/nodes?q=gpu"


def test_another_s_view_is_not_there(viewer: Client, operator: Client) -> None:
    save(operator)
    view = SavedView.objects.get()
    assert viewer.get(f"/views/{view.pk}").status_code == 404
    for verb in ("rename", "overwrite", "remove"):
        assert viewer.post(f"/views/{view.pk}/{verb}", {"name": "x", "query": ""}).status_code == 404
    assert "Mine" not in get(viewer, "/views").text


def test_a_shared_view_is_seen_and_not_changed_by_others(viewer: Client, operator: Client) -> None:
    save(operator, shared="1")
    view = SavedView.objects.get()
    assert "Mine by olaf" in get(viewer, "/views").text
    assert viewer.get(f"/views/{view.pk}").status_code == 302
    assert viewer.post(f"/views/{view.pk}/remove").status_code == 404
    assert SavedView.objects.exists()


def test_an_administrator_removes_what_others_share(admin: Client, operator: Client) -> None:
    save(operator, shared="1")
    admin.post(f"/views/{SavedView.objects.get().pk}/remove")
    assert not SavedView.objects.exists()


def test_a_viewer_shares_nothing(viewer: Client, fleet: Cluster) -> None:
    assert 'name="shared"' not in get(viewer, "/views?of=nodes").html
    assert save(viewer, shared="1").status_code == 400
    assert not SavedView.objects.exists()


def test_who_sees_less_than_whoever_shares_is_told_nothing(operator: Client) -> None:
    make_cluster("other")
    save(operator, "allocations", f"namespace={SECRET}", name=f"What {SECRET} holds", shared="1")
    view = SavedView.objects.get()
    for places in (("prod/mine",), ("prod",), ("*/mine",), ("prod", "other")):
        client = signed_in(scoped_user(f"nora-{len(places)}-{places[0].replace('/', '-')}", *places))
        for path in ("/views", "/views?of=allocations", "/api/v1/views"):
            assert SECRET not in client.get(path).content.decode()
        assert client.get(f"/views/{view.pk}").status_code == 404
        assert client.get(f"/api/v1/views/{view.pk}").status_code == 404


def test_an_operator_of_a_cluster_shares_with_who_sees_that_cluster(fleet: Cluster) -> None:
    make_cluster("other")
    save(signed_in(scoped_user("olga", "prod", role=Role.OPERATOR)), name="Of prod", shared="1")
    assert SavedView.objects.get().places == "prod"
    for name, places, seen in (("carl", ("prod",), True), ("both", ("prod", "other"), True), ("otto", ("other",), False),
                               ("nora", ("prod/mine",), False)):  # fmt: skip
        assert ("Of prod" in get(signed_in(scoped_user(name, *places)), "/views").text) is seen, name


def test_shared_with_a_namespace_it_names_no_other(operator: Client) -> None:
    nora, otto = (signed_in(scoped_user(name, f"prod/{name}")) for name in ("nora", "otto"))
    told = {"shared": "1", "scope": "prod/nora"}
    for query in (
        f"namespace={SECRET}",
        f"q={SECRET}",
        f"pod={SECRET}",
        f"owner={SECRET}",
        "namespace=nora&namespace=otto",
    ):
        page = save(operator, "allocations", query, **told)
        assert page.status_code == 400, query
        assert "may contain names outside that scope" in page.content.decode()
    assert save(operator, "allocations", "namespace=nora&from=1h&stack=hami", **told).status_code == 302
    assert "Mine" in get(nora, "/views").text
    assert "Mine" not in get(otto, "/views").text
    view = SavedView.objects.get()
    operator.post(f"/views/{view.pk}/overwrite", {"query": f"q={SECRET}"})
    view.refresh_from_db()
    assert SECRET not in view.query


def test_a_view_shared_for_a_cluster_that_is_gone_is_seen_by_who_sees_everything(
    viewer: Client, operator: Client
) -> None:
    make_cluster("other")
    assert save(operator, query="stack=hami", shared="1", scope="other").status_code == 302
    Cluster.objects.get(name="other").delete()
    assert "Mine" in get(viewer, "/views").text
    assert "Mine" not in get(signed_in(scoped_user("carl", "prod")), "/views").text


def test_who_sees_namespaces_only_shares_nothing(fleet: Cluster) -> None:
    client = signed_in(scoped_user("olga", "prod/mine", role=Role.OPERATOR))
    assert save(client, shared="1").status_code == 400
    assert save(client).status_code == 302
