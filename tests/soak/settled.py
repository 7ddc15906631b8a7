"""When churn and faults have stopped: the mirror beside the cluster, every run of every campaign, the queues. Asks the system."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.controlplane.admin import Refused
from tests.services import wait_until
from tests.soak.bed import CLUSTERS, NAMESPACE, NEAR, Bed
from tests.soak.checks import MOST_SHOWN, Check, few
from tests.soak.churn import QUARANTINED

Json = dict[str, Any]
SETTLE_S = 90.0
#: Two rounds of the exporters.
MEASURED_S = 150.0
#: Seconds of samples in which a queue must have been empty once: the schedule sends something every other second.
QUIET_S = 20.0
#: Findings that speak of gpudash and its way to the cluster.
OUTAGES = ("never-reached", "cluster-not-reporting", "cluster-not-watched", "not-accounted")


def patiently(what: str, wrong: Callable[[], list[str]], until: float) -> Check:
    """Ask until nothing is wrong any more, or time is up. until: moment of the monotonic clock; one look is always taken."""
    began, found = time.monotonic(), ["not asked"]

    def right() -> bool:
        try:
            found[:] = wrong()
        except (OSError, Refused) as error:
            found[:] = [f"could not be asked: {error}"]
        return not found

    try:
        wait_until(right, what, max(0.0, until - began), every_s=0.5)
    except AssertionError:
        return Check(what, False, f"{len(found)} differences after {time.monotonic() - began:.0f} s", few(found))
    return Check(what, True, f"after {time.monotonic() - began:.1f} s")


def mirror(bed: Bed, name: str, until: float) -> Check:
    from inventory.models import Cluster
    from tests.cluster.agreement import differences

    cluster = Cluster.objects.get(name=name)
    return patiently(f"mirror of {name} = cluster, object by object", lambda: differences(bed.admin, cluster), until)


def watching(until: float) -> Check:
    from inventory.mirror.software import services_needed
    from inventory.models import Watch
    from inventory.models.cluster import WatchState
    from tests.cluster.agreement import RESTING

    def right(row: Watch) -> bool:
        unneeded = row.kind == "services" and not services_needed(row.cluster_id) and row.state == WatchState.NOT_NEEDED
        rest = WatchState.NOT_NEEDED if unneeded else RESTING.get(row.kind)
        return (row.state, row.holder != "") == ((rest, False) if rest else (WatchState.WATCHING, True))

    def wrong() -> list[str]:
        rows = [row for row in Watch.objects.select_related("cluster") if not right(row)]
        return [f"{row.kind} of {row.cluster.name}: {row.state} {row.reason} (holder {row.holder!r})" for row in rows]

    return patiently("every kind of every cluster is watched, or rests where there is nothing of it", wrong, until)


def told(until: float) -> Check:
    """What pages say of the clusters themselves: nothing that is over, and nothing that never was."""
    from inventory.models import Cluster, Finding

    def wrong() -> list[str]:
        taken = Cluster.objects.exclude(recreated_at=None)
        open_now = Finding.objects.filter(ended_at=None, code__in=OUTAGES).select_related("cluster")
        return [f"{row.name} is said to be another cluster since {row.recreated_at:%H:%M:%S}" for row in taken] + [
            f"{row.cluster.name}: finding {row.code}: {row.text[:200]}" for row in open_now
        ]

    return patiently("no cluster is said to be away or another one", wrong, until)


def runs_ended(ids: Sequence[str], until: float) -> Check:
    from validations.models import Campaign, Run

    def wrong() -> list[str]:
        campaigns = Campaign.objects.filter(pk__in=ids, state="running")
        left = Run.objects.exclude(state="ended", job_removed=True)
        return [f"campaign {row.pk} is {row.state}" for row in campaigns] + [
            f"run {row.pk} on {row.node_name}: {row.state} since {row.state_since:%H:%M:%S}, removed {row.job_removed}, "
            f"{row.pending_reason} {row.last_error[:200]}"
            for row in left.order_by("created_at")[: MOST_SHOWN * 3]
        ]

    return patiently("no run is stuck", wrong, until)


def runs(
    ids: Sequence[str], targets: int, made: Sequence[tuple[str, str]], api_server_away: int = 0
) -> Iterable[Check]:
    """made: (name, uid) of each Job, from the API server's audit log. api_server_away: how often it was stopped.

    A Job controller that gets no answer to the creation of a pod creates another one; gpudash ends such a run as errored.
    An API server that is killed after it has stored a Job, and before it has written the line of its log, leaves a Job without one.
    """
    from validations.models import Campaign, Run

    columns = ("pk", "campaign", "policy", "node_name", "job_name", "job_uid", "verdict", "reasons", "state")
    rows = list(Run.objects.values(*columns))
    stored = list(Campaign.objects.values_list("pk", flat=True))
    yield lost_or_doubled(ids, stored, targets, rows, made, left_out(), api_server_away)
    verdicts = Counter(str(row["verdict"]) for row in rows)
    to_pass = [row for row in rows if not (row["node_name"] in QUARANTINED and row["verdict"] == "failed")]
    not_passed = [row for row in to_pass if row["verdict"] != "passed" and not _gave_way(row)]
    doubled = [row for row in not_passed if _has_second_pod(row)][:api_server_away]
    bad = [
        f"run {row['pk']} on {row['node_name']}: {row['verdict']} {row['reasons']}"
        for row in not_passed
        if row not in doubled
    ]
    figure = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()) or "no run at all"
    if doubled:
        figure += f"; {len(doubled)} with a second pod, the API server was stopped {api_server_away} times"
    yield Check("every run has passed", bool(rows) and not bad, figure, few(bad))


def _gave_way(row: Mapping[str, Any]) -> bool:
    """A run of a policy that a pod came before, or that was paused before it started."""
    return bool(row.get("policy")) and row["verdict"] == "skipped"


def _has_second_pod(row: Mapping[str, Any]) -> bool:
    return [(one["code"], "The Job has 2 pods" in one["text"]) for one in row["reasons"]] == [("pod-changed", True)]


def left_out() -> list[str]:
    """Places of campaigns without a run, and why."""
    from validations.models import CampaignTarget

    places = CampaignTarget.objects.filter(run=None).values_list("campaign", "node_name", "skipped", "not_tested")
    return [
        f"campaign {campaign} leaves {node} out: {skipped or not_tested or 'nobody says why'}"
        for campaign, node, skipped, not_tested in places
    ]


def lost_or_doubled(
    ids: Sequence[str],
    stored: Sequence[str],
    targets: int,
    rows: Sequence[Mapping[str, Any]],
    made: Sequence[tuple[str, str]],
    missing: Sequence[str] = (),
    api_server_away: int = 0,
) -> Check:
    """Pure. ids: campaigns that REST has taken; stored: those in the table. rows: runs. One Job each, and no other ever made.

    missing: what is known of places without a run. api_server_away: how often it was stopped; each time it may have lost one line.
    """
    bad = list(missing) + [f"campaign {one} was taken by REST and is not there" for one in set(ids) - set(stored)]
    per_campaign = Counter(row["campaign"] for row in rows)
    bad += [
        f"campaign {one} has {per_campaign[one]} runs of {targets}" for one in stored if per_campaign[one] != targets
    ]
    jobs = Counter(name for name, _ in made)
    uids, unwritten = dict(made), 0
    for row in rows:
        count = jobs.pop(row["job_name"], 0)
        if count == 0 and _gave_way(row):
            continue  # it was skipped before its Job was created
        if count == 0 and row["job_uid"] and unwritten < api_server_away:
            unwritten += 1
            continue
        if count != 1:
            bad.append(
                f"run {row['pk']} ({row['state']}, {row['verdict']}): {count} Jobs {row['job_name']!r} were made"
            )
        elif row["job_uid"] != uids[row["job_name"]]:
            bad.append(f"run {row['pk']} knows Job {row['job_uid']}, made was {uids[row['job_name']]}")
    bad += [f"Job {name} belongs to no run" for name in jobs]
    figure = f"{len(stored)} campaigns, {len(rows)} runs, {len(made)} Jobs made"
    figure += f"; {unwritten} without a line of the API server that was killed" if unwritten else ""
    return Check("no run is lost or doubled", bool(rows) and not bad, figure, few(bad))


def no_job_left(bed: Bed, until: float) -> Check:
    def wrong() -> list[str]:
        left = bed.admin.list(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")
        return [f"Job {job['metadata']['name']} of {job['metadata']['creationTimestamp']}" for job in left]

    return patiently("no Job is left in the cluster", wrong, until)


def queues(rows: Sequence[Json]) -> Check:
    """Pure. Of the last samples: each queue was empty at a moment."""
    if not rows:
        return Check("queues are empty", False, "no samples")
    last = [row["queues"] for row in rows if row["queues"] and row["t"] >= rows[-1]["t"] - QUIET_S]
    if not last:
        return Check("queues are empty", False, "the broker was not asked")
    least = {name: min(one[name] for one in last) for name in last[0]}
    most = {name: max((row["queues"] or {}).get(name, 0) for row in rows) for name in last[0]}
    figure = ", ".join(f"{name} {least[name]} (at most {most[name]} on the way)" for name in least)
    return Check("queues are empty", not any(least.values()), figure)


def measurements(bed: Bed, until: float) -> Check:
    """What stands on the pages of the exporters is what the tables have of each card, once the pages no longer change."""
    from inventory.models import CardUsage

    def wrong() -> list[str]:
        rows = CardUsage.objects.filter(cluster__name=NEAR)
        return differing(bed.exporters.used, {(row.node_name, row.index): row.memory_used_bytes for row in rows})

    return patiently("what cards use = what their exporters say", wrong, until)


def audit_log() -> Check:
    """The chain holds after all that was killed in the midst of acts, and has entries."""
    from audit.chain import Broken, verify

    found = list(verify())
    broken = tuple(f"entry {one.number}: {one.why}" for one in found if isinstance(one, Broken))
    return Check("the audit log is intact", bool(found) and not broken, f"{len(found) - len(broken)} entries", broken)


def differing(shown: Mapping[tuple[str, int], int], stored: Mapping[tuple[str, int | None], int | None]) -> list[str]:
    """Pure. One line for each card whose figure is missing, left over or another one."""
    keys = sorted({*shown, *stored}, key=str)
    return [
        f"{node} card {index}: stored {stored.get((node, index))}, shown {shown.get((node, index))}"  # type: ignore[arg-type]
        for node, index in keys
        if stored.get((node, index)) != shown.get((node, index))  # type: ignore[arg-type]
    ]


def all_settled(bed: Bed, ids: Sequence[str]) -> Iterable[Check]:
    """What passes by itself within SETTLE_S."""
    until = time.monotonic() + SETTLE_S
    for name in CLUSTERS:
        yield mirror(bed, name, until)
    yield watching(until)
    yield told(until)
    yield runs_ended(ids, until)
    yield no_job_left(bed, until)
    yield audit_log()
    bed.exporters.stop()
    yield measurements(bed, time.monotonic() + MEASURED_S)
