"""Fills the tables of a bed with a result of three suites on each card, as "prove all" leaves them: two rows of three prove nothing.

Runs in a process of its own. Every result is of one run: pages count results, and read runs for those alone that they show.
"""

from __future__ import annotations

import os
from datetime import timedelta

#: (suite, level of what passed)
SUITES = (("cuda-vectoradd", "checked"), ("cuda-nbody", "ran"), ("nvidia-smi", "detected"))
DRIVER, OTHER_DRIVER = "550.90.07", "535.1"
#: Of so many cards one failed, and of so many one was proven on another driver.
FAILED_EVERY, CHANGED_EVERY = 97, 31
AT_ONCE = 5000


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.utils import timezone

    from inventory import tasks
    from inventory.models import Card, Cluster, Node, Watch
    from validations.lastresults import decide_anew
    from validations.models import LastResult, Run

    cluster, now = Cluster.objects.get(), timezone.now()
    run = Run.objects.create(
        cluster=cluster,
        suite=SUITES[0][0],
        node_name="",
        state="ended",
        state_since=now,
        ended_at=now,
        verdict="passed",
    )
    rows = []
    cards = Card.objects.filter(removed_at=None).order_by("node_name", "index", "id")
    for number, (node, key) in enumerate(cards.values_list("node_name", "key")):
        at = now - timedelta(minutes=number)
        for suite, level in SUITES:
            good = level == "checked"
            driver = OTHER_DRIVER if number % CHANGED_EVERY == 0 else DRIVER
            rows.append(
                LastResult(
                    cluster=cluster,
                    node_name=node,
                    card_key=key,
                    suite=suite,
                    run=run,
                    verdict="passed",
                    ended_at=at,
                    said=run,
                    said_at=at,
                    said_verdict="failed" if good and number % FAILED_EVERY == 0 else "passed",
                    good=run if good else None,
                    good_at=at if good else None,
                    good_driver=driver if good else "",
                    lower=None if good else run,
                    lower_at=None if good else at,
                    lower_level="" if good else level,
                )
            )
    LastResult.objects.bulk_create(rows, batch_size=AT_ONCE)
    Node.objects.filter(has_gpu=True).update(driver_version=DRIVER)
    decide_anew()
    # As the schedule does each minute while the cluster is watched: without it pages of namespaces and of the past are empty.
    Watch.objects.filter(last_event_at__isnull=False).update(last_event_at=now)
    tasks.record_history()
    tasks.sum_namespaces()


if __name__ == "__main__":
    main()
