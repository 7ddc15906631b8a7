"""Channels, a rule, deliveries and silences, for tests that go over all pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from inventory.models import Cluster, Finding
from notifications import manage, silences
from notifications.channels import BY_NAME
from notifications.compose import test_message as message_of_a_test
from notifications.manage import RuleDraft
from notifications.models import Channel, Delivery, DeliveryState, Told
from notifications.silences import SilenceDraft
from notifications.tell import tell
from tests.notifications.bell import BELL


def make_notifications(cluster: Cluster) -> dict[str, str]:
    """Ids by name. A channel that works and one that fails; a delivery in each state; a finding that is acknowledged."""
    kind = next(iter(BY_NAME.values()), None) or BY_NAME.setdefault(BELL.name, BELL)
    at = datetime.now(UTC)
    channel = Channel.objects.create(name="On-call-" * 12, kind=kind.name, delivered_at=at)
    failing = Channel.objects.create(name="Night", kind=kind.name, failing_since=at, answer="403 Forbidden: " * 8)
    rule = manage.create_rule(
        RuleDraft(name="Errors-" * 14, channel=channel.name, about=["out-of-service", "installation"])
    )
    tell(rule, at)
    Told.objects.filter(rule=rule).update(told_at=at)
    made = {
        state: _delivery(channel if state == "delivered" else failing, state, at - timedelta(minutes=number))
        for number, state in enumerate(DeliveryState.values)
    }
    finding = Finding.objects.filter(ended_at=None, cluster=cluster).latest("pk")
    silences.acknowledge(finding, "Spare part ordered, ticket 4711", at + timedelta(days=7))
    over = silences.silence(
        SilenceDraft(cluster="prod", node="gpu-00001", reason="over", until=at + timedelta(hours=1))
    )
    silences.end(over)
    silences.silence(SilenceDraft(code=finding.code, reason="rack " * 40, until=at + timedelta(hours=1)))
    return {
        "channel": channel.pk,
        "failing": failing.pk,
        "kind": kind.name,
        "rule": rule.pk,
        "delivery": made["failed"],
        "uncertain": made["uncertain"],
        "finding": str(finding.pk),
    }


def _delivery(channel: Channel, state: str, at: datetime) -> str:
    row = Delivery(channel=channel, topics=1, test=True, state=state, created_at=at, next_at=at + timedelta(hours=1))
    message = message_of_a_test(row.pk, channel, BY_NAME[channel.kind], at)
    row.title, row.message = message.title, msgspec.to_builtins(message)
    row.tries, row.answer = 2, "403 no such room"
    row.answers = [{"at": at.isoformat(), "outcome": "later", "text": "403 no such room"}] * 2
    row.save()
    return row.pk
