"""What pages of the inventory show of validations: proof badges, the "proven good" figure, the last runs.

The inventory's templates load this library; its code knows nothing of it. Each tag asks a constant number of queries for a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from inventory.models import Card, NodeTotals
from inventory.models.choices import CardState
from pages.charts.tiles import Tile
from pages.frame.links import with_query
from pages.permission import may_campaign
from pages.sections import reported
from pages.sections.answer import FRESH_DAYS
from pages.sections.campaign_grid import Cell
from pages.sections.campaign_lines import TargetLine
from pages.sections.policy_lines import CardLine, card_line
from pages.templatetags.units import ago, sign_word
from pages.words import runs as words
from stacks.engine.base import ERROR
from validations import validity, validity_counts
from validations.policies import reading
from validations.validity import Validity

register = template.Library()

#: Level of the sign, sign and words of each state.
_LOOKS = {
    validity.VALIDATED: ("good", "✓"),
    validity.FAILED: ("error", "✕"),
    validity.DRIVER_CHANGED: ("warning", "!"),
    validity.RAN: ("none", "·"),
    validity.DETECTED: ("none", "·"),
    validity.NEVER: ("none", "·"),
}


@register.filter
def shown_sign(shown: words.Shown) -> SafeString:
    """The sign of a verdict or state; its word stands beside it."""
    return format_html('<span class="sign {}" aria-hidden="true">{}</span>', shown.level, shown.sign)


@register.simple_tag
def sign_as(level: str, sign: str) -> SafeString:
    """A sign by its level, beside words."""
    return format_html('<span class="sign {}" aria-hidden="true">{}</span>', level, sign)


@register.simple_tag
def campaign_cell(cell: Cell, node: str) -> SafeString:
    """A card in the grid of a campaign: its sign, linked to its run; a card that is no target is an empty cell."""
    if cell.line is None:
        return format_html('<i class="left-out" title="{}"></i>', cell.words)
    sign = format_html('{}<span class="unseen">{} {}</span>', shown_sign(cell.line.shown), node, cell.words)
    run = cell.line.run.url if cell.line.run else _tried(cell.line)
    if not run:
        return format_html('<span class="cell" title="{}">{}</span>', cell.words, sign)
    return format_html('<a class="cell" href="{}" title="{}">{}</a>', run, cell.words, sign)


def _tried(line: TargetLine) -> str:
    """The last run that was made for the card and took another."""
    return reverse("run", args=[line.row.tried_id]) if line.row.tried_id else ""


@register.simple_tag
def reported_of_card(card: Card) -> reported.Reported:
    """What other tools reported of a card, newest first. One query."""
    return reported.of_card(card)


@register.simple_tag
def reported_of_node(totals: NodeTotals) -> reported.Reported:
    """What other tools reported of a node itself, newest first. One query."""
    return reported.of_node(totals)


@register.simple_tag
def validities_of(rows: Iterable[Any]) -> dict[int, Validity]:
    """Proofs of all cards of a page by card id; rows have an `id`. One query."""
    return validity.of_cards([row.id for row in rows])


@register.simple_tag
def validities_of_tiles(card_ids: list[int]) -> dict[int, Validity]:
    """The same of cards that are drawn as tiles, with what their titles need."""
    return validity_counts.of_cards(card_ids)


@register.simple_tag
def validity_badge(validities: Mapping[int, Validity], card_id: int, *card: str) -> SafeString:
    """Proven when, by what, or why not: a sign, words, and the run that says so. card: its names, which the link is told apart by."""
    found = validities.get(card_id)
    return badge(found, ", ".join(card)) if found is not None else SafeString("")


def badge(found: Validity, card: str = "") -> SafeString:
    """A sign, and when it was validated; else in a word why it is not. The run and the sentence are one step away."""
    level, sign = _look(found)
    run_id, moment = _said_by(found)
    mark = format_html('<span class="sign {}" aria-hidden="true">{}</span>', level, sign)
    if not run_id:
        return format_html('<span class="quiet" title="{}">{}</span>', sentence(found), _("never"))
    shown = ago(moment) if found.state == validity.VALIDATED else _words(found)
    # Beside what is shown, not instead of it: an age goes on while the page stands.
    rest = [*([_words(found)] if shown != _words(found) else []), *([card] if card else [])]
    return format_html(
        '<span class="proof" title="{} {}">{} <a href="{}">{}{}</a></span>',
        sentence(found),
        moment.isoformat(timespec="minutes") if moment else "",
        mark,
        reverse("run", args=[run_id]),
        shown,
        format_html('<span class="unseen">, {}</span>', ", ".join(rest)) if rest else "",
    )


def _said_by(found: Validity) -> tuple[str | None, datetime | None]:
    if found.state == validity.FAILED:
        return found.bad_run, found.bad_at
    return (
        (found.lower_run, found.lower_at) if found.state in validity.NOT_VALIDATED else (found.good_run, found.good_at)
    )


def _look(found: Validity) -> tuple[str, str]:
    if found.state == validity.VALIDATED and _old(found):
        return "none", "✓"
    return _LOOKS.get(found.state, ("none", "·"))


def _old(found: Validity) -> bool:
    return found.good_at is not None and found.good_at < timezone.now() - timedelta(days=FRESH_DAYS)


def _words(found: Validity) -> str:
    if found.state == validity.VALIDATED:
        return _("validated earlier") if _old(found) else _("validated")
    return {
        validity.FAILED: _("failed"),
        validity.DRIVER_CHANGED: _("driver changed"),
        validity.RAN: _("result not checked"),
        validity.DETECTED: _("detected only"),
    }.get(found.state, _("not validated"))


@register.filter
def suite_title(suite_id: str | None) -> str:
    return words.suite_title(suite_id or "")


def sentence(found: Validity) -> str:
    """The proof in one sentence, for titles and screen readers."""
    if found.state == validity.FAILED:
        return _("Last result: %(suite)s failed.") % {"suite": words.suite_title(found.bad_suite or "")}
    if found.state == validity.NEVER:
        return _("No run has passed on this card.")
    if found.state in validity.NOT_VALIDATED:
        suite = words.suite_title(found.lower_suite or "")
        if found.state == validity.RAN:
            return _("%(suite)s ran, result not checked. This does not validate the card.") % {"suite": suite}
        return _("%(suite)s detected the card. This does not validate it.") % {"suite": suite}
    driver = found.good_driver or _("unknown")
    text = _("%(suite)s passed, driver %(driver)s.") % {
        "suite": words.suite_title(found.good_suite or ""),
        "driver": driver,
    }
    if found.state == validity.DRIVER_CHANGED:
        return text + " " + _("Current driver: %(driver)s.") % {"driver": found.driver_now or ""}
    return text


@register.simple_tag
def tile_link(tile: Tile, validities: Mapping[int, Validity]) -> SafeString:
    """A card as one element; its name says all of it, to eyes as to screen readers. A fault is outlined."""
    found = validities.get(tile.card_id)
    told = [] if found is None or found.state in validity.NOT_VALIDATED else [sentence(found)]
    name = escape(" · ".join([tile.words, *([sign_word(tile.severity)] if tile.severity else []), *told]))
    failed = found is not None and found.state == validity.FAILED
    fault = " fault" if failed or tile.severity == ERROR or tile.state == CardState.OVER else ""
    return format_html(
        '<a class="tile {}{}" href="{}" style="--f:{}" title="{}" aria-label="{}"></a>',
        tile.state,
        fault,
        tile.url,
        tile.fill,
        name,
        name,
    )


@register.simple_tag
def runs_url(cluster: str, node: str, card: str = "") -> str:
    """All runs of a node, or of a card of it."""
    return with_query(reverse("validations"), cluster=cluster, node=node, card=card)


@register.simple_tag
def launch_url(cluster: str, node: str, card: str = "") -> str:
    """The launch form for this place."""
    return with_query(reverse("validation-new"), cluster=cluster, node=node, card=card)


@register.simple_tag(takes_context=True)
def can_campaign(context: Any) -> bool:
    return may_campaign(context["request"])


@register.simple_tag
def card_validity(card_id: int) -> Validity:
    """The proof of one card; one query."""
    return validity.of_cards([card_id]).get(card_id) or Validity(state=validity.NEVER)


@register.simple_tag
def policies_of_card(card: Card) -> list[CardLine]:
    """What a card is under each policy that covers it; one query."""
    return [card_line(row, card.pk) for row in reading.of_card(card.cluster_id, card.node_name, card.key)]


@register.simple_tag(takes_context=True)
def campaign_of_filter(context: Any) -> str:
    """The campaign form for all nodes that the filter of this page keeps."""
    query = context["request"].GET.copy()
    for name in ("cursor", "page_size", "format", "ordering", "columns", "group"):
        query.pop(name, None)
    return (
        with_query(reverse("campaign-new"), nodes=query.urlencode()) if query else reverse("campaign-new") + "?nodes="
    )
