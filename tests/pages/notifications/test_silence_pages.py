"""Findings that are acknowledged and silenced: on the pages of findings, in the list of silences, on the overview."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Card, Cluster, Finding
from notifications import silences
from notifications.models import Silence
from notifications.silences import SilenceDraft
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_finding, make_node
from tests.pages.reading import get, read
from tests.scopes.world import scoped_user


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def found(cluster: Cluster) -> Finding:
    make_node(cluster, "gpu-1", "nvidia", 2)
    return make_finding(cluster, node_name="gpu-1")


def hushed(**more: str) -> Silence:
    until = database_now() + timedelta(hours=1)
    return silences.silence(SilenceDraft(reason="rack moves", until=until, **more))


def test_an_operator_acknowledges_a_finding(operator: Client, viewer: Client, found: Finding) -> None:
    path = f"/findings/{found.pk}/acknowledge"
    for page in ("/findings?group=none", "/findings", "/nodes/prod/gpu-1"):
        assert path in get(operator, page).links
        assert path not in get(viewer, page).links
    assert "Requires the role operator" in get(viewer, path).text
    assert viewer.post(path, {"reason": "x", "span": "1d"}).status_code == 403
    answer = operator.post(path, {"reason": "spare part ordered", "span": "1d"})
    assert answer.headers["Location"] == "/nodes/prod/gpu-1"
    row = Silence.objects.get()
    assert (row.finding, row.created_by_name) == (found.pk, "olga")
    assert timedelta(hours=23) < row.until - database_now() <= timedelta(days=1)
    for page in ("/findings?group=none", "/findings", "/nodes/prod/gpu-1"):
        text = get(viewer, page).text
        assert "acknowledged until 20" in text
        assert re.search(r"by olga ?: spare part ordered", text)
    assert "silence-create" in Entry.objects.values_list("action", flat=True)


def test_silenced_findings_are_counted_and_filtered(viewer: Client, cluster: Cluster, found: Finding) -> None:
    make_finding(cluster, node_name="gpu-2")
    hushed(cluster="prod", node="gpu-1")
    page = get(viewer, "/findings?group=none")
    assert "2 errors · 1 silenced" in page.text
    assert "/findings?group=none&silenced=true" in page.links
    assert len(page.rows) == 2
    assert len(get(viewer, "/findings?group=none&silenced=true").rows) == 1
    assert len(get(viewer, "/findings?group=none&silenced=false").rows) == 1
    [cause] = get(viewer, "/findings").rows
    assert cause[1] == "2 1 silenced"


def test_the_overview_leaves_silenced_causes_out_and_counts_them(
    viewer: Client, cluster: Cluster, found: Finding
) -> None:
    make_finding(cluster, "row-remap-pending", "warning", "gpu-1")
    hushed(code="row-remap-pending")
    page = get(viewer, "/")
    assert "1 cause silenced" in page.text
    assert "/findings?silenced=true" in page.links
    assert "remap" not in page.text
    Silence.objects.update(until=database_now() - timedelta(minutes=1))
    assert "silenced" not in get(viewer, "/").text


def test_a_finding_offers_the_silences_that_cover_it(operator: Client, found: Finding) -> None:
    card = Card.objects.filter(node_name="gpu-1")[0]
    make_finding(found.cluster, "quantity-unreadable", node_name="gpu-1", card_key=card.key)
    links = get(operator, "/findings?group=none&code=quantity-unreadable").links
    assert f"/silences/new?cluster=prod&card={card.key}&node=gpu-1" in links
    assert "/silences/new?cluster=prod&node=gpu-1" in links
    assert "/silences/new?cluster=prod&code=quantity-unreadable" in links
    page = get(operator, "/silences/new?cluster=prod&node=gpu-1")
    assert "Would silence 2 findings" in page.text
    assert 'value="gpu-1"' in page.html


def test_an_operator_silences_and_ends_it(operator: Client, viewer: Client, found: Finding) -> None:
    body = {"cluster": "prod", "node": "gpu-1", "reason": "rack moves", "span": "own", "own": "2099-01-01T08:00"}
    page = read(operator.post("/silences/new", body))
    assert "at most a year ahead" in page.text
    page = read(operator.post("/silences/new", body | {"own": "soon"}))
    assert "Enter a date and time." in page.text
    assert read(operator.post("/silences/new", body | {"node": "", "span": "1h"})).status == 400
    assert "Would silence 1 finding" in read(operator.post("/silences/new", body | {"preview": "1"})).text
    assert not Silence.objects.exists()
    operator.post("/silences/new", body | {"span": "1h"})
    row = Silence.objects.get()
    [line] = get(viewer, "/silences").rows
    assert (line[0], line[1], line[3], line[4]) == ("All findings", "prod · gpu-1", "olga", "rack moves")
    assert viewer.post(f"/silences/{row.pk}/end").status_code == 403
    assert "End" in get(operator, "/silences").rows[0][4]
    operator.post(f"/silences/{row.pk}/end")
    row.refresh_from_db()
    assert (row.ended_by_name, get(viewer, "/silences").rows) == ("olga", [])
    assert "ended" in get(viewer, "/silences?ended=true").rows[0][4]


def test_an_operator_of_a_cluster_silences_there_alone(found: Finding) -> None:
    other = make_cluster("other")
    far = make_finding(other, node_name="far-away")
    everywhere = hushed(node="gpu-1")
    elsewhere = hushed(cluster="other", node="far-away")
    client = signed_in(scoped_user("oleg", "prod", role=Role.OPERATOR))
    form = get(client, "/silences/new")
    assert '<option value="">All clusters' not in form.html
    assert '<option value="other"' not in form.html
    body = {"node": "gpu-1", "reason": "x", "span": "1h"}
    assert read(client.post("/silences/new", body)).status == 400
    assert client.post("/silences/new", body | {"cluster": "prod"}).status_code == 302
    assert client.post(f"/findings/{far.pk}/acknowledge", body).status_code == 404
    assert client.post(f"/silences/{elsewhere.pk}/end").status_code == 404
    assert client.post(f"/silences/{everywhere.pk}/end").status_code == 403
    page = get(client, "/silences")
    assert len(page.rows) == 2
    assert "far-away" not in page.text


def test_who_sees_namespaces_may_not_silence(found: Finding) -> None:
    Finding.objects.update(pod="team-a/hungry")
    client = signed_in(scoped_user("nora", "prod/team-a", role=Role.OPERATOR))
    assert client.post(f"/findings/{found.pk}/acknowledge", {"reason": "x", "span": "1h"}).status_code == 403
    assert "Acknowledge" not in get(client, "/nodes/prod/gpu-1").text


def test_what_is_over_has_no_acknowledgement(operator: Client, found: Finding) -> None:
    Finding.objects.update(ended_at=database_now())
    assert get(operator, f"/findings/{found.pk}/acknowledge", status=404)
    assert get(operator, f"/findings/{'9' * 30}/acknowledge", status=404)
    assert operator.post(f"/silences/{'9' * 30}/end").status_code == 404
    assert "Acknowledge" not in get(operator, "/findings?ended=true&group=none").text


@pytest.mark.parametrize("path", ["/findings", "/findings?group=none", "/silences", "/nodes/prod/gpu-1", "/"])
def test_pages_ask_as_often_for_many_silences_as_for_few(operator: Client, found: Finding, path: str) -> None:
    def fill(start: int, number: int) -> None:
        for n in range(start, start + number):
            row = make_finding(found.cluster, f"code-{n}", node_name="gpu-1")
            silences.acknowledge(row, "x", database_now() + timedelta(hours=1))
            hushed(cluster="prod", node=f"gpu-{n}")

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            get(operator, path)
        return len(queries)

    fill(0, 2)
    asked()
    few = asked()
    fill(2, 6)
    assert asked() == few
