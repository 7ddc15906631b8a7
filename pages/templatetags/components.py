"""Components in templates: what they are called, and how they changed."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from inventory.components.steps import FAILED
from inventory.models import Component, ComponentChange
from pages.frame.worded import named
from pages.sections.rollouts import is_stuck
from pages.words.components import state_of, title_of

register = template.Library()


@register.filter
def component_title(name: str) -> SafeString:
    """What a component is called."""
    return title_of(name)


@register.filter
def change_words(change: ComponentChange) -> SafeString:
    """What changed: state, version, step; each from → to."""
    pairs = (
        ("", _state(change.state_before, _("absent")), _state(change.state_after, _("removed"))),
        (_("version"), named(change.version_before), named(change.version_after)),
        (_("step"), named(change.step_before), named(change.step_after)),
    )
    changed = [(title, before or "–", after or "–") for title, before, after in pairs if before != after]
    return format_html_join(" · ", "{}", ((_arrow(*one),) for one in changed))


def _arrow(title: str, before: str, after: str) -> SafeString:
    return format_html("{} {} → {}", title, before, after) if title else format_html("{} → {}", before, after)


def _state(state: str, none: str) -> str:
    return state_of(state) if state else none


@register.filter
def stuck(row: Component) -> bool:
    """Whether its MIG change waits for nothing any more."""
    return is_stuck(row)


@register.filter
def held_level(row: Component) -> str:
    """Of the sign of a node that is at a step."""
    return "error" if row.step in FAILED or is_stuck(row) else "info"
