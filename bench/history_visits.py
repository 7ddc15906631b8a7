"""What the benchmark `history` does in a process of gpudash: make cards, ask for lists, prune. One JSON object per line.

`at once` is how it would be without batches: one statement for a day's rows, undone afterwards.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.answers import HTML, REST_LIST, Answers, Right, timed
from bench.history import CARDS_OF_A_NODE, NODES
from bench.visits import viewer

ROUNDS = 7


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.conf import settings

    settings.SHARED_LOOK_S = 0  # each answer is made anew: what many share costs nothing
    {"fill": fill, "look": look, "prune": prune}[sys.argv[1]]()


def fill() -> None:
    """The cards that the allocations were on."""
    from django.utils import timezone

    from inventory.models import Card
    from tests.factories import make_cluster

    cluster, now = make_cluster("prod"), timezone.now()
    known = {"stack": "nvidia", "mode": "whole", "health": "unknown", "state": "free", "digest": 0}
    Card.objects.bulk_create(
        Card(
            cluster=cluster,
            node_name=f"node-{node}",
            key=f"GPU-{node}-{index}",
            first_seen_at=now,
            changed_at=now,
            **known,
        )
        for node in range(NODES)
        for index in range(CARDS_OF_A_NODE)
    )


def addresses() -> Iterator[tuple[str, str]]:
    """(name, address)"""
    from django.urls import reverse

    from inventory.models import Card

    card = Card.objects.order_by("id")[7]
    here = f"node={card.node_name}"
    for where, page in (("page", reverse("allocations")), ("rest", "/api/v1/allocations")):
        yield f"{where}: allocations of now", page
        yield f"{where}: history", f"{page}?ended=true"
        yield f"{where}: history of a node", f"{page}?ended=true&{here}"
        yield f"{where}: history of a namespace", f"{page}?ended=true&namespace=team-7"
        yield f"{where}: history of a card", f"{page}?ended=true&card_id={card.pk}"
        yield f"{where}: history of a card by its key", f"{page}?ended=true&card={card.key}"
        yield f"{where}: history, searched", f"{page}?ended=true&q=train-77"
    yield "page: card", reverse("card", args=[card.pk])


def look() -> None:
    from django.test import Client

    client = Client()
    client.force_login(viewer())
    for name, address in addresses():
        right, answers = REST_LIST if name.startswith("rest") else Right(HTML, b"train-"), Answers()
        timed(client, address, right, answers)
        seconds = [timed(client, address, right, answers) for _ in range(ROUNDS)]
        told = {"name": name, "median_ms": statistics.median(seconds) * 1000, "answers": answers.as_json()}
        print(json.dumps(told), flush=True)


def prune() -> None:
    from django.db import transaction

    from inventory import retention

    def at_once() -> int:
        rows, _ = retention.old_rows()[0]
        with transaction.atomic():
            gone: int = rows.delete()[0]
            transaction.set_rollback(True)
        return gone

    def in_batches() -> int:
        total, more = 0, True
        while more:
            gone, more = retention.prune()
            total += gone
        return total

    longest: list[float] = []
    once = retention._delete

    def timed(rows: Any, batch: int) -> int:
        began = time.perf_counter()
        gone = once(rows, batch)
        longest.append(time.perf_counter() - began)
        return gone

    retention._delete = timed
    _tell("at once", at_once, [])
    _tell("in batches", in_batches, longest, judged=True)
    _tell("vacuum", vacuum, [])


def vacuum() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE inventory_allocation")
    return 0


def _tell(name: str, work: Callable[[], int], longest: list[float], judged: bool = False) -> None:
    began = time.perf_counter()
    rows = work()
    took = time.perf_counter() - began
    told = {"name": name, "deleted": rows, "took_s": took, "longest_s": max(longest, default=took), "judged": judged}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
