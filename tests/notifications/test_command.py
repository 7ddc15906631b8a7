"""`gpudash notifications`: lists, test, preview, silence."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from inventory.models import Cluster
from notifications.channels.engine import Kind
from notifications.models import Channel, Delivery, Silence
from runtime.clock import database_now
from tests.factories import make_finding
from tests.notifications.bell import SECRET, bell, make_channel, make_rule

__all__ = ["bell"]


def told(*words: str) -> str:
    out = io.StringIO()
    call_command("notifications", *words, stdout=out)
    assert SECRET not in out.getvalue()
    return out.getvalue()


def read(*words: str) -> Any:
    return json.loads(told(*words, "-o", "json"))


def test_channels_and_rules_are_listed(cluster: Cluster, bell: Kind) -> None:
    make_channel()
    make_rule()
    Channel.objects.update(failing_since=database_now(), answer="403 no such room")
    assert told("channels").startswith("On call  bell  failing since 20")
    [channel] = read("channels")
    assert (channel["state"], channel["secrets"], channel["answer"]) == ("failing", ["url"], "403 no such room")
    assert told("rules") == "Errors  finding  warning  On call  at once\n"
    assert read("rules")[0]["channel"] == "On call"


def test_a_test_is_sent_and_the_log_has_it(cluster: Cluster, bell: Kind) -> None:
    make_channel()
    assert "is on its way" in told("test", "On call")
    assert Delivery.objects.get().test
    assert "On call  waiting  Test message from gpudash" in told("deliveries", "--channel", "On call")
    assert read("deliveries", "--state", "failed") == []
    for words in (("test", "x"), ("deliveries", "--channel", "x")):
        with pytest.raises(CommandError, match=r"There is no channel 'x'\. There are: On call\."):
            told(*words)


def test_a_preview_writes_nothing(cluster: Cluster, bell: Kind) -> None:
    make_channel()
    make_rule()
    make_finding(cluster, node_name="gpu-1")
    assert told("preview", "Errors").startswith(
        "Would report 1 topics, 1 findings, cards and nodes.\n  error  1  card-over"
    )
    assert read("preview", "Errors")[0]["code"] == "card-over-committed"
    assert not Delivery.objects.exists()
    with pytest.raises(CommandError, match="There is no rule 'x'"):
        told("preview", "x")


def test_findings_are_silenced_and_it_is_ended(cluster: Cluster) -> None:
    made = read("silence", "--node", "gpu-1", "--for", "8h", "--reason", "rack moves")
    assert (made["node"], made["cluster"], made["created_by"]) == ("gpu-1", None, None)
    assert "all clusters gpu-1  until 20" in told("silences")
    assert told("end-silence", str(made["id"])) == f"{made['id']}: ended\n"
    assert read("silences") == []
    assert Silence.objects.get().ended_at is not None
    with pytest.raises(CommandError, match="There is no silence 99"):
        told("end-silence", "99")
    with pytest.raises(CommandError, match="Enter at least one of"):
        told("silence", "--for", "8h", "--reason", "x")
    with pytest.raises(CommandError, match="must be minutes, hours or days"):
        told("silence", "--node", "x", "--for", "long", "--reason", "x")
