"""What a report states becomes rows, each matched with a node or card of the cluster.

A statement finds its card by UUID; by serial number, where an earlier statement had both; by index only beside a node that is there.
A statement without a match is kept and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from inventory.models import Card, CardUsage, Cluster, Node
from validations.imports.engine.statement import WORST_FIRST, CardStatement, Format, Imported, NodeStatement
from validations.models import ImportedResult, ImportedStatement, MatchedBy
from validations.suites import registry as suites
from wording.said import Said, quote, stored

_BATCH = 500


class _Known(NamedTuple):
    """What of the cluster the report may be of: cards by UUID, by serial number, and by node and index; nodes by name."""

    by_uuid: Mapping[str, Card]
    by_serial: Mapping[str, Card]
    by_index: Mapping[tuple[str, int], Card]
    nodes: Mapping[str, Node]


def statements_of(row: ImportedResult, found: Imported, chosen: Format | None) -> list[ImportedStatement]:
    known = _known(row.cluster, found)
    suite = chosen.suite if chosen else ""
    driver = str(found.facts.get("driver_version") or "")[:64]
    nodes = [_of_node(row, one, known, suite, driver) for one in found.nodes]
    cards = [_of_card(row, one, known, suite, driver) for one in found.cards]
    _count_worst(cards)
    return [*nodes, *cards]


def _count_worst(cards: list[ImportedStatement]) -> None:
    """Of several statements of a card on a suite only the worst is of the suite: a part that passed is no pass of the whole."""
    worst: dict[tuple[str, str, str], ImportedStatement] = {}
    for one in sorted(cards, key=lambda one: WORST_FIRST.index(one.verdict)):
        place = one.node_name, one.card_key, one.suite
        if one.card_key and worst.setdefault(place, one) is not one:
            one.suite = ""


def _known(cluster: Cluster, found: Imported) -> _Known:
    names = {one.node for one in found.nodes if one.node} | {one.node for one in found.cards if one.node}
    uuids = {one.uuid for one in found.cards if one.uuid}
    serials = {one.serial for one in found.cards if one.serial}
    twins = ImportedStatement.objects.filter(cluster=cluster).exclude(card_uuid="").exclude(card_key="")
    uuid_of = {
        serial: uuid
        for part in _parts(serials)
        for serial, uuid in twins.filter(card_serial__in=part).order_by("id").values_list("card_serial", "card_uuid")
    }
    present = Card.objects.filter(cluster=cluster, removed_at=None)
    by_uuid = {
        card.uuid: card for part in _parts(uuids | set(uuid_of.values())) for card in present.filter(uuid__in=part)
    }
    by_index: dict[tuple[str, int], Card] = {}
    nodes: dict[str, Node] = {}
    for part in _parts(names):
        # A tool counts cards as the exporter of their driver does, which need not be as the scheduler does.
        usage = CardUsage.objects.filter(cluster=cluster, node_name__in=part, lost_at=None).exclude(index=None)
        usage = usage.filter(card__removed_at=None, card__parent="", card__profile="").select_related("card")
        counted = {one.card_id: one for one in usage}
        # An index is of a whole card: slices have numbers of their own.
        whole = present.filter(node_name__in=part, parent="", profile="").exclude(index=None).order_by("-id")
        by_index |= {
            (one.node_name, one.index): one for one in whole if one.index is not None and one.pk not in counted
        }
        by_index |= {
            (one.node_name, one.index): one.card for one in counted.values() if one.card and one.index is not None
        }
        nodes |= {node.name: node for node in Node.objects.filter(cluster=cluster, name__in=part)}
    if homes := {card.node_name for card in by_uuid.values()} - set(nodes):
        for part in _parts(homes):
            nodes |= {node.name: node for node in Node.objects.filter(cluster=cluster, name__in=part)}
    by_serial = {serial: by_uuid[uuid] for serial, uuid in uuid_of.items() if uuid in by_uuid}
    return _Known(by_uuid, by_serial, by_index, nodes)


def _parts(names: Iterable[str]) -> Iterable[list[str]]:
    found = sorted(names)
    return (found[start : start + _BATCH] for start in range(0, len(found), _BATCH))


def _of_node(row: ImportedResult, one: NodeStatement, known: _Known, suite: str, driver: str) -> ImportedStatement:
    node = known.nodes.get(one.node or "")
    made = _statement(row, one, node, suite, driver)
    made.of_card, made.node_name = False, one.node or ""
    made.matched_by = MatchedBy.NODE if node is not None else ""
    return made


def _of_card(row: ImportedResult, one: CardStatement, known: _Known, suite: str, driver: str) -> ImportedStatement:
    card, by = _match(one, known)
    made = _statement(row, one, known.nodes.get(card.node_name if card else one.node or ""), suite, driver)
    made.of_card, made.matched_by = True, by
    made.node_name = card.node_name if card is not None else one.node or ""
    made.card_key = card.key if card is not None else ""
    made.card_index, made.card_uuid, made.card_serial = one.index, one.uuid or "", one.serial or ""
    made.error_id, made.error_severity, made.error_category = one.error_id, one.error_severity, one.error_category
    made.may_isolate = one.may_isolate
    return made


def _match(one: CardStatement, known: _Known) -> tuple[Card | None, str]:
    """A UUID that is no card of the cluster is not the card that now has its index."""
    if one.uuid:
        card = known.by_uuid.get(one.uuid)
        return card, MatchedBy.UUID if card is not None else ""
    if one.serial and (card := known.by_serial.get(one.serial)) is not None:
        return card, MatchedBy.SERIAL
    card = known.by_index.get((one.node or "", -1 if one.index is None else one.index))
    return card, MatchedBy.INDEX if card is not None else ""


def _statement(
    row: ImportedResult, one: NodeStatement | CardStatement, node: Node | None, suite: str, driver: str
) -> ImportedStatement:
    return ImportedStatement(
        result=row,
        cluster=row.cluster,
        verdict=one.verdict,
        test=one.test or "",
        level=one.level,
        # A report of a test that is called as a suite of ours is of that suite.
        suite=suite or (one.test if one.test in suites() else "") or "",
        because=str(one.because),
        because_wording=stored(one.because if isinstance(one.because, Said) else quote(one.because)),
        tested_at=row.tested_at or row.received_at,
        driver_version=driver or (node.driver_version if node else ""),
        boot_id=node.boot_id if node else "",
        machine_id=node.machine_id if node else "",
    )
