"""Every address of the pages: what is opened of it, or why nothing is. `Full` of `tests.browser.full` fills what they leave open."""

from __future__ import annotations

from collections.abc import Mapping

#: Longer than any column has room for, as the cluster allows it (63 of a namespace, 253 of a pod).
LONG_NAMESPACE = "research-on-very-large-language-models-of-the-second-generation"
LONG_POD = "training-of-a-very-large-model-with-a-name-that-somebody-generated-from-its-configuration-7f9c4d5b6-x2x4q"
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
    "campaign-targets": ("/validations/campaigns/{campaign}/targets",),
    "campaign-report": ("/validations/campaigns/{campaign}/report",),
    "card-runs": ("/validations/cards/{card}",),
    "run": (
        "/validations/runs/{passed}",
        "/validations/runs/{failed}",
        "/validations/runs/{running}",
        "/validations/runs/{queued}",
    ),
    "run-compare": ("/validations/compare?a={passed}&b={failed}", "/validations/compare?b={failed}"),
    "out-of-service": ("/out-of-service", "/out-of-service?tool=kubectl", "/out-of-service?q=nothing-is-called-so"),
    "cases": ("/out-of-service/cases", "/out-of-service/cases?q=nothing-is-called-so"),
    "case": ("/out-of-service/{wish}", "/out-of-service/{out}", "/out-of-service/{kept}"),
    "case-accept": ("/out-of-service/{wish}/accept", "/out-of-service/{wish}/accept?how=cordon"),
    "case-decline": ("/out-of-service/{wish}/decline",),
    "case-return": ("/out-of-service/{out}/return",),
    "results": ("/validations/results", "/validations/results?result_format=junit"),
    "result": ("/validations/results/{result}",),
    "policies": ("/policies", "/policies?q=nothing-is-called-so"),
    "policy-cards": ("/policies/cards", "/policies/cards?state=failed"),
    "policies-compare": ("/policies/compare", "/policies/compare?a=570.148.08&b=580.82.07", "/policies/compare?by=day"),
    "policy-new": ("/policies/new",),
    "policy": ("/policies/{policy}", "/policies/{unchecked}"),
    "policy-edit": ("/policies/{policy}/edit",),
    "policy-remove": ("/policies/{policy}/remove",),
    "policies-pause": ("/policies/pause-all",),
    "notifications": ("/notifications",),
    "channel": ("/notifications/channels/{channel}", "/notifications/channels/{failing}"),
    "channel-new": ("/notifications/channels/new", "/notifications/channels/new?kind={kind}"),
    "channel-edit": ("/notifications/channels/{channel}/edit",),
    "channel-remove": ("/notifications/channels/{channel}/remove",),
    "rule": ("/notifications/rules/{rule}",),
    "rule-new": ("/notifications/rules/new",),
    "rule-edit": ("/notifications/rules/{rule}/edit",),
    "rule-remove": ("/notifications/rules/{rule}/remove",),
    "deliveries": ("/notifications/deliveries", "/notifications/deliveries?state=waiting"),
    "delivery": ("/notifications/deliveries/{delivery}", "/notifications/deliveries/{uncertain}"),
    "silences": ("/silences", "/silences?ended=true"),
    "silence-new": ("/silences/new", "/silences/new?cluster=prod&node=gpu-00000"),
    "finding-acknowledge": ("/findings/{finding}/acknowledge",),
    "node-compare": ("/nodes/compare?a=prod/gpu-00000&b=prod/gpu-00001", "/nodes/compare?a=prod/gpu-00000"),
    "card-compare": ("/cards/compare?a={card}&b={gone}", "/cards/compare?a={card}"),
    "overview": ("/", "/?open=gpushare+·+Tesla-T4"),
    "map": ("/map", "/map?by=health&only=good", "/map?pool="),
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
    "idle": (
        "/allocations/idle",
        "/allocations/idle?waste=owner",
    ),
    "namespaces": ("/namespaces", "/namespaces?by=owner"),
    "chargeback": ("/namespaces/chargeback", "/namespaces/chargeback?by=owner"),
    "pod": ("/pods/prod/team-a/hungry", "/pods/prod/{namespace}/{pod}", "/pods/prod/team-a/claiming"),
    "fit": ("/fit", "/fit?cards=2&memory=8&all=1"),
    "history": ("/history?window=1h&cluster=prod", "/history?window=1h&cluster=prod&node=gpu-00003"),
    "audit": ("/audit",),
    "installation": ("/installation",),
    "administration": ("/administration",),
    "cluster-new": ("/administration/clusters/new",),
    "users": ("/users", "/users?q=nothing-is-called-so"),
    "user-new": ("/users/new",),
    "user": ("/users/{user}", "/users/{deactivated}"),
    "doc": ("/docs/access",),
    "words": ("/docs/words",),
    "keys": ("/keys",),
    "saved-views": ("/views", "/views?of=nodes&query=stack%3Dhami"),
    "suspects": ("/suspects", "/suspects?cluster=nope"),
    "findings": ("/findings", "/findings?severity=error"),
    "components": ("/components",),
    "component-list": (
        "/components/list",
        "/components/list?state=missing",
        "/components/list?columns=name,node,remedy,step",
    ),
    "clusters": ("/clusters",),
    "cluster": ("/clusters/prod",),
    "cluster-kubeconfig": ("/clusters/prod/kubeconfig",),
    "cluster-remove": ("/clusters/prod/remove",),
    "cluster-prepare": ("/clusters/prod/prepare", "/clusters/prod/prepare?stack=gpushare"),
    "api-docs": ("/api-docs",),
}
#: What pages say that are not there, or not for this question.
REFUSED = (
    "/nodes/prod/nope",
    "/nodes/compare?a=prod/gpu-00000&b=prod/gpu-00000",
    "/cards?min_free_bytes=much",
    "/nothing",
)
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
            *(
                "campaign-certificate",
                "policy-certificate",
                "policy-pause",
                "policies-resume",
                "quarantine-switch",
                "quarantine-reset",
            ),
            *("channel-test", "channel-pause", "rule-pause", "delivery-again", "silence-end"),
            *("run-cancel", "run-rerun", "run-reparse", "cluster-relist"),
            *("user-deactivate", "user-activate", "user-end-sessions", "user-end-tokens"),
            *("saved-view-rename", "saved-view-overwrite", "saved-view-remove"),
        ),
        "is posted to; the answer is another page",
    ),
    **dict.fromkeys(
        ("account-scope", "brief", "doc-picture", "palette", "run-log", "run-log-raw", "run-manifest"),
        "is a part of a page, or a file",
    ),
}
