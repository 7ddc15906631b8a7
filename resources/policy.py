"""Policies, what their cards are, and how many were what, hour by hour."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from inventory.models import Card, Node, NodeTotals
from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from resources.moments import MomentFilter
from validations.models import Policy, PolicyCard, PolicyCount, PolicyState
from validations.policies import reading
from wording.said import stored


def _name_of(cluster: Any) -> str | None:
    return cluster.name if cluster is not None else None


class PolicyShape(Shape):
    """One policy, with the counts of its cards within your scope at the last count."""

    id: Annotated[str, fact("ID of the policy.")]
    name: Annotated[str, fact(order=True, title=_("Policy"), term="policy")]
    suite: Annotated[str, fact(order=True, title=_("Suite"))]
    options: dict[str, Any]
    level: Annotated[str, fact("Least test level of a pass: checked, ran or detected.", title=_("Test level"))]
    cluster: Annotated[str | None, fact("null: all clusters.", by=_name_of, title=_("Cluster"))]
    pool: Annotated[str | None, fact("null: all pools.", title=_("Pool"))]
    model: Annotated[str | None, fact("Card model; null: all models.", title=_("Model"))]
    stack: Annotated[str | None, fact("null: all stacks.", title=_("Stack"))]
    node_labels: Annotated[dict[str, Any], fact("Labels that a node must have, with these values.")]
    max_age_s: Annotated[
        int, fact("Age in seconds after which a pass expires.", order=True, title=_("Valid for"), number=False)
    ]
    void_on_driver: Annotated[bool, fact("Whether another driver voids a pass.")]
    void_on_reboot: Annotated[bool, fact("Whether a reboot of the node voids a pass.")]
    void_on_machine: Annotated[bool, fact("Whether a replaced machine voids a pass.")]
    void_on_image: Annotated[bool, fact("Whether another image or parser of the suite voids a pass.")]
    counts_imported: Annotated[
        bool,
        fact("Whether a pass that another tool reported counts, and a failure that it reported makes a card due."),
    ]
    window_cron: Annotated[
        str | None, fact("Start of each window, as a cron expression; null: any time.", title=_("Runs"))
    ]
    window_minutes: Annotated[int | None, fact("Length of a window in minutes.")]
    time_zone: Annotated[str, fact("Time zone of the windows.")]
    max_per_cluster: Annotated[int, fact("Maximum runs at once in a cluster.")]
    max_per_pool: Annotated[int | None, fact("Maximum runs at once in a pool; null: no limit.")]
    card_minutes_per_day: Annotated[int | None, fact("Minutes of runs per card in 24 h; null: no limit.")]
    keep_free_nodes: Annotated[int, fact("Unallocated nodes that each pool keeps.")]
    keep_free_cards: Annotated[int, fact("Unallocated cards that each pool keeps.")]
    takes_out: Annotated[
        bool,
        fact(
            "Whether it takes cards whose failure it confirms out of service without asking; administrators only.",
            title=_("Takes out"),
        ),
    ]
    paused: Annotated[bool, fact("Whether the policy is paused.", title=_("Paused"))]
    requested_by: Annotated[
        str | None, fact("User whose permissions its runs need.", of="requested_by_name", title=_("Created by"))
    ]
    created_at: Annotated[datetime, fact(title=_("Created"))]
    changed_at: datetime
    evaluated_at: Annotated[datetime | None, fact("Last check of its cards; null: not checked yet.")]
    launched_at: Annotated[datetime | None, fact("Last start of a run.", title=_("Last start"))]
    window_open: Annotated[bool, fact("Whether runs can start now.", of="is_open")]
    next_window_at: Annotated[datetime | None, fact("Start of the next window; null: open now.", of="opens_at")]
    blocked_by: Annotated[
        str | None,
        fact(
            "Why no more runs start although cards are due; null: no reason, or not in your scope.",
            of="said_held",
            title=_("Now"),
        ),
    ]
    blocked_by_wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_held", by=stored)]
    cards: Annotated[int, fact("Cards that it covers.", of="states.cards", title=_("Cards"))]
    valid: Annotated[int, fact("Cards that are valid.", of="states.valid", title=_("Valid"), number=True)]
    due: Annotated[int, fact("Cards that are due.", of="states.due", title=_("Due"), number=True, term="due")]
    running: Annotated[int, fact("Cards that are running.", of="states.running", title=_("Running"), number=True)]
    failed: Annotated[int, fact("Cards that are failed.", of="states.failed", title=_("Failed"), number=True)]
    excluded: Annotated[int, fact("Cards that are excluded.", of="states.excluded", title=_("Excluded"), number=True)]
    excluded_by_reason: Annotated[
        dict[str, int], fact("Reason code and number of excluded cards.", of="states.reasons")
    ]


class CoveringClusters(ClusterNames):
    """Policies that cover one of these clusters: those of all clusters do."""

    def filter(self, qs: Any, value: Any) -> Any:
        return qs if value is None else qs.filter(Q(cluster=None) | Q(cluster_id__in=value))


class Covering(WordsFilter):
    """Policies that cover one of these: those that name none do."""

    def filter(self, qs: Any, value: Any) -> Any:
        name = self.field_name
        return qs.filter(Q(**{name: ""}) | Q(**{f"{name}__in": value})) if value else qs


class PolicyFilter(StrictFilterSet):
    cluster = CoveringClusters(label="name of a cluster that it covers")
    pool = Covering("pool", label="pool that it covers")
    model = Covering("model", label="card model that it covers")
    suite = WordsFilter("suite", label="suite")
    name = WordsFilter("name", label="name")
    paused = YesNoFilter("paused", method="on_paused", label="paused policies")
    q = SearchFilter(method=contains("name", "suite", "pool", "model"), label="free search: name, suite, pool, model")

    orders: ClassVar[dict[str, str]] = orders_of(PolicyShape)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = Policy
        fields: ClassVar[list[str]] = []

    def on_paused(self, rows: Any, column: str, value: str) -> Any:
        return rows if value == "any" else rows.filter(**{column: value == "true"})


POLICIES = Resource(
    "policies",
    PolicyShape,
    PolicyFilter,
    reading.policies,
    csv=(
        *("id", "name", "suite", "level", "cluster", "pool", "model", "stack", "max_age_s", "window_cron"),
        *(
            "window_minutes",
            "time_zone",
            "takes_out",
            "paused",
            "requested_by",
            "created_at",
            "evaluated_at",
            "launched_at",
        ),
        *("blocked_by", "cards", "valid", "due", "running", "failed", "excluded"),
    ),
    table=("name", "suite", "max_age_s", "window_cron", "cards", "valid", "due", "failed", "blocked_by"),
    join=reading.with_now,
)


class PolicyCardShape(Shape):
    """One card under one policy."""

    policy: Annotated[str, fact("ID of the policy.", of="policy_id", title=_("Policy"))]
    cluster: Annotated[str, fact(title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Card"))]
    card: Annotated[str, fact("Key of the card.", of="card_key")]
    state: Annotated[str, fact("valid, due, running, failed or excluded.", order=True, title=_("State"))]
    reason: Annotated[str | None, fact("Reason code of the state.", order=True, title=_("Reason"))]
    hindrance: Annotated[str | None, fact("Reason code: why the card cannot be tested now.", title=_("Not testable"))]
    since: Annotated[datetime, fact("Start of this state and reason.", order=True, title=_("Since"))]
    valid_until: Annotated[datetime | None, fact("When the pass expires.", order=True, title=_("Valid until"))]
    not_before: Annotated[datetime | None, fact("No run starts earlier.", title=_("Not before"))]
    run: Annotated[str | None, fact("Run that the state is from, or the active run.", of="run_id", title=_("Run"))]
    failures: Annotated[int, fact("Failed runs since the last pass.", title=_("Failures"), number=True)]
    tries: Annotated[int, fact("Runs without a result since the last result.", title=_("Attempts"), number=True)]


class PolicyCardFilter(StrictFilterSet):
    policy = WordsFilter("policy_id", label="policy ID")
    state = ChoiceFilter(PolicyState.values, "state", label="state")
    reason = WordsFilter("reason", label="reason code of the state")
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    pool = WordsFilter("pool", label="pool of the node", method="on_node_totals")
    model = WordsFilter("model", label="card model", method="on_cards")
    driver = WordsFilter("driver_version", label="driver version of the node", method="on_nodes")

    orders: ClassVar[dict[str, str]] = orders_of(PolicyCardShape)
    default_order = ("state",)

    class Meta(StrictFilterSet.Meta):
        model = PolicyCard
        fields: ClassVar[list[str]] = []

    def on_node_totals(self, rows: Any, column: str, value: list[str]) -> Any:
        return rows.filter(Exists(_beside(NodeTotals, "node_name").filter(**{f"{column}__in": value})))

    def on_nodes(self, rows: Any, column: str, value: list[str]) -> Any:
        return rows.filter(Exists(_beside(Node, "name").filter(**{f"{column}__in": value})))

    def on_cards(self, rows: Any, column: str, value: list[str]) -> Any:
        own = _beside(Card, "node_name").filter(key=OuterRef("card_key"), removed_at=None)
        return rows.filter(Exists(own.filter(**{f"{column}__in": value})))


def _beside(model: Any, name: str) -> Any:
    """Rows of the same node as one of a card's states. name: its column."""
    return model.objects.filter(**{"cluster_id": OuterRef("cluster_id"), name: OuterRef("node_name")})


POLICY_CARDS = Resource(
    "policy-cards",
    PolicyCardShape,
    PolicyCardFilter,
    reading.cards,
    csv=(
        *("policy", "cluster", "node", "card", "state", "reason", "hindrance", "since", "valid_until"),
        *("not_before", "run", "failures", "tries"),
    ),
    table=("node", "policy", "state", "reason", "since", "valid_until", "not_before", "run"),
)


class PolicyCountShape(Shape):
    """Cards by state at the end of an hour, of one cluster, pool, model and driver."""

    at: Annotated[datetime, fact("Start of the hour.", order=True)]
    policy: Annotated[str | None, fact("null: all policies; each card once, by its worst state.", of="policy_id")]
    cluster: str
    pool: str | None
    model: str | None
    driver: Annotated[str | None, fact("Driver version of the nodes; null: unknown.")]
    valid: Annotated[int, fact("Cards that are valid.")]
    due: Annotated[int, fact("Cards that are due.")]
    running: Annotated[int, fact("Cards that are running.")]
    failed: Annotated[int, fact("Cards that are failed.")]
    excluded: Annotated[int, fact("Cards that are excluded.")]
    excluded_by_reason: Annotated[dict[str, int], fact("Reason code and number of excluded cards.", of="reasons")]


class SinceFilter(MomentFilter):
    """Counts from this time on."""

    def filter(self, qs: Any, value: Any) -> Any:
        return qs.filter(at__gte=value) if value else qs


class PolicyCountFilter(StrictFilterSet):
    policy = WordsFilter("policy_id", label="policy ID; without it: all policies together")
    cluster = ClusterNames(label="cluster name")
    pool = WordsFilter("pool", label="pool")
    model = WordsFilter("model", label="card model")
    driver = WordsFilter("driver", label="driver version")
    since = SinceFilter(label="counts from this time on: a time, or an age such as 14d")

    orders: ClassVar[dict[str, str]] = orders_of(PolicyCountShape)
    default_order = ("-at",)

    class Meta(StrictFilterSet.Meta):
        model = PolicyCount
        fields: ClassVar[list[str]] = []

    def filter_queryset(self, queryset: Any) -> Any:
        rows = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("policy") else rows.filter(policy=None)


POLICY_COUNTS = Resource(
    "policy-counts",
    PolicyCountShape,
    PolicyCountFilter,
    PolicyCount.objects.all,
    csv=(
        *("at", "policy", "cluster", "pool", "model", "driver"),
        *("valid", "due", "running", "failed", "excluded"),
    ),
)


class PolicyReason(Shape):
    """Number of cards with a state for a reason."""

    state: str
    reason: Annotated[str, fact("Reason code.")]
    cards: int


class PolicyPlanned(Shape):
    """One window of the next 24 h."""

    start: datetime
    end: datetime
    cards: Annotated[int, fact("Cards that are due in it.")]
    seconds: Annotated[float | None, fact("Estimated duration of their runs; null: no run of the suite has passed.")]
    fits: Annotated[bool, fact("Whether the runs end before the window does.")]


class PolicyPreview(Shape):
    """What a policy would do."""

    cards: Annotated[int, fact("Cards that it covers.")]
    states: Annotated[dict[str, int], fact("State and number of cards.")]
    reasons: Annotated[list[PolicyReason], fact("Most cards first.")]
    due: Annotated[int, fact("Cards to be tested, including failures to be confirmed.")]
    now: Annotated[int, fact("Of these, cards whose runs can start now.")]
    windows: list[PolicyPlanned]


class PolicySwitched(Shape):
    """The switch of all policies."""

    paused: bool
