"""What is wrong with the installation itself: its processes, queues and connections, and channels that nothing reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.urls import reverse

from inventory.installation import Code, Level, running, wrong
from inventory.models.choices import Severity
from notifications.models import Channel
from notifications.topics.topic import Topic, key_of, said
from runtime.scope import current
from wording.said import sentence

INSTALLATION = "installation"
CHANNEL_FAILING = "channel-failing"
_TITLES = {
    Code.PROCESS_MISSING: sentence("No heartbeat of a process of gpudash"),
    Code.TOO_LITTLE: sentence("Too few workers of gpudash"),
    Code.MESSAGES_WAIT: sentence("Queued gpudash tasks without a worker"),
    Code.TASKS_FAIL: sentence("Tasks of gpudash failed in the last hour"),
    Code.CONNECTIONS_WAIT: sentence("gpudash processes without a free database connection"),
    Code.CODE_DIFFERS: sentence("Processes of gpudash run different builds"),
    Code.WEB_SILENT: sentence("No web process of gpudash reports"),
}


def installation(severities: Sequence[str], _codes: Sequence[str], at: datetime) -> Iterator[Topic]:
    """For who sees everything. Some ten queries."""
    if not current().everything:
        return
    for one in wrong(running()):
        severity = Severity.ERROR if one.level == Level.ERROR else Severity.WARNING
        if severity in severities:
            yield Topic(
                key=key_of(INSTALLATION, one.code.value, one.what),
                about=INSTALLATION,
                code=one.code.value,
                severity=severity.value,
                since="",
                link=reverse("installation"),
                **said(sentence("{title}: {what}", title=_TITLES[one.code], what=one.what)),
            )
    if Severity.ERROR in severities:
        for channel in Channel.objects.filter(paused=False).exclude(failing_since=None).order_by("pk"):
            yield failing(channel, at)


def failing(channel: Channel, at: datetime) -> Topic:
    return Topic(
        key=key_of(INSTALLATION, CHANNEL_FAILING, channel.pk),
        about=INSTALLATION,
        code=CHANNEL_FAILING,
        severity=Severity.ERROR.value,
        since=(channel.failing_since or at).isoformat(),
        link=reverse("channel", args=[channel.pk]),
        **said(sentence("Channel {channel} is failing: {answer}", channel=channel.name, answer=channel.answer)),
    )
