"""The one way to read runs and campaigns: pages, REST and commands take their rows from here. No call to a cluster."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, CharField, F, Prefetch, Q, QuerySet, Value, When

from runtime.scope import current
from validations import missed
from validations.ids import ById
from validations.models import ACTIVE, SAYS, Campaign, CampaignTarget, LevelChoice, Measurement, Run, RunNode, RunStep
from validations.waiting import tell


class RunsThatSayWhy(ById[Run]):
    """Runs as they are shown: those under way say why they wait, as it is now (`validations.waiting`); at most four queries more."""

    def _fetch_all(self) -> None:
        new = self._result_cache is None
        super()._fetch_all()
        if new:
            tell(row for row in self._result_cache or () if isinstance(row, Run))


def _told() -> RunsThatSayWhy:
    """Those in scope. Not by the manager: its rows do not say why."""
    rows: RunsThatSayWhy = RunsThatSayWhy(Run).visible_to(current())
    return rows


def runs() -> QuerySet[Run]:
    """All runs, without the columns that only a run's own page needs."""
    return _told().select_related("cluster").defer("manifest", "facts", "node_snapshot", "options")


def runs_active() -> QuerySet[Run]:
    return runs().filter(state__in=ACTIVE)


def run_whole(run_id: str) -> Run | None:
    """One run with its steps, measurements and nodes: four queries, and at most four more while it is under way."""
    steps = Prefetch("steps", queryset=RunStep.objects.order_by("entered_at", "id"))
    measured = Prefetch("measurements", queryset=Measurement.objects.order_by("id"))
    return _told().select_related("cluster", "card", "policy").prefetch_related(steps, measured, "nodes").of_id(run_id)


def runs_beside(run: Run) -> QuerySet[Run]:
    """Other runs of its suite that have ended; newest first."""
    return runs().filter(suite=run.suite, ended_at__isnull=False).exclude(pk=run.pk).order_by("-id")


def runs_of_card(card_id: int) -> QuerySet[Run]:
    """Runs that took, or will take, this card for certain; newest first."""
    return runs().filter(card_id=card_id).order_by("-id")


def on_nodes(**named: object) -> Q:
    """Runs on nodes with these names, alone or in a group. named: a condition on `node_name`, such as node_name__in."""
    return Q(**named) | Q(pk__in=RunNode.objects.filter(**named).values("run_id"))


def runs_of_node(cluster_id: int, node_name: str) -> QuerySet[Run]:
    """Also those of groups that the node was in; newest first."""
    return runs().filter(on_nodes(node_name=node_name), cluster_id=cluster_id).order_by("-id")


def series(suite: str, name: str, **where: object) -> QuerySet[Measurement]:
    """One measurement over time, oldest first, for a plot. where: columns of the run (card_id, card_model, node_name …)."""
    conditions = {f"run__{column}": value for column, value in where.items()}
    rows = Measurement.objects.filter(run__suite=suite, name=name, run__verdict__in=("passed", "warning"), **conditions)
    return rows.select_related("run").order_by("run__ended_at", "id")


def campaigns() -> ById[Campaign]:
    return Campaign.objects.get_queryset()


def campaign_targets(campaign_id: str) -> QuerySet[CampaignTarget]:
    """The rows of the campaign's matrix, with run and measurements: three queries for a page."""
    run = Prefetch("run", queryset=Run.objects.defer("manifest", "facts", "node_snapshot", "options"))
    measured = Prefetch("run__measurements", queryset=Measurement.objects.order_by("id"))
    rows = CampaignTarget.objects.filter(campaign_id=campaign_id).select_related("cluster")
    return rows.prefetch_related(run, measured).order_by("position")


def with_results(rows: QuerySet[CampaignTarget]) -> QuerySet[Any]:
    """Targets with what became of their runs as columns of their own, as CSV needs them; None without a run.

    reason: the code of the run's first reason. tested_card: the card that the run took, "" when that is not known.
    outcome: of the place: validated, inconclusive, failed, or the cause for which it was not tested (`validations.missed`:
    "not-applicable" for every refusal, "queued" for what has not started).
    """
    names = ("state", "verdict", "level", "own_image", "exit_code", "started_at", "ended_at")
    columns = {name: F(f"run__{name}") for name in names}
    return rows.annotate(
        **columns, tested_card=F("run__card_key"), reason=F("run__reasons__0__code"), outcome=_outcome()
    )


def _outcome() -> Case:
    said = Q(run__verdict__in=SAYS)
    here = said & (Q(card_key="") | Q(card_key=F("run__card_key")))
    cancelled = Q(run__ending__0="cancelled") & ~said
    table = (
        (Q(run__state__in=ACTIVE), missed.ACTIVE_RUN),
        (here & Q(run__verdict="failed"), "failed"),
        (here & Q(run__verdict="passed", run__level=LevelChoice.CHECKED), "validated"),
        (here, "inconclusive"),
        (said & Q(run__card_key=""), missed.CARD_UNKNOWN),
        (said, missed.ANOTHER_CARD),
        (cancelled, missed.CANCELLED),
        (Q(run__verdict="errored"), missed.ERRORED),
        (Q(run__isnull=False), missed.NOTHING),
        (~Q(not_tested="") & Q(tried__card_key__gt=""), missed.ANOTHER_CARD),
        (~Q(not_tested=""), missed.CARD_UNKNOWN),
        (~Q(skipped=""), missed.NOT_APPLICABLE),
    )
    whens = [When(condition, then=Value(name)) for condition, name in table]
    return Case(*whens, default=Value(missed.QUEUED), output_field=CharField())
