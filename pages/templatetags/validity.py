"""What pages of the inventory show of validations: proof badges, the "proven good" figure, the last runs.

The inventory's templates load this library; its code knows nothing of it. Each tag asks a constant number of queries for a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from inventory.models import Cluster
from inventory.models.choices import CardState
from pages.charts.tiles import Tile
from pages.frame.links import with_query
from pages.permission import may_campaign
from pages.rows.runs import RunLine, run_line
from pages.sections.answer import FRESH_DAYS, Answer, answer, tallies
from pages.templatetags.units import ago, sign_alone, sign_word
from pages.words import runs as words
from runtime.cached import once
from validations import querysets, validity, validity_counts
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
LAST_SHOWN = 5


@register.filter
def shown_sign(shown: words.Shown) -> SafeString:
    """The sign of a verdict or state; its word stands beside it."""
    return format_html('<span class="sign {}" aria-hidden="true">{}</span>', shown.level, shown.sign)


@register.simple_tag
def sign_as(level: str, sign: str) -> SafeString:
    """A sign by its level, beside words."""
    return format_html('<span class="sign {}" aria-hidden="true">{}</span>', level, sign)


@register.simple_tag
def validities_of(rows: Iterable[Any]) -> dict[int, Validity]:
    """Proofs of all cards of a page by card id; rows have an `id`. One query."""
    return validity.of_cards([row.id for row in rows])


@register.simple_tag
def validities_of_map(card_map: Any) -> dict[int, Validity]:
    """The same for the tiles of the map, with what their marks and titles need."""
    return validity_counts.of_cards(
        [tile.card_id for pool in card_map.pools for node in pool.nodes for tile in node.tiles]
    )


@register.simple_tag(takes_context=True)
def validated_of_pools(context: Any) -> dict[tuple[int, str], int]:
    """How many cards of each pool are proven good: (cluster id, pool) → cards. What `proven` says is counted from the same."""
    found = tallies(_clusters(context["request"]))
    return {place: one.states[validity.VALIDATED] for place, one in found.items()}


@register.filter
def of_pool(found: Mapping[tuple[int, str], int], pool: Any) -> int:
    """The figure of one pool of the map."""
    return found.get(pool.place, 0)


@register.simple_tag
def validity_badge(validities: Mapping[int, Validity], card_id: int, *card: str) -> SafeString:
    """Proven when, by what, or why not: a sign, words, and the run that says so. card: its names, which the link is told apart by."""
    found = validities.get(card_id)
    return badge(found, ", ".join(card)) if found is not None else SafeString("")


def badge(found: Validity, card: str = "") -> SafeString:
    level, sign = _look(found)
    run_id, moment = _said_by(found)
    mark = format_html('<span class="sign {}" aria-hidden="true">{}</span>', level, sign)
    if not run_id:
        return format_html('<span class="proof">{} {}</span>', mark, _("not validated"))
    return format_html(
        '<span class="proof" title="{}">{} <a href="{}" aria-label="{}">{}</a> {}</span>',
        sentence(found),
        mark,
        reverse("run", args=[run_id]),
        f"{_words(found)}, {card}" if card else _words(found),
        _words(found),
        ago(moment),
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
        validity.RAN: _("ran, result not checked"),
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
    """A tile of the map, in as few elements as there are marks on it: one name says all of them, to eyes as to screen readers.

    Of the proof only what was said of the card: one that was never proven has no mark.
    """
    severity = tile.severity or ("error" if tile.state == CardState.OVER else "")
    found = validities.get(tile.card_id)
    told = found if found is not None and found.state not in validity.NOT_VALIDATED else None
    said = [tile.words, *([sign_word(severity)] if tile.severity else []), *([sentence(told)] if told else [])]
    name = escape(" · ".join(said))
    return format_html(
        '<a class="tile {}" href="{}" style="--f:{}" title="{}" aria-label="{}" data-free="{}">{}{}</a>',
        f"{tile.state} dim" if tile.dim else tile.state,
        tile.url,
        tile.fill,
        name,
        name,
        tile.text,
        sign_alone(severity) if severity else "",
        _validity_mark(*_look(told)) if told else "",
    )


@cache
def _validity_mark(level: str, sign: str) -> SafeString:
    """One of a few, on each tile of the map."""
    return format_html('<span class="mark-proof {}" aria-hidden="true">{}</span>', level, sign)


@register.simple_tag(takes_context=True)
def validated(context: Any) -> Answer:
    """The figures over the clusters that the page is about."""
    return answer(_clusters(context["request"]))


def _clusters(request: HttpRequest) -> set[int]:
    """Those that the page is about. One query, once for a page."""
    names = {name for name in request.GET.getlist("cluster") if name}
    every = once("names of clusters", lambda: dict(Cluster.objects.values_list("pk", "name")))
    return {pk for pk, name in every.items() if not names or name in names}


@register.simple_tag(takes_context=True)
def last_runs(context: Any) -> list[RunLine]:
    """The newest runs of these clusters."""
    rows = querysets.runs()
    if any(context["request"].GET.getlist("cluster")):
        rows = rows.filter(cluster_id__in=_clusters(context["request"]))
    return [run_line(run) for run in rows.order_by("-id")[:LAST_SHOWN]]


@register.simple_tag
def node_runs(cluster_id: int, node_name: str) -> list[RunLine]:
    """The newest runs on a node."""
    return [run_line(run) for run in querysets.runs_of_node(cluster_id, node_name)[:LAST_SHOWN]]


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


@register.simple_tag(takes_context=True)
def campaign_of_filter(context: Any) -> str:
    """The campaign form for all nodes that the filter of this page keeps."""
    query = context["request"].GET.copy()
    for name in ("cursor", "page_size", "format", "ordering"):
        query.pop(name, None)
    return (
        with_query(reverse("campaign-new"), nodes=query.urlencode()) if query else reverse("campaign-new") + "?nodes="
    )
