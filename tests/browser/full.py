"""A service with something of everything, and the address of each page of it: what tests that go over all pages visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from accounts.models import ApiToken, UserScope
from accounts.roles import Role
from accounts.saved_views import SavedView
from audit.actions import Action
from audit.acts import act, refuse
from inventory.charges import days, now
from inventory.idle import allocations
from inventory.marks import Mark
from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeChange, Subject
from quarantine.models import CaseState, QuarantineSwitch
from tests.browser.told import make_notifications
from tests.browser.visits import LONG_NAMESPACE, LONG_POD, VISITS
from tests.cast import PASSWORD, make_user
from tests.factories import (
    end_allocation,
    lose_card,
    make_claim,
    make_claiming_pod,
    make_cluster,
    make_finding,
    make_fleet,
    make_pending_pod,
    make_unreadable,
)
from tests.factories.history import put_day, put_minute
from tests.factories.quarantine import CORDON, make_case, mark_node, our_mark
from tests.factories.usage import hours_ago, measure
from tests.pages.validations.rows import PASSED_LOG, make_run, reason
from validations.imported import Report, receive
from validations.models import ACTIVE, Campaign, CampaignTarget, Policy, PolicyCard, PolicyCount, PolicyState, Run
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft
from wording.said import sentence, stored

#: Node that holds what is worth showing, one that gives out memory of its cards, one with whole cards.
WRONG = [
    reason("verification", "The card gave a wrong result.", 4),
    reason("exit-code", "The container ended with exit code 1.", None),
]


@dataclass
class Full:
    """ids: what VISITS leave open."""

    cluster: Cluster
    ids: dict[str, str]

    def paths(self, visits: Mapping[str, tuple[str, ...]] = VISITS) -> list[str]:
        return [path.format(**self.ids) for paths in visits.values() for path in paths]


def make_full() -> Full:
    """Signed in to by ada, an administrator, with PASSWORD."""
    cluster = make_cluster("prod")
    make_cluster("far", synced=False, held=False)
    make_fleet(cluster, nodes=14, cards=8)
    make_pending_pod(cluster, "hungry")
    make_claiming_pod(cluster, "claiming", claim=make_claim(cluster, "a-claim").name)
    make_unreadable(cluster)
    _names(cluster)
    card = Card.objects.filter(node_name="gpu-00000").order_by("index")[1]
    _findings(cluster, card)
    gone = _past(cluster)
    _usage(cluster)
    runs = _runs(cluster, card)
    ids = {"card": str(card.pk), "card_key": card.key, "gone": str(gone.pk), **runs, **_policies(), **_accounts()}
    ids |= make_notifications(cluster)
    ids |= _cases(cluster)
    ids |= _result(cluster)
    held = Allocation.objects.filter(namespace=LONG_NAMESPACE, ended_at=None)[0]
    return Full(cluster, ids | {"namespace": held.namespace, "pod": held.pod})


def _names(cluster: Cluster) -> None:
    """Several namespaces on a node, one of them with the longest name that there may be; a node that is cordoned."""
    spaces = (LONG_NAMESPACE, "team-b", "训练组", "team-c", "batch")
    for number, row in enumerate(Allocation.objects.filter(cluster=cluster).order_by("pk")):
        row.namespace = spaces[number % len(spaces)]
        row.pod = LONG_POD if number % 7 == 0 else row.pod
        row.save(update_fields=["namespace", "pod"])
    Node.objects.filter(cluster=cluster, name="gpu-00001").update(unschedulable=True)


def _findings(cluster: Cluster, card: Card) -> None:
    make_finding(cluster, "units-mixed", "warning", "gpu-00000")
    make_finding(cluster, "row-remap-pending", "warning", card.node_name, card.key)
    made = make_finding(cluster, "quantity-unreadable", "info", "gpu-00001")
    Finding.objects.filter(pk=made.pk).update(pod=f"{LONG_NAMESPACE}/{LONG_POD}")


def _past(cluster: Cluster) -> Card:
    """Returns a card that is gone; allocations that have ended are those of node 4."""
    for row in Allocation.objects.filter(node_name="gpu-00004"):
        end_allocation(row, minutes_ago=30)
    gone = Card.objects.filter(node_name="gpu-00005").order_by("index")[0]
    lose_card(gone)
    at = datetime.now(UTC).replace(second=0, microsecond=0)
    for minute in range(50):
        columns = {
            "used": 4096 + 32 * minute,
            "allocated": 8192,
            "utilization": 250 + minute,
            "cards": 8,
            "measured": 7,
        }
        for subject, key in ((Subject.CLUSTER, ""), (Subject.NODE, "gpu-00003")):
            put_minute(cluster, at - timedelta(minutes=minute), subject, key, **columns)
    for day in range(3):
        put_day(cluster, (at - timedelta(days=day)).date(), total=1, allocated=1)
        of_a_day = {"allocated": 4096, "idle": 1024, "unused": 2048}
        put_day(cluster, (at - timedelta(days=day)).date(), Subject.NAMESPACE, LONG_NAMESPACE, **of_a_day)
    make_finding(cluster, "units-mixed", "warning", "gpu-00003")
    for what, before, after in (
        ("cordoned", "", "yes"),
        ("driver", "570.1", "580.2"),
        ("label nvidia.com/mig.config", "a", ""),
    ):
        NodeChange.objects.create(
            cluster=cluster, node_name="gpu-00003", what=what, before=before, after=after, at=at - timedelta(minutes=9)
        )
    return gone


def _usage(cluster: Cluster) -> None:
    hours_ago(10)
    for card in Card.objects.filter(cluster=cluster, node_name__in=("gpu-00000", "gpu-00001")):
        measure(card)
    allocations.look()
    days.look()
    now.look()


def _runs(cluster: Cluster, card: Card) -> dict[str, str]:
    """A run of each state and verdict, a campaign that is done and one that goes on."""
    log = PASSED_LOG + b"".join(b"line %d of a longer log\n" % number for number in range(60))
    numbers = {"load": (12.5, "ms"), "gpu_evaluate": (3.25, "ms")}
    make_run(cluster, node=card.node_name, card=card, log=log, measurements=numbers, driver="535.1", minutes_ago=2000)
    done = Campaign.objects.create(suite="cuda-vectoradd", name="All T4s", requested_by_name="olga", state="done")
    going = Campaign.objects.create(suite="cuda-nbody", name="Nightly", requested_by_name="olga", max_parallel=2)
    found: dict[str, Run] = {}
    others = Card.objects.filter(cluster=cluster, node_name__in=("gpu-00000", "gpu-00001"), removed_at=None)
    for verdict, one in zip(
        ("passed", "failed", "warning", "errored", "skipped"), others.exclude(pk=card.pk), strict=False
    ):
        bad: list[Any] = WRONG if verdict in ("failed", "errored") else []
        options: dict[str, Any] = {"verdict": verdict, "reasons": bad, "log": log, "measurements": numbers}
        make_run(cluster, node=one.node_name, card=one, log=log, minutes_ago=900)
        found[verdict] = make_run(cluster, node=one.node_name, card=one, campaign=done, **options)
    make_run(cluster, node=card.node_name, card=card, verdict="failed", reasons=WRONG, log=log)
    for number, state in enumerate(ACTIVE):
        found[state] = make_run(
            cluster, node=f"gpu-{number + 6:05d}", state=state, log=log if state == "running" else b"", campaign=going
        )
    make_run(cluster, suite="winml-tinyyolov2", node="win-1", verdict="passed", log=log, measurements=numbers)
    _targets(done, cluster, [found[name] for name in ("passed", "failed", "warning", "errored", "skipped")])
    _targets(going, cluster, [found[name] for name in ACTIVE])
    return {name: one.pk for name, one in found.items()} | {"campaign": done.pk, "going": going.pk}


def _targets(campaign: Campaign, cluster: Cluster, runs: list[Run]) -> None:
    for position, run in enumerate([*runs, None]):
        CampaignTarget.objects.create(
            campaign=campaign,
            position=position,
            cluster=cluster,
            node_name=run.node_name if run else "gpu-00013",
            card_key=run.card_key if run else "",
            run=run,
            skipped="" if run else "Node gpu-00013 is not ready. (not-ready)",
        )


def _policies() -> dict[str, str]:
    """One whose cards are in each state, with counts of two days and a new driver; one that was not checked yet."""
    limits: dict[str, Any] = {"max_per_pool": 2, "keep_free_nodes": 1, "node_labels": {"team": "research" * 7}}
    made = manage.create(PolicyDraft(name="All NVIDIA cards", suite="cuda-vectoradd"))
    nightly = {"window_cron": "0 22 * * *", "window_minutes": 480, "time_zone": "Europe/Berlin"}
    unchecked = manage.create(PolicyDraft(name="Nightly-" * 12, suite="cuda-nbody", level="ran", **nightly, **limits))
    at = datetime.now(UTC)
    Node.objects.update(driver_version="570.148.08")
    evaluate(made, at)
    for number, row in enumerate(PolicyCard.objects.filter(policy=made).order_by("pk")[:20]):
        state = PolicyState.values[number % 5]
        PolicyCard.objects.filter(pk=row.pk).update(state=state, reason="in-use" if state == "excluded" else "")
    for hours in (48, 24, 0):
        count(at)
        PolicyCount.objects.filter(at__gt=at - timedelta(hours=1)).update(at=at - timedelta(hours=hours))
        Node.objects.filter(name__in=("gpu-00000", "gpu-00001", "gpu-00002")).update(driver_version="580.82.07")
    held = sentence("{number} not started: {why}.", number=3, why=sentence("a pending pod fits on the node"))
    Policy.objects.filter(pk=made.pk).update(held=held, held_wording=stored(held))
    return {"policy": made.pk, "unchecked": unchecked.pk}


def _result(cluster: Cluster) -> dict[str, str]:
    """A result of another tool: a card that failed, one that passed, one that is not there."""
    cases = "".join(
        f'<testcase name="card {number}" time="3">{inner}</testcase>'
        for number, inner in enumerate(("", '<failure message="wrong result at element 7">log</failure>'))
    )
    text = f'<testsuite name="gpu-burn" hostname="gpu-00001">{cases}<testcase name="card 99"/></testsuite>'
    report = Report(format="junit", content=text.encode(), cluster=cluster.name)
    return {"result": receive(report)[0].pk}


def _cases(cluster: Cluster) -> dict[str, str]:
    """A recommendation, a card that waits for its proof, one that was kept; nodes that others marked; no room by the cap."""
    at = datetime.now(UTC)
    wish = make_case(cluster, "gpu-00002")
    accepted: dict[str, Any] = {
        "accepted_at": at,
        "accepted_by_name": "olga",
        "accepted_note": LONG_POD,
        "marked_at": at,
    }
    was = {"unschedulable": True, "taints": [{"key": "team/research", "value": "yes", "effect": "NoSchedule"}]}
    out = make_case(cluster, "gpu-00003", CaseState.OUT, dry_run="2 pods would be evicted.", was=was, **accepted)
    kept = make_case(cluster, "gpu-00004", CaseState.DECLINED, declined_at=at, declined_by_name="olga")
    mark_node(cluster, "gpu-00003", our_mark(out), CORDON)
    reason = "GPU has fallen off the bus. " * 4
    taint = Mark(
        kind="taint", tool="NVSentinel", key="nvidia.com/gpu-error", effect="NoSchedule", reason=reason, blocks=True
    )
    mark_node(cluster, "gpu-00005", taint, CORDON)
    mark_node(
        cluster, "gpu-00006", Mark(kind="taint", key="example.com/" + "broken" * 9, effect="NoExecute", blocks=True)
    )
    why = sentence(
        "{out} of {nodes} nodes of the pool {pool} in {cluster} are out of service. At most {limit} may be: node {node} "
        "was not taken out.",
        out=3,
        nodes=8,
        pool="T4-1",
        cluster="prod",
        limit=1,
        node="gpu-00002",
    )
    QuarantineSwitch.objects.create(
        automatic=True, changed_by_name="ada", tripped_at=at, tripped_reason=why, tripped_wording=stored(why)
    )
    return {"wish": wish.pk, "out": out.pk, "kept": kept.pk}


def _accounts() -> dict[str, str]:
    ada = make_user("ada", Role.ADMIN)
    ada.set_password(PASSWORD)
    ada.save()
    nora, olga = make_user("nora", Role.VIEWER), make_user("olga", Role.OPERATOR)
    UserScope.objects.create(user=nora, places="prod/team-a\nfar")
    User.objects.filter(pk=olga.pk).update(is_active=False)
    for owner, name in ((ada, "ci"), (ada, "a-token-with-a-long-name-" * 3), (nora, "scrape")):
        ApiToken.issue(owner, name, Role.VIEWER, datetime.now(UTC) + timedelta(days=30))
    for number, action in enumerate(Action):
        if number % 5 == 0:
            refuse(action, f"target-{number}", run=f"{number}")
            continue
        with act(action, f"target-{number}", run=f"{number}"):
            pass
    views = {"user": ada, "created_at": datetime.now(UTC), "changed_at": datetime.now(UTC)}
    SavedView.objects.create(page="nodes", name="Nodes of gpushare", query="stack=gpushare", **views)
    SavedView.objects.create(page="cards", name="a-view-with-a-long-name-" * 3, shared=True, **views)
    return {"user": str(nora.pk), "deactivated": str(olga.pk)}
