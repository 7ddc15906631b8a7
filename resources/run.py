"""Runs as lists show them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.moments import Columns
from validations import querysets
from validations.models import ACTIVE, LevelChoice, Run, State, VerdictChoice
from wording.said import stored


class RunReason(Shape):
    """A reason. The first reason of a run decided the verdict."""

    code: str
    text: str
    line: Annotated[int | None, fact("Line of the log, from 1; null: not from the log.")]
    wording: Annotated[dict[str, Any] | None, fact(WORDING, of="text", by=stored)] = None


class RunShape(Shape):
    """One run as lists show it."""

    id: Annotated[str, fact(order=True, title=_("Run"), term="run")]
    suite: Annotated[str, fact(order=True, title=_("Suite"))]
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact("Empty: a group of nodes.", of="node_name", order=True, title=_("Location"))]
    nodes_count: Annotated[
        int, fact("Number of nodes. More than 1: the result is of the group, of no node and no card.")
    ]
    card: Annotated[str | None, fact("Key of the card; null: any card of the node.", of="card_key")]
    card_id: int | None
    card_uuid: Annotated[str | None, fact(title=_("UUID"))]
    card_model: Annotated[str | None, fact(title=_("Model"))]
    card_requested: Annotated[str | None, fact("Key of the requested card.")]
    card_evidence: Annotated[
        str | None,
        fact("target until the run has ended, then the source that identifies the card; count-only: unidentified."),
    ]
    card_note: Annotated[str | None, fact("Reason why the card is not the requested one, or unidentified.")]
    driver_version: Annotated[str | None, fact(title=_("Driver"))]
    state: Annotated[str, fact(order=True, title=_("State"))]
    state_since: datetime
    pending_reason: str | None
    pending_message: str | None
    last_error: str | None
    cancel_requested_at: datetime | None
    verdict: Annotated[str | None, fact(order=True, title=_("Verdict"), term="verdict")]
    level: Annotated[
        str | None, fact("Test level of the pass: checked, ran, detected or none. Only checked validates the card.")
    ]
    level_note: Annotated[str | None, fact("Reason why the level is lower than the suite allows.")]
    own_image: Annotated[bool, fact("Whether it ran the image of the suite. Another image proves nothing.")]
    reasons: Annotated[list[RunReason], fact(title=_("Reason"))]
    judged_by: Annotated[
        str | None, fact("Floors and baselines that its measurements were judged against; null: no measurement.")
    ]
    exit_code: Annotated[int | None, fact(title=_("Exit code"), number=True)]
    requested_by: Annotated[str | None, fact(of="requested_by_name", title=_("Started by"))]
    campaign: Annotated[str | None, fact(of="campaign_id")]
    policy: Annotated[str | None, fact("ID of the policy that started it.", of="policy_id")]
    rerun_of: Annotated[str | None, fact(of="rerun_of_id")]
    created_at: Annotated[datetime, fact(title=_("Created"))]
    started_at: Annotated[datetime | None, fact(title=_("Duration"), number=True)]
    ended_at: Annotated[datetime | None, fact(order=True, title=_("Ended"))]


class RunFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", method="on_node", label="node name, also of a node in a group")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    suite = WordsFilter("suite", label="suite")
    state = ChoiceFilter(State.values, "state", label="state")
    active = YesNoFilter("state", method="on_active", label="active runs")
    verdict = ChoiceFilter(VerdictChoice.values, "verdict", label="verdict")
    level = ChoiceFilter(
        LevelChoice.values, "level", label="test level: checked (result checked), ran, detected or none"
    )
    own_image = YesNoFilter("own_image", method="on_image", label="runs of the image of the suite")
    model = WordsFilter("card_model", label="card model")
    driver = WordsFilter("driver_version", label="driver version of the node at launch")
    campaign = WordsFilter("campaign_id", label="campaign ID")
    policy = WordsFilter("policy_id", label="policy ID")
    requested_by = WordsFilter("requested_by_name", label="user who launched the run")
    q = SearchFilter(method="search", label="free search: ID, suite, node, card, model, user")

    orders: ClassVar[dict[str, str]] = orders_of(RunShape)
    default_order = ("-id",)
    period = Columns("created_at", "ended_at")

    class Meta(StrictFilterSet.Meta):
        model = Run
        fields: ClassVar[list[str]] = []

    def on_active(self, rows: QuerySet[Run], _: str, value: str) -> QuerySet[Run]:
        if value == "any":
            return rows
        return rows.filter(state__in=ACTIVE) if value == "true" else rows.filter(state=State.ENDED)

    def on_node(self, rows: QuerySet[Run], _: str, names: list[str]) -> QuerySet[Run]:
        return rows.filter(querysets.on_nodes(node_name__in=names)) if names else rows

    def on_image(self, rows: QuerySet[Run], _: str, value: str) -> QuerySet[Run]:
        return rows if value == "any" else rows.filter(own_image=value == "true")

    def search(self, rows: QuerySet[Run], _: str, words: list[str]) -> QuerySet[Run]:
        for word in words:
            columns = ("id", "suite", "card_key", "card_model", "requested_by_name")
            condition = querysets.on_nodes(node_name__icontains=word)
            for column in columns:
                condition |= Q(**{f"{column}__icontains": word})
            rows = rows.filter(condition)
        return rows


RUNS = Resource(
    "runs",
    RunShape,
    RunFilter,
    querysets.runs,
    csv=(
        "id",
        "suite",
        "cluster",
        "node",
        "card",
        "card_uuid",
        "card_model",
        "card_requested",
        "card_evidence",
        "card_note",
        "driver_version",
        "state",
        "verdict",
        "level",
        "level_note",
        "own_image",
        "reason",
        "reason_text",
        "judged_by",
        "exit_code",
        "image",
        "image_digest",
        "parser_version",
        ("campaign", "campaign_id"),
        ("policy", "policy_id"),
        ("requested_by", "requested_by_name"),
        "created_at",
        "started_at",
        "ended_at",
    ),
    beside={
        "reason": "reason_code",
        "reason_text": "reason_text",
        "image": "image",
        "image_digest": "image_digest",
        "parser_version": "parser_version",
    },
    table=("id", "verdict", "node", "reasons", "requested_by", "started_at", "ended_at"),
)
