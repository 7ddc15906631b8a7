"""Campaigns that credentials had paused go on when the clusters take them again: a token is renewed without a person."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from validations.models import Campaign, CampaignState, CampaignTarget, Launcher
from validations.permitted import credentials_refused


def resume_mended() -> int:
    """Go on with campaigns that credentials had paused, where each cluster takes them again. Returns how many.

    A person's word counts more: who pauses or stops such a campaign is obeyed (`campaigns.change`).
    """
    waiting = Campaign.objects.filter(resumes=True)
    if not waiting.exists():
        return 0
    refused = Launcher.objects.filter(credentials_refused()).values("cluster_id")
    left = CampaignTarget.objects.filter(campaign=OuterRef("pk"), run=None, skipped="", not_tested="")
    mended = waiting.filter(~Exists(left.filter(cluster_id__in=refused)), state=CampaignState.PAUSED)
    return mended.update(state=CampaignState.RUNNING, state_reason="", resumes=False, touched_at=Now())
