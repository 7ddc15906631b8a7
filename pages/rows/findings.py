"""Findings as rows of lists and pages, each alone or by cause. Shared by all pages that show findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from inventory.catalogue import CATALOGUE
from inventory.health.findings import FINDINGS as OF_HEALTH
from inventory.models import Card, Finding
from inventory.queries import causes as querysets
from inventory.stated import remedy_of, stated
from notifications.matching import with_silences
from notifications.silences import may_silence
from pages.frame.links import card_url, node_url, pod_url, with_filters, with_query
from pages.frame.worded import worded
from pages.rows.cards import card_name
from pages.words import notifications as words
from wording import said
from wording.said import restored

#: Findings that say of a cluster what its freshness does, which pages have above everything else.
OF_FRESHNESS = ("never-reached", "cluster-not-reporting", "cluster-not-watched")
_XID = re.compile(r"\bXid \d+")


@dataclass(frozen=True)
class FindingLine:
    """What a template prints of a finding. text: in the reader's language. what: what it states, which all of its cause state.

    title, meaning: of its code; a code without an entry is its own title. action: what to do; "" where the text alone says it.
    """

    row: Finding
    text: str
    what: str
    title: str
    meaning: str
    action: str
    node_url: str
    card: str
    card_url: str
    pod_url: str
    #: Of one that is silenced: until when, by whom and why. "" for none.
    silenced: str

    @property
    def may_silence(self) -> bool:
        """Whether the reader sees all that may be silenced with it. The role is the page's to ask."""
        return self.row.ended_at is None and may_silence(self.row.cluster_id)

    @property
    def acknowledge_url(self) -> str:
        return reverse("finding-acknowledge", args=[self.row.pk])

    @property
    def place(self) -> str:
        return " ".join(part for part in (self.row.node_name, self.card, self.row.pod) if part)

    @property
    def silence_urls(self) -> list[tuple[str, str, str]]:
        """(what, address of the form, of what) of the silences that cover it and others."""
        row = self.row
        given = {"card": row.card_key, "node": row.node_name, "code": row.code, "cause": row.cause}
        offered = [
            (gettext("Silence card…"), ("card", "node") if row.card_key else (), f"{row.node_name} {self.card}"),
            (gettext("Silence node…"), ("node",) if row.node_name else (), row.node_name),
            (gettext("Silence cause…"), ("code", "cause"), self.what),
        ]
        return [
            (
                text,
                with_query(reverse("silence-new"), cluster=row.cluster.name, **{one: given[one] for one in names}),
                of,
            )
            for text, names, of in offered
            if names
        ]

    @property
    def url(self) -> str:
        """The page of what it is of; "" of a cluster."""
        return self.card_url or self.pod_url or self.node_url


@dataclass(frozen=True)
class FindingRow:
    """Findings that are one row of a node's or card's page: of one code, or all of the health of one card. The worst is the first.

    cards: (name, address). also: what the others state.
    """

    lines: list[FindingLine]
    cards: list[tuple[str, str]]
    also: list[str]

    @property
    def first(self) -> FindingLine:
        return self.lines[0]


@dataclass(frozen=True)
class CauseLine:
    """A cause as a row of a list. what: what its findings state. url: of all of them. places: of the oldest and the newest of them.

    more: of how many others the place is not named. silence_url: the form that silences it.
    """

    cause: querysets.Cause
    what: str
    url: str
    places: list[FindingLine]
    more: int
    silence_url: str

    @property
    def first(self) -> FindingLine:
        return self.places[0]


def row_key(line: FindingLine) -> str:
    """What findings of one card are put together by: all that is of its health, else their code."""
    return "" if line.row.card_key and line.row.code in OF_HEALTH else line.row.code


def finding_rows(lines: Iterable[FindingLine]) -> list[FindingRow]:
    """lines: the worst first."""
    of_card: dict[tuple[str, str], list[FindingLine]] = {}
    for line in lines:
        of_card.setdefault((row_key(line), line.row.card_key), []).append(line)
    found: dict[tuple[str, str], list[FindingLine]] = {}
    for mine in of_card.values():
        found.setdefault((mine[0].row.code, mine[0].row.cause), []).extend(mine)
    return [_row(mine) for mine in found.values()]


def _row(lines: list[FindingLine]) -> FindingRow:
    return FindingRow(
        lines=lines,
        cards=list(dict.fromkeys((line.card, line.card_url) for line in lines if line.card)),
        also=list(dict.fromkeys(line.what for line in lines if line.what != lines[0].what)),
    )


def cause_lines(found: Sequence[querysets.Cause], query: QueryDict) -> list[CauseLine]:
    """query: the other filters of the list of their findings. Two queries more, whatever their number."""
    ends = [end for cause in found for end in dict.fromkeys((cause.oldest, cause.newest))]
    lines = {line.row.pk: line for line in finding_lines(ends)}
    return [_cause_line(cause, lines, query) for cause in found]


def _cause_line(cause: querysets.Cause, lines: Mapping[int, FindingLine], query: QueryDict) -> CauseLine:
    places = [lines[pk] for pk in dict.fromkeys((cause.oldest.pk, cause.newest.pk))]
    cluster, named = places[0].row.cluster.name, query.get("cluster", "") if len(query.getlist("cluster")) == 1 else ""
    asked = {"code": cause.code, "severity": cause.severity} | ({"cause": cause.cause} if cause.cause else {})
    return CauseLine(
        cause=cause,
        what=places[0].what,
        url=with_filters(reverse("findings"), query, {"group": "none"} | asked),
        places=places,
        more=cause.count - len(places),
        silence_url=with_query(
            reverse("silence-new"), cluster=cluster if cause.count == 1 else named, code=cause.code, cause=cause.cause
        ),
    )


def cause_words(text: str) -> str:
    """A cause, as an address has it, for the reader; "" when no finding has it. One query."""
    row = Finding.objects.filter(cause=text).first()
    return gettext("Cause: %(what)s") % {"what": _what(row)} if row is not None else ""


def finding_lines(rows: Iterable[Finding]) -> list[FindingLine]:
    """Findings with the names of their cards and what silences them: two queries more, whatever their number."""
    found = list(rows)
    with_silences([row for row in found if not hasattr(row, "silence")])
    keyed = [row for row in found if row.card_key]
    cards = {(card.cluster_id, card.node_name, card.key): card for card in _cards(keyed)} if keyed else {}
    return [_line(row, cards.get((row.cluster_id, row.node_name, row.card_key))) for row in found]


def _cards(rows: Sequence[Finding]) -> QuerySet[Card]:
    return Card.objects.filter(
        cluster_id__in={row.cluster_id for row in rows},
        node_name__in={row.node_name for row in rows},
        key__in={row.card_key for row in rows},
    ).only("cluster_id", "node_name", "key", "index", "uuid", "profile")


def _line(row: Finding, card: Card | None) -> FindingLine:
    entry = CATALOGUE.get(row.code)
    namespace, _slash, name = row.pod.partition("/")
    remedy = remedy_of(row.wording)
    return FindingLine(
        row=row,
        text=restored(row.text, row.wording),
        what=_what(row),
        title=gettext(entry.title) if entry else row.code,
        meaning=gettext(entry.meaning) if entry else "",
        action=_worded(remedy) if remedy else _action(row),
        node_url=node_url(row.cluster.name, row.node_name) if row.node_name else "",
        card=card_name(card) if card else row.card_key,
        card_url=card_url(card.pk) if card else "",
        pod_url=pod_url(row.cluster.name, namespace, name),
        silenced=words.silenced(silence) if (silence := getattr(row, "silence", None)) else "",
    )


def _action(row: Finding) -> str:
    """That of the code. Of GPU software, whose causes have one code, the finding alone says it."""
    entry = CATALOGUE.get(row.code)
    return gettext(entry.action) if entry and (row.code in OF_HEALTH or not row.cause) else ""


def _what(row: Finding) -> str:
    """What a finding states, or the title of its code; of an Xid error with its number."""
    entry, form = CATALOGUE.get(row.code), stated(row.wording)
    if form is None:
        return gettext(entry.title) if entry else row.code
    what = _worded(form).rstrip(".。")
    xid = _XID.search(row.text) if row.code.startswith("xid-") else None
    return f"{xid[0]}: {what}" if xid else what


def _worded(form: said.Stored) -> str:
    return worded(said.worded(form, str, {}), form)
