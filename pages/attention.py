"""What needs attention: one row for each cause, errors first. Findings by what they state, clusters whose data is not current, pods
without a node, cards whose validation failed or was on another driver, and those that are recommended to be taken out of service.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.roles import Role
from inventory.models import Finding
from inventory.queries import rows as querysets
from inventory.queries.causes import Cause, Spread, causes, number_of_causes, spreads
from inventory.queries.totals import PoolKey
from notifications.matching import silenced_now
from notifications.reading import failing
from pages.frame import amounts
from pages.frame.freshness import notices
from pages.frame.labels import pool_parts
from pages.frame.links import pod_url, with_filters, with_query
from pages.frame.recommended import Recommended, recommended
from pages.frame.worded import plain, worded
from pages.permission import may_campaign, may_quarantine
from pages.rows.findings import OF_FRESHNESS, CauseLine, FindingLine, cause_lines
from pages.words.names import short_model
from pages.words.runs import suite_title
from quarantine.models import QuarantineSwitch
from runtime.cached import shared
from stacks.engine.base import ERROR, INFO, WARNING
from validations import validity
from validations.validity_counts import Tally

SHOWN = 8


@dataclass(frozen=True)
class Attention:
    """what: the cause; where: its places. title: all that is known of it. action: what the link does; hint: the remedy.

    since: None where it is not known.
    """

    level: str
    what: str
    where: str
    title: str
    action: str
    url: str
    hint: str = ""
    since: datetime | None = None


def attention(
    request: HttpRequest, cluster_ids: Collection[int], several: bool, proofs: Mapping[PoolKey, Tally]
) -> tuple[list[Attention], int, int]:
    """The first rows, how many more there are, and how many causes are left out since all of their findings are silenced.

    Nine queries; two more where something is silenced, one for an administrator.
    several: whether the reader sees several clusters."""
    query = QueryDict(mutable=True)
    query.setlist("cluster", [name for name in request.GET.getlist("cluster") if name])
    rows = querysets.findings_now().filter(cluster_id__in=cluster_ids).exclude(severity=INFO)
    rows = rows.exclude(code__in=OF_FRESHNESS)
    found, number, spread, silenced = shared("causes", tuple(sorted(cluster_ids)), lambda: _causes(rows))
    lines = cause_lines(found, query)
    every = [
        *_channels(request),
        *_clusters(request, set(cluster_ids)),
        *_out_of_service(request, cluster_ids, query),
        *(_finding(line, where, several) for line, where in zip(lines, spread, strict=True)),
        *_validations(request, query, proofs),
        *_pending(cluster_ids, query),
    ]
    every.sort(key=lambda one: one.level != ERROR)
    return every[:SHOWN], max(0, len(every) - len(found) + number - SHOWN), silenced


def _causes(rows: QuerySet[Finding]) -> tuple[list[Cause], int, list[Spread], int]:
    quiet = silenced_now()
    if quiet is None:
        found, number = causes(rows, SHOWN)
        return found, number, spreads(rows, found), 0
    loud = rows.exclude(quiet)
    found, number = causes(loud, SHOWN)
    return found, number, spreads(loud, found), max(0, number_of_causes(rows) - number_of_causes(loud))


def _channels(request: HttpRequest) -> list[Attention]:
    """A row for each channel that no message reaches; administrators see channels."""
    if getattr(request, "role", None) != Role.ADMIN:
        return []
    return [
        Attention(
            level=ERROR,
            what=_("Notification channel failing"),
            where=row.name,
            title=row.answer,
            action=_("Show channel"),
            url=reverse("channel", args=[row.pk]),
            hint=row.answer,
            since=row.failing_since,
        )
        for row in failing()[:SHOWN]
    ]


def _clusters(request: HttpRequest, ids: set[int]) -> list[Attention]:
    """A row for what is the same of several clusters."""
    alike: dict[tuple[str, str], list[Any]] = {}
    for one in notices(request, ids):
        alike.setdefault((one.level, one.title), []).append(one)
    return [
        Attention(
            level=level,
            what=_("Cluster: %(state)s") % {"state": title},
            where=", ".join(one.cluster for one in own[:3]) + _and_more(len(own) - 3),
            title=plain(own[0].text),
            action=_("Show cluster") if len(own) == 1 else _("Show clusters"),
            url=reverse("cluster", args=[own[0].cluster]) if len(own) == 1 else reverse("clusters"),
            since=own[0].since or own[0].at,
        )
        for (level, title), own in alike.items()
    ]


def _and_more(number: int) -> str:
    return " " + _("and %(n)d more") % {"n": number} if number > 0 else ""


def _finding(line: CauseLine, spread: Spread, several: bool) -> Attention:
    cause, first = line.cause, line.first
    action, url = _to_one(first) if cause.count == 1 else ("", "")
    text = worded(first.row.text, first.row.wording)
    return Attention(
        level=cause.severity,
        what=line.what,
        where=_where(line, spread, several),
        title=f"{first.title}. {text}" if cause.count == 1 else f"{first.title}. {first.meaning}",
        action=action or _("Show findings"),
        url=url or line.url,
        hint=first.action,
        since=cause.since,
    )


def _to_one(line: FindingLine) -> tuple[str, str]:
    """The page of what one finding is of."""
    if line.card_url:
        return _("Show card"), line.card_url
    if line.pod_url:
        return _("Show pod"), line.pod_url
    if line.node_url:
        return _("Show node"), line.node_url
    return "", ""


def _where(line: CauseLine, spread: Spread, several: bool) -> str:
    """ "3 cards on a, b", "12 cards on 5 nodes"; of one finding its card, pod or node."""
    row, count = line.first.row, line.cause.count
    clusters = ngettext("%(n)d cluster", "%(n)d clusters", spread.clusters) % {"n": spread.clusters}
    cluster = clusters if spread.clusters > 1 else row.cluster.name
    if not spread.nodes:
        return row.pod or cluster
    nodes = ngettext("%(n)d node", "%(n)d nodes", spread.nodes) % {"n": spread.nodes}
    on = ", ".join(spread.names) if spread.names else nodes
    if count == 1:
        card = line.first.card
        place = " ".join(filter(None, (on, card))) + (f" · {row.pod}" if row.pod and not card else "")
    elif spread.cards >= spread.nodes:  # else some findings name no card
        place = ngettext("%(n)s card on %(nodes)s", "%(n)s cards on %(nodes)s", spread.cards) % {
            "n": amounts.count(spread.cards),
            "nodes": on,
        }
    else:
        place = on
    return f"{cluster} · {place}" if several else place


def _validations(request: HttpRequest, query: QueryDict, proofs: Mapping[PoolKey, Tally]) -> list[Attention]:
    """Cards whose last result is a failure, and those whose driver is another one than that of their pass."""
    made = []
    for state, level in ((validity.FAILED, ERROR), (validity.DRIVER_CHANGED, WARNING)):
        pools = {pool: tally.states[state] for (_cluster, pool), tally in sorted(proofs.items()) if tally.states[state]}
        number = sum(tally.states[state] for tally in proofs.values())
        if not number:
            continue
        models = list(dict.fromkeys(short_model(pool_parts(pool)[-1][0]) for pool in pools))
        url, action = with_filters(reverse("validations"), query, {}), _("Show runs")
        if state == validity.FAILED:
            what = ngettext("Validation failed on %(n)s card", "Validation failed on %(n)s cards", number)
            url = with_filters(reverse("validations"), query, {"verdict": "failed"})
        else:
            what = ngettext(
                "%(n)s card needs validation after a driver change",
                "%(n)s cards need validation after a driver change",
                number,
            )
            if may_campaign(request):
                nodes = query.copy()
                nodes.setlist("pool", list(pools))
                url, action = with_query(reverse("campaign-new"), nodes=nodes.urlencode()), _("Validate")
        where = ", ".join(models[:3]) + _and_more(len(models) - 3)
        made.append(Attention(level, what % {"n": amounts.count(number)}, where, ", ".join(pools), action, url))
    return made


def _out_of_service(request: HttpRequest, ids: Collection[int], query: QueryDict) -> list[Attention]:
    """All recommendations in one line; for administrators that the cap was reached."""
    found = [one for one in recommended() if one.cluster_id in ids]
    made = [_recommended(found, query)] if found else []
    switch = QuarantineSwitch.objects.filter(tripped_at__isnull=False).first() if may_quarantine(request) else None
    if switch is not None:
        made.append(
            Attention(
                level=WARNING,
                what=_("Policies stopped taking cards out of service"),
                where=_("cap reached"),
                title=worded(switch.said_tripped),
                action=_("Reset"),
                url=reverse("out-of-service"),
                since=switch.tripped_at,
            )
        )
    return made


def _recommended(found: list[Recommended], query: QueryDict) -> Attention:
    number, nodes = sum(one.number for one in found), sum(one.nodes for one in found)
    suites = sorted({suite_title(one.suite) for one in found})
    what = ngettext("%(n)s failed card to take out of service", "%(n)s failed cards to take out of service", number)
    on = ngettext("%(n)d node", "%(n)d nodes", nodes) % {"n": nodes}
    return Attention(
        level=ERROR,
        what=what % {"n": amounts.count(number)},
        # A node may have failed cards of several suites: it is counted where there is one suite alone.
        where=_("%(suite)s failed on %(nodes)s") % {"suite": suites[0], "nodes": found[0].node if nodes == 1 else on}
        if len(suites) == 1
        else " · ".join(suites[:3]) + _and_more(len(suites) - 3),
        title=_("The failure is confirmed. A person decides."),
        action=_("Decide"),
        url=with_filters(reverse("out-of-service"), query, {}),
        since=min(one.since for one in found),
    )


def _pending(ids: Collection[int], query: QueryDict) -> list[Attention]:
    names = {name: Min(name) for name in ("namespace", "name", "cluster__name")}
    found = (
        querysets.pods_pending()
        .filter(cluster_id__in=ids)
        .order_by()
        .aggregate(number=Count("id"), namespaces=Count("namespace", distinct=True), since=Min("created_at"), **names)
    )
    number, namespaces, pod = found["number"], found["namespaces"], f"{found['namespace']}/{found['name']}"
    if not number:
        return []
    of = ngettext("%(n)d namespace", "%(n)d namespaces", namespaces) % {"n": namespaces}
    url = pod_url(found["cluster__name"], found["namespace"], found["name"]) if number == 1 else ""
    return [
        Attention(
            level=WARNING,
            what=ngettext("%(n)s pod is pending", "%(n)s pods are pending", number) % {"n": amounts.count(number)},
            where=pod if number == 1 else found["namespace"] if namespaces == 1 else of,
            title=_("No node accepted the pod."),
            action=_("Show pod") if url else _("Show pods"),
            url=url or with_filters(reverse("pending"), query, {}),
            since=found["since"],
        )
    ]
