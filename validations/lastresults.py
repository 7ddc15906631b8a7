"""The last result of each suite on each card, from the runs: written in the transaction that ends or re-reads one of them.

Of the results of a card one decides in which state it is. That is kept, so that 40,000 cards are counted by one query.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from validations.models import LOWER, SAYS, LastResult, LevelChoice, Run, VerdictChoice
from validations.suites.engine.base import LEVELS

#: Runs of one suite on one card in which a failure that nothing has taken back is looked for.
LOOKED_BACK = 500
_OLDEST = datetime.min.replace(tzinfo=UTC)


class Result(NamedTuple):
    """What counts of a row of LastResult."""

    id: int
    said_verdict: str
    said_at: datetime | None
    good_id: str | None
    good_at: datetime | None
    lower_level: str
    lower_at: datetime | None
    decides: bool


def refresh_last(run: Run) -> None:
    """Make the row of the run's target and suite anew from its runs, and which row decides: some short queries and writes."""
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
        _decide(run)
        return
    good, lower = newest(passed.filter(level=LevelChoice.CHECKED)), newest(passed.filter(level__in=LOWER))
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
    _decide(run)


def add_ended(run: Run) -> None:
    """Take up a run that has ended and said nothing of the hardware: only the newest run of its row changes. 1 or 2 queries."""
    rows = LastResult.objects.filter(
        cluster_id=run.cluster_id, node_name=run.node_name, card_key=run.card_key, suite=run.suite
    )
    older = Q(ended_at__lt=run.ended_at) | Q(ended_at=run.ended_at, run_id__lt=run.pk)
    newest_now = {"run": run, "verdict": run.verdict, "ended_at": run.ended_at}
    if not rows.filter(older).update(**newest_now) and not rows.exists():
        refresh_last(run)


def deciding(results: Iterable[Result]) -> int | None:
    """Id of the row that says in which state a card is: the newest failure, else the newest proof, else of the best level below."""
    every = list(results)
    if failed := [one for one in every if one.said_verdict == VerdictChoice.FAILED]:
        return max(failed, key=lambda one: (one.said_at or _OLDEST, one.id)).id
    if good := [one for one in every if one.good_id is not None]:
        return max(good, key=lambda one: (one.good_at or _OLDEST, one.id)).id
    for level in LOWER:
        if lower := [one for one in every if one.lower_level == level]:
            return max(lower, key=lambda one: (one.lower_at or _OLDEST, one.id)).id
    return None


def _decide(run: Run) -> None:
    """Of the results of the run's card. Its rows are locked: two that change them come one after the other."""
    rows = LastResult.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, card_key=run.card_key)
    _mark([Result(*row) for row in rows.select_for_update().order_by("id").values_list(*Result._fields)])


def _mark(results: list[Result]) -> None:
    """Keep which one decides."""
    now = deciding(results)
    before = {one.id for one in results if one.decides}
    if before != ({now} - {None}):
        LastResult.objects.filter(id__in=before - {now}).update(decides=False)
        if now is not None:
            LastResult.objects.filter(id=now).update(decides=True)


def said_of(ended: QuerySet[Run]) -> Run | None:
    """The last word of these runs about the hardware: a failure, until one has passed that proves as much; else the last pass.

    A failure of the long diagnostic is not taken back by a pass of the short one, nor any failure by an image of one's own.
    """
    last_pass, validated = None, -1
    for run in _ordered(ended.filter(verdict__in=SAYS))[:LOOKED_BACK]:
        if run.verdict == VerdictChoice.FAILED:
            if LEVELS.index(run.level_possible or "checked") > validated:
                return run
            continue
        validated = max(validated, LEVELS.index(run.level or "none"))
        if last_pass is None and run.level not in ("", LevelChoice.NONE):
            last_pass = run
        if validated == len(LEVELS) - 1:
            break
    return last_pass


def newest(runs: QuerySet[Run]) -> Run | None:
    return _ordered(runs).first()


def _ordered(runs: QuerySet[Run]) -> QuerySet[Run]:
    columns = ("id", "verdict", "level", "level_possible", "ended_at", "driver_version")
    return runs.only(*columns).order_by("-ended_at", "-id")
