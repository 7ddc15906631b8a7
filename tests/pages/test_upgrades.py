"""Driver upgrades and MIG changes under way, on the page of components."""

from __future__ import annotations

import pytest
from django.test import Client

from inventory.models import Card, Cluster
from stacks.engine.software.base import Statement
from tests.factories import make_cluster
from tests.pages.reading import get
from tests.pages.software import WELL, node_with, policy, upgrading
from tests.pages.validations.rows import make_run


def test_a_failed_node_that_takes_the_only_slot_is_named(viewer: Client, cluster: Cluster) -> None:
    policy(cluster, None)
    remedy = "kubectl label node failed state=upgrade-required"
    node_with(cluster, "failed", upgrading("upgrade-failed", "crash-looping", explains=True, remedy=remedy))
    for number in range(3):
        node_with(cluster, f"waits-{number}", upgrading("upgrade-required"))
    page = get(viewer, "/components")
    assert "3 nodes pending · 1 of 1 upgrade slots in use ( maxParallelUpgrades 1 )" in page.text
    assert "All slots are in use. 3 nodes stay pending until these nodes finish: failed" in page.text
    assert page.text.count(remedy) == 2  # at the cause, too
    assert page.tables["Nodes by step"] == [["✕ upgrade-failed", "1", "12 min"], ["· upgrade-required", "3", "12 min"]]


def test_free_slots_and_no_limit_are_told_apart(viewer: Client, cluster: Cluster) -> None:
    policy(cluster, 4)
    node_with(cluster, "goes", upgrading("drain-required"))
    node_with(cluster, "waits", upgrading("upgrade-required"))
    text = get(viewer, "/components").text
    assert "1 node pending · 1 of 4 upgrade slots in use" in text
    assert "count towards maxUnavailable (25%)" in text
    cluster.softwareobject_set.all().delete()  # type: ignore[attr-defined]
    policy(cluster, 0)
    text = get(viewer, "/components").text
    assert "1 node pending · 1 node upgrading" in text
    assert "slots" not in text


def test_a_maintenance_operator_knows_no_slots(viewer: Client, cluster: Cluster) -> None:
    policy(cluster, 1)
    node_with(cluster, "goes", upgrading("node-maintenance-required"))
    node_with(cluster, "waits", upgrading("upgrade-required"))
    text = get(viewer, "/components").text
    assert "1 node pending · 1 node upgrading" in text
    assert "A maintenance operator decides which nodes are upgraded next." in text
    assert "slots" not in text


def test_an_upgrade_that_is_over_has_no_section(viewer: Client, cluster: Cluster) -> None:
    node_with(cluster, "a", upgrading("upgrade-done", "ready"))
    node_with(cluster, "b", WELL | {"mig-manager": Statement(state="ready", step="success")})
    text = get(viewer, "/components").text
    assert "Driver upgrades" not in text
    assert "MIG changes" not in text


def test_cards_of_upgraded_nodes_that_were_validated_since_are_counted(viewer: Client, cluster: Cluster) -> None:
    node_with(cluster, "waits", upgrading("upgrade-required"))
    node_with(cluster, "done", upgrading("upgrade-done", "ready"))
    make_run(cluster, node="done", card=Card.objects.filter(node_name="done")[0])
    assert "1 node done · 1 of their 2 cards validated since" in get(viewer, "/components").text


def test_a_paused_component_with_the_step_of_an_upgrade_is_no_second_upgrade(viewer: Client, cluster: Cluster) -> None:
    paused = Statement(state="paused", step="drain-required")
    node_with(cluster, "a", upgrading("drain-required") | {"container-toolkit": paused})
    assert get(viewer, "/components").tables["Nodes by step"] == [["i drain-required", "1", "12 min"]]


@pytest.mark.parametrize(("minutes", "stuck"), [(14, False), (16, True)])
def test_a_mig_change_that_is_pending_for_long_is_stuck(
    viewer: Client, cluster: Cluster, minutes: float, stuck: bool
) -> None:
    mig = Statement(state="ready", step="pending", remedy="kubectl delete pod mig-manager-x")
    node_with(cluster, "a", WELL | {"mig-manager": mig}, minutes_ago=minutes)
    page = get(viewer, "/components")
    assert "MIG changes" in page.text
    assert ("1 change is stuck : pending for more than 15 min." in page.text) is stuck
    assert "kubectl delete pod mig-manager-x" in page.text


def test_upgrades_of_several_clusters_stand_apart(viewer: Client, cluster: Cluster) -> None:
    other = make_cluster("lab")
    for one in (cluster, other):
        node_with(one, f"n-{one.name}", upgrading("upgrade-required"))
    page = get(viewer, "/components")
    assert [row for row in page.tables["Nodes by step"] if row[1] == "1"] == page.tables["Nodes by step"]
    assert page.text.count("Driver upgrades") == 2
