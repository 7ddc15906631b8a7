"""Campaigns: one suite on many places, some at a time, until done, stopped, or too many failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.utils import timezone

from inventory.models import Card, Cluster, Node
from validations.enqueue import soon
from validations.models import ACTIVE, Campaign, CampaignState, CampaignTarget, Run
from validations.permitted import check_soon, forbidden
from validations.planning import Refused, Wish, find_suite
from validations.reaching import settle
from validations.requests import Busy, KeyReused, NotAllowed, digest, request_run
from validations.suites.base import OptionError

MOST_TARGETS = 10_000
MOST_PARALLEL = 1_000
#: Verdicts that count against `stop_after_failures`.
FAILURES = ("failed", "errored")
_ALLOWED = {
    "pause": ((CampaignState.RUNNING,), CampaignState.PAUSED),
    "resume": ((CampaignState.PAUSED,), CampaignState.RUNNING),
    "stop": ((CampaignState.RUNNING, CampaignState.PAUSED), CampaignState.STOPPED),
}


class WrongState(Exception):
    """The campaign is not in a state from which this can be done."""


#: (cluster name, node, card key or "")
Spot = tuple[str, str, str]


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
    _check(suite, places, options or {}, max_parallel, stop_after_failures)
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
        created_at=timezone.now(),
        touched_at=timezone.now(),
    )
    try:
        with transaction.atomic():
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


def _check(suite: str, places: list[Spot], options: dict[str, Any], parallel: int, failures: int | None) -> None:
    problems: dict[str, list[str]] = {}
    found = find_suite(suite)
    try:
        found.settle(options)
    except OptionError as error:
        problems |= {f"options.{name}": [text] for name, text in error.problems.items()}
    if not 1 <= parallel <= MOST_PARALLEL:
        problems["max_parallel"] = [f"A number from 1 to {MOST_PARALLEL} is wanted."]
    if failures is not None and not 1 <= failures <= MOST_TARGETS:
        problems["stop_after_failures"] = [f"A number from 1 to {MOST_TARGETS} is wanted, or nothing."]
    if not places or len(places) > MOST_TARGETS:
        problems["targets"] = [f"{len(places)} targets; from 1 to {MOST_TARGETS} are wanted."]
    elif missing := _missing(places):
        problems["targets"] = [f"There is no node {', '.join(missing[:10])} now ({len(missing)} in all)."]
    elif refused := _refused(places):
        problems["targets"] = refused
    if problems:
        raise Refused(problems)


def _refused(places: list[Spot]) -> list[str]:
    """Why clusters of the targets are known to refuse every launch."""
    found = []
    for cluster in Cluster.objects.filter(name__in={place[0] for place in places}):
        if reason := forbidden(cluster):
            check_soon(cluster)
            found.append(f"Cluster {cluster.name}: {reason.text} ({reason.code})")
    return found


def _missing(places: list[Spot]) -> list[str]:
    """Targets whose cluster or node is not there: one query per cluster."""
    missing = []
    for cluster in {place[0] for place in places}:
        known = set(Node.objects.filter(cluster__name=cluster).values_list("name", flat=True))
        missing += [f"{cluster}/{node}" for name, node, _ in places if name == cluster and node not in known]
    return sorted(missing)


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
        rows = Card.objects.filter(cluster__name=cluster, gone_at=None).order_by("node_name", "index", "id")
        for node, key, uuid, index in rows.values_list("node_name", "key", "uuid", "index").iterator():
            if node in nodes:
                for name in (str(index), uuid):
                    found.setdefault((cluster, node, name), key)
                found[cluster, node, key] = key
    return found


def change(campaign: Campaign, verb: str) -> None:
    """pause, resume or stop. Runs under way go on. Raises WrongState."""
    allowed, new = _ALLOWED[verb]
    ended = timezone.now() if new is CampaignState.STOPPED else None
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=campaign.pk, state__in=allowed)
        if rows.update(state=new, state_reason="", touched_at=timezone.now(), ended_at=ended) != 1:
            campaign.refresh_from_db()
            raise WrongState(f"The campaign is {campaign.get_state_display()}; it cannot be made to {verb}.")
        soon("advance_campaign", campaign.pk)
    campaign.refresh_from_db()


class Progress(dict[str, int]):
    """Places by the verdict of their run, by runs that are `active`, and those `left`, `skipped` and `not_reached`.

    Places are no cards where a place names none: how many cards were looked at is told by `validations.coverage`.
    """


def progress(campaign: Campaign) -> Progress:
    """Two queries."""
    targets = CampaignTarget.objects.filter(campaign=campaign)
    found = targets.aggregate(
        left=Count("pk", filter=Q(run=None, skipped="", not_reached="")),
        not_reached=Count("pk", filter=~Q(not_reached="")),
        skipped=Count("pk", filter=~Q(skipped="")),
        active=Count("pk", filter=Q(run__state__in=ACTIVE)),
        **{
            verdict: Count("pk", filter=Q(run__verdict=verdict))
            for verdict in ("passed", "warning", "failed", "errored")
        },
    )
    return Progress(found)


def settle_ended(campaign_id: str) -> None:
    """Put the last runs of a campaign that starts nothing more to the places of the cards that they took."""
    with transaction.atomic():
        if Campaign.objects.filter(pk=campaign_id).update(touched_at=timezone.now()):
            settle(Campaign.objects.get(pk=campaign_id))


def advance(campaign_id: str) -> int:
    """Start as many runs as may be at once, or end the campaign. Returns how many were started."""
    started = 0
    while _start_one(campaign_id):
        started += 1
    return started


def _start_one(campaign_id: str) -> bool:
    """One target in one transaction: the campaign's row is the lock, so that two workers do not start too many."""
    with transaction.atomic():
        running = Campaign.objects.filter(pk=campaign_id, state=CampaignState.RUNNING)
        if running.update(touched_at=timezone.now()) != 1:
            return False
        campaign = Campaign.objects.select_related("requested_by").get(pk=campaign_id)
        settle(campaign)
        counts = progress(campaign)
        failures = Run.objects.filter(campaign=campaign, verdict__in=FAILURES).count()
        if campaign.stop_after_failures is not None and failures >= campaign.stop_after_failures:
            _close(campaign, CampaignState.STOPPED, f"{failures} runs did not pass.")
            return False
        if not counts["left"]:
            if not counts["active"]:
                _close(campaign, CampaignState.DONE, "")
            return False
        if counts["active"] >= campaign.max_parallel:
            return False
        return any(_start(campaign, target) for target in _waiting(campaign))


def _close(campaign: Campaign, state: CampaignState, reason: str) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state=state, state_reason=reason, ended_at=timezone.now())


def _pause(campaign: Campaign, reason: str) -> None:
    """The cluster refuses the launcher: that is no fault of the targets, which are kept for when it is mended."""
    Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.PAUSED, state_reason=reason[:2000])


def _waiting(campaign: Campaign) -> Iterator[CampaignTarget]:
    """The next targets whose place no other run holds, as far as can be told; a held one is tried again later."""
    left = CampaignTarget.objects.filter(campaign=campaign, run=None, skipped="", not_reached="")
    active = Run.objects.filter(state__in=ACTIVE)
    held = set(active.values_list("cluster_id", "node_name", "card_key"))
    # Where the card cannot be chosen, one run of a suite is on the node at a time.
    asked = active.filter(card_key="", suite=campaign.suite).exclude(card_asked="")
    shared = set(asked.values_list("cluster_id", "node_name"))
    for target in left.select_related("cluster").order_by("position")[:500]:
        node = (target.cluster_id, target.node_name)
        if (*node, target.card_key) not in held and node not in shared:
            yield target


def _start(campaign: Campaign, target: CampaignTarget) -> bool:
    """A target that does not fit is settled as skipped, with the reasons; one that is held by another run waits."""
    wish = Wish(
        suite=campaign.suite,
        cluster=target.cluster.name,
        node=target.node_name,
        card=target.card_key,
        options=campaign.options,
    )
    try:
        run, _ = request_run(wish, campaign.requested_by, campaign=campaign)
    except NotAllowed as error:
        _pause(campaign, str(error))
        return True
    except Refused as error:
        CampaignTarget.objects.filter(pk=target.pk).update(skipped=error.words[:2000])
        return True
    except Busy:
        return False
    CampaignTarget.objects.filter(pk=target.pk).update(run=run)
    return True
