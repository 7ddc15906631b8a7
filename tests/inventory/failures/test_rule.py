"""Golden cases of the rule: what is suspect, what is chance, and what is one team's own."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inventory.failures.rule import CHANCE, Suspicion, Use, tail
from inventory.failures.rule import suspicions as by_rule


def use(card: str, namespace: str, *failed: str, name: str = "train") -> Use:
    return Use(card, "A100", (namespace, "Job", name), frozenset(failed), frozenset({"2026-11-26"} if failed else ()))


def suspicions(uses: list[Use]) -> list[Suspicion]:
    """uses: with those that did not fail."""
    workloads: dict[str, Counter[str]] = defaultdict(Counter)
    for one in uses:
        workloads[one.group][one.subject] += 1
    return by_rule(workloads, [one for one in uses if one.failed])


def fleet(cards: int = 20) -> list[Use]:
    """Each card had a workload of five namespaces, and none failed."""
    return [use(f"card-{number}", f"team-{team}") for number in range(cards) for team in range(5)]


def test_a_card_on_which_workloads_of_several_teams_fail_is_suspect() -> None:
    bad = [use("bad", f"team-{team}", f"p{team}") for team in range(4)]
    stray = [use("card-1", "team-9", "q")]
    [one] = suspicions([*fleet(), *bad, *stray])
    assert (one.subject, one.failed, one.workloads, one.namespaces, one.pods, one.of_pods) == ("bad", 4, 4, 4, 4, 5)
    assert one.chance < CHANCE
    assert one.days == 1


def test_one_team_alone_makes_no_card_suspect() -> None:
    bad = [use("bad", "team-1", f"p{number}", name=f"job-{number}") for number in range(8)]
    assert suspicions([*fleet(), *bad]) == []


def test_workloads_that_fail_everywhere_make_no_card_suspect() -> None:
    everywhere = [use(f"card-{card}", f"team-{team}", f"{card}-{team}") for card in range(20) for team in range(4)]
    assert suspicions(everywhere) == []


def test_two_failures_on_a_busy_fleet_are_chance() -> None:
    """40 cards with five workloads each, ten failures: two of two teams meet on one card often enough."""
    some = [use(f"card-{number}", "team-a", f"a{number}") for number in range(8)]
    assert suspicions([*fleet(40), *some, use("card-0", "team-b", "b"), use("card-9", "team-b", "c")]) == []


def test_cards_are_compared_with_their_model_only() -> None:
    others = [one._replace(group="T4", failed=frozenset({"x"})) for one in fleet()]
    bad = [use("bad", f"team-{team}", f"p{team}") for team in range(4)]
    assert [one.subject for one in suspicions([*fleet(), *bad, *others])] == ["bad"]


@given(st.integers(1, 40), st.data())
def test_the_tail_is_that_of_all_draws(every: int, data: st.DataObject) -> None:
    failed, drawn = data.draw(st.integers(0, every)), data.draw(st.integers(0, every))
    least = data.draw(st.integers(0, every))
    counted = sum(comb(failed, k) * comb(every - failed, drawn - k) for k in range(least, drawn + 1))
    assert tail(every, failed, drawn, least) == pytest.approx(counted / comb(every, drawn), abs=1e-9)
