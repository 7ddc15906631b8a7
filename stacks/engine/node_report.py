"""The report of one node: all stacks run, their cards joined, holders placed, sums and findings.

This is what the mirror writes. Pure: the same node, pods and context give the same report. It must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, Pod
from stacks.engine import findings, health, measured, node_findings, sums
from stacks.engine.base import Allocation, CardReport, Context, Finding, NodeReport, StackReport
from stacks.engine.daemonsets import of_node
from stacks.engine.joining import JoinedCards, join, merged
from stacks.engine.node_findings import Seen
from stacks.engine.overrides import overrides
from stacks.engine.registry import concerned, marked
from stacks.engine.stack import Stack


def node_report(node: Node, pods: list[Pod], context: Context) -> NodeReport:
    """Who holds what of the node's cards. pods: those bound to the node, holding or not. Never raises.

    For a node without any GPU the report is empty: no stacks, no cards, cards_total 0.
    """
    context = msgspec.structs.replace(context, daemonsets=of_node(node, pods, context.daemonsets))
    seen = node_findings.look(node, pods, context)
    reports = _reports(node, pods, context, seen)
    if not reports and not seen.worth_a_look:
        return _EMPTY
    joined, doubts = measured.told(merged(join(reports)), context)
    joined, sick = health.judged(joined, pods, context)
    sick += doubts
    unplaced = tuple(item for item in joined.allocations if item.card is None)
    cards = sums.card_reports(joined, unplaced)
    made = _made(node, reports, seen, joined, cards, unplaced)
    return msgspec.structs.replace(made, findings=(*made.findings, *dict.fromkeys(sick))) if sick else made


_EMPTY = NodeReport()


def _reports(node: Node, pods: list[Pod], context: Context, seen: Seen) -> list[StackReport]:
    """What each stack says; one that has nothing to say is left out where another has."""
    asked = concerned(node, seen.names, context)
    if taken := frozenset(name for stack in marked(node) for name in stack.taken(node, context)):
        context = msgspec.structs.replace(context, taken=taken)
    if named := _named(node, pods, asked):
        context = msgspec.structs.replace(context, known_uuids=tuple(dict.fromkeys((*named, *context.known_uuids))))
    said = (stack.read(node, pods, context) for stack in asked)
    reports = [one for report in said if report is not None for one in (report, *report.others)]
    if len(reports) < 2:
        return reports
    speaking = [
        report for report in reports if report.cards or report.allocations or report.findings or not report.cards_known
    ]
    return speaking or reports[:1]


def _named(node: Node, pods: list[Pod], asked: list[Stack]) -> tuple[str, ...]:
    """UUIDs of cards of the node, by records of pods that the stacks have read."""
    return tuple(uuid for stack in asked if stack.names_cards for uuid in stack.names_cards(node, pods))


def _made(
    node: Node,
    reports: list[StackReport],
    seen: Seen,
    joined: JoinedCards,
    cards: tuple[CardReport, ...],
    unplaced: tuple[Allocation, ...],
) -> NodeReport:
    primary = joined.primary
    total = None if seen.uncounted_cards or not (reports or seen.countable) else sums.cards_total(joined, reports)
    if total == 0 and seen.strange_offered:
        total = None  # what nobody reads may be cards: none that is counted is not none
    counted = not seen.unreadable_holders and not seen.uncounted_cards
    return NodeReport(
        stacks=tuple(sorted({report.stack for report in reports})),
        unit=primary.unit if primary else None,
        unit_source=primary.unit_source if primary else "",
        cards=cards,
        unplaced=unplaced,
        findings=_findings(node, reports, seen, joined, cards, unplaced, total),
        cards_total=total,
        cards_allocated=sums.cards_allocated(cards, unplaced) if counted and seen.countable else None,
        memory_total_bytes=sums.total([joined.memory_total]) if not seen.uncounted_cards else None,
        memory_allocated_bytes=sums.memory_allocated(joined, total is not None) if counted else None,
        memory_unplaced_bytes=sums.total(item.memory_bytes for item in unplaced) if counted else None,
        recheck_at=min((report.recheck_at for report in reports if report.recheck_at is not None), default=None),
        total_units=primary.total_units if primary else None,
        physical_cards=sums.physical_cards(joined, reports, total),
        rooms=tuple(room for report in reports for room in report.rooms),
    )


def _findings(
    node: Node,
    reports: list[StackReport],
    seen: Seen,
    joined: JoinedCards,
    cards: tuple[CardReport, ...],
    unplaced: tuple[Allocation, ...],
    total: int | None,
) -> tuple[Finding, ...]:
    found = [finding for report in reports for finding in report.findings]
    found += overrides(node).findings
    found += findings.over_committed(reports, joined, cards, unplaced)
    found += findings.promised_twice(cards, unplaced)
    found += findings.two_stacks(reports, joined)
    found += node_findings.findings(seen, explained=any(report.explained for report in reports))
    found += node_findings.uncounted(seen, found) if total is None else []
    return tuple(dict.fromkeys(found))
