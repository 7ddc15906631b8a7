"""`python -m bench.policies_passes fill NODES | look`: what the benchmark `policies` does in processes of gpudash."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from datetime import datetime, timedelta
from typing import Any

from bench.answers import Answers
from bench.rows import fill as fill_mirror

#: (suite, level of what passed)
SUITES = (("cuda-vectoradd", "checked"), ("cuda-nbody", "ran"), ("nvidia-smi", "detected"))
#: Name, suite and least level of each policy.
POLICIES = (
    ("every card", "cuda-vectoradd", "checked", {}),
    ("after each boot", "cuda-vectoradd", "checked", {"void_on_reboot": True, "max_age_s": 30 * 86_400}),
    ("any work", "cuda-nbody", "ran", {}),
    ("driver answers", "nvidia-smi", "detected", {"max_age_s": 86_400 * 30}),
    ("driver answers lately", "nvidia-smi", "detected", {"max_age_s": 86_400 * 2}),
)
DRIVER, OTHER_DRIVER = "550.90.07", "580.82.07"
#: Of so many cards one failed.
FAILED_EVERY = 97
ROUNDS = 5


def main(what: str, *more: str) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    made: Any = {"fill": fill, "look": look}[what](*more)
    print(json.dumps(made))


def fill(nodes: str) -> int:
    """A mirror, and a run of each suite on each card with its last result."""
    from django.db import connection
    from django.utils import timezone

    from inventory.models import Card, Cluster, Node
    from validations.ids import new_id
    from validations.models import LastResult, Run
    from validations.options_key import options_key
    from validations.policies.manage import PolicyDraft, create
    from validations.suites import registry

    fill_mirror(int(nodes))
    cluster, now = Cluster.objects.get(), timezone.now()
    Node.objects.update(driver_version=DRIVER, boot_id="boot", machine_id="machine")
    suites = registry()
    cards = list(Card.objects.filter(removed_at=None).order_by("node_name", "index").values_list("node_name", "key"))
    for suite, level in SUITES:
        key, runs, results = options_key(suites[suite], {}), [], []
        for number, (node, card) in enumerate(cards):
            at = now - timedelta(seconds=number)
            failed = level == "checked" and number % FAILED_EVERY == 0
            run = Run(
                id=new_id(at),
                cluster=cluster,
                suite=suite,
                node_name=node,
                card_key=card,
                options_key=key,
                driver_version=DRIVER,
                boot_id="boot",
                machine_id="machine",
                state="ended",
                state_since=at,
                started_at=at,
                ended_at=at,
                verdict="failed" if failed else "passed",
                level="" if failed else level,
                image=str(suites[suite].settle({})["image"]),
                parser_version=suites[suite].parser_version,
            )
            runs.append(run)
            good = {"good": run, "good_at": at, "good_driver": DRIVER} if level == "checked" and not failed else {}
            lower = {"lower": run, "lower_at": at, "lower_level": level} if level != "checked" else {}
            results.append(
                LastResult(
                    cluster=cluster,
                    node_name=node,
                    card_key=card,
                    suite=suite,
                    run=run,
                    verdict=run.verdict,
                    ended_at=at,
                    said=run,
                    said_at=at,
                    said_verdict=run.verdict,
                    passed_at=None if failed else at,
                    **good,
                    **lower,
                )
            )
        Run.objects.bulk_create(runs, batch_size=5000)
        LastResult.objects.bulk_create(results, batch_size=5000)
    for name, suite, level, more in POLICIES:
        create(PolicyDraft(name=name, suite=suite, level=level, **more))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return len(cards)


def look() -> list[dict[str, Any]]:
    """The lines. Each expects the numbers that follow from what was filled in."""
    from django.utils import timezone

    from inventory.models import Card, Node, Watch
    from validations.models import PolicyCard
    from validations.policies.evaluate import evaluate

    now = timezone.now()
    Watch.objects.filter(last_event_at__isnull=False).update(last_event_at=now)
    cards = Card.objects.filter(removed_at=None).count()
    failed = len(range(0, cards, FAILED_EVERY))
    lines = []

    def passes(line: str, rounds: int, changed: int | None, valid: int) -> None:
        answers, took, cpu = Answers(), [], []
        for _ in range(rounds):
            began, used = time.perf_counter(), time.process_time()
            written = sum(evaluate(policy, now) for policy in _policies())
            took.append(time.perf_counter() - began)
            cpu.append(time.process_time() - used)
            if changed is not None:
                answers.expect("rows written", written, changed)
            answers.expect("rows", PolicyCard.objects.count(), cards * len(POLICIES))
            answers.expect("valid", PolicyCard.objects.filter(state="valid").count(), valid)
        lines.append(
            {
                "line": line,
                "median_s": statistics.median(took),
                "own_cpu_s": statistics.median(cpu),
                "answers": answers.as_json(),
            }
        )

    valid = cards * len(POLICIES) - 2 * failed
    passes("first", 1, cards * len(POLICIES), valid)
    passes("unchanged", ROUNDS, 0, valid)
    lines.append(_counted(now, cards, failed))
    names = list(Node.objects.order_by("name").values_list("name", flat=True)[: Node.objects.count() // 100])
    Node.objects.filter(name__in=names).update(driver_version=OTHER_DRIVER)
    on_them = PolicyCard.objects.filter(node_name__in=names)
    passes("changed", 1, on_them.count(), valid - on_them.filter(state="valid").count())
    return lines


def _counted(now: datetime, cards: int, failed: int) -> dict[str, Any]:
    """The counts of the hour. Of all policies together a card that failed under one has failed."""
    from django.db.models import Sum

    from validations.models import PolicyCount
    from validations.policies.counts import count

    answers, took = Answers(), []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        count(now)
        took.append(time.perf_counter() - began)
        whole = PolicyCount.objects.filter(policy=None).aggregate(valid=Sum("valid"), failed=Sum("failed"))
        answers.expect("counted", (whole["valid"], whole["failed"]), (cards - failed, failed))
    return {"line": "counts", "median_s": statistics.median(took), "answers": answers.as_json()}


def _policies() -> list[Any]:
    from validations.models import Policy

    return list(Policy.objects.order_by("created_at"))


if __name__ == "__main__":
    main(*sys.argv[1:])
