"""Notifications of the demo: a channel that works, one whose receiver refuses, what was told in the past, and a silence."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from gpudash.demo_past.clock import Times, utc
from inventory.models import Cluster, Finding
from inventory.models.choices import Severity
from notifications import manage, silences
from notifications.channels import BY_NAME
from notifications.channels.engine import Change
from notifications.compose import compose
from notifications.manage import ChannelDraft, RuleDraft
from notifications.models import Channel, Delivery, DeliveryState, Rule
from notifications.tell import BEGIN_WAIT, END_WAIT
from notifications.topics.topic import Topic
from runtime.clock import database_now
from validations.ids import new_id

TEAM, ON_CALL = "gpu-team", "on-call (DingTalk)"
AT_ONCE, DAILY, NIGHT = "Errors at once", "Every morning", "Errors for on-call"
#: Findings of the past that were told.
TOLD = 12
REFUSED = "310000: keywords not in content"
#: What ended later is not in the log yet.
END = END_WAIT + timedelta(minutes=1)


def make(cluster: Cluster, user: User, receiver: str) -> None:
    """Channels and rules that are not there. receiver: address of the demo's own one."""
    key = base64.b64encode(hashlib.sha256(settings.SECRET_KEY.encode()).digest()).decode()
    team = Channel.objects.filter(name=TEAM).first()
    values = {"url": receiver, "secrets": f"whsec_{key}"}
    draft = ChannelDraft(name=TEAM, kind="webhook", settings=values)
    if team is not None:
        manage.change_channel(team, draft)  # its port is another one at each start
        return
    manage.create_channel(draft, user)
    robot = {"url": "https://oapi.dingtalk.com/robot/send?access_token=demo", "keyword": "GPU"}
    on_call = manage.create_channel(ChannelDraft(name=ON_CALL, kind="dingtalk", settings=robot), user)
    manage.pause_channel(on_call, True)  # nothing leaves the machine
    about = ["finding", "cluster", "validation", "policy", "installation"]
    manage.create_rule(RuleDraft(name=AT_ONCE, channel=TEAM, about=about, least_severity=Severity.ERROR), user)
    manage.create_rule(
        RuleDraft(
            name=DAILY, channel=TEAM, about=[*about, "campaign", "out-of-service"], digest="daily", digest_hour=8
        ),
        user,
    )
    manage.create_rule(RuleDraft(name=NIGHT, channel=ON_CALL, about=["finding"], least_severity=Severity.ERROR), user)
    _silence(cluster, user)


def _silence(cluster: Cluster, user: User) -> None:
    """One warning is known, and a repair is on its way."""
    found = Finding.objects.filter(cluster=cluster, ended_at=None, severity=Severity.WARNING).exclude(card_key="")
    finding = found.order_by("code", "node_name").first()
    if finding is not None:
        until = database_now() + timedelta(days=3)
        silences.acknowledge(finding, "Replacement ordered, ticket OPS-2211", until, user)


def write(cluster: Cluster, times: Times, breathe: Callable[[], None]) -> int:
    """What the rule would have told of the past's errors; returns how many deliveries."""
    rule = Rule.objects.filter(name=AT_ONCE).select_related("channel").first()
    refused = Rule.objects.filter(name=NIGHT).select_related("channel").first()
    if rule is None or refused is None:
        return 0
    rows = Finding.objects.filter(cluster=cluster, severity=Severity.ERROR, ended_at__lt=utc(times.until) - END)
    found = list(rows.order_by("-first_seen_at")[:TOLD])
    made: list[Delivery] = []
    for number, finding in enumerate(found):
        made.append(_delivery(rule, finding, Change.BEGAN, finding.first_seen_at + BEGIN_WAIT))
        if finding.ended_at is not None:
            made.append(_delivery(rule, finding, Change.ENDED, finding.ended_at + END_WAIT))
        if number == 0:
            made.append(_refused(_delivery(refused, finding, Change.BEGAN, finding.first_seen_at + BEGIN_WAIT)))
    Delivery.objects.bulk_create(made)
    breathe()
    if found:
        at = found[0].first_seen_at + timedelta(seconds=31)
        Channel.objects.filter(pk=refused.channel_id).update(failing_since=at, answer=REFUSED)
    return len(made)


def _delivery(rule: Rule, finding: Finding, change: Change, at: datetime) -> Delivery:
    topic = Topic(
        key=f"finding:{finding.cluster_id}:{finding.code}:{finding.severity}:{finding.cause}"[:200],
        about="finding",
        code=finding.code,
        severity=finding.severity,
        text=finding.text[:500],
        wording=finding.wording,
        since=finding.first_seen_at.isoformat(),
        places=(f"{finding.cluster.name}/{finding.node_name}",),
        cluster=finding.cluster.name,
        link=f"{reverse('findings')}?ended=true",
    )
    row = Delivery(pk=new_id(at), channel=rule.channel, rule=rule, topics=1, created_at=at, next_at=at, tries=1)
    gone = at if change is Change.ENDED else None
    message = compose(row.pk, rule.channel, [(topic, change, 1, gone)], BY_NAME[rule.channel.kind], at)
    row.title, row.message = message.title[:300], msgspec.to_builtins(message)
    row.started_at = row.ended_at = at + timedelta(seconds=1)
    row.state, row.answer = DeliveryState.DELIVERED, "HTTP 204"
    row.answers = [{"at": row.ended_at.isoformat(), "outcome": "delivered", "text": row.answer}]
    return row


def _refused(row: Delivery) -> Delivery:
    row.state, row.answer = DeliveryState.FAILED, REFUSED
    row.answers = [{**row.answers[0], "outcome": "refused", "text": REFUSED}]
    return row
