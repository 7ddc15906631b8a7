"""May work be put on this node, or this card, as far as validations say? Yes, no or unknown, with the reason: for scripts and badges.

No: a failure that nothing has taken back, a card that its stack reports unhealthy, or a node that takes no pods. Yes: the card has
passed, with the result checked, and no policy that covers it wants another test. Unknown: anything else; it is never a yes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from inventory.models import Card, Cluster
from inventory.models.choices import UnavailableReason
from inventory.queries.availability import cards_now
from validations.models import PolicyCard, PolicyState
from validations.validity import DRIVER_CHANGED, FAILED, VALIDATED, Validity, of_cards
from wording.said import Said, known, sentence

YES, NO, UNKNOWN = "yes", "no", "unknown"
_OFF = {
    UnavailableReason.NOT_READY.value: sentence("The node is not ready."),
    UnavailableReason.READINESS_UNKNOWN.value: sentence("The readiness of the node is unknown."),
    UnavailableReason.CORDONED.value: sentence("The node is cordoned."),
    UnavailableReason.UNHEALTHY.value: sentence("The card is unhealthy."),
}
_WORST_FIRST = (NO, UNKNOWN, YES)


class Usable(msgspec.Struct, frozen=True, kw_only=True):
    """reason: a code; text: in words. at: when what decides was last seen: the end of the run, None where none does.
    card: key of the card that decides, "" for the node. run: id of the run that decides, "" for none."""

    usable: str
    reason: str
    text: Said
    card: str = ""
    at: datetime | None = None
    run: str = ""


def of_place(cluster: Cluster, node: str, cards: Sequence[Card], asked: str = "") -> Usable:
    """Of several cards the worst. cards: those of this name; asked: the name, "" for all cards of the node. Three queries."""
    if not cards:
        return Usable(usable=UNKNOWN, reason="no-card", text=_no_card(cluster, node, asked))
    cards_now(cards)
    validity = of_cards([card.pk for card in cards])
    rows = PolicyCard.objects.filter(cluster=cluster, node_name=node).select_related("policy").order_by("policy__name")
    policies: dict[str, list[PolicyCard]] = {}
    for row in rows:
        policies.setdefault(row.card_key, []).append(row)
    found = [_of_card(card, validity[card.pk], policies.get(card.key, [])) for card in cards]
    return min(found, key=lambda one: _WORST_FIRST.index(one.usable))


def _no_card(cluster: Cluster, node: str, asked: str) -> Said:
    if asked:
        return sentence("Node {node} has no card {card}.", node=f"{node[:64]!r}", card=f"{asked[:64]!r}")
    return sentence("Cluster {name} has no cards on a node {node}.", name=cluster.name, node=f"{node[:64]!r}")


def _of_card(card: Card, validity: Validity, policies: Sequence[PolicyCard]) -> Usable:
    if validity.state == FAILED:
        text = sentence("Suite {suite} failed on it.", suite=validity.bad_suite or "")
        return Usable(
            usable=NO, reason="failed", text=text, card=card.key, at=validity.bad_at, run=validity.bad_run or ""
        )
    off = card.unavailable_reason
    if off == UnavailableReason.STALE:
        return Usable(usable=UNKNOWN, reason=off, text=known("The data of the cluster are stale."), card=card.key)
    if off:
        return Usable(usable=NO, reason=off, text=_OFF.get(off, known(off)), card=card.key)
    for row in policies:
        if row.state != PolicyState.VALID:
            text = sentence("Policy {policy}: {state}.", policy=row.policy.name, state=known(row.state))
            return Usable(
                usable=UNKNOWN, reason=row.reason or row.state, text=text, card=card.key, run=row.run_id or ""
            )
    if validity.state == VALIDATED:
        text = sentence("Suite {suite} passed on it, with the result checked.", suite=validity.good_suite or "")
        return Usable(
            usable=YES, reason="validated", text=text, card=card.key, at=validity.good_at, run=validity.good_run or ""
        )
    if validity.state == DRIVER_CHANGED:
        text = sentence("The driver has changed since it passed.")
        return Usable(usable=UNKNOWN, reason=validity.state, text=text, card=card.key, at=validity.good_at)
    text = sentence("No suite has passed on it with the result checked.")
    return Usable(usable=UNKNOWN, reason="not-validated", text=text, card=card.key, at=validity.lower_at)
