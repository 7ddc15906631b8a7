"""Cases of cards and nodes that are, were or should be out of service, and the switch of what is done without asking."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from inventory.models import NodeTotals
from quarantine import reading
from quarantine.models import OPEN, Case, CaseState, How, What
from resources.declared import WORDING, Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains
from wording.said import stored


class CaseShape(Shape):
    """One case: a card or node that failed, and what was done about it."""

    id: Annotated[str, fact("ID of the case.", order=True, title=_("Case"))]
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Location"))]
    card: Annotated[str | None, fact("Key of the card that failed; null: the whole node.", of="card_key")]
    card_uuid: Annotated[str | None, fact(title=_("UUID"))]
    state: Annotated[
        str,
        fact(
            "recommended, accepted (to be taken out), out, returning, returned, declined or withdrawn.",
            order=True,
            title=_("State"),
        ),
    ]
    state_since: Annotated[datetime, fact("Start of this state.", order=True, title=_("Since"))]
    what: Annotated[str, fact("node or card: what is taken out.", title=_("Out"))]
    how: Annotated[str, fact("Mark: taint, cordon (taint and cordon), device-taint or nvsentinel.", title=_("Mark"))]
    suite: Annotated[str, fact("Suite of the failed run.", order=True, title=_("Suite"))]
    level: Annotated[str, fact("Least test level of the pass that returns it.", title=_("Test level"))]
    run: Annotated[str | None, fact("Failed run; null: deleted.", of="run_id", title=_("Run"))]
    policy: Annotated[str | None, fact("ID of the policy that recommended it.", of="policy_id", title=_("Policy"))]
    reason: Annotated[str, fact(of="said_reason", title=_("Reason"))]
    reason_wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_reason", by=stored)]
    automatic: Annotated[bool, fact("Whether the policy accepted it, no person.", title=_("Automatic"))]
    created_at: Annotated[datetime, fact("Time of the recommendation.", order=True, title=_("Recommended"))]
    accepted_at: Annotated[datetime | None, fact(title=_("Accepted"))]
    accepted_by: Annotated[str | None, fact(of="accepted_by_name", title=_("Accepted by"))]
    accepted_note: str | None
    declined_at: Annotated[datetime | None, fact(title=_("Declined"))]
    declined_by: Annotated[str | None, fact(of="declined_by_name", title=_("Declined by"))]
    declined_note: str | None
    marked_at: Annotated[datetime | None, fact("When the mark was set.", title=_("Marked"))]
    return_reason: Annotated[
        str | None, fact("passed, person, removed-by-hand, node-removed or node-replaced.", title=_("Return reason"))
    ]
    return_requested_at: datetime | None
    returned_at: Annotated[datetime | None, fact("When the mark was removed.", title=_("Returned"))]
    returned_by: Annotated[str | None, fact(of="returned_by_name", title=_("Returned by"))]
    returned_note: str | None
    passed_run: Annotated[str | None, fact("Run that returned it.", of="passed_run_id", title=_("Pass"))]
    was: Annotated[dict[str, Any], fact("unschedulable and taints of the node before the mark; empty: not marked yet.")]
    device: Annotated[dict[str, Any], fact("driver, pool and device of a card that is out by a device taint.")]
    dry_run: Annotated[str | None, fact("Answer of the API server: what evicting pods from the card would do.")]
    blocked_by: Annotated[str | None, fact("Why nothing is done now.", of="said_waits", title=_("Blocked by"))]
    blocked_by_wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_waits", by=stored)]
    error: Annotated[str | None, fact("Error of the last attempt.", of="said_error", title=_("Error"))]
    error_wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_error", by=stored)]
    looked_at: Annotated[datetime | None, fact("Last comparison of the mark with the cluster.")]


class CaseFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("card_key", label="card key: UUID, else index")
    pool = WordsFilter("pool", method="on_pool", label="pool of the node")
    state = ChoiceFilter(CaseState.values, "state", label="state")
    open = YesNoFilter("state", method="on_open", label="open cases: recommended, accepted, out or returning")
    what = ChoiceFilter(What.values, "what", label="what is taken out")
    how = ChoiceFilter(How.values, "how", label="mark")
    suite = WordsFilter("suite", label="suite")
    policy = WordsFilter("policy_id", label="policy ID")
    run = WordsFilter("run_id", label="ID of the failed run")
    q = SearchFilter(
        method=contains("node_name", "card_key", "reason", "suite"), label="free search: node, card, reason"
    )

    orders: ClassVar[dict[str, str]] = orders_of(CaseShape)
    default_order = ("-id",)

    class Meta(StrictFilterSet.Meta):
        model = Case
        fields: ClassVar[list[str]] = []

    def on_open(self, rows: Any, _column: str, value: str) -> Any:
        if value == "any":
            return rows
        return rows.filter(state__in=OPEN) if value == "true" else rows.exclude(state__in=OPEN)

    def on_pool(self, rows: Any, _column: str, pools: list[str]) -> Any:
        return rows.filter(of_pool(pools))


def of_pool(pools: list[str], node: str = "node_name") -> Any:
    """The condition that the node is of one of these pools. node: the column that has its name."""
    found = NodeTotals.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef(node), pool__in=pools)
    return Exists(found)


CASES = Resource(
    "out-of-service",
    CaseShape,
    CaseFilter,
    reading.cases,
    csv=(
        *("id", "cluster", "node", "card", "card_uuid", "state", "state_since", "what", "how", "suite", "level", "run"),
        *("policy", "reason", "automatic", "created_at", "accepted_at", "accepted_by", "accepted_note", "declined_at"),
        *("declined_by", "declined_note", "marked_at", "return_reason", "returned_at", "returned_by", "returned_note"),
        *("passed_run", "blocked_by", "error"),
    ),
    table=("node", "state", "state_since", "reason", "run", "accepted_by"),
)


class CasePlan(Shape):
    """What an act would do. Nothing is written."""

    does: Annotated[list[str], fact("In sentences.")]
    commands: Annotated[list[str], fact("Lines of kubectl that do the same.")]
    body: Annotated[dict[str, Any] | None, fact("Patch of the node, or the object to create; null: neither.")]
    blocked_by: Annotated[str | None, fact("Why it would be done later; null: at once.", of="waits")]
    by_gpudash: Annotated[bool, fact("false: gpudash may not mark nodes in this cluster; a person runs the commands.")]


class CaseActed(Shape):
    """A case after an act, or with dry_run as it is."""

    case: CaseShape
    plan: Annotated[CasePlan | None, fact("What would be done; null without dry_run.")]


class SwitchShape(Shape):
    """Whether policies may take cards out of service without asking."""

    automatic: Annotated[bool, fact("Whether an administrator allows it.")]
    cap_percent: Annotated[int, fact("Percent of a pool's nodes that may be out, by any tool; one always may.")]
    tripped_at: Annotated[datetime | None, fact("The cap was reached then; nothing is automatic until it is reset.")]
    tripped_reason: Annotated[str | None, fact(of="said_tripped")]
    tripped_wording: Annotated[dict[str, Any] | None, fact(WORDING, of="said_tripped", by=stored)]
    changed_at: datetime | None
    changed_by: Annotated[str | None, fact(of="changed_by_name")]
    reset_at: datetime | None
    reset_by: Annotated[str | None, fact(of="reset_by_name")]
