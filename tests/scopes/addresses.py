"""Every address that there is to ask: each route with everything that could stand in it, and the queries of lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from django.urls import get_resolver

from resources.allocation import ALLOCATIONS
from resources.campaign import CAMPAIGNS
from resources.card import CARDS
from resources.component import CHANGES, COMPONENTS
from resources.finding import FINDINGS
from resources.idle import IDLE
from resources.imported import RESULTS
from resources.namespace import NAMESPACES
from resources.node import NODES
from resources.node_mark import NODE_MARKS
from resources.out_of_service import CASES
from resources.pod import PODS
from resources.policy import POLICIES, POLICY_COUNTS
from resources.run import RUNS
from resources.silence import SILENCES
from resources.view import VIEWS
from tests.accounts.test_every_url import routes
from tests.scopes.world import ELSEWHERE, MINE, OTHERS, SEEN, UNSEEN, World

#: What is put for the parameters of a route.
RUN, CARD, CAMPAIGN, POLICY, POD, CASE = "<run>", "<card>", "<campaign>", "<policy>", "<pod>", "<case>"
FINDING, SILENCE, RESULT = "<finding>", "<silence>", "<result>"
VALUES = {
    "<str:run_id>": RUN,
    "<int:card_id>": CARD,
    "<int:pod_id>": POD,
    "<str:campaign_id>": CAMPAIGN,
    "(?P<campaign_id>[^/]+)": CAMPAIGN,
    "<str:policy_id>": POLICY,
    "<str:case_id>": CASE,
    "<str:result_id>": RESULT,
    "(?P<policy_id>[^/]+)": POLICY,
    "(?P<verb>pause|resume|stop)": "pause",
    "(?P<verb>pause|resume)": "pause",
    "<str:channel_id>": "x",
    "(?P<channel_id>[^/]+)": "x",
    "<str:rule_id>": "x",
    "(?P<rule_id>[^/]+)": "x",
    "<str:delivery_id>": "x",
    "<int:silence_id>": SILENCE,
    "<int:finding_id>": FINDING,
    "<int:component_id>": "1",
    "<int:token_id>": "1",
    "<int:price_id>": "1",
    "<int:view_id>": "1",
    "<int:user_id>": "1",
    "<str:suite_id>": "cuda-vectoradd",
    "<str:token>": "x",
    "<slug:name>": "access",
}
#: Of the address of a pod, as `tests.scopes.world` names them.
PODS_NAMED = (
    (MINE, "mine-pod"),
    (f"namespace-{OTHERS}", f"pod-{OTHERS}"),
    (f"namespace-{OTHERS}", f"pending-{OTHERS}-{SEEN}"),
    (f"namespace-{ELSEWHERE}", f"pod-{ELSEWHERE}"),
)
_PLACES = ((SEEN, "gpu-1"), (UNSEEN, f"gpu-{ELSEWHERE}"))
#: Asked of lists and pages besides what stands in their address.
QUERIES = (
    "q=pod",
    f"q={OTHERS}",
    f"q={ELSEWHERE}",
    f"namespace=namespace-{OTHERS}",
    f"namespace=namespace-{ELSEWHERE}",
    f"pod=pod-{OTHERS}",
    f"owner=owner_name-{OTHERS}",
    f"cluster={UNSEEN}",
    f"node=gpu-{ELSEWHERE}",
    f"requested_by=asker-{OTHERS}",
    f"cluster={SEEN}&namespace=namespace-{OTHERS}",
    "at=1m",
    "from=30d",
    "from=30d&format=csv",
    "ended=any",
    "removed=any",
    "format=csv",
    "ended=any&format=csv",
    "by=pod",
    "by=owner",
    "by=node",
    "window=7d",
    "all=1",
    "memory=1",
)
LISTS = (
    NODES,
    CARDS,
    ALLOCATIONS,
    IDLE,
    NAMESPACES,
    PODS,
    FINDINGS,
    COMPONENTS,
    CHANGES,
    RUNS,
    CAMPAIGNS,
    VIEWS,
    POLICIES,
    POLICY_COUNTS,
    SILENCES,
    CASES,
    NODE_MARKS,
    RESULTS,
)


def addresses(world: World) -> Iterator[str]:
    """Every route with everything that could stand in it, of both clusters."""
    filled = VALUES | {}
    for route, _module in routes(get_resolver()):
        plain = route.removeprefix("^").removesuffix("$")
        for name, value in filled.items():
            plain = plain.replace(name, value)
        yield from (f"/{one}" for one in _with_things(plain, world))


def _with_things(route: str, world: World) -> Iterator[str]:
    runs = (*world.runs.values(), world.mine)
    for (cluster, node), run, card, campaign, policy, pod, finding, silence, case, result in product(
        _PLACES,
        runs if RUN in route else ("",),
        world.cards.values() if CARD in route else ("",),
        world.campaigns.values(),
        world.policies if POLICY in route else ("",),
        world.pods if POD in route else ("",),
        world.findings if FINDING in route else ("",),
        world.silences if SILENCE in route else ("",),
        world.cases if CASE in route else ("",),
        world.results.values() if RESULT in route else ("",),
    ):
        if CAMPAIGN not in route and campaign != world.campaigns[SEEN]:
            continue
        if "<str:cluster>" not in route and "<str:name>" not in route and cluster != SEEN:
            continue
        made = route.replace(RUN, str(run)).replace(CARD, str(card)).replace(CAMPAIGN, campaign)
        made = made.replace(POLICY, policy).replace(POD, str(pod))
        made = (
            made.replace(FINDING, str(finding))
            .replace(SILENCE, str(silence))
            .replace(CASE, case)
            .replace(RESULT, result)
        )
        if "<str:namespace>" in route:
            yield from (_of_pod(made, cluster, *names) for names in PODS_NAMED)
            continue
        name = node if "<str:cluster>" in route else cluster
        yield made.replace("<str:cluster>", cluster).replace("<str:name>", name).replace("<path:name>", node)


def _of_pod(route: str, cluster: str, namespace: str, name: str) -> str:
    made = route.replace("<str:cluster>", cluster).replace("<str:namespace>", namespace)
    return made.replace("<str:name>", name)


def all_asked(world: World) -> list[str]:
    plain = sorted({one for one in addresses(world) if not one.startswith(("/i18n", "/static"))})
    lists = [
        "/search",
        "/history",
        "/fit",
        "/api/v1/fit",
        "/api/v1/forecast",
        "/api/v1/waste",
        "/api/v1/waste?by=owner",
        *(f"/api/v1/{one.name}" for one in LISTS),
        "/api/v1/idle/sums",
        "/api/v1/namespaces/chargeback",
        "/namespaces",
        "/namespaces/chargeback",
        "/api/v1/summary",
    ]
    lists += [f"/api/v1/clusters/{SEEN}/history", "/", "/nodes", "/cards", "/allocations", "/allocations/pending"]
    lists += [
        "/allocations/idle",
        "/findings",
        "/components",
        "/components/list",
        "/validations",
        "/validations/campaigns",
        "/policies",
        "/silences",
        "/findings",
        "/policies/cards",
        "/out-of-service",
        "/out-of-service/cases",
        "/validations/new",
        "/clusters",
    ]
    histories = [f"/history?cluster={SEEN}&namespace=namespace-{OTHERS}", f"/history?cluster={UNSEEN}"]
    histories += [f"/palette?q={word}" for word in ("pod", "view", "namespace", OTHERS, ELSEWHERE)]
    orders = [
        f"/api/v1/{one.name}?ordering={sign}{name}"
        for one in LISTS
        for name in one.filterset.orders
        for sign in ("", "-")
    ]
    return [*plain, *(f"{path}?{query}" for path in lists for query in QUERIES), *histories, *orders]
