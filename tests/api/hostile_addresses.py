"""What every address takes: its parts, of things that exist; its parameters; and the bodies that REST takes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.urls import get_resolver
from django.utils import timezone

from accounts import saved_views
from accounts.models import ApiToken
from accounts.roles import Role
from api.urls import urlpatterns as rest_patterns
from inventory.models import Card, Component, Pod, Price
from notifications import silences
from notifications.models import Channel, Delivery, Rule
from resources.campaign import TargetFilter
from resources.filter_sets import StrictFilterSet
from stacks.engine.software.base import Statement
from tests.accounts.test_every_url import PART, routes
from tests.cast import PASSWORD, make_token, make_user
from tests.factories import make_cluster, make_finding, make_node
from tests.factories.software import make_software
from tests.pages.validations.rows import make_run


def _filters() -> dict[str, type[StrictFilterSet]]:
    found = {"targets": TargetFilter}
    # The shortest last: /cards is the list of cards, not the one of a policy.
    for pattern in sorted(rest_patterns, key=lambda one: -len(str(one.pattern))):
        route = str(pattern.pattern).removesuffix("/")
        if filterset := getattr(getattr(pattern.callback, "cls", None), "filterset_class", None):
            found[route] = found[route.rpartition("/")[2]] = filterset
    return found


#: Route of REST → its filters; for pages, the last part of their route.
FILTERS = _filters()
_RUN = {
    "suite": "cuda-vectoradd",
    "node": "gpu-1",
    "cluster": "prod",
    "card": "0",
    "options": {},
    "queue_if_full": True,
}
_CAMPAIGN = {"suite": "cuda-vectoradd", "name": "x", "options": {}, "max_parallel": 1, "stop_after_failures": 1}
_POLICY = {
    "name": "x",
    "suite": "cuda-vectoradd",
    "options": {},
    "level": "checked",
    "cluster": "prod",
    "pool": "x",
    "model": "x",
    "stack": "x",
    "node_labels": {"x": "y"},
    "max_age_s": 3600,
    "void_on_driver": True,
    "counts_imported": True,
    "window_cron": "0 1 * * *",
    "window_minutes": 60,
    "time_zone": "UTC",
    "max_per_cluster": 1,
    "max_per_pool": 1,
    "card_minutes_per_day": 1,
    "keep_free_nodes": 1,
    "keep_free_cards": 1,
}
_RULE = {
    "name": "x",
    "channel": "x",
    "about": ["finding"],
    "codes": ["not-ready"],
    "least_severity": "error",
    "scope": ["prod"],
    "digest": "daily",
    "digest_hour": 8,
    "time_zone": "UTC",
}
_SILENCE = {
    "cluster": "prod",
    "code": "x",
    "cause": "x",
    "node": "gpu-1",
    "card": "0",
    "pod": "a/b",
    "reason": "x",
    "until": "2030-01-01T00:00:00Z",
}
_RESULT = {
    "format": "junit",
    "content": '<testsuite name="x" hostname="gpu-1"><testcase name="card 0"/></testsuite>',
    "cluster": "prod",
    "node": "x",
}
_PRICE = {
    "currency": "EUR",
    "since": "2026-01-01",
    "card_hour": "1.5",
    "gib_hour": "0.1",
    "label": "a=b",
    "pool": "x",
    "model": "x",
}
#: Bodies that REST takes.
DRAFTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/v1/tokens", {"name": "ci", "role": "viewer", "expires_in_days": 1}),
    ("/api/v1/users", {"name": "nora", "password": PASSWORD, "role": "viewer", "scope": ["prod"]}),
    ("/api/v1/runs", _RUN),
    ("/api/v1/runs/preview", _RUN),
    ("/api/v1/campaigns", {**_CAMPAIGN, "targets": [{"node": "gpu-1", "cluster": "prod"}]}),
    ("/api/v1/campaigns", {**_CAMPAIGN, "selector": {"cluster": "prod"}}),
    ("/api/v1/policies", _POLICY),
    ("/api/v1/policies/preview", _POLICY),
    ("/api/v1/channels", {"name": "x", "kind": "x", "settings": {"x": "y"}, "language": "en"}),
    ("/api/v1/notification-rules", _RULE),
    ("/api/v1/notification-rules/preview", _RULE),
    ("/api/v1/silences", _SILENCE),
    ("/api/v1/prices", _PRICE),
    ("/api/v1/results", _RESULT),
    ("/api/v1/results/preview", _RESULT),
)


class Addresses:
    """Every route as an address whose parts exist, so that a request gets as far as it can."""

    def __init__(self) -> None:
        cluster = make_cluster("prod")
        make_node(cluster, "gpu-1", "nvidia", 2)
        finding = make_finding(cluster, node_name="gpu-1")
        at = timezone.now()
        silence = silences.acknowledge(finding, "x", at + timedelta(hours=1))
        channel = Channel.objects.create(name="x", kind="webhook")
        rule = Rule.objects.create(name="x", channel=channel)
        delivery = Delivery.objects.create(channel=channel, rule=rule, title="x", created_at=at, next_at=at)
        run = make_run(cluster, card=Card.objects.earliest("pk"))
        victim = make_user("victim", Role.VIEWER)
        make_token(victim)
        make_software(cluster, "gpu-1", {"driver": Statement(state="ready", version="580.95.05")})
        ids = {
            "component_id": str(Component.objects.get().pk),
            "user_id": str(victim.pk),
            "run_id": run.pk,
            "price_id": str(Price.objects.create(since=at.date(), currency="EUR", card_hour=2_000_000).pk),
            "finding_id": str(finding.pk),
            "silence_id": str(silence.pk),
            "channel_id": channel.pk,
            "rule_id": rule.pk,
            "delivery_id": delivery.pk,
            "card_id": str(run.card_id),
            "pod_id": str(Pod.objects.earliest("pk").pk),
            "token_id": str(ApiToken.objects.get().pk),
            "view_id": str(saved_views.save(victim, "mine", "nodes", "stack=hami").pk),
        }
        self._known = {**ids, "cluster": "prod", "name": "gpu-1", "suite_id": run.suite, "token": "x", "verb": "pause"}
        every = [route for route, _module in routes(get_resolver()) if not route.endswith("/") or "i18n" in route]
        self.routes = [route for route in every if route != "sign-out"]  # who signs out asks nothing more

    def of(self, route: str, **values: str) -> str:
        known = {**self._known, "name": "prod"} if "clusters/" in route else self._known
        filled = PART.sub(lambda part: (known | values).get(part[1] or part[2], "x"), route)
        return "/" + filled.removeprefix("^").removesuffix("$")

    def parts(self, route: str) -> list[str]:
        return [part[1] or part[2] for part in PART.finditer(route)]


PAGE_NAMES = (
    "show",
    "pool",
    "window",
    "measure",
    "of",
    "find",
    "line",
    "from",
    "view",
    "next",
    "q",
    "cluster",
    "node",
    "card",
)
NAMES = ("page_size", "cursor", "format", "ordering", "offset", "limit", "lang", "script", "suite", "targets", "ended")


def names(route: str) -> tuple[str, ...]:
    """Of the parameters that may mean something there."""
    found = FILTERS.get(route.removeprefix("api/v1/")) or FILTERS.get(route.rpartition("/")[2])
    return (*NAMES, *(found.base_filters if found else PAGE_NAMES))
