"""Asks a cluster's Prometheus for the past that a chart wants, and writes the answer down."""

from __future__ import annotations

import logging
from contextlib import closing
from datetime import UTC, datetime

from django.db.models.functions import Now

from inventory.collect import sources
from inventory.collect.cards import Cards, Known
from inventory.collect.errors import SourceError
from inventory.collect.past import Steps, ask_past
from inventory.collect.prometheus import BadAddress
from inventory.history import packed
from inventory.history.series import first_of, window_named
from inventory.models import Card, CardUsage, HistoryAnswer, Subject, UsageSource
from inventory.models.usage import Way
from runtime.clock import database_now
from wording.said import cut, of_error, stored

logger = logging.getLogger(__name__)


def answer(answer_id: int) -> bool:
    """Ask for one. Whether there is an answer now; a failure is written down as its reason, and what was known stays."""
    row = HistoryAnswer.objects.filter(pk=answer_id).select_related("cluster").first()
    window = window_named(row.window) if row else None
    if row is None or window is None:
        return False
    source = UsageSource.objects.filter(cluster=row.cluster, way=Way.PROMETHEUS).first()
    mine = HistoryAnswer.objects.filter(pk=row.pk)
    if source is None:
        mine.update(answered_at=Now(), reason="", begins_at=None, data=None)
        return False
    steps = Steps(first_of(window, database_now()), window.step_s, window.seconds // window.step_s)
    cards = list(_cards(row))
    # A slice's own figures are under its card's UUID; its chart is what gpudash wrote down.
    uuids = [] if any(one.profile for one in cards) else _uuids(row, cards)
    sizes = Cards(Known(*(getattr(one, name) for name in Known.__struct_fields__)) for one in cards).sizes()
    exporters = [str(one.get("format", "")) for one in source.formats if isinstance(one, dict)]
    try:
        with closing(sources.client_of(source)) as client:
            columns = ask_past(client, source.matchers, uuids, steps, sizes, exporters)
    except (SourceError, BadAddress) as error:
        logger.warning("the history of %s %s was not answered: %s", row.subject, row.key, error)
        reason = cut(of_error(error), 2000)
        mine.update(answered_at=Now(), reason=reason, wording=stored(reason))
        return False
    begin = datetime.fromtimestamp(steps.first, UTC)
    mine.update(answered_at=Now(), reason="", begins_at=begin, data=packed.pack_columns(columns))
    return True


def _cards(row: HistoryAnswer) -> list[Card]:
    present = Card.objects.filter(cluster=row.cluster, removed_at=None).order_by("id")
    if row.subject == Subject.CARD:
        return list(present.filter(pk=int(row.key)))
    return list(present.filter(node_name=row.key))


def _uuids(row: HistoryAnswer, cards: list[Card]) -> list[str]:
    """Of each card as its exporter writes it, else as the mirror has it."""
    written = CardUsage.objects.filter(card__in=cards).exclude(uuid="").values_list("card_id", "uuid")
    told = dict(written)
    return [uuid for card in cards if (uuid := told.get(card.pk) or card.uuid)]
