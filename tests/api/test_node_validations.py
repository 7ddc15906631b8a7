"""What a node says of the validation of each of its cards, in the order of its cards."""

from __future__ import annotations

from django.test import Client

from inventory.models import Card, Cluster, Node
from tests.factories import make_node
from tests.pages.validations.rows import make_run


def test_each_card_has_the_run_that_decides(cluster: Cluster, api: Client) -> None:
    make_node(cluster, "gpu-1", "nvidia", 5)
    good, bad, ran, changed, _never = cards = list(Card.objects.order_by("index"))
    driver = Node.objects.get().driver_version
    passed = make_run(cluster, card=good, driver=driver)
    make_run(cluster, card=bad, driver=driver, minutes_ago=20)
    failed = make_run(cluster, card=bad, verdict="failed", driver=driver)
    make_run(cluster, card=ran, level="ran", driver=driver)
    make_run(cluster, card=changed, driver="1.2")
    node = api.get("/api/v1/nodes/prod/gpu-1").json()
    found = node["validations"]
    assert [one["card"] for one in found] == [one["key"] for one in node["cards"]] == [card.key for card in cards]
    assert [one["state"] for one in found] == ["validated", "failed", "ran", "driver-changed", "never"]
    assert [one["run"] for one in found[:2]] == [passed.pk, failed.pk]
    assert {one["suite"] for one in found[:4]} == {"cuda-vectoradd"}
    assert found[0]["at"] is not None
    assert (found[4]["suite"], found[4]["run"], found[4]["at"]) == (None, None, None)
