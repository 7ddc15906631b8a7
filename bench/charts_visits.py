"""`python -m bench.charts_visits fill NODES | record | look`: what the benchmark `charts` does in processes of gpudash."""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.answers import HTML, JSON, Answers, Right, timed
from bench.usage_rounds import _fill

ROUNDS = 9
DAYS = 90
#: Cards that have all days; others have had them as well, in other rows of the same index.
CARDS_WITH_DAYS = 2000


def main(what: str, *more: str) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.conf import settings

    settings.SHARED_LOOK_S = 0  # each answer is made anew
    made: Any = {"fill": fill, "record": record, "look": look}[what](*more)
    print(json.dumps(made))


def fill(nodes: str) -> int:
    """Cards of which each is measured, and days of some of them."""
    from django.utils import timezone

    from inventory.models import Card, CardUsage, Cluster, Watch
    from tests.factories.usage import source_of

    _fill(int(nodes))
    cluster, now, dice = Cluster.objects.get(), timezone.now(), random.Random(1)
    Watch.objects.update(last_event_at=now + timedelta(hours=3))  # in sync for as long as this takes
    source = source_of(cluster, timedelta(hours=-3))
    CardUsage.objects.bulk_create(
        (
            CardUsage(
                cluster=cluster,
                source=source,
                node_name=card.node_name,
                ident=card.key,
                card=card,
                format="dcgm-exporter",
                memory_used_bytes=dice.randrange(80 << 30),
                utilization_ratio=dice.random(),
                activity_ratio=dice.random(),
                activity_measure="graphics_active",
                written_at=now,
            )
            for card in Card.objects.iterator(5000)
        ),
        batch_size=5000,
    )
    return _days(cluster, now, dice)


def _days(cluster: Any, now: datetime, dice: random.Random) -> int:
    from inventory.history import packed
    from inventory.models import Card, HistoryDay, Subject

    def day(**constant: int) -> bytes:
        used = [dice.randrange(80 << 10) for _ in range(packed.SLOTS)]
        noise = {name: [dice.randrange(1000) for _ in range(packed.SLOTS)] for name in ("utilization", "activity")}
        level = {name: [value] * packed.SLOTS for name, value in constant.items()}
        return packed.pack_day({"used": used, "used_most": [one + 99 for one in used], **noise, **level})

    datas = [day(allocated=81_920) for _ in range(50)]
    subjects = [(Subject.CARD, str(pk)) for pk in Card.objects.order_by("id").values_list("pk", flat=True)]
    whole = [(Subject.CLUSTER, ""), *subjects[:CARDS_WITH_DAYS]]
    made = (
        HistoryDay(cluster=cluster, subject=subject, key=key, day=(now - timedelta(days=age)).date(), data=data)
        for age in range(1, DAYS + 1)
        for (subject, key), data in zip(whole, [*datas] * (len(whole) // 50 + 1), strict=False)
    )
    return len(HistoryDay.objects.bulk_create(made, batch_size=5000))


def record() -> list[dict[str, Any]]:
    """A minute is made of the rows; the other 59 are it again, with values of their own for each card."""
    from django.db.models.functions import Length

    from inventory.history import packed, recorder
    from inventory.models import Card, Cluster, HistoryDay, HistoryMinute, Subject

    dice = random.Random(2)
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    began = time.perf_counter()
    rows = recorder.record_cluster(Cluster.objects.get().pk, hour)
    seconds = time.perf_counter() - began
    first = list(HistoryMinute.objects.filter(at=hour))
    size = sum(len(bytes(row.data)) for row in first)
    cards, kept = Card.objects.count(), Answers()
    # Each card has a value of memory used in it: the one that was measured.
    known = sum(
        value is not None
        for row in first
        if row.subject == Subject.CARD
        for value in packed.unpack_minute(row.data).columns["used"]
    )
    kept.expect("cards in the minute", known, cards)
    told: list[dict[str, Any]] = [
        {"line": "minute", "seconds": seconds, "rows": rows, "bytes": size, "answers": kept.as_json()}
    ]
    for minute in range(1, 60):
        for row in first:
            values = packed.unpack_minute(row.data)
            values.columns["used"] = [value and value + dice.randrange(2000) for value in values.columns["used"]]
            row.pk, row.at, row.data = None, hour + timedelta(minutes=minute), packed.pack_minute(values)
        HistoryMinute.objects.bulk_create(first, batch_size=200)
    began = time.perf_counter()
    parts = recorder.fold(hour + timedelta(hours=1), seconds=3600)
    seconds = time.perf_counter() - began
    folded, days = HistoryDay.objects.filter(day=hour.date()), Answers()
    days.expect("cards that have the hour", folded.filter(subject=Subject.CARD).count(), cards)
    told.append({"line": "hour", "seconds": seconds, "parts": parts, "rows": folded.count(), "answers": days.as_json()})
    full = HistoryDay.objects.filter(subject=Subject.CARD, day__lt=hour.date())
    largest = full.annotate(size=Length("data")).order_by("-size").values_list("size", flat=True).first()
    told.append({"line": "day", "day_bytes_most": largest, "answers": Answers(right=full.count()).as_json()})
    return told


def _addresses() -> Iterator[tuple[str, str]]:
    from inventory.models import Card

    card = Card.objects.order_by("id")[7]
    for window in ("1h", "6h", "1d", "30d", "90d"):
        yield f"card, {window}", f"/api/v1/cards/{card.pk}/history?window={window}"
        yield f"cluster, {window}", f"/api/v1/clusters/large/history?window={window}"
    yield "cluster, page of 30 days in numbers", "/history?cluster=large&window=30d"


def look() -> list[dict[str, Any]]:
    """The time of each answer, made anew; each has the points of its chart, or the rows of its table."""
    from django.test import Client

    from bench.visits import viewer

    client, told = Client(), []
    client.force_login(viewer())
    for name, address in _addresses():
        right = Right(HTML, b"<td") if address.startswith("/history") else Right(JSON, b'"memory_used_bytes":[')
        answers = Answers()
        timed(client, address, right, answers)
        seconds = [timed(client, address, right, answers) for _ in range(ROUNDS)]
        told.append({"name": name, "median_ms": statistics.median(seconds) * 1000, "answers": answers.as_json()})
    return told


if __name__ == "__main__":
    main(*sys.argv[1:])
