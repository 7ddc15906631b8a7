"""What happened to a card or node, as signs under the chart of its history: runs that ended, and findings. Two queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from inventory.catalogue import CATALOGUE
from inventory.history.named import Named
from inventory.models import Subject
from inventory.queries import rows as querysets
from pages.charts.plot import Event
from pages.rows.runs import card_short, card_words
from pages.words import runs as words
from validations.querysets import runs_of_card, runs_of_node

#: Of each kind, the newest; a node of eight cards has some a day.
MOST = 60


def events_of(named: Named, begin: datetime, end: datetime) -> list[Event]:
    """Oldest first; none for what is neither a card nor a node."""
    if named.subject == Subject.CARD and named.card is not None:
        runs = runs_of_card(named.card.pk)
        here = {"node_name": named.card.node_name, "card_key": named.card.key}
    elif named.subject == Subject.NODE:
        runs, here = runs_of_node(named.cluster.pk, named.key), {"node_name": named.key}
    else:
        return []
    found = querysets.findings_ever().filter(
        cluster_id=named.cluster.pk, first_seen_at__gte=begin, first_seen_at__lt=end, **here
    )
    ended = runs.filter(ended_at__gte=begin, ended_at__lt=end)[:MOST]
    made = [_finding(row) for row in found.order_by("-first_seen_at", "-id")[:MOST]] + [_run(row) for row in ended]
    return sorted(made, key=lambda one: one.at)


def _run(run: Any) -> Event:
    shown = words.shown_run(run)
    return Event(run.ended_at, shown.level, " · ".join((words.suite_title(run.suite), shown.words, card_words(run))))


def _finding(row: Any) -> Event:
    entry = CATALOGUE.get(row.code)
    title = gettext(entry.title) if entry else row.code
    return Event(
        row.first_seen_at, row.severity, " · ".join(filter(None, (title, row.card_key and card_short(row.card_key))))
    )
