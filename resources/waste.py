"""Waste over days for programs: REST, and `gpudash waste`. Bytes × seconds; null is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from inventory.charges.costs import in_cents
from inventory.charges.exact import amounts_of
from inventory.charges.prices import Money
from inventory.charges.waste import MOST, Suggestion, Wasted
from inventory.history.packed import MIB
from resources.cost import Cost, costs_told
from resources.declared import Shape, fact, filled


def _bytes(mib: int | None) -> int | None:
    return None if mib is None else mib * MIB


class WasteSuggestion(Shape):
    """Memory of one card that would have been enough on all days, and 20%."""

    memory_bytes: Annotated[int, fact(of="memory", by=_bytes)]
    confidence: Annotated[str, fact("certain: 7 days or more; likely: 3 days or more.", of="sure", by=str)]


def _suggestion(one: Suggestion | None) -> WasteSuggestion | None:
    return None if one is None else filled(WasteSuggestion, one)


def _complete(unknown: int) -> bool:
    return not unknown


class WasteRow(Shape):
    cluster: Annotated[str, fact(by=str)]
    namespace: str
    owner_kind: str
    owner: Annotated[str, fact('Name of the controller; "": pods without an owner, or rows by namespace.')]
    allocated_byte_seconds: Annotated[int | None, fact(of="allocated", by=_bytes)]
    idle_byte_seconds: Annotated[
        int | None, fact("Allocated without activity; null: not collected.", of="idle", by=_bytes)
    ]
    unused_byte_seconds: Annotated[
        int | None, fact("Allocated and not used; null: not collected.", of="unused", by=_bytes)
    ]
    memory_allocated_bytes: Annotated[int | None, fact("Owners: the most of one card.", of="asked", by=_bytes)]
    memory_used_p99_bytes: Annotated[
        int | None, fact("Owners: p99 of used memory of one card, on the day with the highest.", of="peak", by=_bytes)
    ]
    days: Annotated[int, fact("Days that memory_used_p99_bytes is based on.")]
    samples: Annotated[int, fact("Values of five minutes that it is based on.")]
    suggestion: Annotated[WasteSuggestion | None, fact("null: too few data, or not worth it.", by=_suggestion)]
    costs: Annotated[list[Cost], fact("Of all that was allocated, as in the chargeback of these days; by currency.")]
    idle_costs: Annotated[
        list[Cost],
        fact("The share of idle_byte_seconds in costs; of namespaces, the sum of their owners until yesterday."),
    ]
    unused_costs: Annotated[list[Cost], fact("The same of unused_byte_seconds.")]
    cost_complete: Annotated[bool, fact("false: a part, or all, has no price.", of="cost.unknown", by=_complete)]


class WasteAnswer(Shape):
    """The 200 rows with the most idle memory × time. Sums are of all rows of which idle or unused memory is collected."""

    by: str
    days: int
    total_costs: list[Cost]
    total_idle_costs: list[Cost]
    total_unused_costs: list[Cost]
    cost_complete: Annotated[bool, fact("false: a part, or all, has no price.")]
    results: list[WasteRow]


def answer_of(by: str, days: int, found: Sequence[Wasted]) -> WasteAnswer:
    cost, idle, unused = (_told([getattr(one, name) for one in found]) for name in ("cost", "idle_cost", "unused_cost"))
    rows = [
        filled(WasteRow, one, costs=cost[0][place], idle_costs=idle[0][place], unused_costs=unused[0][place])
        for place, one in enumerate(found[:MOST])
    ]
    return WasteAnswer(
        by=by,
        days=days,
        total_costs=cost[1],
        total_idle_costs=idle[1],
        total_unused_costs=unused[1],
        cost_complete=bool(rows) and not any(one.cost.unknown for one in found),
        results=rows,
    )


def _told(parts: Sequence[Money]) -> tuple[list[list[Cost]], list[Cost]]:
    """Of each row that is told, and of all."""
    rows, total = in_cents(parts)
    return [costs_told(amounts_of(one)) for one in rows[:MOST]], costs_told(amounts_of(total))
