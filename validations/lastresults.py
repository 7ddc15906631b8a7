"""The last result of each suite on each card, made anew from the runs: in the transaction that ends or re-reads one of them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from validations.models import LOWER, SAYS, LastResult, LevelChoice, Run, VerdictChoice
from validations.suites.engine.base import LEVELS

#: Runs of one suite on one card in which a failure that nothing has taken back is looked for.
LOOKED_BACK = 500


def refresh_last(run: Run) -> None:
    """Make the row of the run's target and suite anew from its runs: five short queries and a write."""
    where: dict[str, Any] = {
        "cluster_id": run.cluster_id,
        "node_name": run.node_name,
        "card_key": run.card_key,
        "suite": run.suite,
    }
    ended = Run.objects.filter(**where, ended_at__isnull=False)
    passed = ended.filter(verdict="passed")
    last = newest(ended)
    if last is None:
        LastResult.objects.filter(**where).delete()
        return
    good, lower = newest(passed.filter(level=LevelChoice.RIGHT)), newest(passed.filter(level__in=LOWER))
    said, any_pass = said_of(ended), newest(passed)
    LastResult.objects.update_or_create(
        **where,
        defaults={
            "run": last,
            "verdict": last.verdict,
            "ended_at": last.ended_at,
            "said": said,
            "said_verdict": said.verdict if said else "",
            "said_at": said.ended_at if said else None,
            "good": good,
            "good_at": good.ended_at if good else None,
            "good_driver": good.driver_version if good else "",
            "lower": lower,
            "lower_at": lower.ended_at if lower else None,
            "lower_level": lower.level if lower else "",
            "passed_at": any_pass.ended_at if any_pass else None,
        },
    )


def said_of(ended: QuerySet[Run]) -> Run | None:
    """The last word of these runs about the hardware: a failure, until one has passed that proves as much; else the last pass.

    A failure of the long diagnostic is not taken back by a pass of the short one, nor any failure by an image of one's own.
    """
    last_pass, proven = None, -1
    for run in _ordered(ended.filter(verdict__in=SAYS))[:LOOKED_BACK]:
        if run.verdict == VerdictChoice.FAILED:
            if LEVELS.index(run.level_possible or "right") > proven:
                return run
            continue
        proven = max(proven, LEVELS.index(run.level or "none"))
        if last_pass is None and run.level not in ("", LevelChoice.NONE):
            last_pass = run
        if proven == len(LEVELS) - 1:
            break
    return last_pass


def newest(runs: QuerySet[Run]) -> Run | None:
    return _ordered(runs).first()


def _ordered(runs: QuerySet[Run]) -> QuerySet[Run]:
    columns = ("id", "verdict", "level", "level_possible", "ended_at", "driver_version")
    return runs.only(*columns).order_by("-ended_at", "-id")
