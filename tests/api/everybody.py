"""Everybody who may ask REST, as headers of a request, and the names of things that exist. Knows no document and no answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from accounts import saved_views
from accounts.models import ApiToken
from accounts.roles import Role
from inventory.models import Card, Cluster, Component, Price
from notifications.models import Channel, Delivery, Rule
from stacks.engine.software.base import Statement
from tests.api.test_hostile_requests import DRAFTS as BODIES
from tests.cast import make_token, make_user, signed_in
from tests.factories import make_fleet
from tests.factories.software import make_software
from tests.pages.validations.rows import make_run
from tests.scopes.world import MINE, SEEN, UNSEEN, make_world, scoped_token, scoped_user
from validations.models import Campaign, CampaignState, State

#: Cookie and header against forgery: what is asked is that both are the same.
_CSRF = "s" * 32


@dataclass(frozen=True)
class Identity:
    """Somebody who asks. may: has a role."""

    name: str
    may: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """What exists: values by the name of a parameter, bodies that are taken by the path of the document."""

    values: dict[str, list[str]]
    bodies: dict[str, list[dict[str, Any]]]


def _session(name: str, user: User, may: bool = True) -> Identity:
    cookies = {"gpudash_session": signed_in(user).cookies["gpudash_session"].value, "gpudash_csrf": _CSRF}
    return Identity(name, may, {"X-CSRFToken": _CSRF}, cookies)


def _bearer(name: str, text: str, may: bool = True) -> Identity:
    return Identity(name, may, {"Authorization": f"Bearer {text}"})


def everybody() -> list[Identity]:
    """Nobody, every role by session and by token, and every kind of scope."""
    users = {role.value: make_user(role.value, role) for role in Role}
    admin, viewer, operator = users["admin"], users["viewer"], users["operator"]
    revoked = make_token(viewer)
    ApiToken.objects.latest("pk").revoke()
    return [
        Identity("anonymous", may=False),
        _session("no role", make_user("nobody"), may=False),
        *(_session(name, user) for name, user in users.items()),
        replace(_session("admin without the form's token", admin), headers={}),
        _session("viewer of a cluster", scoped_user("carl", SEEN)),
        _session("viewer of a namespace", scoped_user("nora", f"{SEEN}/{MINE}")),
        _session("operator of a cluster", scoped_user("oleg", SEEN, role=Role.OPERATOR)),
        *(_bearer(f"{name} token", make_token(user, Role(name))) for name, user in users.items()),
        _bearer("token for a cluster", scoped_token(operator, SEEN, role=Role.OPERATOR)),
        _bearer("token for a namespace", scoped_token(admin, f"{SEEN}/{MINE}")),
        _bearer("revoked token", revoked, may=False),
    ]


def what_exists() -> Known:
    """A fleet with each sharing system beside one that few see; runs and campaigns before, in and after their work."""
    world = make_world()
    cluster = Card.objects.filter(cluster__name=SEEN).earliest("pk").cluster
    make_fleet(cluster, nodes=7)
    on = Card.objects.filter(cluster=cluster, node_name="gpu-00000").earliest("pk")
    queued = make_run(cluster, node="gpu-00000", card=on, state=State.QUEUED)
    failed = make_run(cluster, node="gpu-1", verdict="failed", reasons=[{"code": "cuda-error", "text": "x", "line": 1}])
    paused = Campaign.objects.create(suite="cuda-vectoradd", state=CampaignState.PAUSED)
    victim = make_user("victim", Role.VIEWER)
    make_token(victim)
    shared = saved_views.save(victim, "nodes", "shared", "stack=hami", shared=True)
    hidden = saved_views.save(victim, "cards", "hidden", "")
    for name in (SEEN, UNSEEN):
        make_software(
            Cluster.objects.get(name=name), "gpu-1", {"driver": Statement(state="ready", version="580.95.05")}
        )
    channel = Channel.objects.create(name="x", kind="webhook")
    rule, at = Rule.objects.create(name="x", channel=channel), timezone.now()
    delivery = Delivery.objects.create(channel=channel, title="x", state="failed", created_at=at, next_at=at)
    values = {
        "price_id": [str(Price.objects.create(since=at.date(), currency="EUR", card_hour=2_000_000).pk)],
        "component_id": [str(pk) for pk in Component.objects.values_list("pk", flat=True)],
        "cluster": [SEEN, UNSEEN],
        "name": ["gpu-1", "gpu-00003"],
        "card_id": [str(on.pk), *map(str, world.cards.values())],
        "run_id": [world.mine, queued.pk, failed.pk, *world.runs.values()],
        "policy_id": world.policies,
        "channel_id": [channel.pk],
        "rule_id": [rule.pk],
        "delivery_id": [delivery.pk],
        "finding_id": [str(pk) for pk in world.findings],
        "silence_id": [str(pk) for pk in world.silences],
        "case_id": world.cases,
        "result_id": [*world.results.values()],
        "pod_id": [str(pk) for pk in world.pods],
        "campaign_id": [world.campaigns[SEEN], paused.pk, world.campaigns[UNSEEN]],
        "suite_id": ["cuda-vectoradd", "winml-tinyyolov2"],
        "user_id": [str(victim.pk), str(User.objects.latest("pk").pk + 1)],
        "view_id": [str(shared.pk), str(hidden.pk)],
        "token_id": [str(pk) for pk in ApiToken.objects.values_list("pk", flat=True)],
    }
    return Known(values, _bodies())


def _bodies() -> dict[str, list[dict[str, Any]]]:
    """Those of the sweep of hostile requests, for places that are here."""
    made: dict[str, list[dict[str, Any]]] = {}
    for path, draft in BODIES:
        place = {name: value for name, value in (("cluster", SEEN), ("targets", _TARGETS)) if name in draft}
        chosen = {"selector": {"cluster": SEEN}} if "selector" in draft else {}
        made.setdefault(path, []).append(draft | place | chosen)
    return made


_TARGETS = [{"node": "gpu-1", "cluster": SEEN}]
