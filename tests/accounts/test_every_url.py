"""Every address of the service against everybody who may ask. A new address that is not in the table fails the test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.roles import Role
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_node

WHO = (
    "anonymous",
    "no role",
    "viewer",
    "operator",
    "admin",
    "viewer token",
    "operator token",
    "admin token",
    "bad token",
)

#: What each of WHO gets. "in": the view's own answer, whatever it is; else the status.
OPEN = dict.fromkeys(WHO, "in")
PAGE = {
    "anonymous": 302,
    "no role": 403,
    "viewer": "in",
    "operator": "in",
    "admin": "in",
    # Pages know sessions only: a token there is as good as none.
    "viewer token": 302,
    "operator token": 302,
    "admin token": 302,
    "bad token": 302,
}
PROGRAM = {
    "anonymous": 401,
    "no role": 403,
    "viewer": "in",
    "operator": "in",
    "admin": "in",
    "viewer token": "in",
    "operator token": "in",
    "admin token": "in",
    "bad token": 401,
}

ADMINS = dict.fromkeys(WHO, 403) | {"anonymous": 401, "bad token": 401, "admin": "in", "admin token": "in"}

#: Route → (path to ask, who gets what). Pages are asked below; they need the viewer role like any view.
TABLE: dict[str, tuple[str, dict[str, Any]]] = {
    "healthz": ("/healthz", OPEN),
    "readyz": ("/readyz", OPEN),
    "sign-in": ("/sign-in", OPEN),
    "sign-in/link/<str:token>": ("/sign-in/link/x", OPEN),
    "sign-in/code": ("/sign-in/code", OPEN),
    "sign-in/oidc": ("/sign-in/oidc", OPEN),
    "sign-in/oidc/callback": ("/sign-in/oidc/callback", OPEN),
    "sign-out": ("/sign-out", OPEN),
    "i18n/setlang/": ("/i18n/setlang/", OPEN),
    "metrics": ("/metrics", PROGRAM),
    "metrics/self": ("/metrics/self", PROGRAM),
    "api-docs": ("/api-docs", PAGE),
    "account": ("/account", PAGE),
    "account/password": ("/account/password", PAGE),
    "account/two-factor": ("/account/two-factor", PAGE),
    "account/theme": ("/account/theme", PAGE),
    "account/tokens": ("/account/tokens", PAGE),
    "account/tokens/<int:token_id>/revoke": ("/account/tokens/1/revoke", PAGE),
    "api/v1/summary": ("/api/v1/summary", PROGRAM),
    "api/v1/clusters": ("/api/v1/clusters", PROGRAM),
    "api/v1/clusters/<str:name>": ("/api/v1/clusters/prod", PROGRAM),
    "api/v1/clusters/<str:name>/relist": ("/api/v1/clusters/prod/relist", PROGRAM),
    "api/v1/nodes": ("/api/v1/nodes", PROGRAM),
    "api/v1/nodes/<str:cluster>/<str:name>": ("/api/v1/nodes/prod/gpu-1", PROGRAM),
    "api/v1/cards": ("/api/v1/cards", PROGRAM),
    "api/v1/cards/<int:card_id>": ("/api/v1/cards/1", PROGRAM),
    "api/v1/allocations": ("/api/v1/allocations", PROGRAM),
    "api/v1/namespaces": ("/api/v1/namespaces", PROGRAM),
    "api/v1/namespaces/chargeback": ("/api/v1/namespaces/chargeback?cluster=prod", PROGRAM),
    "api/v1/idle": ("/api/v1/idle", PROGRAM),
    "api/v1/fit": ("/api/v1/fit?cards=2", PROGRAM),
    "api/v1/waste": ("/api/v1/waste?by=owner", PROGRAM),
    "api/v1/forecast": ("/api/v1/forecast?cards=2", PROGRAM),
    "api/v1/clusters/<str:name>/history": ("/api/v1/clusters/prod/history", PROGRAM),
    "api/v1/nodes/<str:cluster>/<str:name>/history": ("/api/v1/nodes/prod/gpu-1/history", PROGRAM),
    "api/v1/cards/<int:card_id>/history": ("/api/v1/cards/1/history", PROGRAM),
    "api/v1/idle/sums": ("/api/v1/idle/sums", PROGRAM),
    "api/v1/pods": ("/api/v1/pods", PROGRAM),
    "api/v1/pods/<int:pod_id>": ("/api/v1/pods/1", PROGRAM),
    "api/v1/findings": ("/api/v1/findings", PROGRAM),
    "api/v1/components": ("/api/v1/components", PROGRAM),
    "api/v1/component-changes": ("/api/v1/component-changes", PROGRAM),
    "api/v1/node-changes": ("/api/v1/node-changes", PROGRAM),
    "api/v1/components/<int:component_id>": ("/api/v1/components/1", PROGRAM),
    "api/v1/suites": ("/api/v1/suites", PROGRAM),
    "api/v1/suites/<str:suite_id>": ("/api/v1/suites/cuda-vectoradd", PROGRAM),
    "api/v1/runs": ("/api/v1/runs", PROGRAM),
    "api/v1/runs/preview": ("/api/v1/runs/preview", PROGRAM),
    "api/v1/runs/<str:run_id>": ("/api/v1/runs/x", PROGRAM),
    "api/v1/runs/<str:run_id>/compared": ("/api/v1/runs/x/compared", PROGRAM),
    "api/v1/runs/<str:run_id>/cancel": ("/api/v1/runs/x/cancel", PROGRAM),
    "api/v1/runs/<str:run_id>/rerun": ("/api/v1/runs/x/rerun", PROGRAM),
    "api/v1/runs/<str:run_id>/reparse": ("/api/v1/runs/x/reparse", PROGRAM),
    "api/v1/runs/<str:run_id>/log": ("/api/v1/runs/x/log", PROGRAM),
    "api/v1/campaigns": ("/api/v1/campaigns", PROGRAM),
    "api/v1/campaigns/<str:campaign_id>": ("/api/v1/campaigns/x", PROGRAM),
    "api/v1/campaigns/<str:campaign_id>/report": ("/api/v1/campaigns/x/report", PROGRAM),
    "api/v1/campaigns/<str:campaign_id>/certificate": ("/api/v1/campaigns/x/certificate", PROGRAM),
    "api/v1/policies/<str:policy_id>/certificate": ("/api/v1/policies/x/certificate", PROGRAM),
    "api/v1/signing-key": ("/api/v1/signing-key", PROGRAM),
    "api/v1/suspects": ("/api/v1/suspects", PROGRAM),
    "api/v1/fit/moves": ("/api/v1/fit/moves?cards=2", PROGRAM),
    "api/v1/floors": ("/api/v1/floors", PROGRAM),
    "api/v1/baselines": ("/api/v1/baselines", PROGRAM),
    "api/v1/prices": ("/api/v1/prices", PROGRAM),
    "api/v1/prices/<int:price_id>": ("/api/v1/prices/1", PROGRAM),
    "api/v1/campaigns/<str:campaign_id>/matrix": ("/api/v1/campaigns/x/matrix", PROGRAM),
    "api/v1/policies": ("/api/v1/policies", PROGRAM),
    "api/v1/policies/preview": ("/api/v1/policies/preview", PROGRAM),
    "api/v1/policies/compare": ("/api/v1/policies/compare?a=1&b=2", PROGRAM),
    "api/v1/policies/pause-all": ("/api/v1/policies/pause-all", PROGRAM),
    "api/v1/policies/resume-all": ("/api/v1/policies/resume-all", PROGRAM),
    "api/v1/policies/<str:policy_id>": ("/api/v1/policies/x", PROGRAM),
    "api/v1/policies/<str:policy_id>/cards": ("/api/v1/policies/x/cards", PROGRAM),
    "api/v1/policies/<str:policy_id>/pause": ("/api/v1/policies/x/pause", PROGRAM),
    "api/v1/policies/<str:policy_id>/resume": ("/api/v1/policies/x/resume", PROGRAM),
    "api/v1/results": ("/api/v1/results", PROGRAM),
    "api/v1/results/preview": ("/api/v1/results/preview", PROGRAM),
    "api/v1/results/<str:result_id>": ("/api/v1/results/x", PROGRAM),
    "api/v1/results/<str:result_id>/original": ("/api/v1/results/x/original", PROGRAM),
    "api/v1/policy-counts": ("/api/v1/policy-counts", PROGRAM),
    "api/v1/out-of-service": ("/api/v1/out-of-service", PROGRAM),
    "api/v1/out-of-service/<str:case_id>": ("/api/v1/out-of-service/x", PROGRAM),
    "api/v1/out-of-service/<str:case_id>/accept": ("/api/v1/out-of-service/x/accept", PROGRAM),
    "api/v1/out-of-service/<str:case_id>/decline": ("/api/v1/out-of-service/x/decline", PROGRAM),
    "api/v1/out-of-service/<str:case_id>/return": ("/api/v1/out-of-service/x/return", PROGRAM),
    "api/v1/node-marks": ("/api/v1/node-marks", PROGRAM),
    "api/v1/quarantine": ("/api/v1/quarantine", PROGRAM),
    "api/v1/quarantine/reset": ("/api/v1/quarantine/reset", PROGRAM),
    "api/v1/usable": ("/api/v1/usable?cluster=prod&node=gpu-1", PROGRAM),
    "api/v1/usable.svg": ("/api/v1/usable.svg?cluster=prod&node=gpu-1", PROGRAM),
    "api/v1/channels": ("/api/v1/channels", ADMINS),
    "api/v1/channels/<str:channel_id>": ("/api/v1/channels/x", ADMINS),
    "api/v1/channels/<str:channel_id>/test": ("/api/v1/channels/x/test", ADMINS),
    "api/v1/notification-rules": ("/api/v1/notification-rules", ADMINS),
    "api/v1/notification-rules/preview": ("/api/v1/notification-rules/preview", ADMINS),
    "api/v1/notification-rules/<str:rule_id>": ("/api/v1/notification-rules/x", ADMINS),
    "api/v1/deliveries": ("/api/v1/deliveries", ADMINS),
    "api/v1/deliveries/<str:delivery_id>": ("/api/v1/deliveries/x", ADMINS),
    "api/v1/deliveries/<str:delivery_id>/send-again": ("/api/v1/deliveries/x/send-again", ADMINS),
    "api/v1/silences": ("/api/v1/silences", PROGRAM),
    "api/v1/silences/<int:silence_id>": ("/api/v1/silences/1", PROGRAM),
    "api/v1/silences/<int:silence_id>/end": ("/api/v1/silences/1/end", PROGRAM),
    "api/v1/findings/<int:finding_id>/acknowledge": ("/api/v1/findings/1/acknowledge", PROGRAM),
    "api/v1/audit": ("/api/v1/audit", ADMINS),
    "api/v1/views": ("/api/v1/views", PROGRAM),
    "api/v1/views/<int:view_id>": ("/api/v1/views/1", PROGRAM),
    "api/v1/tokens": ("/api/v1/tokens", PROGRAM),
    "api/v1/tokens/<int:token_id>": ("/api/v1/tokens/1", PROGRAM),
    "api/v1/users": ("/api/v1/users", ADMINS),
    "api/v1/users/<int:user_id>": ("/api/v1/users/1", ADMINS),
    "api/v1/users/<int:user_id>/end-sessions": ("/api/v1/users/1/end-sessions", ADMINS),
    "api/v1/users/<int:user_id>/end-tokens": ("/api/v1/users/1/end-tokens", ADMINS),
    "api/v1/schema": ("/api/v1/schema", PROGRAM),
}
for verb in ("pause", "resume", "stop"):
    TABLE[f"api/v1/campaigns/<str:campaign_id>/{verb}"] = (f"/api/v1/campaigns/x/{verb}", PROGRAM)
TABLE |= {f"{route}/": (f"{path}/", who) for route, (path, who) in TABLE.items() if route.startswith("api/v1/")}
TABLE |= {"api/v1": ("/api/v1", PROGRAM), "api/v1/": ("/api/v1/", PROGRAM)}


#: Pages that stand in the table, since some are open or take no GET; the other pages are alike.
IN_TABLE = ("pages.account", "pages.sign_in", "pages.single_sign_on", "pages.two_factor")


def _is_page(module: str) -> bool:
    return module.startswith("pages.") and module not in IN_TABLE


#: A part of a route that stands for something: its name is in the first or the second group.
PART = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")


def routes(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, str]]:
    """Every (route, module of its view)."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route, getattr(pattern.callback, "__module__", "")
        else:
            yield from routes(pattern, route)


def everybody() -> dict[str, Client]:
    users = {role.value: make_user(role.value, role) for role in Role}
    clients = {"anonymous": Client(), "no role": signed_in(make_user("nobody"))}
    clients |= {name: signed_in(user) for name, user in users.items()}
    clients |= {f"{role.value} token": bearer(make_token(users[role.value], role)) for role in Role}
    return clients | {"bad token": bearer("gpd_1_" + "x" * 43)}


def test_every_address_is_in_the_table_or_a_page() -> None:
    not_pages = {route for route, module in routes(get_resolver()) if not _is_page(module)}
    unknown = not_pages - set(TABLE)
    assert unknown == set()


@pytest.mark.sweep
@pytest.mark.django_db
def test_everybody_gets_what_the_table_says() -> None:
    make_node(make_cluster("prod"), "gpu-1", cards=1)
    wrong = []
    for who, client in everybody().items():
        for route, (path, expected) in TABLE.items():
            response = client.get(path)
            to_sign_in = response.headers.get("Location", "").startswith("/sign-in?next=")
            refused = response.status_code in (401, 403) or to_sign_in
            if expected[who] != (response.status_code if refused else "in") or response.status_code >= 500:
                wrong.append((who, route, response.status_code))
    assert wrong == []


@pytest.mark.django_db
def test_pages_are_closed_too() -> None:
    pages = [route for route, module in routes(get_resolver()) if _is_page(module) and "<" not in route]
    client, stranger = Client(), signed_in(make_user("nobody"))
    assert [page for page in pages if client.get(f"/{page}").status_code != 302] == []
    assert [page for page in pages if stranger.get(f"/{page}").status_code != 403] == []


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_no_method_gets_around_the_door(method: str) -> None:
    for path, _ in (entry for entry in TABLE.values() if entry[1] is PROGRAM):
        assert getattr(Client(), method)(path).status_code == 401
