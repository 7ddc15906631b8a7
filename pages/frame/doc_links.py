"""The document of each page, linked from its foot."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest
from django.urls import reverse

#: Name of a page's address → name of its document. A test covers all pages.
DOC_OF = {
    "overview": "numbers",
    "map": "numbers",
    "brief": "numbers",
    "nodes": "numbers",
    "node": "health",
    "node-compare": "lists",
    "cards": "numbers",
    "card": "health",
    "card-compare": "lists",
    "allocations": "numbers",
    "pending": "pods",
    "pod": "pods",
    "idle": "usage",
    "history": "usage",
    "namespaces": "chargeback",
    "chargeback": "chargeback",
    "fit": "find-room",
    "validations": "validations",
    "validation-new": "validations",
    "suites": "validations",
    "run": "reference/verdicts",
    "run-compare": "validations",
    "run-log": "reference/verdicts",
    "run-manifest": "validations",
    **dict.fromkeys(
        (
            *("policies", "policy", "policy-new", "policy-edit", "policy-remove", "policy-cards", "policies-pause"),
            "policies-compare",
        ),
        "policies",
    ),
    **dict.fromkeys(
        ("out-of-service", "cases", "case", "case-accept", "case-decline", "case-return"),
        "out-of-service",
    ),
    "campaigns": "validations",
    "campaign": "validations",
    "campaign-targets": "validations",
    "campaign-new": "validations",
    "campaign-report": "validations",
    "card-runs": "validations",
    "results": "results",
    "result": "results",
    "findings": "reference/findings",
    "suspects": "health",
    **dict.fromkeys(
        (
            *("notifications", "channel", "channel-new", "channel-edit", "channel-remove", "deliveries", "delivery"),
            *("rule", "rule-new", "rule-edit", "rule-remove", "silences", "silence-new", "finding-acknowledge"),
        ),
        "notifications",
    ),
    "components": "components",
    "component-list": "components",
    "clusters": "connect-a-cluster",
    "cluster": "troubleshooting",
    "cluster-prepare": "prepare",
    "cluster-new": "connect-a-cluster",
    "cluster-kubeconfig": "connect-a-cluster",
    "cluster-remove": "connect-a-cluster",
    "account": "access",
    "account-password": "access",
    "account-two-factor": "access",
    "account-tokens": "access",
    "users": "access",
    "user": "access",
    "user-new": "access",
    "audit": "access",
    "administration": "team",
    "installation": "troubleshooting",
    "search": "lists",
    "keys": "lists",
    "saved-views": "lists",
    "saved-view": "lists",
    "doc": "numbers",
    "words": "numbers",
    "api-docs": "rest",
}


class DocLink(NamedTuple):
    title: str
    url: str


def doc_link(request: HttpRequest) -> DocLink | None:
    """None if the installation has no documents, or the address is not a page."""
    from pages.docs import titles  # it renders within this frame

    here = request.resolver_match.url_name if request.resolver_match else ""
    name = DOC_OF.get(here or "", "")
    title = dict(titles()).get(name)
    return None if title is None else DocLink(title, reverse("doc", args=[name]))
