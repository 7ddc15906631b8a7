"""An inspection as a table for people: a line per node, and with details a line per card with its allocations.

Unknown is printed as ?, never as 0. Free is what pods can be allocated now; other unallocated memory is unavailable, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from inventory.models.choices import UnavailableReason
from resources.allocation import Allocation
from resources.card import Card
from resources.inspection.report import Inspection
from resources.node_detail import NodeDetail
from wording.columns import aligned, row
from wording.printable import one_line

UNKNOWN = "?"
_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def table(inspection: Inspection, details: bool) -> str:
    return "\n".join(blocks(inspection, details))


def blocks(inspection: Inspection, details: bool) -> Iterator[str]:
    """The table in pieces of some lines: no column goes over the end of one. With details a node is a piece."""
    synced = inspection.synced_at
    state = f"synced {synced:%Y-%m-%d %H:%M:%S} UTC" if synced else "NOT SYNCED: data is incomplete"
    yield f"Cluster {inspection.cluster}, {state}\n"
    lines = [] if details else [_HEADS, *(_node(node) for node in inspection.nodes)]
    if details:
        yield from (_block(_details(node)) for node in inspection.nodes)
    if not inspection.nodes:
        lines.append("No GPU nodes found.")
    if lines:
        yield _block(lines)
    yield _block(["", *_findings(inspection)])


_HEADS = "NODE\tREADY\tSTACK\tALLOCATED\tMEMORY ALLOCATED\tMEMORY FREE\tUNAVAILABLE\tUNIDENTIFIED"


def _block(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in aligned("\n".join(lines)).split("\n"))


def amount(value: int | None) -> str:
    """Bytes in the largest unit that fits, to two places."""
    if value is None:
        return UNKNOWN
    for size, unit in _UNITS:
        if abs(value) >= size:
            return f"{value / size:.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{value} B"


def _number(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _of(part: int | None, whole: int | None) -> str:
    return f"{amount(part)} of {amount(whole)}"


def _unavailable(one: NodeDetail | Card) -> str:
    """What is unavailable, and why; "-" where that is nothing."""
    if not one.memory_unavailable_bytes:
        return "-"
    # What keeps pods off a card alone, and not off its node, is its health.
    return f"{amount(one.memory_unavailable_bytes)}, {one.unavailable_reason or UnavailableReason.UNHEALTHY.value}"


def _ready(ready: bool | None) -> str:
    return UNKNOWN if ready is None else "yes" if ready else "NO"


def _node(node: NodeDetail) -> str:
    cells = [
        node.name,
        _ready(node.ready),
        ", ".join(node.stacks) or UNKNOWN,
        f"{_number(node.cards_allocated)} of {_number(node.cards_total)}",
        _of(node.memory_allocated_bytes, node.memory_total_bytes),
        amount(node.memory_free_bytes),
        _unavailable(node),
        str(len(node.unplaced)) if node.unplaced else "-",
    ]
    return row(cells)


def _details(node: NodeDetail) -> list[str]:
    unit = f", unit {node.unit} ({node.unit_source or 'source unknown'})" if node.unit else ""
    lines = [f"{one_line(node.name)}: {', '.join(node.stacks) or UNKNOWN}, ready {_ready(node.ready)}{unit}"]
    used = "\tUSED" if _is_measured(node) else ""
    lines.append(f"  CARD\tMODEL\tHEALTH\tALLOCATED\tFREE\tUNAVAILABLE{used}\tPOD\tALLOCATION\tIDENTIFIED BY")
    lines += [line for card in node.cards for line in _card(card, bool(used))]
    for allocation in node.unplaced:
        lines.append(row([f"  {UNKNOWN}", "", "", "", "", "", *([""] if used else []), *_holder(allocation)]))
    return [*lines, ""]


def _is_measured(node: NodeDetail) -> bool:
    """Whether used memory is known of some card: else there is no column of it."""
    return any(card.memory_used_bytes is not None for card in node.cards)


def _card(card: Card, used: bool) -> list[str]:
    label = str(card.index) if card.index is not None else card.uuid or UNKNOWN
    own = [
        f"  {label}",
        card.model or UNKNOWN,
        card.health,
        _of(card.memory_allocated_bytes, card.memory_total_bytes),
        amount(card.memory_free_bytes),
        _unavailable(card),
        *([amount(card.memory_used_bytes)] if used else []),
    ]
    holders = [_holder(allocation) for allocation in card.allocations] or [["-", "", ""]]
    first, *others = holders
    return [
        row([*own, *first]),
        *(row(["  ", "", "", "", "", "", *([""] if used else []), *other]) for other in others),
    ]


def _holder(allocation: Allocation) -> list[str]:
    held = f"{allocation.quantity} {allocation.resource}"
    if allocation.memory_bytes is not None:
        held += f" = {amount(allocation.memory_bytes)}"
    if allocation.memory_used_bytes is not None:
        held += f", {amount(allocation.memory_used_bytes)} used"
    if allocation.core_percent is not None:
        held += f", {allocation.core_percent}% of the cores"
    return [f"{allocation.namespace}/{allocation.pod}/{allocation.container}", held, allocation.evidence]


def _findings(inspection: Inspection) -> list[str]:
    if not inspection.findings:
        return ["No findings."]
    lines = [f"Findings: {len(inspection.findings)}"]
    for finding in inspection.findings:
        place = " ".join(
            part for part in (finding.node, f"card {finding.card}" if finding.card else "", finding.pod) if part
        )
        since = f"since {finding.first_seen_at:%Y-%m-%d %H:%M} UTC"
        lines.append(row([f"  {finding.severity}", finding.code, place or "-", since, " ".join(finding.text.split())]))
    return lines
