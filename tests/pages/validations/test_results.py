"""Results of other tools on pages: a list, one in full, and a section on the pages of their cards and nodes. Never as ours."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from inventory.models import Card, Cluster
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.validations.imports.test_golden import ROOT
from validations.imported import Report, receive
from validations.models import ImportedResult

pytestmark = pytest.mark.django_db


@pytest.fixture
def prod() -> Cluster:
    cluster = make_cluster("prod")
    make_node(cluster, "gpu-1", "hami", 2)
    return cluster


@pytest.fixture
def viewer() -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


def send(name: str = "dcgm-3.3.9-r2-memory-fail.json", node: str = "gpu-1") -> ImportedResult:
    return receive(Report(format="dcgmi-diag", content=(ROOT / name).read_bytes(), node=node, cluster="prod"))[0]


def text(client: Client, address: str) -> str:
    answer: Any = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_an_empty_list_says_how_results_come(prod: Cluster, viewer: Client) -> None:
    assert "gpudash results import dcgmi-diag FILE --node NODE" in text(viewer, "/validations/results")


def test_the_list_is_a_tab_of_the_validations(prod: Cluster, viewer: Client) -> None:
    row = send()
    page = text(viewer, "/validations/results?verdict=failed")
    assert f'href="/validations/results/{row.pk}"' in page
    assert "reported failed" in page
    assert "dcgmi-diag 3.3.9" in page
    assert 'href="/validations/results"' in text(viewer, "/validations")


def test_one_tells_all_that_it_states_and_has_its_file(prod: Cluster, viewer: Client) -> None:
    row = send()
    page = text(viewer, f"/validations/results/{row.pk}")
    for words in (
        *("reported failed", "validates no card", "GPU Memory", "may be isolated", "severity 2", "535.183.06"),
        *("Cards failed: 1.", row.sha256, f"/api/v1/results/{row.pk}/original?file=report"),
    ):
        assert words in page, words
    assert viewer.get("/validations/results/none").status_code == 404


def test_a_page_says_what_it_leaves_out(prod: Cluster, viewer: Client) -> None:
    """Also where the statements are of one node."""
    suites = '<testsuite name="burn" hostname="gpu-1"><testcase name="x"/></testsuite>' * 201
    row, _ = receive(Report(format="junit", content=f"<testsuites>{suites}</testsuites>".encode(), cluster="prod"))
    assert "first 200, all by REST" in text(viewer, f"/validations/results/{row.pk}")
    line = '{"node": "gpu-1", ' + ", ".join(f'"a/b:{rank}": 1' for rank in range(201)) + "}"
    row, _ = receive(Report(format="superbench-results", content=line.encode(), cluster="prod"))
    assert "first 200, all by REST" in text(viewer, f"/validations/results/{row.pk}")


def test_the_worst_stand_first_and_a_page_does_not_grow_with_the_report(prod: Cluster, viewer: Client) -> None:
    cases = "".join(f'<testcase name="card {index}"/>' for index in range(400))
    content = (
        f'<testsuite name="burn" hostname="gpu-1">{cases}<testcase name="card 999"><failure/></testcase></testsuite>'
    )
    row, _ = receive(Report(format="junit", content=content.encode(), cluster="prod"))
    page = text(viewer, f"/validations/results/{row.pk}")
    assert page.index("card 999") < page.index("card 2")
    assert page.count("reported passed") == 199
    assert "first 200, all by REST" in page


def test_card_and_node_pages_tell_what_others_reported(prod: Cluster, viewer: Client) -> None:
    card = Card.objects.get(index=1)
    address = f"/cards/{card.pk}"
    assert "Results from other tools" not in text(viewer, address)
    row = send()
    for page in (text(viewer, address), text(viewer, "/nodes/prod/gpu-1")):
        assert "Results from other tools" in page
        assert f'<a href="/validations/results/{row.pk}">reported failed</a>' in page
    assert "may be isolated" in text(viewer, address)
    # A pass of others has not the look of ours.
    other = text(viewer, f"/cards/{Card.objects.get(index=0).pk}")
    assert 'class="sign none" aria-hidden="true">✓' in other
    assert "reported passed" in other


def test_the_pages_ask_as_much_for_many(prod: Cluster, viewer: Client) -> None:
    send()
    row, counts = send("dcgm-4.6.0-pass.json"), []
    addresses = ("/validations/results", f"/validations/results/{row.pk}", f"/cards/{Card.objects.get(index=1).pk}")
    for more in (0, 6):
        for index in range(more):
            send(node=f"other-{index}")
            receive(
                Report(
                    format="junit",
                    content=f'<testsuite name="t{index}" hostname="gpu-1"><testcase name="card 1"/></testsuite>'.encode(),
                    cluster="prod",
                )
            )
        for address in addresses:
            viewer.get(address)
            with CaptureQueriesContext(connection) as found:
                viewer.get(address)
            counts.append(len(found))
    assert counts[:3] == counts[3:]


def test_who_sees_a_namespace_gets_no_file(prod: Cluster) -> None:
    from tests.scopes.world import scoped_user

    row = send()
    page = text(signed_in(scoped_user("nora", "prod/team-a")), f"/validations/results/{row.pk}")
    assert "reported failed" in page
    assert "original" not in page
    assert "535.183.06" not in page
