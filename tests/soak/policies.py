"""A policy at work on nodes of its own, until all policies are paused; and what became of its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from tests.services import wait_until
from tests.soak.checks import Check, few
from tests.soak.requests import Asked, Client, Site

#: Label of the nodes that the policy covers.
LABEL = "soak/policed"
DRAFT = {
    "name": "soak",
    "suite": "cuda-vectoradd",
    "max_age_s": 3600,
    "max_per_cluster": 1,
    "node_labels": {LABEL: "yes"},
}
PATIENCE_S = 120.0
#: A look at the policies comes each minute; a fault may take two of them, and a worker its minute to come back.
IDLE_S = 240.0
#: A transaction that had read the switch before it was turned may end after it.
MARGIN_S = 5.0


class Seen(NamedTuple):
    """A run of anybody. target: (node, key of the card that was asked for)."""

    run: str
    target: tuple[str, str]
    of_policy: bool
    created: datetime
    ended: datetime | None


class Policies:
    """made_at, paused_at: when REST had taken it."""

    def __init__(self, site: Site, token: str, cluster: str, asked: Callable[[Asked], None]) -> None:
        self.client, self.cluster = Client(site, asked, token), cluster
        self.made_at: datetime | None = None
        self.paused_at: datetime | None = None

    def start(self) -> None:
        """The same draft until it is there: of one name there is one policy, whatever was not answered."""
        self._until_taken("policies", {**DRAFT, "cluster": self.cluster}, (200, 201, 400))
        self.made_at = datetime.now(UTC)

    def stop(self) -> None:
        """No further runs; those under way go on."""
        self._until_taken("policies/pause-all", {}, (200,))
        self.paused_at = datetime.now(UTC)

    def _until_taken(self, path: str, body: Mapping[str, Any], taken: Sequence[int]) -> None:
        def answered() -> bool:
            answer = self.client.post_json(f"rest POST {path}", f"/api/v1/{path}", body, "")
            return answer is not None and answer.status in taken

        wait_until(answered, f"POST {path} is taken", PATIENCE_S, every_s=2.0)


def checks(policies: Policies) -> Iterable[Check]:
    """Asks the tables."""
    from validations.models import Policy, PolicyCard, PolicyCount, PolicyState, Run

    columns = ("pk", "node_name", "card_requested", "policy", "created_at", "ended_at")
    rows = [
        Seen(pk, (node, key), policy is not None, created, ended)
        for pk, node, key, policy, created, ended in Run.objects.values_list(*columns)
    ]
    made = Policy.objects.filter(name=DRAFT["name"]).count()
    due = PolicyCard.objects.filter(state=PolicyState.DUE, not_before=None).count()
    hours = [
        set(PolicyCount.objects.filter(policy=one).values_list("at", flat=True))
        for one in (None, *Policy.objects.all())
    ]
    begin, end = policies.made_at, policies.paused_at
    assert begin is not None, "the policy was not made"
    assert end is not None, "the policies were not paused"
    yield nothing_twice(made, rows)
    yield never_idle(begin, end, rows, due)
    yield switched_off(end, rows)
    yield no_gap(begin, end, hours)


def nothing_twice(made: int, rows: Sequence[Seen]) -> Check:
    """Pure. One policy was made, and no card that was asked for had two runs at a time. made: policies of the name."""
    bad = [] if made == 1 else [f"{made} policies of one name"]
    by_target: dict[tuple[str, str], list[Seen]] = {}
    for row in sorted(rows, key=lambda one: one.created):
        if row.target[1]:
            by_target.setdefault(row.target, []).append(row)
    for target, mine in by_target.items():
        for one, following in pairwise(mine):
            if one.ended is None or one.ended > following.created:
                bad.append(f"runs {one.run} and {following.run} at once on {' card '.join(target)}")
    own = sum(row.of_policy for row in rows)
    return Check("no card has two runs at a time", bool(own) and not bad, f"{own} runs of the policy", few(bad))


def never_idle(made: datetime, paused: datetime, rows: Sequence[Seen], due: int) -> Check:
    """Pure. While cards are due, the policy starts a run every now and then. due: cards that could be tested when it was paused."""
    starts = sorted(row.created for row in rows if row.of_policy)
    moments = [made, *starts, *([paused] if due or not starts else [])]
    longest = max((after - before).total_seconds() for before, after in pairwise(moments))
    figure = f"{longest:.0f} s without a start at most, {due} cards due at the end"
    return Check("no due card waits while the policy is idle", longest <= IDLE_S, figure)


def switched_off(paused: datetime, rows: Sequence[Seen]) -> Check:
    """Pure. After all policies were paused none has started a run."""
    late = [row for row in rows if row.of_policy and row.created > paused + timedelta(seconds=MARGIN_S)]
    bad = [f"run {row.run} on {row.target[0]} at {row.created:%H:%M:%S}" for row in late]
    return Check("a paused policy starts nothing", not bad, f"paused at {paused:%H:%M:%S}", few(bad))


def no_gap(made: datetime, paused: datetime, hours: Sequence[set[datetime]]) -> Check:
    """Pure. Of the fleet and of the policy each hour was counted. hours: of each of both."""
    wanted, at = set[datetime](), made.replace(minute=0, second=0, microsecond=0)
    # The first minutes of an hour may pass before it is counted.
    while at <= paused - timedelta(seconds=IDLE_S):
        wanted.add(at)
        at += timedelta(hours=1)
    missing = sorted({hour for counted in hours for hour in wanted - counted})
    good = len(hours) > 1 and all(hours) and not missing
    bad = [f"{hour:%Y-%m-%d %H:%M} is missing" for hour in missing]
    return Check("each hour of a policy is counted", good, f"{len(wanted)} hours", few(bad))
