"""Cards no longer validated, policies that cannot be met, and campaigns that ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max, Min, Q
from django.urls import reverse

from inventory.models.choices import Severity
from notifications.topics.topic import Topic, key_of, said
from validations.models import Campaign, CampaignState, Policy, PolicyCard, PolicyState
from validations.policies.standing import DRIVER, FAILED, IMAGE, MACHINE, PARSER, REBOOTED
from wording.said import Said, sentence

VALIDATION, POLICY, CAMPAIGN = "validation", "policy", "campaign"
#: A campaign that ended longer ago is no news.
NEWS = timedelta(days=1)
_CHANGED = {
    DRIVER: sentence("the driver changed"),
    REBOOTED: sentence("the node was rebooted"),
    MACHINE: sentence("the machine was replaced"),
    IMAGE: sentence("the image of the suite changed"),
    PARSER: sentence("the parser of the suite changed"),
}


def validation(severities: Sequence[str], _codes: Sequence[str], _at: datetime) -> Iterator[Topic]:
    """By policy, cluster and cause: failures that are confirmed, and passes that a change made void. One query.

    A pass that only became too old is tested again by the policy: no news.
    """
    wanted = Q()
    if Severity.ERROR in severities:
        wanted |= Q(state=PolicyState.FAILED, reason=FAILED)
    if Severity.WARNING in severities:
        wanted |= Q(state__in=(PolicyState.DUE, PolicyState.RUNNING), reason__in=list(_CHANGED))
    if not wanted:
        return
    groups = (
        PolicyCard.objects.filter(wanted, policy__in=Policy.objects.all())
        .order_by()
        .values("policy_id", "policy__name", "cluster__name", "state", "reason")
        .annotate(count=Count("id"), newest=Max("since"), since=Min("since"), first=Min("node_name"))
    )
    for one in groups:
        yield _lost(one)


def _lost(group: dict[str, Any]) -> Topic:
    failed, policy, cluster = group["state"] == PolicyState.FAILED, group["policy__name"], group["cluster__name"]
    text: Said
    if failed:
        text = sentence("Validation failed under the policy {policy}", policy=policy)
    else:
        text = sentence(
            "Validation lost under the policy {policy}: {why}", policy=policy, why=_CHANGED[group["reason"]]
        )
    return Topic(
        key=key_of(VALIDATION, group["policy_id"], cluster, group["reason"]),
        about=VALIDATION,
        code="validation-failed" if failed else "validation-lost",
        severity=Severity.ERROR.value if failed else Severity.WARNING.value,
        count=group["count"],
        loud=group["count"],
        newest=int(group["newest"].timestamp() * 1_000_000),
        since=group["since"].isoformat(),
        places=(f"{cluster}/{group['first']}",) if group["count"] == 1 else (),
        cluster=cluster,
        link=f"{reverse('policy', args=[group['policy_id']])}?{urlencode({'state': group['state']})}",
        **said(text),
    )


def policies(severities: Sequence[str], _codes: Sequence[str], at: datetime) -> Iterator[Topic]:
    """Policies that start nothing although cards are due. One query."""
    if Severity.WARNING not in severities:
        return
    for one in Policy.objects.filter(paused=False).exclude(held="").order_by("pk"):
        if one.said_held:  # empty for who does not see all that the policy covers
            yield Topic(
                key=key_of(POLICY, one.pk),
                about=POLICY,
                code="policy-held",
                severity=Severity.WARNING.value,
                since=(one.evaluated_at or at).isoformat(),
                link=reverse("policy", args=[one.pk]),
                **said(sentence("Policy {policy} cannot be met: {why}", policy=one.name, why=one.said_held)),
            )


def campaigns(severities: Sequence[str], _codes: Sequence[str], at: datetime) -> Iterator[Topic]:
    """Campaigns that ended lately, each once. Two queries."""
    rows = Campaign.objects.filter(ended_at__gt=at - NEWS, state__in=(CampaignState.DONE, CampaignState.STOPPED))
    bad = dict(
        rows.filter(targets__run__verdict__in=("failed", "errored"))
        .order_by()
        .values_list("pk")
        .annotate(Count("targets"))
    )
    for one in rows.order_by("pk"):
        number, stopped = bad.get(one.pk, 0), one.state == CampaignState.STOPPED
        severity = Severity.WARNING if number or stopped else Severity.INFO
        if severity in severities:
            ended = (
                sentence("Campaign {name} was stopped", name=str(one))
                if stopped
                else sentence("Campaign {name} ended: {number} cards failed or errored", name=str(one), number=number)
            )
            yield Topic(
                key=key_of(CAMPAIGN, one.pk),
                about=CAMPAIGN,
                code="campaign-ended",
                severity=severity.value,
                since=(one.ended_at or at).isoformat(),
                link=reverse("campaign", args=[one.pk]),
                once=True,
                **said(ended),
            )
