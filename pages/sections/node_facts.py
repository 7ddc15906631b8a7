"""What two nodes are compared by: what they say of themselves, their cards, components and findings. Six queries for both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from django.db.models import Q
from django.utils.translation import gettext as _

from inventory.catalogue import CATALOGUE
from inventory.models import Card, Finding, Node
from inventory.models.choices import Health, Mode
from inventory.queries import rows as querysets
from inventory.queries.rows import NodeRow
from kube import objects as kube
from kube.decoders import decoder
from pages.frame import amounts
from pages.frame.labels import label_of
from pages.nodes import condition_of
from pages.rows.cards import card_name
from pages.sections.beside import Facts, listed
from pages.sections.health import sign_of
from pages.words.components import component_line, plain_title
from stacks.engine.names import labels_of
from stacks.engine.software.base import NOT_NEEDED
from validations import validity

#: A hostile cluster can have any number of them.
MOST = 200
_COLUMNS = ("driver_version", "os_image", "kernel", "kubelet", "runtime", "instance_type", "zone")
#: Labels that name the node itself, or say again what others say.
_HOSTNAME = "kubernetes.io/hostname"
_AGAIN = ("beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/")
_decoder = decoder(kube.Node)


def facts_of_nodes(rows: Sequence[NodeRow]) -> list[Facts]:
    """In the order of the rows."""
    of = Q()
    for row in rows:
        of |= Q(cluster_id=row.totals.cluster_id, node_name=row.totals.node_name)
    made = [Facts() for _row in rows]
    by_place = {(row.totals.cluster_id, row.totals.node_name): facts for row, facts in zip(rows, made, strict=True)}
    objects = _objects(rows)
    cards = _by_node(querysets.cards_present().filter(of).order_by("index", "id")[: len(rows) * MOST])
    components = _by_node(querysets.components().filter(of).order_by("position", "id")[: len(rows) * MOST])
    findings = _by_node(querysets.findings_now().filter(of).order_by("severity_rank", "id")[: len(rows) * MOST])
    states = validity.of_cards([card.pk for mine in cards.values() for card in mine])
    for row in rows:
        place = (row.totals.cluster_id, row.totals.node_name)
        facts, mine = by_place[place], cards.get(place, [])
        _put_own(facts, row)
        _put_cards(facts, row, mine, sum(states[card.pk].state == validity.VALIDATED for card in mine))
        for line in map(component_line, components.get(place, [])):
            if line.row.state != NOT_NEEDED:
                value = f"{line.state} {line.row.version}".strip()
                facts.put(f"component {plain_title(line.row.name)}", value, line.level)
        _put_findings(facts, findings.get(place, []), mine)
        _put_object(facts, objects.get(place, kube.Node()), row.totals.node_name)
    return made


def _objects(rows: Sequence[NodeRow]) -> dict[tuple[int, str], kube.Node]:
    """(cluster id, name) → the node as the cluster has it. What does not decode is left out."""
    ids = [row.node.pk for row in rows if row.node is not None]
    found = {}
    for cluster, name, facts in Node.objects.filter(pk__in=ids).values_list("cluster_id", "name", "facts"):
        try:
            found[cluster, name] = _decoder.decode(facts)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return found


def _by_node(rows: Iterable[Any]) -> dict[tuple[int, str], list[Any]]:
    found = defaultdict(list)
    for row in rows:
        found[row.cluster_id, row.node_name].append(row)
    return found


def _put_own(facts: Facts, row: NodeRow) -> None:
    level, words = condition_of(row)
    facts.put("status", words, level)
    facts.put("health", label_of(Health, row.totals.health), sign_of(row.totals.health))
    facts.put("stack", " + ".join(map(str, row.totals.stacks)))
    facts.put("unit", row.totals.unit)
    for name in _COLUMNS:
        facts.put(name, getattr(row.own, name))


def _put_cards(facts: Facts, row: NodeRow, cards: list[Card], validated: int) -> None:
    """How many of each model and slice, and what they have in common."""
    total, memory = row.totals.cards_total, row.totals.memory_total_bytes
    facts.put("memory", None if memory is None else amounts.gib(memory))
    facts.put("mode", ", ".join(sorted({label_of(Mode, card.mode) for card in cards})), words=True)
    facts.put("shares", ", ".join(str(one) for one in sorted({card.shares or 1 for card in cards})))
    told = {"n": amounts.count(validated), "all": amounts.count(len(cards))}
    facts.put("validated", _("%(n)s of %(all)s") % told if cards else None, words=True)
    facts.put("cards", None if total is None else amounts.count(total))
    models, slices = (Counter(getattr(card, name) for card in cards) for name in ("model", "profile"))
    for model, count in models.items():
        facts.put(f"cards {model}", amounts.count(count) if model else None)
    for profile, count in sorted(slices.items()):
        facts.put(f"slices {profile}", amounts.count(count) if profile else None)


def _put_findings(facts: Facts, findings: list[Finding], cards: list[Card]) -> None:
    """Each kind once, with the cards that it is of."""
    names = {card.key: card_name(card) for card in cards}
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.code, []).append(one)
    for code, mine in found.items():
        entry = CATALOGUE.get(code)
        places = dict.fromkeys(names.get(one.card_key, one.card_key) for one in mine if one.card_key)
        title = _(entry.title) if entry else code
        facts.put(f"finding {title}", listed(places) or amounts.count(len(mine)), mine[0].severity)


def _put_object(facts: Facts, node: kube.Node, name: str) -> None:
    """Taints, allocatable resources and labels, as the cluster has them."""
    offered = (node.status.allocatable if node.status else None) or {}
    for resource, amount in sorted(offered.items())[:MOST]:
        facts.put(f"resource {resource}", amount)
    taints: dict[str, list[str]] = {}
    for taint in (node.spec.taints if node.spec else None) or ():
        taints.setdefault(taint.key, []).append(":".join(filter(None, (taint.value, taint.effect))))
    for key, effects in sorted(taints.items())[:MOST]:
        facts.put(f"taint {key}", ", ".join(sorted(effects)))
    for label, value in sorted(labels_of(node).items())[:MOST]:
        if label != _HOSTNAME and not label.startswith(_AGAIN) and "timestamp" not in label and value != name:
            facts.put(f"label {label}", value or '""')
