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
from inventory.models import Allocation, Card, Cluster, Finding, Node, Subject
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
from tests.factories.usage import hours_ago, measure
from tests.pages.validations.rows import PASSED_LOG, make_run, reason
from validations.models import ACTIVE, Campaign, CampaignTarget, Run

#: Longer than any column has room for, as the cluster allows it (63 of a namespace, 253 of a pod).
LONG_NAMESPACE = "research-on-very-large-language-models-of-the-second-generation"
LONG_POD = "training-of-a-very-large-model-with-a-name-that-somebody-generated-from-its-configuration-7f9c4d5b6-x2x4q"
#: Node that holds what is worth showing, one that gives out memory of its cards, one with whole cards.
WRONG = [
    reason("verification", "The card gave a wrong result.", 4),
    reason("exit-code", "The container ended with exit code 1.", None),
]

#: Name of an address in pages/urls.py → what is opened of it. "{…}" is filled from `Full.ids`.
VISITS: Mapping[str, tuple[str, ...]] = {
    "account": ("/account",),
    "account-password": ("/account/password",),
    "account-two-factor": ("/account/two-factor",),
    "validations": ("/validations", "/validations?verdict=failed", "/validations?suite=winml-tinyyolov2"),
    "suites": ("/validations/suites",),
    "validation-new": (
        "/validations/new",
        "/validations/new?suite=cuda-vectoradd&cluster=prod&node=gpu-00000&card={card_key}",
    ),
    "campaigns": ("/validations/campaigns",),
    "campaign-new": (
        "/validations/campaigns/new",
        "/validations/campaigns/new?suite=cuda-vectoradd&target=prod/gpu-00000&target=prod/gpu-00001",
    ),
    "campaign": ("/validations/campaigns/{campaign}", "/validations/campaigns/{going}"),
    "campaign-report": ("/validations/campaigns/{campaign}/report",),
    "card-runs": ("/validations/cards/{card}",),
    "run": (
        "/validations/runs/{passed}",
        "/validations/runs/{failed}",
        "/validations/runs/{running}",
        "/validations/runs/{queued}",
    ),
    "overview": ("/",),
    "map": ("/map",),
    "search": ("/search?q=team", "/search?q=nothing-is-called-so"),
    "nodes": (
        "/nodes",
        "/nodes?columns=name,pool,model,zone",
        "/nodes?stack=gpushare",
        "/nodes?q=nothing-is-called-so",
    ),
    "node": (
        "/nodes/prod/gpu-00000",
        "/nodes/prod/gpu-00001",
        "/nodes/prod/gpu-00002",
        "/nodes/prod/gpu-00003?window=1h",
        "/nodes/prod/software-0",
    ),
    "cards": ("/cards", "/cards?at=1h", "/cards?q=nothing-is-called-so"),
    "card": ("/cards/{card}", "/cards/{card}?window=1h", "/cards/{gone}"),
    "allocations": ("/allocations", "/allocations?ended=any", "/allocations?namespace=" + LONG_NAMESPACE),
    "pending": ("/allocations/pending",),
    "idle": ("/allocations/idle",),
    "namespaces": ("/namespaces", "/namespaces?by=owner"),
    "chargeback": ("/namespaces/chargeback", "/namespaces/chargeback?by=owner"),
    "pod": ("/pods/prod/team-a/hungry", "/pods/prod/{namespace}/{pod}", "/pods/prod/team-a/claiming"),
    "fit": ("/fit", "/fit?cards=2&memory=8&all=1"),
    "history": ("/history?window=1h&cluster=prod",),
    "audit": ("/audit",),
    "installation": ("/installation",),
    "administration": ("/administration",),
    "users": ("/users", "/users?q=nothing-is-called-so"),
    "user-new": ("/users/new",),
    "user": ("/users/{user}", "/users/{deactivated}"),
    "doc": ("/docs/access",),
    "words": ("/docs/words",),
    "keys": ("/keys",),
    "saved-views": ("/views", "/views?of=nodes&query=stack%3Dhami"),
    "findings": ("/findings", "/findings?severity=error"),
    "components": ("/components",),
    "component-list": (
        "/components/list",
        "/components/list?state=missing",
        "/components/list?columns=name,node,remedy,step",
    ),
    "clusters": ("/clusters",),
    "cluster": ("/clusters/prod",),
    "cluster-prepare": ("/clusters/prod/prepare", "/clusters/prod/prepare?stack=gpushare"),
    "api-docs": ("/api-docs",),
}
#: What pages say that are not there, or not for this question.
REFUSED = ("/nodes/prod/nope", "/cards?min_free_bytes=much", "/nothing")
#: Opened before anybody has signed in.
SIGNED_OUT: Mapping[str, tuple[str, ...]] = {
    "sign-in": ("/sign-in?next=/nodes",),
    "sign-in-link": ("/sign-in/link/{link}",),
    "sign-in-code": ("/sign-in/code",),
}
#: Names of addresses that are no page of their own, and why.
NO_PAGE: Mapping[str, str] = {
    **dict.fromkeys(("oidc", "oidc-callback", "sign-out", "saved-view"), "sends the reader elsewhere"),
    **dict.fromkeys(
        (
            *("account-theme", "account-tokens", "account-token-revoke", "campaign-change"),
            *("run-cancel", "run-rerun", "run-reparse", "cluster-relist"),
            *("user-deactivate", "user-activate", "user-end-sessions", "user-end-tokens"),
            *("saved-view-rename", "saved-view-overwrite", "saved-view-remove"),
        ),
        "is posted to; the answer is another page",
    ),
    **dict.fromkeys(("palette", "run-log", "run-log-raw", "run-manifest"), "is a part of a page, or a file"),
}


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
    ids = {"card": str(card.pk), "card_key": card.key, "gone": str(gone.pk), **runs, **_accounts()}
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
    return gone


def _usage(cluster: Cluster) -> None:
    hours_ago(10)
    for card in Card.objects.filter(cluster=cluster, node_name__in=("gpu-00000", "gpu-00001")):
        measure(card)
    allocations.look()
    now.look()
    days.look()


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
