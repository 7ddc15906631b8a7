"""Cards as rows of tables: name, how full, allocations, with source and age. Shared by the pages that list cards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from inventory.models import Allocation, Card
from inventory.models.choices import CardState
from inventory.queries.measured import NOT_COLLECTED, Usage
from pages.charts import bars
from pages.frame.links import card_url, node_url
from stacks.engine import base


@dataclass(frozen=True)
class CardRow:
    """What a template prints of a card. allocated_why, total_why: why there is no number, "" where there is one."""

    id: int
    key: str
    name: str
    number: str
    url: str
    node: str
    node_url: str
    cluster: str
    model: str
    model_source: str
    stack: str
    state: str
    state_words: str
    unavailable_reason: str
    bar: bars.Bar
    allocated: int | None
    allocated_why: str
    total: int | None
    total_why: str
    physical: int | None
    free: int | None
    memory_source: str
    holders: list[Allocation]
    allocations_count: int
    more_holders: int
    holds_words: str
    shared: bool
    health: str
    severity: str
    usage: Usage
    unused: int | None
    changed_at: datetime
    removed_at: datetime | None
    #: Asked for another time than now: only who held it then is known.
    past: bool = False

    @property
    def place(self) -> str:
        """The card, and of which node: "gpu-1 · 3"."""
        return f"{self.node} · {self.number}"

    @property
    def target(self) -> str:
        """As a campaign and the comparison name it: "prod/gpu-1 3"."""
        return f"{self.cluster}/{self.node} {self.key}"


def card_name(card: Card) -> str:
    """ "card 3", or the end of the UUID when the scheduler gives it no index."""
    if card.index is not None:
        told = {"index": card.index, "profile": card.profile}
        return (_("slice %(index)d, %(profile)s") if card.profile else _("card %(index)d")) % told
    if (ordinal := ordinal_of(card)) is not None:
        return _("slice %(index)d, %(profile)s") % {"index": ordinal, "profile": card.profile}
    told = {"end": (card.uuid or card.key)[-8:], "profile": card.profile}
    return (_("slice …%(end)s, %(profile)s") if card.profile else _("card …%(end)s")) % told


def card_names(ids: Iterable[int]) -> dict[int, str]:
    """`card_name` of those of these cards that are seen: one query."""
    return {card.pk: card_name(card) for card in Card.objects.filter(pk__in=set(ids))}


def card_number(card: Card) -> str:
    """What tells a card from others of its node: "3", "…7e0b6723", "12 (1g.10gb)"."""
    number = card.index if card.index is not None else ordinal_of(card)
    text = str(number) if number is not None else f"…{(card.uuid or card.key)[-8:]}"
    return f"{text} ({card.profile})" if card.profile else text


def card_called(text: str) -> str:
    """The card of this id, for people; "" when none is seen."""
    found = Card.objects.filter(pk=int(text)).first() if text.isascii() and text.isdigit() and len(text) < 19 else None
    return _("card: %(name)s") % {"name": f"{found.node_name} {card_name(found)}"} if found else ""


def ordinal_of(card: Card) -> int | None:
    """Of a slice that nothing names, which one it is of those of its profile: its key is "1g.10gb-3"."""
    number = card.key.removeprefix(f"{card.profile}-") if card.profile and not card.uuid else ""
    return int(number) if number != card.key and number.isdecimal() and len(number) < 5 else None


def card_row(card: Card, holders: list[Allocation], most: int = 1000) -> CardRow:
    """most: how many pods to name; the rest is counted in more_holders. A pod with several containers is one holder.

    What is measured is shown of cards that went through `with_usage`.
    """
    usage: Usage = getattr(card, "measured", NOT_COLLECTED)
    past = getattr(card, "asked_to", None) is not None
    pods = list({held.pod_uid: held for held in holders}.values())
    shared = card.mode == base.SHARES
    state = CardState(card.state) if card.state in CardState.values else CardState.UNKNOWN
    return CardRow(
        id=card.pk,
        key=card.key,
        name=card_name(card),
        number=card_number(card),
        url=card_url(card.pk),
        node=card.node_name,
        node_url=node_url(card.cluster.name, card.node_name),
        cluster=card.cluster.name,
        model=card.model,
        model_source=card.model_source,
        stack=card.stack,
        state=state.value,
        state_words=str(state.label),
        unavailable_reason=card.unavailable_reason,
        bar=bars.of_then(card, holders) if past else bars.bar_of(card, holders, usage),
        allocated=card.memory_allocated_bytes,
        allocated_why=_not_kept() if past else _why_not_allocated(card) if card.memory_allocated_bytes is None else "",
        total=card.memory_total_bytes,
        total_why="" if card.memory_total_bytes is not None else bars.why_no_memory(card),
        physical=card.memory_physical_bytes,
        free=card.memory_free_bytes,
        memory_source=card.memory_source,
        holders=pods[:most],
        allocations_count=len(pods),
        more_holders=max(0, len(pods) - most),
        holds_words=_holds_words(card, holders, state),
        shared=shared,
        health=card.health,
        severity=card.worst_severity,
        usage=usage,
        unused=getattr(card, "memory_unused_bytes", None),
        changed_at=card.changed_at,
        removed_at=card.removed_at,
        past=past,
    )


def _not_kept() -> str:
    return _("Unknown for that time: only allocations are stored.")


def _holds_words(card: Card, holders: list[Allocation], state: CardState) -> str:
    if card.mode != base.SHARES:
        return bars.beside_words(holders)
    return bars.holds_words(card) if state != CardState.UNKNOWN else ""


def _why_not_allocated(card: Card) -> str:
    return bars.why_no_memory(card) if card.mode == base.SHARES else bars.why_unknown(card)
