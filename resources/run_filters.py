"""Filters and orders of the lists of runs and campaigns, strict as those of the inventory (`resources.filters`)."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Q, QuerySet

from resources.filter_fields import ChoiceFilter, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.filters import ClusterNames
from validations.models import ACTIVE, Campaign, CampaignState, CampaignTarget, LevelChoice, Run, State, VerdictChoice


class RunFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    card = WordsFilter("card_key", label="key of the card: its UUID, else its index")
    suite = WordsFilter("suite", label="suite")
    state = ChoiceFilter(State.values, "state", label="where the run is")
    active = YesNoFilter("state", method="on_active", label="runs that have not ended")
    verdict = ChoiceFilter(VerdictChoice.values, "verdict", label="verdict")
    level = ChoiceFilter(
        LevelChoice.values, "level", label="what a pass proves: right (result checked), ran, seen or none"
    )
    model = WordsFilter("card_model", label="card model")
    driver = WordsFilter("driver_version", label="driver version of the node when the run was made")
    campaign = WordsFilter("campaign_id", label="id of the campaign")
    requested_by = WordsFilter("requested_by_name", label="who asked for the run")
    q = SearchFilter(method="search", label="free search: id, suite, node, card, model, who asked")

    orders: ClassVar[dict[str, str]] = {
        "id": "id",
        "ended_at": "ended_at",
        "suite": "suite",
        "cluster": "cluster_id",
        "node": "node_name",
        "state": "state",
        "verdict": "verdict",
    }
    default_order = ("-id",)

    class Meta(StrictFilterSet.Meta):
        model = Run
        fields: ClassVar[list[str]] = []

    def on_active(self, rows: QuerySet[Run], _: str, value: str) -> QuerySet[Run]:
        if value == "any":
            return rows
        return rows.filter(state__in=ACTIVE) if value == "true" else rows.filter(state=State.ENDED)

    def search(self, rows: QuerySet[Run], _: str, words: list[str]) -> QuerySet[Run]:
        for word in words:
            columns = ("id", "suite", "node_name", "card_key", "card_model", "requested_by_name")
            condition = Q()
            for column in columns:
                condition |= Q(**{f"{column}__icontains": word})
            rows = rows.filter(condition)
        return rows


class CampaignFilter(StrictFilterSet):
    suite = WordsFilter("suite", label="suite")
    state = ChoiceFilter(CampaignState.values, "state", label="where the campaign is")
    requested_by = WordsFilter("requested_by_name", label="who asked for it")

    orders: ClassVar[dict[str, str]] = {"id": "id", "name": "name", "suite": "suite", "state": "state"}
    default_order = ("-id",)

    class Meta(StrictFilterSet.Meta):
        model = Campaign
        fields: ClassVar[list[str]] = []


class TargetFilter(StrictFilterSet):
    """The matrix of a campaign."""

    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    verdict = ChoiceFilter(VerdictChoice.values, "run__verdict", label="verdict of the run")
    level = ChoiceFilter(LevelChoice.values, "run__level", label="what the pass of the run proves")
    skipped = YesNoFilter("skipped", method="on_skipped", label="targets that the suite cannot run on")
    not_reached = YesNoFilter("not_reached", method="on_skipped", label="cards that no run is known to have taken")

    orders: ClassVar[dict[str, str]] = {"position": "position", "node": "node_name"}
    default_order = ("position",)

    class Meta(StrictFilterSet.Meta):
        model = CampaignTarget
        fields: ClassVar[list[str]] = []

    def on_skipped(self, rows: QuerySet[Any], column: str, value: str) -> QuerySet[Any]:
        if value == "any":
            return rows
        return rows.exclude(**{column: ""}) if value == "true" else rows.filter(**{column: ""})
