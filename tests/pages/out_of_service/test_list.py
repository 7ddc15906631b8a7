"""Out of service: what is recommended, what is taken out, which nodes others marked, the switch; the list of cases."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from audit.models import Entry
from inventory.marks import Mark
from inventory.models import Cluster
from quarantine.models import CaseState, QuarantineSwitch
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_node
from tests.factories.quarantine import CORDON, make_case, mark_node, our_mark
from tests.pages.reading import get
from tests.scopes.world import scoped_user


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def marked(cluster: Cluster) -> Cluster:
    """A recommendation on node-0, a card that waits for its pass on node-1, node-2 cordoned by anna, node-3 in service."""
    for number in range(4):
        make_node(cluster, f"node-{number}", "nvidia", 2)
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine")
    make_case(cluster, "node-0")
    out = make_case(
        cluster, "node-1", CaseState.OUT, accepted_at=database_now(), accepted_by_name="olga", marked_at=database_now()
    )
    mark_node(cluster, "node-1", our_mark(out))
    mark_node(cluster, "node-2", CORDON)
    return cluster


def test_the_page_has_three_sections_and_their_figures(operator: Client, marked: Cluster) -> None:
    page = get(operator, "/out-of-service")
    assert "2 nodes out of service · 4 cards" in page.text
    assert "1 recommended · 1 waiting for a pass" in page.text
    [wish] = page.tables["Recommended"]
    assert wish[0].startswith("node-0 · card")
    assert "cuda-vectoradd failed 2 times on this card (exit-code)" in wish[1]
    assert wish[2].startswith("2 cards")
    [taken] = page.tables["Taken out by gpudash"]
    assert taken[0].startswith("node-1")
    assert (taken[2], taken[3]) == ("✕ waiting for a pass", "olga")
    [other] = page.tables["Marked by others"]
    assert other[:2] == ["node-2", "kubectl"]
    assert other[2].startswith("cordon")


def test_a_node_that_is_marked_and_takes_pods_is_not_out(operator: Client, marked: Cluster) -> None:
    mark_node(marked, "node-3", Mark(kind="condition", tool="NVSentinel", key="GpuMemWatch"))
    page = get(operator, "/out-of-service")
    assert "2 nodes out of service · 4 cards" in page.text
    assert [row[0] for row in page.tables["Marked by others"]] == ["node-2", "node-3"]


def test_operators_have_the_buttons_and_viewers_do_not(operator: Client, viewer: Client, marked: Cluster) -> None:
    links = get(operator, "/out-of-service").links
    acts = [one for one in links if one.endswith(("/accept", "/decline", "/return")) or "validations/new" in one]
    assert [one.rpartition("/")[2].partition("?")[0] for one in acts] == ["accept", "decline", "new", "return"]
    assert "suite=cuda-vectoradd&cluster=prod&node=node-1" in acts[2]
    assert not [one for one in get(viewer, "/out-of-service").links if one.endswith(("/accept", "/decline", "/return"))]


def test_a_mark_of_ours_without_a_case_stands_among_those_of_others(viewer: Client, marked: Cluster) -> None:
    mark_node(marked, "node-3", Mark(kind="taint", tool="gpudash", key="gpudash.io/failed-validation", case="0old"))
    assert [row[0] for row in get(viewer, "/out-of-service").tables["Marked by others"]] == ["node-2", "node-3"]


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00"])
def test_a_time_at_the_end_of_the_calendar_breaks_no_page(viewer: Client, marked: Cluster, since: str) -> None:
    mark_node(marked, "node-3", Mark(kind="taint", key="example.com/x", since=since, blocks=True))
    viewer.cookies["zone"] = "Asia/Shanghai"
    for path in ("/out-of-service", "/nodes/prod/node-3"):
        assert "example.com/x" in get(viewer, path).text


def test_the_filters_are_of_all_sections(viewer: Client, marked: Cluster) -> None:
    far = make_cluster("far")
    make_node(far, "far-0", "nvidia", 1)
    make_case(far, "far-0")
    page = get(viewer, "/out-of-service?cluster=far")
    assert [row[0].split()[0] for row in page.rows] == ["far-0"]
    assert "0 nodes out of service · 1 recommended" in page.text
    assert "/out-of-service/cases?cluster=far&state=recommended" in page.links
    page = get(viewer, "/out-of-service?tool=NVSentinel")
    assert page.rows == []
    assert list(get(viewer, "/out-of-service?tool=kubectl").tables) == ["Marked by others"]
    mark_node(marked, "node-3", Mark(kind="taint", key="x", effect="NoSchedule", blocks=True))
    assert [row[0].split()[0] for row in get(viewer, "/out-of-service?tool=unknown").tables["Marked by others"]] == [
        "node-3"
    ]


def test_nothing_out(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "node-0", "nvidia", 1)
    page = get(viewer, "/out-of-service")
    assert "0 nodes out of service" in page.text
    assert "No GPU node is cordoned or tainted by others." in page.text
    assert "gpudash has no permission to mark nodes in: prod" in page.text
    assert "/docs/out-of-service#rights" in page.links


def test_marked_nodes_as_csv(viewer: Client, marked: Cluster) -> None:
    text = b"".join(viewer.get("/out-of-service?format=csv").streaming_content).decode()  # type: ignore[attr-defined]
    head, *rows = text.strip().splitlines()
    assert head.startswith("cluster,node,out,tools,keys")
    assert [row.split(",")[:5] for row in rows] == [["prod", "node-2", "true", "kubectl", "cordon"]]


def test_the_list_of_cases(viewer: Client, marked: Cluster) -> None:
    page = get(viewer, "/out-of-service/cases")
    assert [row[0].split()[0] for row in page.rows] == ["node-1", "node-0"]
    assert [row[0].split()[0] for row in get(viewer, "/out-of-service/cases?state=recommended").rows] == ["node-0"]
    assert get(viewer, "/out-of-service/cases?open=false").rows == []
    columns = "node,id,cluster,card_uuid,what,how,suite,level,policy,automatic,created_at,accepted_at,declined_at"
    more = "declined_by,marked_at,return_reason,returned_at,returned_by,passed_run,blocked_by,error"
    assert len(get(viewer, f"/out-of-service/cases?columns={columns},{more}").rows) == 2


def test_a_scoped_viewer_sees_the_cases_of_its_clusters_only(marked: Cluster) -> None:
    far = make_cluster("far")
    make_node(far, "far-0", "nvidia", 1)
    make_case(far, "far-0")
    client = signed_in(scoped_user("carl", "prod"))
    for path in ("/out-of-service", "/out-of-service/cases"):
        assert "far" not in get(client, path).text


def test_the_switch_is_for_administrators(operator: Client, admin: Client, marked: Cluster) -> None:
    assert "Automatic" not in get(operator, "/out-of-service").text
    assert operator.post("/out-of-service/switch", {"automatic": "on", "cap_percent": "30"}).status_code == 403
    assert "Automatic off · cap 20%" in get(admin, "/out-of-service").text
    admin.post("/out-of-service/switch", {"automatic": "on", "cap_percent": "30"})
    row = QuarantineSwitch.objects.get()
    assert (row.automatic, row.cap_percent) == (True, 30)
    assert admin.post("/out-of-service/switch", {"cap_percent": "0"}).status_code == 400
    assert Entry.objects.filter(action="quarantine-change").count() == 1


def test_a_tripped_switch_is_said_and_reset(operator: Client, admin: Client, marked: Cluster) -> None:
    QuarantineSwitch.objects.create(automatic=True, tripped_at=database_now(), tripped_reason="3 of 8 nodes are out.")
    assert "cap reached. 3 of 8 nodes are out." in get(operator, "/out-of-service").text
    assert "cap reached. 3 of 8" not in get(signed_in(scoped_user("carl", "prod")), "/out-of-service").text
    assert operator.post("/out-of-service/reset").status_code == 403
    admin.post("/out-of-service/reset")
    assert QuarantineSwitch.objects.get().tripped_at is None


def test_the_number_of_queries_does_not_grow(operator: Client, cluster: Cluster) -> None:
    counts = []
    for first in (0, 3):
        for number in range(first, first + 3 + first * 4):
            make_node(cluster, f"node-{number}", "nvidia", 1)
            make_case(cluster, f"node-{number}", CaseState.OUT if number % 2 else CaseState.RECOMMENDED)
            mark_node(cluster, f"node-{number}", CORDON)
        for path in ("/out-of-service", "/out-of-service/cases", "/api/v1/node-marks", "/api/v1/out-of-service"):
            operator.get(path)
            with CaptureQueriesContext(connection) as queries:
                assert operator.get(path).status_code == 200
            counts.append(len(queries))
    assert counts[:4] == counts[4:]
    assert max(counts) <= 30
