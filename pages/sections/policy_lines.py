"""Cards under policies as pages print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from inventory.models import Card
from pages.frame.links import card_url, node_url
from pages.rows.runs import card_short
from pages.words import policies as words
from pages.words.runs import Shown
from validations.models import PolicyCard


@dataclass(frozen=True)
class CardLine:
    """A card under a policy. url: of its page, "" for a card that is not in the cluster any more."""

    row: PolicyCard
    name: str
    url: str
    node_url: str
    policy_url: str
    shown: Shown
    reason: str
    hindrance: str


def card_lines(rows: Sequence[PolicyCard]) -> list[CardLine]:
    """One query more, for the pages of the cards."""
    places = {(row.cluster_id, row.node_name, row.card_key) for row in rows}
    clusters, nodes, keys = ({place[at] for place in places} for at in range(3))
    found = Card.objects.filter(cluster_id__in=clusters, node_name__in=nodes, key__in=keys, removed_at=None)
    ids = {(one.cluster_id, one.node_name, one.key): one.pk for one in found.only("cluster_id", "node_name", "key")}
    return [card_line(row, ids.get((row.cluster_id, row.node_name, row.card_key))) for row in rows]


def card_line(row: PolicyCard, card_id: int | None) -> CardLine:
    return CardLine(
        row=row,
        name=card_short(row.card_key),
        url=card_url(card_id) if card_id else "",
        node_url=node_url(row.cluster.name, row.node_name),
        policy_url=reverse("policy", args=[row.policy_id]),
        shown=words.shown_state(row.state),
        reason=words.reason_words(row.reason) if row.reason else "",
        hindrance=words.reason_words(row.hindrance) if row.hindrance and row.hindrance != row.reason else "",
    )
