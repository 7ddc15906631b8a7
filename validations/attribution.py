"""Which card did a run take? A result belongs to the card that ran, never to the one that was asked for.

First the run's own pod as the launcher lists it, read by the decoders of the stacks; where the pod is gone, what the mirror saw it
hold; where the node has one card, that card. What none of them says is not known, and the result is the node's.
Reads tables; makes no call to a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from inventory.mirror.values import moment
from inventory.models import Allocation, Card, Node
from inventory.stack_context import stack_context
from kube import objects as kube
from kube.decoders import decoder
from kube.workloads import Pod, PodStatus
from stacks.engine.base import COUNT_ONLY
from stacks.engine.base import Allocation as Held
from stacks.engine.node_report import node_report
from validations.models import Run
from validations.suites.engine.placement import registry
from validations.suites.engine.target import Settings
from wording.said import sentence

#: The card is known since the node has no other.
ONLY_CARD = "only-card"
ASKED = "target"
CARD_COLUMNS = ("card_id", "card_key", "card_uuid", "card_model", "card_evidence", "card_note")
#: By so much the cluster's clock and ours may differ.
_SKEW = timedelta(seconds=2)


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The card that a pod took; None when it is not exactly one, or not known: `why` says so.

    evidence: how the card is known; "count-only" where the node's sharing system says of no pod which card it has.
    model: of a card that is not known, where all cards of the node are alike.
    """

    card: Card | None = None
    evidence: str = ""
    why: str = ""
    model: str = ""


def taken(run: Run, pod: Pod | None) -> Taken:
    """The card of a run that has ended, or is about to. pod: as the launcher saw it last, None when it is gone."""
    cards = list(Card.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, removed_at=None)[:1024])
    found = _of_pod(run, pod, cards) if pod is not None else None
    if found is None or (found.card is None and found.evidence == COUNT_ONLY):
        found = _of_mirror(run, cards) or found
    if (found is None or found.card is None) and len(cards) == 1 and _cards_asked(run) == 1:
        return Taken(card=cards[0], evidence=ONLY_CARD)
    found = found or Taken(why=sentence("The pod was deleted before its card was recorded."))
    models = {card.model for card in cards}
    return msgspec.structs.replace(found, model=models.pop() if len(models) == 1 else "")


def _cards_asked(run: Run) -> int:
    options = run.options if isinstance(run.options, dict) else {}
    text = str(options.get("cards", 1))
    return int(text) if text.isascii() and text.isdigit() else 1


def columns(run: Run, took: Taken) -> dict[str, Any]:
    """The columns of the run's card after its end."""
    card = took.card
    if card is None:
        # A run on "any card" had the model of the node's cards from the start.
        model = took.model or ("" if run.card_key else run.card_model)
        found: dict[str, Any] = {"card_id": None, "card_key": "", "card_uuid": "", "card_model": model}
        return found | {"card_evidence": took.evidence, "card_note": took.why}
    note = ""
    if run.card_requested and run.card_requested != card.key:
        note = sentence(
            "Card {card_requested} was requested, card {key} was allocated ({evidence}). The result belongs to the "
            "allocated card.",
            card_requested=run.card_requested,
            key=card.key,
            evidence=took.evidence,
        )
    found = {
        "card_id": card.pk,
        "card_key": card.key,
        "card_uuid": card.uuid,
        "card_model": card.model or run.card_model,
    }
    return found | {"card_evidence": took.evidence, "card_note": note}


def confirmed(run: Run, pod: Pod | None) -> dict[str, str]:
    """For a run under way: the evidence, once its pod says that it has the card that it was to take; {} until then."""
    if pod is None or not run.card_key or run.card_evidence != ASKED or not pod.metadata.annotations:
        return {}
    cards = list(Card.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, removed_at=None)[:1024])
    found = _of_pod(run, pod, cards)
    if found is None or found.card is None or found.card.key != run.card_key:
        return {}
    return {"card_evidence": found.evidence}


def _of_pod(run: Run, pod: Pod, cards: list[Card]) -> Taken | None:
    """What the pod itself says; None when nothing of it is held, or its node is not in the mirror."""
    row = Node.objects.filter(cluster_id=run.cluster_id, name=run.node_name).only("facts").first()
    node = _decoded(row.facts) if row is not None else None
    if node is None or pod.spec is None or pod.spec.nodeName != run.node_name:
        return None
    whole = _as_running(pod)
    uuids = tuple(card.uuid for card in cards if card.uuid)
    context = msgspec.structs.replace(stack_context(datetime.now(UTC).timestamp()), known_uuids=uuids)
    made = node_report(node, [whole], context)
    held = [one for card in made.cards for one in card.allocations]
    if not held and not made.unplaced:
        return None
    if made.unplaced:
        return Taken(evidence=COUNT_ONLY, why=COUNTED)
    found = _one({str(one.card): one.evidence for one in held}, cards)
    doubt = _doubt(run, whole, held, found, context.settings)
    return Taken(why=doubt) if doubt else found


COUNTED = sentence("The stack of the node counts allocations but does not identify the card.")


def _decoded(facts: str) -> kube.Node | None:
    try:
        return decoder(kube.Node).decode(facts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _as_running(pod: Pod) -> kube.Pod:
    """The pod as it was while it held its card: one that has ended holds nothing any more."""
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status or PodStatus(), phase="Running"))


def _one(held: dict[str, str], cards: Iterable[Card]) -> Taken:
    """held: card key → evidence."""
    if len(held) > 1:
        return Taken(
            why=sentence(
                "The run used {number} cards ({names}). Its result belongs to no single card.",
                number=len(held),
                names=", ".join(sorted(held)[:8]),
            )
        )
    key, evidence = next(iter(held.items()))
    card = next((one for one in cards if one.key == key), None)
    if card is None:
        return Taken(
            why=sentence("The pod was allocated card {key}, which gpudash does not list on this node.", key=key)
        )
    return Taken(card=card, evidence=evidence)


def _of_mirror(run: Run, cards: list[Card]) -> Taken | None:
    """What the mirror saw the pod hold, also when it has let it go since."""
    if not run.pod_uid:
        return None
    rows = Allocation.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, pod_uid=run.pod_uid)
    held: dict[str, str] = dict(rows.values_list("card_key", "evidence")[:64])
    if not held:
        return None
    if "" in held:
        held.pop("")
        if not held:
            return Taken(evidence=COUNT_ONLY, why=COUNTED)
    return _one(held, cards)


def _doubt(run: Run, pod: kube.Pod, held: list[Held], found: Taken, settings: Settings) -> str:
    """Why the card that is written on the pod may not be the one that it has; "" when there is no reason to think so."""
    if found.card is None:
        return ""
    for one in held:
        family = registry.serving(one.resource, one.stack, settings)
        record = family.record if family is not None else None
        if record is not None and found.evidence in record.evidence:
            units = sum(other.quantity for other in held)
            until = record.assigned_at(pod, settings)
            return record.doubt(pod, found.card.key, settings) or _mixed(
                run, pod, one.resource, units, until, found.card
            )
    return ""


def _mixed(run: Run, pod: kube.Pod, resource: str, units: int, until: datetime | None, card: Card) -> str:
    """Whether a pod of the same request on another card came to the node between this one's creation and its assignment."""
    created = moment(pod.metadata.creationTimestamp)
    if created is None or until is None:
        return ""
    others = Allocation.objects.filter(
        cluster_id=run.cluster_id,
        node_name=run.node_name,
        resource=resource,
        quantity=units,
        started_at__gte=created - _SKEW,
        started_at__lte=until + _SKEW,
    )
    mine = Run.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name).exclude(pod_uid="")
    others = others.exclude(pod_uid=pod.metadata.uid).exclude(card_key=card.key)
    # Runs of ours wait for one another, see `validations.lifecycle.room`.
    other = others.exclude(pod_uid__in=mine.values("pod_uid")).first()
    if other is None:
        return ""
    return sentence(
        "Pod {namespace}/{pod} requested the same memory on card {card_key} at the same time. The device plugin "
        "distinguishes such pods by their request only, so the two may have swapped cards.",
        namespace=other.namespace,
        pod=other.pod,
        card_key=other.card_key,
    )
