"""A message from topics: in the language of its channel, the worst first, as many topics as the receiver takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext, ngettext, override

from notifications.channels.engine import Change, Kind, Line, Message, Severity
from notifications.channels.lines import WORDS
from notifications.models import Channel
from notifications.topics.topic import Topic
from wording import said

_RANK = {severity.value: rank for rank, severity in enumerate(Severity)}
_ORDER = (Change.BEGAN, Change.MORE, Change.ENDED)
#: (topic, change, things that were sent before, since when it is gone)
Change_of = tuple[Topic, Change, int, datetime | None]


def compose(
    key: str, channel: Channel, told: Sequence[Change_of], kind: Kind, at: datetime, *, digest: bool = False
) -> Message:
    """key: of the delivery. told: at least one."""
    with override(channel.language):
        lines = sorted(
            (_line(*one, at) for one in told),
            key=lambda line: (
                line.change is Change.ENDED,
                _RANK[line.severity.value],
                _ORDER.index(line.change),
                line.topic,
            ),
        )
        shown = tuple(lines[: kind.most_lines])
        return Message(
            id=key,
            title=_title(lines, digest),
            lines=shown,
            hidden=len(lines) - len(shown),
            link=shown[0].link if len(lines) == 1 else address(reverse("findings")),
            source=address("/") or "gpudash",
            at=at,
            words=_words(),
        )


def test_message(key: str, channel: Channel, kind: Kind, at: datetime) -> Message:
    """What *Send test* sends: one topic that begins, in the form of all others."""
    with override(channel.language):
        line = Line(
            topic=f"test:{key}",
            change=Change.BEGAN,
            severity=Severity.INFO,
            code="test",
            text=gettext("This is a test of the channel %(channel)s.") % {"channel": channel.name},
            count=1,
            link=address(reverse("channel", args=[channel.pk])),
            since=at,
        )
        return Message(
            id=key,
            title=gettext("Test message from gpudash"),
            lines=(line,),
            link=line.link,
            source=address("/") or "gpudash",
            at=at,
            test=True,
            words=_words(),
        )


def _line(topic: Topic, change: Change, before: int, gone: datetime | None, at: datetime) -> Line:
    return Line(
        topic=topic.key,
        change=change,
        severity=Severity(topic.severity),
        code=topic.code,
        text=_text(topic),
        count=before or topic.loud if change is Change.ENDED else topic.loud,
        new=max(0, topic.loud - before) if change is Change.MORE else 0,
        places=topic.places,
        cluster=topic.cluster,
        link=address(topic.link),
        since=datetime.fromisoformat(topic.since) if topic.since else at,
        until=gone,
    )


def _words() -> dict[str, str]:
    return {one: gettext(one) for one in WORDS}


def _text(topic: Topic) -> str:
    made = said.worded(topic.wording, gettext, {}) if topic.wording else ""
    return made or topic.text


def _title(lines: Sequence[Line], digest: bool) -> str:
    """Of one topic its text; of several how many began and ended."""
    if len(lines) == 1 and not digest:
        line = lines[0]
        number = f" ({line.count})" if line.count > 1 else ""
        return (gettext("Ended: %(text)s") % {"text": line.text} if line.change is Change.ENDED else line.text) + number
    began = sum(line.change is not Change.ENDED for line in lines)
    ended = len(lines) - began
    parts = []
    if began:
        parts.append(ngettext("%(n)d problem", "%(n)d problems", began) % {"n": began})
    if ended:
        parts.append(ngettext("%(n)d ended", "%(n)d ended", ended) % {"n": ended})
    return " · ".join(parts)


def address(path: str) -> str:
    """An absolute address of a path of ours; "" where the public address of the installation is not known."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL and path else ""
