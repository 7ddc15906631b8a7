"""What `suspect` weighs, read from the tables: the run, how the same suite ended around it, and what its card reports now.

Four queries at most, whatever the number of runs: along the indexes of the node's and of the suite's runs, and cards for the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import Q, QuerySet

from inventory.models import Card, Node
from stacks.engine import base as stacks
from validations.bisection import Bisection, GroupResult, bisect
from validations.evidence import Failure, Other
from validations.models import Run
from validations.suites import confirming
from validations.suspect import Suspect, Test, suspect
from wording.said import sentence

#: How far from the run others count, and how many on each side.
SPAN = timedelta(days=14)
MOST = 300
_COLUMNS = (
    "verdict",
    "node_name",
    "card_key",
    "image",
    "image_digest",
    "driver_version",
    "exit_code",
    "ended_at",
    "reasons__0__code",
)
_WRONG = ("failed", "errored")


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """A test to launch. card: its key; "" for any card of the node. nodes: of a group, instead of node and card."""

    test: Test
    suite: str
    cluster: str
    node: str
    card: str
    options: Mapping[str, Any]
    nodes: list[str] = []


class Suspected(msgspec.Struct, frozen=True, kw_only=True):
    """The suspect, and the tests that can be launched, best first."""

    found: Suspect
    next: list[Next]


def suspected(run: Run) -> Suspected | None:
    """run: of `querysets.run_whole`. None for a run that is under way, went well or was cancelled."""
    if run.verdict not in _WRONG or run.ended_at is None:
        return None
    if not run.node_name:
        return _of_group(run, run.ended_at)
    confirms = confirming(_resources(run))
    found = suspect(_failure(run, bool(confirms)), _others(run, run.ended_at))
    if found is None:
        return None
    return Suspected(found=found, next=_next(run, found.tests, confirms))


def _of_group(run: Run, ended: datetime) -> Suspected | None:
    """No node is suspected before pairs with good nodes have been tested. Of a test that was not carried out nothing is said."""
    if run.verdict != "failed":
        return None
    found = _bisected(run, ended)
    because = [sentence("The result belongs to the group, not to one node or card.")]
    for text, nodes in (
        (
            sentence("Each failed with two nodes that passed in other groups: {nodes}.", nodes=", ".join(found.faulty)),
            found.faulty,
        ),
        (sentence("Passed since then with another node: {nodes}.", nodes=", ".join(found.cleared)), found.cleared),
    ):
        because += [text] if nodes else []
    if found.next:
        advice = sentence("Test these nodes together, one group after the other.")
    elif found.open:
        advice = sentence("Test each node with a node that has passed in another group.")
    else:
        advice = sentence(
            "Check the network adapters of the nodes named above and their links, else the network between them."
        )
    options = run.options if isinstance(run.options, dict) else {}
    tests = [
        Next(
            test="group",
            suite=run.suite,
            cluster=run.cluster.name,
            node="",
            card="",
            options=options,
            nodes=list(nodes),
        )
        for nodes in found.next
    ]
    return Suspected(found=Suspect(what="unknown", because=tuple(because), try_=advice), next=tests)


def _bisected(run: Run, ended: datetime) -> Bisection:
    """By runs of the suite since the failure, and nodes in groups that passed around it and are ready. Three queries."""
    groups = Run.objects.filter(suite=run.suite, cluster_id=run.cluster_id, verdict__in=("passed", "failed"))
    near = groups.filter(ended_at__range=(ended - SPAN, ended + SPAN)).prefetch_related("nodes").order_by("-id")
    rows = list(near.only("id", "verdict", "node_name", "ended_at")[:MOST])
    tested = [
        GroupResult(frozenset(one.group), one.verdict == "passed") for one in rows if (one.ended_at or ended) >= ended
    ]
    passed = list(dict.fromkeys(name for one in rows if one.verdict == "passed" for name in one.group))
    there = Node.objects.filter(cluster_id=run.cluster_id, name__in=passed, ready=True, unschedulable=False)
    ready = set(there.values_list("name", flat=True))
    return bisect(run.group, [name for name in passed if name in ready and name not in run.group], tested)


def _failure(run: Run, diagnostic: bool) -> Failure:
    states = {step.state for step in run.steps.all()}
    return Failure(
        verdict=run.verdict or "",
        code=run.reason_code,
        node=run.node_name,
        card=run.card_key,
        image=run.image,
        digest=run.image_digest,
        driver=run.driver_version,
        started=run.exit_code is not None or "running" in states,
        placed=bool(states & {"pulling", "running"}),
        end_reason=run.end_reason,
        health=_health(run.card),
        diagnostic=diagnostic and bool(run.card_key),
    )


def _health(card: Card | None) -> tuple[str, ...]:
    """What the card's sources report now that is a fault."""
    told = card.found_health if card is not None and card.removed_at is None else []
    faults = (stacks.DEGRADED, stacks.UNHEALTHY)
    return tuple(dict.fromkeys(one.says for one in told if one.level in faults and one.lost_at is None and one.says))


def _others(run: Run, ended: datetime) -> list[Other]:
    """Runs of the suite on the node and on cards of the model; newest first. Two queries."""
    near = Run.objects.filter(suite=run.suite, ended_at__range=(ended - SPAN, ended + SPAN)).exclude(pk=run.pk)
    here = Q(cluster_id=run.cluster_id, node_name=run.node_name)
    rows = _newest(near.filter(here))
    if run.card_model:
        rows += _newest(near.filter(card_model=run.card_model).exclude(here))
    return [_other(row, run, ended) for row in rows]


def _newest(rows: QuerySet[Run]) -> list[dict[str, Any]]:
    columns = ("cluster_id", "cluster__name", *_COLUMNS)
    return list(rows.exclude(verdict="skipped").order_by("-ended_at", "-id").values(*columns)[:MOST])


def _other(row: dict[str, Any], run: Run, ended: datetime) -> Other:
    # A node of another cluster may have the same name.
    foreign = row["cluster_id"] != run.cluster_id
    return Other(
        verdict=row["verdict"],
        node=f"{row['cluster__name']}/{row['node_name']}" if foreign else row["node_name"],
        card=row["card_key"],
        code=row["reasons__0__code"] or "",
        image=row["image"],
        digest=row["image_digest"],
        driver=row["driver_version"],
        started=row["exit_code"] is not None,
        later=row["ended_at"] > ended,
    )


def _resources(run: Run) -> set[str]:
    """Names of the resources that the run's pod asked for."""
    manifest = run.manifest if isinstance(run.manifest, dict) else {}
    try:
        containers = manifest["spec"]["template"]["spec"]["containers"]
        return {name for one in containers for name in one["resources"]["limits"]}
    except (KeyError, TypeError):
        return set()


def _next(run: Run, tests: Iterable[Test], confirms: Mapping[str, Mapping[str, Any]]) -> list[Next]:
    """The places of the tests. One query for each test on another card or node."""
    options: Mapping[str, Any] = run.options if isinstance(run.options, dict) else {}
    made = []
    for test in tests:
        suite, node, key, chosen = run.suite, run.node_name, run.card_requested, options
        if test == "diagnostic":
            suite, chosen = next(iter(confirms.items()))
            key = run.card_key
        elif test != "rerun":
            card = _card(run, test)
            if card is None:
                continue
            node, key = card.node_name, card.key
        made.append(Next(test=test, suite=suite, cluster=run.cluster.name, node=node, card=key, options=chosen))
    return made


def _card(run: Run, test: Test) -> Card | None:
    """A card that pods are given now: beside the run's, or of its model on another node."""
    cards = Card.objects.filter(cluster_id=run.cluster_id, removed_at=None, unavailable_reason="")
    if test == "other-card":
        cards = cards.filter(node_name=run.node_name).exclude(key=run.card_key)
    else:
        cards = cards.filter(model=run.card_model, stack=_stack(run)).exclude(node_name=run.node_name)
        if not run.card_model:
            return None
    return cards.order_by("allocations_count", "node_name", "index", "id").first()


def _stack(run: Run) -> str:
    if run.card is not None:
        return run.card.stack
    snapshot = run.node_snapshot if isinstance(run.node_snapshot, dict) else {}
    return str(snapshot.get("stack") or "")
