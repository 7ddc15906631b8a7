"""What two cards are compared by: model, memory, health by source, the last result of each suite, and what is measured.

Seven queries at most for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.models import Prefetch, Q

from inventory.models import Card, Node
from inventory.models.choices import CardState, Health, Mode
from inventory.queries import availability
from inventory.queries.measured import with_usage
from pages.frame import amounts
from pages.frame.labels import label_of
from pages.sections.beside import Differences, Facts, Row, differences, listed, number
from pages.sections.health import HealthLine, health_lines, sign_of
from pages.usage import usage_facts
from pages.words import runs as words
from validations import querysets
from validations.compared import apart, pair
from validations.models import LastResult, Measurement, Run


def card_differences(then: Card, now: Card) -> Differences:
    """Numbers are those of the last runs of each suite that both cards have had."""
    old, new = _facts([then, now])
    runs = _last_runs([then, now])
    for facts, mine in zip((old, new), runs, strict=True):
        for suite, run in mine.items():
            shown = words.shown_run(run)
            facts.put(f"result {words.suite_title(suite)}", shown.words, shown.level)
    found = differences(apart(old.known, new.known, []), old, new)
    return replace(found, numbers=_numbers(*runs))


def _facts(cards: Sequence[Card]) -> list[Facts]:
    of = Q()
    for card in cards:
        of |= Q(cluster_id=card.cluster_id, name=card.node_name)
    nodes = {(one.cluster_id, one.name): one for one in Node.objects.filter(of).defer("facts")}
    availability.cards_now(cards)
    with_usage(cards)
    return [_of_card(card, nodes.get((card.cluster_id, card.node_name))) for card in cards]


def _of_card(card: Card, node: Node | None) -> Facts:
    facts = Facts()
    facts.put("health", label_of(Health, card.health), sign_of(card.health))
    facts.put("node_name", card.node_name)
    facts.put("card_model", card.model)
    facts.put("stack", card.stack)
    facts.put("mode", label_of(Mode, card.mode), words=True)
    facts.put("shares", card.shares)
    facts.put("slice", card.profile)
    facts.put("memory", _gib(card.memory_total_bytes))
    facts.put("physical_memory", _gib(card.memory_physical_bytes))
    facts.put("driver_version", node.driver_version if node else None)
    facts.put("state", label_of(CardState, card.state), words=True)
    reports: dict[str, list[HealthLine]] = {}
    for line in health_lines(card.found_health):
        reports.setdefault(line.who, []).append(line)
    for who, lines in reports.items():
        facts.put(f"report {who}", listed(line.says or line.words for line in lines), lines[0].sign)
    for fact in (one for column in usage_facts(card.measured) for one in column):  # type: ignore[attr-defined]
        facts.put(f"metric {fact.title}", fact.text)
    return facts


def _gib(amount: int | None) -> str | None:
    return None if amount is None else amounts.gib(amount)


def _last_runs(cards: Sequence[Card]) -> list[dict[str, Run]]:
    """Suite → the last run of it on the card, with its measurements."""
    of = Q()
    for card in cards:
        of |= Q(cluster_id=card.cluster_id, node_name=card.node_name, card_key=card.key)
    last = LastResult.objects.filter(of).order_by("suite")
    places = {(row.cluster_id, row.node_name, row.card_key, row.suite): row.run_id for row in last}
    measured = Prefetch("measurements", queryset=Measurement.objects.order_by("id"))
    runs = {run.pk: run for run in querysets.runs().filter(pk__in=set(places.values())).prefetch_related(measured)}
    found: list[dict[str, Run]] = []
    for card in cards:
        mine = {place[-1]: pk for place, pk in places.items() if place[:-1] == _place(card)}
        found.append({suite: runs[pk] for suite, pk in mine.items() if pk in runs})
    return found


def _place(card: Card) -> tuple[int, str, str]:
    return card.cluster_id, card.node_name, card.key


def _numbers(then: Mapping[str, Run], now: Mapping[str, Run]) -> list[Row]:
    rows = []
    for suite in (one for one in now if one in then):
        old, new = ({(one.name, one.unit): one.value for one in runs[suite].measurements.all()} for runs in (then, now))
        shared = [key for key in new if key in old]
        rows += [number(pair(*key, old[key], new[key]), words.suite_title(suite)) for key in shared]
    return rows
