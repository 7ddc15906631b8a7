"""Campaigns: one suite on many places, some at a time, until done, stopped, or too many failed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case, Count, Exists, OuterRef, Q, When
from django.db.models.functions import Now

from audit.actions import Action
from audit.acts import act
from inventory.models import Card, Cluster
from runtime.clock import database_now
from validations.campaign_checks import Spot, check, ended_by
from validations.enqueue import soon
from validations.lifecycle.outage import LOST
from validations.models import ACTIVE, Campaign, CampaignState, CampaignTarget, Run
from validations.not_allowed import note_campaign
from validations.planning import Caution, Refused, RunDraft
from validations.reaching import settle
from validations.requests import Busy, KeyReused, NotAllowed, digest, request_run
from validations.software import CODE, causes, on_nodes
from wording.said import cut, sentence, stored

logger = logging.getLogger(__name__)

#: Targets that are started in one transaction, and seconds that one campaign goes on before the others have their turn.
AT_ONCE = 10
LOOKED_AT = 100
ADVANCE_S = 5.0
#: Verdicts that count against `stop_after_failures`.
FAILURES = ("failed", "errored")
_ALLOWED = {
    "pause": ((CampaignState.RUNNING,), CampaignState.PAUSED),
    "resume": ((CampaignState.PAUSED,), CampaignState.RUNNING),
    "stop": ((CampaignState.RUNNING, CampaignState.PAUSED), CampaignState.STOPPED),
}


class WrongState(Exception):
    """The campaign is not in a state from which this can be done."""


def create(
    suite: str,
    spots: Iterable[Spot],
    user: Any = None,
    *,
    name: str = "",
    options: dict[str, Any] | None = None,
    max_parallel: int = 4,
    stop_after_failures: int | None = None,
    selector: dict[str, Any] | None = None,
    key: str = "",
) -> tuple[Campaign, bool]:
    """A running campaign, and whether it is new. Raises Refused, with all problems of the list at once."""
    places = list(dict.fromkeys(spots))
    try:
        check(suite, places, options or {}, max_parallel, stop_after_failures)
    except Refused as error:
        note_campaign(name, error.codes, suite, options, error.words)
        raise
    said = digest([suite, places, name, options, max_parallel, stop_after_failures])
    if key and (earlier := Campaign.objects.filter(requested_by=user, request_key=key).first()):
        return _same(earlier, said), False
    row = Campaign(
        name=name[:200],
        suite=suite,
        options=options or {},
        selector=selector or {},
        max_parallel=max_parallel,
        stop_after_failures=stop_after_failures,
        requested_by=user,
        requested_by_name=user.get_username() if user else "",
        request_key=key,
        request_digest=said,
        created_at=(now := database_now()),
        touched_at=now,
    )
    try:
        parallel = max_parallel
        with act(Action.CAMPAIGN_CREATE, row.pk, name=row.name, suite=suite, places=len(places), parallel=parallel):
            row.save(force_insert=True)
            CampaignTarget.objects.bulk_create(_targets(row, places), batch_size=1000)
            soon("advance_campaign", row.pk)
    except IntegrityError:
        earlier = Campaign.objects.filter(requested_by=user, request_key=key).first() if key else None
        if earlier is None:
            raise
        return _same(earlier, said), False
    return row, True


def _same(earlier: Campaign, said: str) -> Campaign:
    if earlier.request_digest != said:
        raise KeyReused(
            f"This Idempotency-Key came before with another request (campaign {earlier.pk}); take a new key."
        )
    return earlier


def _targets(campaign: Campaign, wanted: list[Spot]) -> list[CampaignTarget]:
    ids = dict(Cluster.objects.values_list("name", "pk"))
    keys = _keys(wanted)
    places = list(
        dict.fromkeys((cluster, node, keys.get((cluster, node, card), card)) for cluster, node, card in wanted)
    )
    return [
        CampaignTarget(campaign=campaign, position=position, cluster_id=ids[cluster], node_name=node, card_key=card)
        for position, (cluster, node, card) in enumerate(places)
    ]


def _keys(places: list[Spot]) -> dict[Spot, str]:
    """Cards that are named by UUID or index → their keys: one query per cluster. A name of no card stays as it is."""
    found: dict[Spot, str] = {}
    for cluster in {place[0] for place in places if place[2]}:
        nodes = {node for name, node, card in places if name == cluster and card}
        rows = Card.objects.filter(cluster__name=cluster, removed_at=None).order_by("node_name", "index", "id")
        for node, key, uuid, index in rows.values_list("node_name", "key", "uuid", "index").iterator():
            if node in nodes:
                for name in (str(index), uuid):
                    found.setdefault((cluster, node, name), key)
                found[cluster, node, key] = key
    return found


def change(campaign: Campaign, verb: str) -> None:
    """pause, resume or stop. Runs under way go on. Raises WrongState."""
    allowed, new = _ALLOWED[verb]
    ended = Now() if new is CampaignState.STOPPED else None
    with act(Action.CAMPAIGN_CHANGE, campaign.pk, name=campaign.name, to=verb):
        rows = Campaign.objects.filter(pk=campaign.pk, state__in=allowed)
        if rows.update(state=new, state_reason="", resumes=False, touched_at=Now(), ended_at=ended, settled=False) != 1:
            campaign.refresh_from_db()
            raise WrongState(f"The campaign is {campaign.get_state_display()}; it cannot be made to {verb}.")
        soon("advance_campaign", campaign.pk)
    campaign.refresh_from_db()


def cautions(campaign: Campaign) -> list[Caution]:
    """What to know of the places that are left. At most four queries."""
    left = CampaignTarget.objects.filter(campaign=campaign, run=None, skipped="", not_tested="")
    found = causes(left.values_list("cluster_id", "node_name").distinct())
    if not found:
        return []
    clusters = dict(Cluster.objects.filter(pk__in={cluster for cluster, _ in found}).values_list("pk", "name"))
    component = next(iter(found.values())).component if len(found) == 1 else ""
    return [Caution(CODE, on_nodes(found, clusters), component=component)]


class Progress(dict[str, int]):
    """Places by the verdict of their run, by runs that are `active`, and those `left`, `skipped` and `not_tested`.

    Places are no cards where a place names none: how many cards were looked at is told by `validations.coverage`.
    """


def progress(campaign: Campaign) -> Progress:
    """Two queries."""
    targets = CampaignTarget.objects.filter(campaign=campaign)
    found = targets.aggregate(
        left=Count("pk", filter=Q(run=None, skipped="", not_tested="")),
        not_tested=Count("pk", filter=~Q(not_tested="")),
        skipped=Count("pk", filter=~Q(skipped="")),
        active=Count("pk", filter=Q(run__state__in=ACTIVE)),
        **{
            verdict: Count("pk", filter=Q(run__verdict=verdict))
            for verdict in ("passed", "warning", "failed", "errored")
        },
    )
    return Progress(found)


def failures_of(campaign_ids: Iterable[str]) -> dict[str, int]:
    """Campaign → places whose run failed or ended with an error; without those that have none. One query."""
    bad = CampaignTarget.objects.filter(campaign_id__in=list(campaign_ids), run__verdict__in=("failed", "errored"))
    return dict(bad.order_by().values_list("campaign_id").annotate(Count("pk")))


def settle_ended(campaign_id: str) -> None:
    """Put the last runs of a campaign that starts nothing more to the places of the cards that they took."""
    with transaction.atomic():
        if not Campaign.objects.filter(pk=campaign_id).update(touched_at=Now()):
            return
        campaign = Campaign.objects.get(pk=campaign_id)
        settle(campaign)
        over = campaign.state in (CampaignState.STOPPED, CampaignState.DONE)
        if over and not Run.objects.filter(campaign=campaign, state__in=ACTIVE).exists():
            Campaign.objects.filter(pk=campaign_id).update(settled=True)


def settle_safely(campaign_id: str) -> None:
    """The same; a mistake with one campaign is written to the log and stops no other. Raises errors of the connection."""
    try:
        settle_ended(campaign_id)
    except LOST:
        raise
    except Exception:
        logger.exception("campaign %s: its runs cannot be put to their places", campaign_id)
        Campaign.objects.filter(pk=campaign_id).exclude(state=CampaignState.RUNNING).update(settled=True)


def advance_safely(campaign_id: str) -> int:
    """`advance`; a mistake with one campaign ends it, with the reason, and stops no other. Raises errors of the connection."""
    try:
        return advance(campaign_id)
    except LOST:
        raise
    except Exception as error:
        logger.exception("campaign %s: stopped by a mistake", campaign_id)
        text = sentence(
            "Internal error in gpudash ({name}). The log of the tasks worker has the details.",
            name=type(error).__name__,
        )
        _close(campaign_id, CampaignState.STOPPED, text)
        return 0


def advance(campaign_id: str) -> int:
    """Start as many runs as may be at once, or end the campaign. Returns how many were started.

    After ADVANCE_S seconds the other campaigns have their turn; the next call goes on.
    """
    started, ends = 0, time.monotonic() + ADVANCE_S
    while (more := _start_some(campaign_id)) and time.monotonic() < ends:
        started += more
    return started + more


def _start_some(campaign_id: str) -> int:
    """A few targets in one transaction: the campaign's row is the lock, so that two workers do not start too many."""
    with transaction.atomic():
        running = Campaign.objects.filter(pk=campaign_id, state=CampaignState.RUNNING)
        if running.update(touched_at=Now()) != 1:
            return 0
        campaign = Campaign.objects.select_related("requested_by").get(pk=campaign_id)
        if why := ended_by(campaign):
            _close(campaign_id, CampaignState.STOPPED, why)
            return 0
        settle(campaign)
        counts = progress(campaign)
        failures = Run.objects.filter(campaign=campaign, verdict__in=FAILURES).count()
        if campaign.stop_after_failures is not None and failures >= campaign.stop_after_failures:
            _close(
                campaign_id,
                CampaignState.STOPPED,
                sentence("{failures} runs failed or ended with errors.", failures=failures),
            )
            return 0
        if not counts["left"]:
            if not counts["active"]:
                _close(campaign_id, CampaignState.DONE, "")
            return 0
        room = campaign.max_parallel - counts["active"]
        return _start_up_to(campaign, min(room, AT_ONCE))


def _close(campaign_id: str, state: CampaignState, reason: str) -> None:
    running = Campaign.objects.filter(pk=campaign_id, state=CampaignState.RUNNING)
    running.update(state=state, state_reason=reason, wording=stored(reason), ended_at=Now())


def _pause(campaign: Campaign, reason: str, resumes: bool) -> None:
    """The cluster refuses the launcher: that is no fault of the targets, which are kept for when it is mended."""
    paused = Campaign.objects.filter(pk=campaign.pk)
    paused.update(
        state=CampaignState.PAUSED, state_reason=cut(reason, 2000), wording=stored(reason, 2000), resumes=resumes
    )
    campaign.state = CampaignState.PAUSED


def _start_up_to(campaign: Campaign, most: int) -> int:
    """One place of a node in one go: the run that it gets may hold up the node's other places."""
    started, nodes = 0, set()
    for target in _waiting(campaign) if most > 0 else ():
        node = (target.cluster_id, target.node_name)
        if node in nodes:
            continue
        nodes.add(node)
        started += _start(campaign, target)
        if started >= most or campaign.state != CampaignState.RUNNING:
            break
    return started


def _waiting(campaign: Campaign) -> Iterable[CampaignTarget]:
    """The next targets whose place no other run holds, as far as can be told; a held one is tried again later.

    Where the card cannot be chosen, one run of a suite is on the node at a time. A place without a card on a node that is in use
    may be held or not: it comes last, so that it stands in nobody's way.
    """
    left = CampaignTarget.objects.filter(campaign=campaign, run=None, skipped="", not_tested="")
    here = Run.objects.filter(cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), state__in=ACTIVE)
    held = Exists(here.filter(card_key=OuterRef("card_key")))
    shared = Exists(here.filter(card_key="", suite=campaign.suite).exclude(card_requested=""))
    doubtful = Case(When(Exists(here), card_key="", then=1), default=0)
    return left.filter(~held, ~shared).select_related("cluster").order_by(doubtful, "position")[:LOOKED_AT]


def _start(campaign: Campaign, target: CampaignTarget) -> bool:
    """A target that does not fit is settled as skipped, with the reasons; one that is held by another run waits."""
    draft = RunDraft(
        suite=campaign.suite,
        cluster=target.cluster.name,
        node=target.node_name,
        card=target.card_key,
        options=campaign.options,
    )
    try:
        run, _ = request_run(draft, campaign.requested_by, campaign=campaign)
    except NotAllowed as error:
        _pause(campaign, error.args[0], error.passes)
        return False
    except Refused as error:
        CampaignTarget.objects.filter(pk=target.pk).update(
            skipped=cut(error.words, 2000), wording=stored(error.words, 2000)
        )
        return True
    except Busy:
        return False
    CampaignTarget.objects.filter(pk=target.pk).update(run=run)
    return True
