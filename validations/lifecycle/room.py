"""May a run that brings its own card be created now? No scheduler looks at it, so this does, right before the Job is made.

Which runs bring their card, and which pods may get it in their stead, the resource families say (`suites.engine.family`); here the
mirror is read. What is in the way passes by itself.
"""

from __future__ import annotations

from inventory.models import Card, Node, NodeTotals
from inventory.models import Pod as PodRow
from inventory.stack_context import stack_context
from kube import objects as kube
from kube.decoders import decoder
from stacks.engine.requests import name_of
from validations.attribution import ASKED
from validations.models import Run, State
from validations.suites.engine.family import PodRecord
from validations.suites.engine.manifest import Bound, bound
from validations.suites.engine.target import Settings
from validations.targets import UNIT_BYTES, free_units
from wording.said import sentence

_pod = decoder(kube.Pod)
_NOT_ASSIGNED = (State.CREATING.value, State.PENDING.value, State.PULLING.value)


def no_room(run: Run) -> str:
    """Why the run must wait, "" when it need not: at most four queries, none for a run that a scheduler places."""
    settings = stack_context().settings
    try:
        asked = bound(run.manifest, run.node_snapshot.get("stack", ""), settings)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return ""  # no manifest of ours; the one that is posted is made anew
    if asked is None:
        return ""
    return _of_node(run) or _of_card(run, asked.units) or _of_others(run, asked, settings)


def _of_node(run: Run) -> str:
    node = Node.objects.filter(cluster_id=run.cluster_id, name=run.node_name).only("ready").first()
    if node is None:
        return sentence("Node {node_name} does not exist in the cluster.", node_name=run.node_name)
    return sentence("Node {node_name} is not ready.", node_name=run.node_name) if node.ready is False else ""


def _of_card(run: Run, units: int) -> str:
    """The device plugin does not count: a card that is full would be promised twice."""
    where = {"cluster_id": run.cluster_id, "node_name": run.node_name}
    node_totals = NodeTotals.objects.filter(**where).defer("tiles").first()
    card = Card.objects.filter(**where, key=run.card_key, removed_at=None).first()
    if card is None:
        return sentence("Node {node_name} has no card {card_key}.", node_name=run.node_name, card_key=run.card_key)
    free = free_units(card, node_totals, UNIT_BYTES.get(node_totals.unit) if node_totals else None)
    if free is None:
        return sentence("Free memory of card {card_key} is unknown.", card_key=run.card_key)
    return (
        sentence(
            "Card {card_key} has {free} of {units} required units free.",
            units=units,
            card_key=run.card_key,
            free=free,
        )
        if free < units
        else ""
    )


def _of_others(run: Run, asked: Bound, settings: Settings) -> str:
    """Whatever the device plugin might take for this run."""
    record = asked.family.record
    return "" if record is None else _of_runs(run) or _of_pods(run, asked.units, record, settings)


def _of_runs(run: Run) -> str:
    """Two of ours of the same request on their way to one node might get each other's card."""
    others = Run.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, state__in=_NOT_ASSIGNED)
    other = others.filter(card_evidence=ASKED).exclude(pk=run.pk).exclude(card_key="").only("id").first()
    return (
        sentence("Run {pk} is pending for a card on this node. Two pending runs may swap cards.", pk=other.pk)
        if other
        else ""
    )


def _of_pods(run: Run, units: int, record: PodRecord, settings: Settings) -> str:
    """The same for pods of others that wait for a card with the same request."""
    rows = PodRow.objects.filter(cluster_id=run.cluster_id, node_name=run.node_name, phase="Pending")
    for facts in rows.values_list("facts", flat=True)[:200]:
        pod = _pod.decode(facts)
        if record.waiting(pod, settings) == units:
            return sentence(
                "{pod} is pending on this node with the same memory request. The device plugin cannot "
                "distinguish the two.",
                pod=name_of(pod),
            )
    return ""
