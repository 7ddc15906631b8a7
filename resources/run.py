"""Runs, as lists show them."""

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


class RunReason(Shape):
    """Why. The first reason of a run is the one that decided."""

    code: str
    text: str
    line: Annotated[int | None, fact("Line of the log that proves it, from 1; null: not from the log.")]
    wording: Annotated[dict[str, Any] | None, fact(WORDING)] = None


class RunShape(Shape):
    """One run as lists show it."""

    id: Annotated[str, fact(order=True, title=_("Run"), term="run")]
    suite: Annotated[str, fact(order=True, title=_("Suite"))]
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("On"))]
    card: Annotated[str | None, fact("Key of the card; null: some card of the node.", of="card_key")]
    card_id: int | None
    card_uuid: Annotated[str | None, fact(title=_("UUID"))]
    card_model: Annotated[str | None, fact(title=_("Model"))]
    card_asked: Annotated[str | None, fact("Key of the card that was asked for.")]
    card_evidence: Annotated[
        str | None,
        fact("target until the run has ended, then how it is known which card the pod took; count-only: it is not."),
    ]
    card_note: Annotated[str | None, fact("Why it is another card than the one asked for, or not known.")]
    driver_version: Annotated[str | None, fact(title=_("Driver"))]
    state: Annotated[str, fact(order=True, title=_("State"))]
    state_since: datetime
    waiting_reason: str | None
    waiting_message: str | None
    last_error: str | None
    cancel_requested_at: datetime | None
    verdict: Annotated[str | None, fact(order=True, title=_("Verdict"), term="verdict")]
    level: Annotated[
        str | None, fact("What the pass proves: right, ran, seen or none; only right proves the card good.")
    ]
    level_note: Annotated[str | None, fact("Why that is less than the suite can prove.")]
    own_image: Annotated[
        bool, fact("Whether it ran the image that the suite brings; what another prints proves nothing.")
    ]
    reasons: Annotated[list[RunReason], fact(title=_("Why"))]
    exit_code: Annotated[int | None, fact(title=_("Exit code"), number=True)]
    requested_by: Annotated[str | None, fact(of="requested_by_name", title=_("Started by"))]
    campaign: Annotated[str | None, fact(of="campaign_id")]
    repeats: Annotated[str | None, fact(of="repeats_id")]
    created_at: Annotated[datetime, fact(title=_("Asked for"))]
    started_at: Annotated[datetime | None, fact(title=_("Took"), number=True)]
    ended_at: Annotated[datetime | None, fact(order=True, title=_("Ended"))]


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
    own_image = YesNoFilter("own_image", method="on_image", label="runs of the image that the suite brings")
    model = WordsFilter("card_model", label="card model")
    driver = WordsFilter("driver_version", label="driver version of the node when the run was made")
    campaign = WordsFilter("campaign_id", label="id of the campaign")
    requested_by = WordsFilter("requested_by_name", label="who asked for the run")
    q = SearchFilter(method="search", label="free search: id, suite, node, card, model, who asked")

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

    def on_image(self, rows: QuerySet[Run], _: str, value: str) -> QuerySet[Run]:
        return rows if value == "any" else rows.filter(own_image=value == "true")

    def search(self, rows: QuerySet[Run], _: str, words: list[str]) -> QuerySet[Run]:
        for word in words:
            columns = ("id", "suite", "node_name", "card_key", "card_model", "requested_by_name")
            condition = Q()
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
        "card_asked",
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
        "exit_code",
        "image",
        "image_digest",
        "parser_version",
        ("campaign", "campaign_id"),
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
