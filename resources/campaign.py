"""Campaigns, and the rows of a campaign's matrix."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.run_detail import RunWarning
from validations import querysets
from validations.models import Campaign, CampaignState, CampaignTarget, LevelChoice, VerdictChoice


class CampaignShape(Shape):
    """One campaign."""

    id: Annotated[str, fact(order=True, title=_("Campaign"), term="campaign")]
    name: Annotated[str | None, fact(order=True, title=_("Name"))]
    suite: Annotated[str, fact(order=True, title=_("Suite"), term="suite")]
    options: dict[str, Any]
    selector: dict[str, Any]
    max_parallel: Annotated[int, fact("Maximum runs in parallel.", title=_("Parallel"), number=True)]
    stop_after_failures: Annotated[
        int | None,
        fact(
            "Number of failed or errored runs after which it stops; null: no limit.",
            title=_("Stop after failures"),
            number=True,
        ),
    ]
    state: Annotated[str, fact(order=True, title=_("State"))]
    state_reason: Annotated[str | None, fact(title=_("Reason"))]
    requested_by: Annotated[str | None, fact(of="requested_by_name", title=_("Started by"))]
    created_at: Annotated[datetime, fact(title=_("Started"))]
    ended_at: Annotated[datetime | None, fact(title=_("Ended"))]


class CampaignRow(Shape):
    """One row of the campaign's matrix."""

    position: Annotated[int, fact("Position in the matrix, from 0.", order=True)]
    cluster: Annotated[str, fact(title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Target"))]
    card: Annotated[str | None, fact(of="card_key")]
    run: Annotated[str | None, fact(of="run_id", title=_("Run"))]
    state: str | None
    verdict: Annotated[str | None, fact(title=_("Verdict"))]
    level: Annotated[str | None, fact(title=_("Test level"))]
    own_image: Annotated[bool | None, fact("Whether it ran the image of the suite; null: no run.")]
    tested_card: Annotated[str | None, fact("Key of the tested card; null: unidentified.", title=_("Tested card"))]
    skipped: Annotated[str | None, fact("Reason why the suite is not applicable to the target.")]
    not_tested: Annotated[str | None, fact("Reason why the card was not tested.")]
    tried: Annotated[str | None, fact("Last run for this target that did not test its card.", of="tried_id")]
    outcome: Annotated[
        str,
        fact(
            "Result of the card: validated, inconclusive, failed; or why it was not tested: errored, cancelled, "
            "skipped, another-card, card-unknown, not-applicable, active or queued."
        ),
    ]
    measurements: Annotated[dict[str, float], fact(of="measured")]


class CampaignFilter(StrictFilterSet):
    suite = WordsFilter("suite", label="suite")
    state = ChoiceFilter(CampaignState.values, "state", label="state")
    requested_by = WordsFilter("requested_by_name", label="user who started it")

    orders: ClassVar[dict[str, str]] = orders_of(CampaignShape)
    default_order = ("-id",)

    class Meta(StrictFilterSet.Meta):
        model = Campaign
        fields: ClassVar[list[str]] = []


class TargetFilter(StrictFilterSet):
    """The matrix of a campaign."""

    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    verdict = ChoiceFilter(VerdictChoice.values, "run__verdict", label="verdict")
    level = ChoiceFilter(LevelChoice.values, "run__level", label="test level of the pass")
    skipped = YesNoFilter("skipped", method="on_skipped", label="targets that are not applicable")
    not_tested = YesNoFilter("not_tested", method="on_skipped", label="cards that were not tested")

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
        "tested_card",
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
        "not_tested",
        ("tried", "tried_id"),
    ),
    beside={"reason": "reason", "exit_code": "exit_code", "started_at": "started_at", "ended_at": "ended_at"},
    as_csv={"why": ("reason", "skipped", "not_tested"), "took": ("started_at", "ended_at")},
)


class CampaignProgress(Shape):
    """Targets by progress. For results by card see the coverage."""

    left: int
    active: int
    skipped: int
    not_tested: Annotated[int, fact("Requested cards without a result.")]
    passed: int
    warning: int
    failed: int
    errored: int


class CampaignCoverage(Shape):
    """Cards of the campaign, each counted once. A tested card is validated, inconclusive or failed."""

    targets: Annotated[int, fact("Cards named by the targets.")]
    tested: Annotated[int, fact("Cards with a result.")]
    validated: Annotated[int, fact("Passed with the result checked, without a failure.")]
    inconclusive: Annotated[int, fact("Passed on a lower test level, or with a warning.")]
    failed: int
    not_tested: Annotated[int, fact("Requested cards without a result; see the matrix for reasons.")]
    queued: Annotated[int, fact("Of these, cards without a run yet.")]
    runs: int
    unidentified: Annotated[int, fact("Runs with a result on an unidentified card.")]
    other_image: Annotated[
        int,
        fact("Of `inconclusive`, cards with runs of another image only."),
    ]
    errored: Annotated[int, fact("Of the cards not tested, cards with an errored run.")]
    why: Annotated[
        dict[str, int],
        fact(
            "Cards not tested, by cause: errored, cancelled, skipped, another-card, card-unknown, "
            "not-applicable, not-started, active, queued, or a reason code (not-ready, taint …)."
        ),
    ]


class CampaignDetail(CampaignShape):
    """One campaign with its counts."""

    progress: CampaignProgress
    coverage: CampaignCoverage
    warnings: Annotated[
        list[RunWarning],
        fact("Target nodes without a run yet and with GPU software that is not ready, each with its component."),
    ]
