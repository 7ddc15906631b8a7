"""A cluster that is seen, with pods that are seen and pods that are not, and a cluster that is not seen.

Whatever must not be told carries a mark: OTHERS in the names of the first cluster's other pods, ELSEWHERE in all names of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count
from django.test import Client
from django.utils import timezone

from accounts import saved_views
from accounts.models import ApiToken, UserScope
from accounts.roles import Role
from inventory.charges import days, now
from inventory.idle import allocations
from inventory.marks import Mark
from inventory.models import (
    Allocation,
    Card,
    Cluster,
    Finding,
    Node,
    NodeTotals,
    Pod,
    Subject,
    UsageSource,
)
from notifications import silences
from notifications.silences import SilenceDraft
from quarantine.models import CaseState, QuarantineSwitch
from runtime.clock import database_now
from stacks.engine.software.base import Statement
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import (
    end_allocation,
    make_claim,
    make_claiming_pod,
    make_cluster,
    make_finding,
    make_node,
    make_pending_pod,
    make_unreadable,
)
from tests.factories.history import put_day
from tests.factories.quarantine import make_case, mark_node, our_mark
from tests.factories.software import make_software
from tests.factories.usage import hours_ago, measure
from tests.pages.validations.rows import PASSED_LOG, make_run
from validations.imported import Report, receive
from validations.models import Campaign, CampaignTarget, LogChunk, Policy, Run
from validations.policies import manage
from validations.policies.counts import count
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft
from wording.said import sentence

#: Too long to come about by chance, as in the token of a form.
OTHERS, ELSEWHERE = "of-others-zq9", "of-elsewhere-xw7"
MINE, SEEN, UNSEEN = "mine", "alpha", f"beta-{ELSEWHERE}"


@dataclass
class World:
    """Ids by cluster name; `cards`: of the one that both hold; `pods`: of all; `mine`: the run in the namespace that is seen.

    results: of other tools.
    """

    runs: dict[str, str]
    cards: dict[str, int]
    campaigns: dict[str, str]
    policies: list[str]
    cases: list[str]
    pods: list[int]
    findings: list[int]
    silences: list[int]
    mine: str
    results: dict[str, str]


def make_world() -> World:
    seen, unseen = make_cluster(SEEN), make_cluster(UNSEEN)
    _fill(seen, "gpu-1", OTHERS)
    _fill(unseen, f"gpu-{ELSEWHERE}", ELSEWHERE)
    Card.objects.filter(cluster=unseen).update(model=f"model-{ELSEWHERE}")
    NodeTotals.objects.filter(cluster=unseen).update(pool=f"pool-{ELSEWHERE}", model=f"model-{ELSEWHERE}")
    Node.objects.filter(cluster=unseen).update(zone=f"zone-{ELSEWHERE}", driver_version=f"driver-{ELSEWHERE}")
    allocations.look()
    now.look()
    days.look()
    mine = _run(seen, MINE, "gpu-1")
    runs = {SEEN: _run(seen, f"ns-{OTHERS}", "gpu-1"), UNSEEN: _run(unseen, f"ns-{ELSEWHERE}", f"gpu-{ELSEWHERE}")}
    shared = Allocation.objects.values("cluster__name", "card_id").annotate(n=Count("id")).filter(n=2, ended_at=None)
    cards = {row["cluster__name"]: row["card_id"] for row in shared}
    campaigns = {one.name: _campaign(one, runs[one.name]) for one in (seen, unseen)}
    _share_views()
    pods = list(Pod.objects.order_by("pk").values_list("pk", flat=True))
    findings = list(Finding.objects.order_by("pk").values_list("pk", flat=True))
    results = {one.name: _result(one, OTHERS if one == seen else ELSEWHERE) for one in (seen, unseen)}
    return World(
        runs, cards, campaigns, _policies(), _cases((seen, unseen)), pods, findings, _silences(), mine, results
    )


def _fill(cluster: Cluster, node: str, mark: str) -> None:
    """Four cards: held by those who are seen, by both, by nobody since, by others alone; and a hold whose card is not known."""
    make_node(cluster, node, "nvidia", 4, loads=(1.0,))
    hours_ago(10)
    own, other, ended, late = Allocation.objects.filter(cluster=cluster).order_by("card__index")
    own_names = {"namespace": MINE, "pod": "mine-pod", "owner_name": "mine-owner", "container": "mine-container"}
    if cluster.name == UNSEEN:
        own_names = {name: f"{value}-{ELSEWHERE}" for name, value in own_names.items()}
    other_names = {name: f"{name}-{mark}" for name in own_names}
    for allocation, names in ((own, own_names), (other, other_names), (ended, other_names), (late, own_names)):
        Allocation.objects.filter(pk=allocation.pk).update(**names)
    Allocation.objects.filter(pk=late.pk).update(card=other.card, card_key=other.card_key)
    unplaced = Allocation.objects.get(pk=ended.pk)
    end_allocation(unplaced)
    first, second, last = own.card, other.card, late.card
    again = _copy(unplaced) | {"ended_at": None}
    Allocation.objects.create(
        **again | {"card": None, "card_key": "", "pod_uid": "loose", "node_name": f"other-{node}"}
    )
    Allocation.objects.create(**again | {"card": last, "card_key": last.key, "pod_uid": "last"})
    named = [{"namespace": f"namespace-{mark}", "pod": f"pod-{mark}", "container": "", "uid": "", "memory": 2**30}]
    measure(first)
    measure(second, holders=named)
    measure(last, holders=named)
    for name in ("pending", f"pending-{mark}"):
        make_pending_pod(cluster, f"{name}-{cluster.name}")
        space = MINE if name == "pending" and cluster.name == SEEN else f"namespace-{mark}"
        told = f"0/4 nodes of {space}"
        Pod.objects.filter(name=f"{name}-{cluster.name}").update(namespace=space, pending_message=told, owner_name=told)
    claim = make_claim(cluster, f"claim-{mark}")
    make_claiming_pod(cluster, f"claiming-{mark}", claim=claim.name)
    Pod.objects.filter(name=f"claiming-{mark}").update(namespace=f"namespace-{mark}", owner_name=f"owner-{mark}")
    _findings(cluster, node, mark)
    _software(cluster, node, mark)
    make_unreadable(cluster, f"strange-{mark}")
    problems = [{"code": "no-card", "count": 1, "format": "dcgm-exporter", "example": f'pod="pod-{mark}"'}]
    UsageSource.objects.filter(cluster=cluster).update(reason=f"pod-{mark} does not answer", problems=problems)
    put_day(cluster, (timezone.now() - timedelta(days=1)).date(), total=1)
    for space in (own_names["namespace"], f"namespace-{mark}"):
        put_day(cluster, (timezone.now() - timedelta(days=1)).date(), Subject.NAMESPACE, space, allocated_mib=1024)


def _share_views() -> None:
    """Shared with who sees everything, and with who sees the first cluster whole: each names what is seen there."""
    sharer = make_user("sharon", Role.ADMIN)
    for places, mark in (("", ELSEWHERE), ("", OTHERS), (SEEN, OTHERS), (UNSEEN, ELSEWHERE)):
        name, query = f"view-{mark}-{len(places)}", f"namespace=namespace-{mark}&q=pod-{mark}"
        saved_views.save(sharer, "allocations", name, query, shared=True, places=places.split())


def _copy(row: Allocation) -> dict[str, Any]:
    return {
        field.attname: getattr(row, field.attname) for field in row._meta.fields if field.name not in ("id", "card")
    }


def _software(cluster: Cluster, node: str, mark: str) -> None:
    """What names a pod in it: the source, the remedy, and that remedy's form."""
    pod = f"namespace-{mark}/pod-{mark}"
    remedy = sentence("Restart the plugin: {command}", command=f"kubectl delete pod {pod}")
    why = sentence("The pod is not Ready.")
    found = Statement(state="not ready", why=why, remedy=remedy, source=f"pod {pod}", step="upgrade-failed")
    for place in (node, ""):
        make_software(cluster, place, {"driver": found, "mig-manager": found}, keep_changes=True)


def _findings(cluster: Cluster, node: str, mark: str) -> None:
    """Of a pod that is seen, of one that is not, of a node with names in its text, and of a card."""
    make_finding(cluster, "card-over-committed", node_name=node)
    make_finding(cluster, "row-remap-pending", "warning", node, "0")
    text = f"namespace-{mark}/pod-{mark} holds too much"
    Finding.objects.filter(cluster=cluster, code="card-over-committed").update(text=text)
    for pod in (f"{MINE if cluster.name == SEEN else f'{MINE}-{mark}'}/mine-pod", f"namespace-{mark}/pod-{mark}"):
        made = make_finding(cluster, "quantity-unreadable", "warning", node, pod)
        Finding.objects.filter(pk=made.pk).update(card_key="", pod=pod, text=f"{pod} asks strangely")


def _run(cluster: Cluster, namespace: str, node: str) -> str:
    mark = namespace.partition("-")[2]
    card = Card.objects.filter(cluster=cluster).order_by("index")[0]
    names: dict[str, Any] = {"namespace": namespace, "requested_by_name": f"asker-{mark}", "pod_name": f"run-{mark}"}
    log = PASSED_LOG + f"log-{mark}\n".encode()
    run = make_run(cluster, node=node, card=card, log=log, measurements={"load": (2.0, "ms")}, **names)
    return run.pk


def _policies() -> list[str]:
    """One of all clusters and one of each; what keeps the first names a cluster that few see."""
    everywhere = manage.create(PolicyDraft(name="everywhere", suite="cuda-vectoradd"))
    of_one = [
        manage.create(PolicyDraft(name=f"of-{name}", suite="cuda-vectoradd", cluster=name)) for name in (SEEN, UNSEEN)
    ]
    for policy in (everywhere, *of_one):
        evaluate(policy, database_now())
    count(database_now())
    Policy.objects.filter(pk=everywhere.pk).update(held=f"Cluster {UNSEEN}: refused.")
    return [policy.pk for policy in (everywhere, *of_one)]


def _silences() -> list[int]:
    """One of each finding that is of a pod, and one of each node: their reasons name pods of others."""
    until = timezone.now() + timedelta(hours=1)
    made = [
        silences.acknowledge(row, f"because of {row.pod}", until)
        for row in Finding.objects.exclude(pod="").select_related("cluster")
    ]
    for cluster, node, mark in ((SEEN, "gpu-1", OTHERS), (UNSEEN, f"gpu-{ELSEWHERE}", ELSEWHERE)):
        draft = SilenceDraft(cluster=cluster, node=node, reason=f"because of pod-{mark}", until=until)
        made.append(silences.silence(draft))
    return [one.pk for one in made]


def _result(cluster: Cluster, mark: str) -> str:
    """Of another tool, whose texts name a pod."""
    node = "gpu-1" if cluster.name == SEEN else f"gpu-{ELSEWHERE}"
    text = (
        f'<testsuite name="burn" hostname="{node}"><testcase name="card 0"><failure message="pod-{mark} failed"/>'
        f"</testcase></testsuite>"
    )
    report = Report(format="junit", content=text.encode(), cluster=cluster.name)
    return receive(report)[0].pk


def _cases(clusters: Sequence[Cluster]) -> list[str]:
    """A recommendation and a card that is out in each cluster; nodes that others marked; the switch that was tripped there."""
    made = []
    for cluster in clusters:
        mark = OTHERS if cluster.name == SEEN else ELSEWHERE
        node = Node.objects.filter(cluster=cluster).order_by("pk")[0].name
        reason = f"{node} of {cluster.name} failed"
        wish = make_case(cluster, node, reason=reason, reason_wording=None)
        out = make_case(cluster, node, CaseState.OUT, card_key="9", reason=reason, reason_wording=None)
        text = f"cordoned in {cluster.name}" if mark == ELSEWHERE else "cordoned"
        mark_node(cluster, node, our_mark(out), Mark(kind="cordon", tool="kubectl", reason=text, blocks=True))
        made += [wish.pk, out.pk]
    why = f"3 of 8 nodes of the pool pool-{ELSEWHERE} in {UNSEEN} are out."
    QuarantineSwitch.objects.create(automatic=True, tripped_at=database_now(), tripped_reason=why)
    return made


def _campaign(cluster: Cluster, run: str) -> str:
    mark = OTHERS if cluster.name == SEEN else ELSEWHERE
    names: dict[str, Any] = {"name": f"campaign-{mark}", "requested_by_name": f"asker-{mark}"}
    row = Campaign.objects.create(suite="cuda-vectoradd", selector={"cluster": cluster.name}, **names)
    target = Run.objects.get(pk=run)
    CampaignTarget.objects.create(campaign=row, position=0, cluster=cluster, node_name=target.node_name, run=target)
    Run.objects.filter(pk=run).update(campaign=row)
    assert LogChunk.objects.filter(run_id=run).exists()
    return row.pk


def scoped_user(name: str, *places: str, role: Role = Role.VIEWER) -> User:
    user = make_user(name, role)
    UserScope.objects.create(user=user, places="\n".join(places))
    return user


def scoped_token(user: User, *places: str, role: Role = Role.VIEWER) -> str:
    return ApiToken.issue(user, "test", role, timezone.now() + timedelta(days=1), places=places)[1]


@dataclass(frozen=True)
class Identity:
    """Somebody who asks. hidden: the marks that they must not see."""

    client: Client
    hidden: tuple[str, ...]


#: By name.
Everybody = dict[str, Identity]


def identities() -> Everybody:
    """By name. Tokens ask where pages send them away: what they get there holds nothing."""
    of_all, admin = make_user("vera", Role.VIEWER), make_user("ada", Role.ADMIN)
    of_cluster, of_namespace = scoped_user("carl", SEEN), scoped_user("nora", f"{SEEN}/{MINE}")
    anywhere = scoped_user("anna", f"*/{MINE}")
    cluster, namespace = (ELSEWHERE,), (ELSEWHERE, OTHERS)
    operator = scoped_user("olga", f"{SEEN}/{MINE}", role=Role.OPERATOR)
    return {
        "admin": Identity(signed_in(admin), ()),
        "viewer of all": Identity(signed_in(of_all), ()),
        "viewer of a cluster": Identity(signed_in(of_cluster), cluster),
        "viewer of a namespace": Identity(signed_in(of_namespace), namespace),
        "operator of a namespace": Identity(signed_in(operator), namespace),
        "viewer of a namespace in any cluster": Identity(signed_in(anywhere), (OTHERS,)),
        "token of a viewer of a cluster": Identity(bearer(make_token(of_cluster)), cluster),
        "token of a viewer of a namespace": Identity(bearer(make_token(of_namespace)), namespace),
        "token for a cluster": Identity(bearer(scoped_token(of_all, SEEN)), cluster),
        "token for a namespace, of an admin": Identity(bearer(scoped_token(admin, f"{SEEN}/{MINE}")), namespace),
    }
