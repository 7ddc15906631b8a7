"""Sentences of ours in the reader's language: `{{ text|worded }}`, `{% worded_of run "card_note" %}`."""

from __future__ import annotations

from django import template

from pages.frame import worded as frame
from validations.models import Campaign, Run
from validations.models.run import said_of

register = template.Library()


@register.filter
def worded(text: str) -> str:
    """A sentence that was just made."""
    return frame.worded(text)


@register.simple_tag
def worded_of(run: Run, name: str) -> str:
    """A text of a run's row."""
    return frame.worded(getattr(run, name), said_of(run, name))


@register.simple_tag
def said_of_campaign(campaign: Campaign) -> str:
    """Why a campaign is in its state."""
    return frame.worded(campaign.state_reason, campaign.wording)
