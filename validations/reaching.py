"""Do the runs of a campaign reach the cards that it asks for? What a run took is put to the place of that card, not to its own.

Called by `validations.campaigns` under the lock of the campaign's row. Where the card of a run cannot be chosen but is known
afterwards, the place is tried again; where it is never known, or no new card comes up for too long, the places of the node are
settled as not reached, with the reason.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from stacks.engine.base import COUNT_ONLY
from validations.models import SAYS, Campaign, CampaignState, CampaignTarget, Run, State
from validations.models.run import said_of
from wording.said import known, restored, sentence, stored

#: Runs that have ended with a result, or on a card, other than that of their place; their places are to be settled anew.
STRAY = (
    Q(run__state=State.ENDED)
    & ~Q(card_key="")
    & ~Q(run__card_requested="")
    & ~Q(run__card_key=F("run__card_requested"))
    & (Q(run__verdict__in=SAYS) | ~Q(run__card_key=""))
)


MOST = 200


def took_another(target: CampaignTarget) -> bool:
    """The same of one row with its run: until it is settled, the verdict of its run is not that of its card."""
    run = target.run
    if run is None or run.state != State.ENDED or not target.card_key or not run.card_requested:
        return False
    return run.card_key != run.card_requested and (run.verdict in SAYS or bool(run.card_key))


def settle(campaign: Campaign) -> None:
    """Look at the runs that have ended on another card than their place's, or on no known one. One query when there is none.

    At most MOST of them; the rest at the next call.
    """
    strays = CampaignTarget.objects.filter(STRAY, campaign=campaign)
    for target in strays.select_related("run").order_by("position")[:MOST]:
        _settle_one(campaign, target)


def with_strays() -> list[str]:
    """Ids of campaigns that start nothing more and whose runs do not all stand at their places: they went on to their end."""
    found = Campaign.objects.filter(settled=False).exclude(state=CampaignState.RUNNING)
    paused = Q(state=CampaignState.PAUSED) & ~Exists(CampaignTarget.objects.filter(STRAY, campaign=OuterRef("pk")))
    return list(found.exclude(paused).order_by("touched_at", "id").values_list("pk", flat=True)[:100])


def _settle_one(campaign: Campaign, target: CampaignTarget) -> None:
    run = target.run
    assert run is not None
    mine = CampaignTarget.objects.filter(campaign=campaign, cluster_id=target.cluster_id, node_name=target.node_name)
    own = CampaignTarget.objects.filter(pk=target.pk)
    own.update(run=_earlier(campaign, target), tried=run)
    if run.card_key:
        _give(mine, run)
    if campaign.state in (CampaignState.STOPPED, CampaignState.DONE):
        took = sentence("card {key}", key=run.card_key) if run.card_key else sentence("an unidentified card")
        why = sentence("Run {pk} tested {took}, but the campaign had ended.", pk=run.pk, took=took)
        own.filter(run=None).update(not_tested=why, wording=stored(why))
    elif reason := _hopeless(campaign, mine, run):
        left = mine.filter(run=None, skipped="", not_tested="").exclude(card_key="")
        left.update(not_tested=reason, wording=stored(reason), tried=run)


def _earlier(campaign: Campaign, target: CampaignTarget) -> Run | None:
    """A run for another place that took this place's card while a run for this one was under way."""
    runs = Run.objects.filter(campaign=campaign, cluster_id=target.cluster_id, node_name=target.node_name)
    free = runs.filter(card_key=target.card_key, verdict__in=SAYS, campaign_target=None)
    return free.order_by("ended_at", "id").first()


def _give(mine: QuerySet[CampaignTarget], run: Run) -> None:
    """The run is that of the card which it took. A failure is never covered by another run on the same card."""
    place = mine.filter(card_key=run.card_key).select_related("run").first()
    if place is None:
        return
    old = place.run
    if old is None or (old.verdict not in ("failed", None) and run.verdict == "failed"):
        CampaignTarget.objects.filter(pk=place.pk).update(run=run, skipped="", not_tested="")


def _hopeless(campaign: Campaign, mine: QuerySet[CampaignTarget], run: Run) -> str:
    """Why no more runs are made on this node for cards that were not reached; "" when another may reach one."""
    if not run.card_key and run.card_evidence == COUNT_ONLY:
        return sentence(
            "{card_note} Run {pk} {verdict} on an unidentified card of the node. More runs cannot identify the cards.",
            card_note=restored(run.card_note, said_of(run, "card_note")),
            pk=run.pk,
            verdict=known(run.verdict or ""),
        )
    cards = mine.exclude(card_key="").count()
    most = 2 * cards + 2
    futile = _futile(campaign, run)
    if futile < most:
        return ""
    return sentence(
        "{futile} consecutive runs on this node tested no new card. Last run: {pk}.",
        futile=futile,
        pk=run.pk,
    )


def _futile(campaign: Campaign, run: Run) -> int:
    """How many of the campaign's last runs on this node reached no new card."""
    runs = Run.objects.filter(campaign=campaign, cluster_id=run.cluster_id, node_name=run.node_name, state=State.ENDED)
    seen: set[str] = set()
    futile = 0
    for card in runs.order_by("ended_at", "id").values_list("card_key", flat=True):
        futile = futile + 1 if not card or card in seen else 0
        seen.add(card)
    return futile
