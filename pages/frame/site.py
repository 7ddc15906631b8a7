"""All pages: where each stands in the navigation, the document that its foot links, and whether one cluster can be chosen for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


class Below(NamedTuple):
    """A page below one of the navigation, by the name of its address. doc: "" for the one of the page above."""

    name: str
    doc: str = ""
    by_cluster: bool = False


class Page(NamedTuple):
    """One entry. letter: "g" and this letter lead there. by_cluster: it takes `?cluster=`."""

    name: str
    title: Promise | str
    letter: str
    doc: str
    below: tuple[Below, ...] = ()
    by_cluster: bool = True
    for_administrators: bool = False


def _below(*names: str, doc: str = "") -> Iterator[Below]:
    return (Below(name, doc) for name in names)


#: Pages of the one cluster that their address names.
OF_CLUSTER = frozenset(("cluster", "cluster-kubeconfig", "cluster-prepare", "cluster-remove"))
#: Title of a group ("" for none) and its pages. A page whose URL does not resolve is left out.
NAVIGATION: tuple[tuple[Promise | str, tuple[Page, ...]], ...] = (
    ("", (Page("overview", gettext_lazy("Overview"), "o", "numbers", (Below("history", "usage", by_cluster=True),)),)),
    (
        gettext_lazy("Capacity"),
        (
            Page(
                "nodes",
                gettext_lazy("Nodes"),
                "n",
                "numbers",
                (Below("node", "health"), Below("node-compare", "lists")),
            ),
            Page(
                "cards",
                gettext_lazy("Cards"),
                "c",
                "numbers",
                (Below("card", "health"), Below("card-compare", "lists")),
            ),
            Page("map", gettext_lazy("Heat map"), "h", "numbers"),
            Page("fit", gettext_lazy("Find capacity"), "t", "find-room"),
        ),
    ),
    (
        gettext_lazy("Workloads"),
        (
            Page(
                "allocations",
                gettext_lazy("Allocations"),
                "a",
                "numbers",
                (Below("idle", "usage", by_cluster=True), Below("pod", "pods")),
            ),
            Page("pending", gettext_lazy("Pending"), "e", "pods"),
            Page("namespaces", gettext_lazy("Namespaces"), "m", "chargeback"),
            Page("chargeback", gettext_lazy("Chargeback"), "b", "chargeback"),
        ),
    ),
    (
        gettext_lazy("Health"),
        (
            Page(
                "findings",
                gettext_lazy("Findings"),
                "f",
                "reference/findings",
                tuple(_below("silences", "silence-new", "finding-acknowledge", doc="notifications")),
            ),
            Page(
                "components",
                gettext_lazy("Components"),
                "p",
                "components",
                (Below("component-list", by_cluster=True),),
            ),
            Page(
                "validations",
                gettext_lazy("Validations"),
                "v",
                "validations",
                (
                    Below("run", "reference/verdicts"),
                    *_below("run-compare", "campaigns", "campaign", "campaign-targets", "campaign-new", "suites"),
                    *_below("validation-new", "card-runs"),
                    Below("results", "results", by_cluster=True),
                    Below("result", "results"),
                ),
            ),
            Page(
                "policies",
                gettext_lazy("Policies"),
                "y",
                "policies",
                (
                    *_below("policy", "policy-new", "policy-edit", "policy-remove", "policies-pause"),
                    Below("policy-cards", by_cluster=True),
                    Below("policies-compare", by_cluster=True),
                ),
            ),
            Page(
                "out-of-service",
                gettext_lazy("Out of service"),
                "s",
                "out-of-service",
                (Below("cases", by_cluster=True), *_below("case", "case-accept", "case-decline", "case-return")),
            ),
        ),
    ),
    (
        gettext_lazy("Settings"),
        (
            Page(
                "clusters",
                gettext_lazy("Clusters"),
                "l",
                "connect-a-cluster",
                (
                    Below("cluster", "troubleshooting"),
                    Below("cluster-prepare", "prepare"),
                    *_below("cluster-new", "cluster-kubeconfig", "cluster-remove"),
                ),
                by_cluster=False,
            ),
            Page(
                "notifications",
                gettext_lazy("Notifications"),
                "i",
                "notifications",
                (
                    *_below("channel", "channel-new", "channel-edit", "channel-remove", "deliveries", "delivery"),
                    *_below("rule", "rule-new", "rule-edit", "rule-remove"),
                ),
                by_cluster=False,
                for_administrators=True,
            ),
            Page(
                "administration",
                gettext_lazy("Administration"),
                "d",
                "team",
                (*_below("users", "user", "user-new", "audit", doc="access"), Below("installation", "troubleshooting")),
                by_cluster=False,
                for_administrators=True,
            ),
        ),
    ),
)
#: Pages that the navigation does not have.
_ELSEWHERE = (
    *_below("brief", "doc", "words", doc="numbers"),
    Below("run-log", "reference/verdicts"),
    *_below("run-manifest", "campaign-report", doc="validations"),
    Below("suspects", "health"),
    *_below("account", "account-password", "account-two-factor", "account-tokens", doc="access"),
    *_below("search", "keys", "saved-views", "saved-view", doc="lists"),
    Below("api-docs", "rest"),
)


def _all() -> Iterator[Below]:
    for _, pages in NAVIGATION:
        for page in pages:
            yield Below(page.name, page.doc, page.by_cluster)
            yield from (one._replace(doc=one.doc or page.doc) for one in page.below)
    yield from _ELSEWHERE


#: Name of a page's address → its document.
DOC_OF = {one.name: one.doc for one in _all()}
#: Pages that one cluster may be chosen for (`?cluster=`).
BY_CLUSTER = frozenset(one.name for one in _all() if one.by_cluster)
