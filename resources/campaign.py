"""Campaigns, and the rows of a campaign's matrix."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from validations import querysets
from validations.models import Campaign, CampaignState, CampaignTarget, LevelChoice, VerdictChoice


class CampaignShape(Shape):
    """One campaign."""

    id: Annotated[str, fact(order=True, title=_("Campaign"), term="campaign")]
    name: Annotated[str | None, fact(order=True, title=_("Name"))]
    suite: Annotated[str, fact(order=True, title=_("Suite"), term="suite")]
    options: dict[str, Any]
    selector: dict[str, Any]
    max_parallel: Annotated[int, fact("Runs at once.", title=_("At once"), number=True)]
    stop_after_failures: Annotated[
        int | None,
        fact(
            "Runs that did not pass after which it stops; null: it goes on.",
            title=_("Stop after failures"),
            number=True,
        ),
    ]
    state: Annotated[str, fact(order=True, title=_("State"))]
    state_reason: Annotated[str | None, fact(title=_("Why"))]
    requested_by: Annotated[str | None, fact(of="requested_by_name", title=_("Started by"))]
    created_at: Annotated[datetime, fact(title=_("Begun"))]
    ended_at: Annotated[datetime | None, fact(title=_("Ended"))]


class CampaignRow(Shape):
    """One row of the campaign's matrix."""

    position: Annotated[int, fact("Place in the matrix, from 0.", order=True)]
    cluster: Annotated[str, fact(title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Place"))]
    card: Annotated[str | None, fact(of="card_key")]
    run: Annotated[str | None, fact(of="run_id", title=_("Run"))]
    state: str | None
    verdict: Annotated[str | None, fact(title=_("Verdict"))]
    level: Annotated[str | None, fact(title=_("Level of proof"))]
    own_image: Annotated[bool | None, fact("Whether it ran the image that the suite brings; null: no run.")]
    card_taken: Annotated[
        str | None, fact("Key of the card that the run took; null: not known.", title=_("Card taken"))
    ]
    skipped: Annotated[str | None, fact("Why the suite cannot run there.")]
    not_reached: Annotated[str | None, fact("Why no run took this card.")]
    tried: Annotated[str | None, fact("The last run that was to take it and did not.", of="tried_id")]
    outcome: Annotated[
        str,
        fact(
            "What was learnt of the card: proven, lower, failed; else why it was not reached: errored, cancelled, skipped, "
            "another-card, card-unknown, does-not-fit, under-way or waiting."
        ),
    ]
    measurements: Annotated[dict[str, float], fact(of="measured")]


class CampaignFilter(StrictFilterSet):
    suite = WordsFilter("suite", label="suite")
    state = ChoiceFilter(CampaignState.values, "state", label="where the campaign is")
    requested_by = WordsFilter("requested_by_name", label="who asked for it")

    orders: ClassVar[dict[str, str]] = orders_of(CampaignShape)
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

    orders: ClassVar[dict[str, str]] = orders_of(CampaignRow)
    default_order = ("position",)

    class Meta(StrictFilterSet.Meta):
        model = CampaignTarget
        fields: ClassVar[list[str]] = []

    def on_skipped(self, rows: QuerySet[Any], column: str, value: str) -> QuerySet[Any]:
        if value == "any":
            return rows
        return rows.exclude(**{column: ""}) if value == "true" else rows.filter(**{column: ""})


CAMPAIGNS = Resource(
    "campaigns",
    CampaignShape,
    CampaignFilter,
    querysets.campaigns,
    csv=(
        "id",
        "name",
        "suite",
        "state",
        "state_reason",
        "max_parallel",
        "stop_after_failures",
        ("requested_by", "requested_by_name"),
        "created_at",
        "ended_at",
    ),
    table=("id", "state", "suite", "max_parallel", "requested_by", "created_at"),
)
#: The rows of one campaign are chosen by who lists them: `querysets.campaign_results`.
MATRIX = Resource(
    "campaign-matrix",
    CampaignRow,
    TargetFilter,
    CampaignTarget.objects.none,
    csv=(
        "position",
        "cluster",
        "node",
        "card",
        ("run", "run_id"),
        "card_taken",
        "state",
        "verdict",
        "level",
        "own_image",
        "outcome",
        "reason",
        "exit_code",
        "started_at",
        "ended_at",
        "skipped",
        "not_reached",
        ("tried", "tried_id"),
    ),
    beside={"reason": "reason", "exit_code": "exit_code", "started_at": "started_at", "ended_at": "ended_at"},
    as_csv={"why": ("reason", "skipped", "not_reached"), "took": ("started_at", "ended_at")},
)
