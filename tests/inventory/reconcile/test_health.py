"""From the mirror's objects and an exporter's rounds to the health of cards and nodes, by the product's own writers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.collect import rows
from inventory.collect.merged import Measured
from inventory.models import Card, CardUsage, DirtyNode, Finding, NodeTotals, UsageSource
from kube.objects import Node
from tests.inventory.mirror.objects import decoded, node_json
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import LABELS, whole_node, whole_pod

ONE, TWO = "GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000000"
BEGIN = timezone.now()


def node_with(*conditions: dict[str, str], boot: str = "", allocatable: int = 2) -> Node:
    value: dict[str, Any] = node_json("gpu-1", 2, labels=LABELS)
    value["status"]["conditions"] += conditions
    value["status"]["allocatable"] = {"nvidia.com/gpu": str(allocatable)}
    if boot:
        value["status"]["nodeInfo"] = {"bootID": boot}
    made: Node = decoded(Node, value)
    return made


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> dict[str, str]:
    moments = {"lastTransitionTime": "2026-07-01T08:00:00Z", "lastHeartbeatTime": "2026-07-01T09:00:00Z"}
    return {"type": kind, "status": status, "reason": reason, "message": message} | moments


@pytest.fixture
def sound(fleet: Fleet) -> Fleet:
    """Two cards, which the kubelet and the plugin call healthy."""
    fleet.put("nodes", whole_node("gpu-1", 2))
    fleet.put("pods", whole_pod("train", uuids=(ONE, TWO), cards=2))
    fleet.reconcile()
    return fleet


def totals() -> NodeTotals:
    return NodeTotals.objects.get(node_name="gpu-1")


def card(uuid: str) -> Card:
    return Card.objects.get(uuid=uuid)


def say(fleet: Fleet, minute: int, *measured: Measured) -> set[str]:
    """A round of the collector. Returns the nodes that it makes dirty."""
    source, _ = UsageSource.objects.get_or_create(
        cluster=fleet.cluster, defaults={"way": "prometheus", "address": "http://p"}
    )
    now = BEGIN + timedelta(minutes=minute)
    done = rows.write(fleet.cluster.pk, source.pk, measured, rows.stored_rows(fleet.cluster.pk), now, source.round_at)
    UsageSource.objects.filter(pk=source.pk).update(round_at=now, state="reading")
    return done.dirty


def reading(uuid: str = ONE, **values: float) -> Measured:
    code = int(values.get("xid", 0))
    told = {"xids": [{"code": code, "kind": "last", "count": None, "last_at": None}]} if "xid" in values else {}
    return Measured(node="gpu-1", ident=uuid, uuid=uuid, format="dcgm-exporter", values=dict(values), told=told)


def test_what_the_kubelet_and_the_plugin_say_is_kept_with_who_says_it(sound: Fleet) -> None:
    assert totals().health == "healthy"
    assert card(ONE).health == "healthy"
    assert [(one.source, one.level) for one in card(ONE).found_health] == [("kubelet", "healthy")]


def test_a_condition_comes_stays_and_goes(sound: Fleet) -> None:
    message = f"ErrorCode:79 GPU_UUID:{TWO} Xid 79 Recommended Action=RESTART_BM;"
    sound.put("nodes", node_with(condition("SysLogsXIDError", "True", "SysLogsXIDErrorIsNotHealthy", message)))
    sound.reconcile()
    assert (totals().health, card(ONE).health, card(TWO).health) == ("unhealthy", "healthy", "unhealthy")
    (bad, *_) = card(TWO).found_health
    assert (bad.source, bad.action, bad.since and bad.since.isoformat()) == (
        "nvsentinel",
        "reboot",
        "2026-07-01T08:00:00+00:00",
    )
    found = Finding.objects.get(code="xid-hardware", ended_at=None)
    assert (found.card_key, found.severity) == (card(TWO).key, "error")
    assert "Reboot the machine" in found.text
    sound.put(
        "nodes", node_with(condition("SysLogsXIDError", "False", "SysLogsXIDErrorIsHealthy", "No Health Failures"))
    )
    sound.reconcile()
    assert (totals().health, card(TWO).health) == ("healthy", "healthy")
    assert not Finding.objects.filter(code="xid-hardware", ended_at=None).exists()
    assert [one.code for one in totals().found_health] == ["SysLogsXIDError"]


def test_a_heartbeat_of_a_condition_writes_nothing(sound: Fleet) -> None:
    bad = condition("XIDErrors", message="XID 79")
    sound.put("nodes", node_with(bad))
    sound.reconcile()
    sound.put("nodes", node_with(bad | {"lastHeartbeatTime": "2026-07-01T10:00:00Z"}))
    assert not DirtyNode.objects.exists()


def test_a_condition_of_gke_from_before_a_restart_is_of_before(sound: Fleet) -> None:
    old = condition("XidCriticalError", reason='{"79":true}', message="boot-1")
    sound.put("nodes", node_with(old, boot="boot-1"))
    sound.reconcile()
    assert totals().health == "unhealthy"
    sound.put("nodes", node_with(old, boot="boot-2"))
    sound.reconcile()
    assert totals().health == "healthy"


def test_a_node_that_has_lost_all_its_cards_and_says_so_is_shown(fleet: Fleet) -> None:
    value = node_json("gpu-1", 0)
    value["status"]["conditions"] += [condition("AcceleratedHardwareReady", "False", "NvidiaDeviceCountMismatch")]
    fleet.put("nodes", decoded(Node, value))
    fleet.reconcile()
    assert totals().health == "unhealthy"
    assert Finding.objects.get(code="node-condition").node_name == "gpu-1"


def test_devices_that_are_withheld_are_the_node_s(sound: Fleet) -> None:
    sound.put("nodes", node_with(allocatable=1))
    sound.reconcile()
    assert (totals().health, card(ONE).health) == ("unhealthy", "healthy")
    assert [one.text for one in totals().found_health] == ["nvidia.com/gpu: 1 of 2"]


def test_an_xid_makes_the_node_dirty_once_and_keeps_when_it_was_first_seen(sound: Fleet) -> None:
    say(sound, 0, reading(xid=0), reading(TWO, xid=0))
    sound.reconcile()
    assert say(sound, 1, reading(xid=79), reading(TWO, xid=0)) == {"gpu-1"}
    assert say(sound, 2, reading(xid=79), reading(TWO, xid=0)) == set()
    sound.reconcile()
    (bad, *_) = card(ONE).found_health
    assert (card(ONE).health, bad.code, bad.since) == ("unhealthy", "xid-79", BEGIN + timedelta(minutes=1))
    assert card(TWO).health == "healthy"
    assert Finding.objects.get(code="xid-hardware", ended_at=None).card_key == card(ONE).key
    assert say(sound, 3, reading(xid=0), reading(TWO, xid=0)) == {"gpu-1"}
    sound.reconcile()
    assert card(ONE).health == "healthy"
    assert not Finding.objects.filter(code="xid-hardware", ended_at=None).exists()


def test_an_xid_that_was_there_from_the_first_has_no_time(sound: Fleet) -> None:
    say(sound, 0, reading(xid=79))
    sound.reconcile()
    assert card(ONE).found_health[0].since is None
    say(sound, 1, reading(xid=79))
    assert card(ONE).found_health[0].since is None


def test_rows_of_an_older_version_get_no_time_that_is_the_upgrade_s(sound: Fleet) -> None:
    say(sound, 0, reading(xid=79))
    CardUsage.objects.update(signs="")
    say(sound, 1, reading(xid=79))
    sound.reconcile()
    assert card(ONE).found_health[0].since is None


def test_an_exporter_that_falls_silent_neither_heals_nor_raises(sound: Fleet) -> None:
    say(sound, 0, reading(xid=0))
    say(sound, 1, reading(xid=79, temperature=95.0))
    sound.reconcile()
    before = set(Finding.objects.filter(ended_at=None).values_list("pk", "code"))
    assert {code for _, code in before} >= {"xid-hardware", "card-hot"}
    assert say(sound, 2) == {"gpu-1"}
    sound.reconcile()
    bad = {one.code: one for one in card(ONE).found_health}
    assert card(ONE).health == "unhealthy"
    assert bad["xid-79"].lost_at == BEGIN + timedelta(minutes=2)
    assert bad["hot"].level == "unknown"
    after = dict(Finding.objects.filter(ended_at=None).values_list("code", "text"))
    assert {code for _, code in before} - after.keys() == {"card-hot"}
    assert "stopped reporting at" in after["xid-hardware"]
    say(sound, 3, reading(xid=79))
    sound.reconcile()
    assert card(ONE).found_health[0].lost_at is None
    assert card(ONE).found_health[0].since == BEGIN + timedelta(minutes=1)


def test_what_was_well_says_nothing_once_its_exporter_is_silent(fleet: Fleet) -> None:
    fleet.put("nodes", node_with(allocatable=1))
    fleet.put("pods", whole_pod("train", uuids=(ONE, TWO), cards=2, container={"allocatedResourcesStatus": None}))
    fleet.reconcile()
    watch = {"watches": [{"name": "MEM", "state": "pass", "code": ""}]}
    one = Measured(node="gpu-1", ident=ONE, uuid=ONE, index=0, format="dcgm-exporter", told=watch)
    two = Measured(node="gpu-1", ident=TWO, uuid=TWO, index=1, format="dcgm-exporter", told=watch)
    say(fleet, 0, one, two)
    fleet.reconcile()
    assert {card(ONE).health, card(TWO).health} == {"healthy"}
    say(fleet, 1)
    fleet.reconcile()
    assert "healthy" not in set(Card.objects.filter(removed_at=None).values_list("health", flat=True))


def test_the_queries_of_a_chunk_do_not_grow_with_its_statements(sound: Fleet) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            sound.reconcile()
        return len(found)

    say(sound, 0, reading(xid=0), reading(TWO, xid=0))
    few = queries()
    say(sound, 1, reading(xid=79, row_remap_pending=1.0, ecc_uncorrected_volatile=4.0), reading(TWO, xid=48))
    sound.put("nodes", node_with(condition("XIDErrors"), condition("GPUMissing"), condition("GPUClockThrottling")))
    many = queries()
    # One statement each for cards, findings and totals that change.
    assert many <= few + 6
