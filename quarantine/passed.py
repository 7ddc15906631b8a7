"""Cards that return by a pass: after they were taken out, a run of the suite that failed has passed, on its level or above."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from quarantine import moves
from quarantine.failures import Failure, at_least
from quarantine.models import Case, CaseState, ReturnReason
from quarantine.wake import wake
from validations.models import LastResult, Run, VerdictChoice
from validations.suites.engine.base import LEVELS


def return_passed(failures: Iterable[Failure], at: datetime) -> int:
    """Returns how many begin to return. failures: a card with another confirmed failure stays out."""
    bad = {one.place for one in failures}
    number = 0
    for case in with_pass().select_related("cluster"):
        if (case.cluster_id, case.node_name, case.card_key) in bad:
            continue
        run = _passes(case.level, case).order_by("ended_at").first()
        if run is not None and moves.begin_return(case, ReturnReason.PASSED, at, passed_run=run):
            wake(case.cluster_id)
            number += 1
    return number


def with_pass() -> QuerySet[Case]:
    """Cases that are out and have a pass, while no failure of the suite stands. One query, however many are out."""
    passed = Q()
    for level in LEVELS:
        passed |= Q(Exists(_passes(level)), level=level)
    failed = LastResult.objects.filter(**_here(), said_verdict=VerdictChoice.FAILED)
    return Case.objects.filter(passed, ~Exists(failed), state=CaseState.OUT).exclude(card_key="")


def _passes(level: str, case: Case | None = None) -> QuerySet[Run]:
    """Runs that return a case of this level: of one case, or of the row around it."""
    since = case.marked_at if case else OuterRef("marked_at")
    return Run.objects.filter(
        **_here(case), verdict=VerdictChoice.PASSED, level__in=at_least(level), started_at__gte=since
    )


def _here(case: Case | None = None) -> dict[str, Any]:
    names = ("cluster_id", "node_name", "card_key", "suite")
    return {name: getattr(case, name) if case else OuterRef(name) for name in names}
